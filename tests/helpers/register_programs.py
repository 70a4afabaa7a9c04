"""Programs of single vector instructions: random registers and predicates, and what comes of them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import ml_dtypes
import numpy as np
from vmi_programs import run

DTYPES: dict[str, Any] = {
    "f32": np.float32, "f16": np.float16, "i32": np.int32, "si32": np.int32, "ui32": np.uint32, "ui16": np.uint16,
    "i16": np.int16, "ui8": np.uint8, "i8": np.int8, "bf16": ml_dtypes.bfloat16,
}  # fmt: skip
ZERO = "%zero = arith.constant 0 : index\n"
RNG = np.random.default_rng(5)


def lanes(element: str) -> int:
    return 256 // np.dtype(DTYPES[element]).itemsize


def vreg(element: str) -> str:
    return f"!pto.vreg<{lanes(element)}x{element}>"


def ptr(element: str) -> str:
    return f"!pto.ptr<{element}, ub>"


def numbers(element: str, seed: int = 0, size: int | None = None) -> np.ndarray:
    rng, dtype = np.random.default_rng(seed), np.dtype(DTYPES[element])
    count = lanes(element) if size is None else size
    if dtype.kind in "iu":
        return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, count, dtype, endpoint=True)
    return (rng.standard_normal(count) * 4).astype(dtype)


def joined(parts: Iterable[list[int]]) -> list[int]:
    """One list of all."""
    return [number for part in parts for number in part]


STEP = {"b8": 1, "b16": 2, "b32": 4}
"""A predicate has 256 bits; those of lane i of so many bytes are at bit i·step."""


def random_bits(seed: int, step: int) -> list[bool]:
    """Bits of a predicate of that width: the others are clear."""
    rng = np.random.default_rng(seed)
    return [bool(rng.integers(2)) and bit % step == 0 for bit in range(256)]


def packed(bits: Sequence[bool]) -> np.ndarray:
    """32-bit words, the first bit lowest."""
    return np.array([sum(1 << k for k in range(32) if bits[w + k]) for w in range(0, len(bits), 32)], np.uint32)


def unpacked(words: np.ndarray) -> list[bool]:
    return [bool(int(words[bit // 32]) >> bit % 32 & 1) for bit in range(32 * len(words))]


def run_masks(statement: str, width: str, result: str, *inputs: list[bool], more: Any = None) -> list[list[bool]]:
    """Predicates that ``statement`` makes of %x, %y, %m; they go through memory as raw bits."""
    names = "xym"[: len(inputs)]
    out = [name for name in ("r", "s") if f"%{name}" in statement.split("=")[0]]
    body = ZERO + "".join(
        f'%{name} = pto.plds %p{name}[%zero], "NORM" : {ptr("ui32")}, index -> !pto.mask<{width}>\n' for name in names
    )
    body += statement + "\n"
    arguments = {f"p{name}": (ptr("ui32"), packed(bits)) for name, bits in zip(names, inputs, strict=True)}
    buffers = {name: np.zeros(8, np.uint32) for name in out}
    for name in out:
        body += f'pto.psts %{name}, %o{name}[%zero], "NORM" : !pto.mask<{result}>, {ptr("ui32")}, index\n'
        arguments[f"o{name}"] = (ptr("ui32"), buffers[name])
    run(body, arguments | (more or {}))
    return [unpacked(words) for words in buffers.values()]


def run_registers(statement: str, inputs: dict[str, tuple[str, Any]], results: dict[str, str]) -> list[np.ndarray]:
    """Registers that ``statement`` makes; %m has the bits of a random predicate where the text uses it."""
    return [np.asarray(value) for value in run(ZERO + statement, inputs, results)]


def masked(width: str, seed: int = 11) -> tuple[str, dict[str, tuple[str, Any]], list[bool]]:
    """Text that makes %m, the argument it needs, and the lanes."""
    bits = random_bits(seed, STEP[width])
    text = f'%m = pto.plds %pm[%zero], "NORM" : {ptr("ui32")}, index -> !pto.mask<{width}>\n'
    return text, {"pm": (ptr("ui32"), packed(bits))}, bits[:: STEP[width]]
