"""Runs statements on logical vectors: arguments and results of one function."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from parse_helpers import parsed

from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

DTYPES: dict[str, Any] = {
    **{f"{sign}{bits}": np.dtype(f"{'u' if sign == 'ui' else 'i'}{bits // 8}") for sign in ("i", "si", "ui")
       for bits in (8, 16, 32, 64)},
    "f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16), "f32": np.dtype(np.float32),
    "f8E4M3FN": np.dtype(ml_dtypes.float8_e4m3fn), "f8E5M2": np.dtype(ml_dtypes.float8_e5m2),
    "!pto.hif8": np.dtype(np.uint8), "!pto.f4E1M2x2": np.dtype(np.uint8), "!pto.f4E2M1x2": np.dtype(np.uint8),
    "!pto.bf16x2": np.dtype(np.uint32),
}  # fmt: skip
EDGES = [0.0, -0.0, 1.5, -2.25, np.inf, -np.inf, np.nan, 65504.0, 1e-8, 3.0]


def vreg(element: str, lanes: int) -> str:
    """A logical vector type."""
    return f"!pto.vmi.vreg<{lanes}x{element}>"


def mask(lanes: int) -> str:
    """A logical predicate type."""
    return f"!pto.vmi.mask<{lanes}xpred>"


def pointer(element: str) -> str:
    """A pointer type into the unified buffer."""
    return f"!pto.ptr<{element}, ub>"


def kernel(body: str, arguments: dict[str, str], results: dict[str, str] | None = None) -> Kernel:
    """The function of ``arguments`` (types by name) that runs ``body`` and returns values of it (types by name)."""
    results = results or {}
    head = ", ".join(f"%{name}: {type_}" for name, type_ in arguments.items())
    tail = ", ".join(f"%{name}" for name in results)
    types = ", ".join(results.values())
    back = f" -> ({types})" if results else ""
    text = f"func.func @k({head}){back} {{\n{body}\nreturn {tail}{' : ' + types if results else ''}\n}}"
    module, found = parsed(text)
    assert not {entry[0] for entry in found} - {"vmi-lanes"}, found
    return Kernel(module, None, "a5", RunOptions())


def run(body: str, arguments: dict[str, tuple[str, Any]], results: dict[str, str] | None = None) -> list[Any]:
    """What the function returns for ``arguments`` (type and value by name)."""
    types = {name: type_ for name, (type_, _) in arguments.items()}
    return kernel(body, types, results).run([value for _, value in arguments.values()])


def numbers(element: str, lanes: int, seed: int = 1) -> np.ndarray:
    """Numbers of an element type, edge values first."""
    dtype, rng = DTYPES[element], np.random.default_rng(seed)
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        values = rng.integers(limits.min, limits.max, lanes, dtype, endpoint=True)
        edges = [limits.min, limits.max, 0, 1, limits.max - 1]
        values[: len(edges)] = np.roll(np.array(edges, dtype), seed)[:lanes]
        return values
    values = rng.standard_normal(lanes) * 4
    values[: len(EDGES)] = np.roll(EDGES, seed)[:lanes]
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def pattern(lanes: int, seed: int = 3) -> np.ndarray:
    """A predicate without any order."""
    return np.random.default_rng(seed).random(lanes) < 0.6


def same(got: Any, want: Any) -> None:
    """Equal as numbers, NaN equal to NaN."""
    np.testing.assert_array_equal(np.asarray(got, np.float64), np.asarray(want, np.float64))
