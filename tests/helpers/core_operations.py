"""Runs statements of the core dialects element by element, once in plain code and once between SIMT work-items."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
from parse_helpers import parsed
from simt_programs import run as run_items

from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

MODES = ("plain", "items")

DTYPES: dict[str, Any] = {
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
}  # fmt: skip
FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127), "f32": (24, -126, 127), "f64": (53, -1022, 1023)}
"""Bits of the significand, smallest and largest exponent."""


def evaluate(
    mode: str,
    lines: str,
    inputs: dict[str, tuple[str, np.ndarray]],
    outputs: dict[str, str],
    helpers: str = "",
    prologue: str = "",
) -> list[np.ndarray]:
    """What ``lines``, which compute the names of ``outputs`` from those of ``inputs``, give for each element."""
    count = next(iter(inputs.values()))[1].size
    made = [np.zeros(count, DTYPES[type_]) for type_ in outputs.values()]
    arguments = [f"%{name}_in: !pto.ptr<{type_}, gm>" for name, (type_, _) in inputs.items()]
    arguments += [f"%{name}_out: !pto.ptr<{type_}, gm>" for name, type_ in outputs.items()]
    values = [*(array for _, array in inputs.values()), *made]
    if mode == "items":
        loads = [f"%{n} = pto.ldg %{n}_in[%at] : !pto.ptr<{t}, gm> -> {t}" for n, (t, _) in inputs.items()]
        stores = [f"pto.stg %{n}, %{n}_out[%at] : !pto.ptr<{t}, gm>, {t}" for n, t in outputs.items()]
        body = "\n".join([*loads, prologue, lines, *stores])
        run_items(body, ", ".join(arguments), *values, dims=(count, 1, 1), helpers=helpers)
        return made
    loads = [f"%{n} = pto.load_scalar %{n}_in[%at] : !pto.ptr<{t}, gm> -> {t}" for n, (t, _) in inputs.items()]
    stores = [f"pto.store_scalar %{n}, %{n}_out[%at] : !pto.ptr<{t}, gm>, {t}" for n, t in outputs.items()]
    taken = ", ".join([*(f"%{n}: {t}" for n, (t, _) in inputs.items())])
    names = ", ".join(f"%{n}" for n in inputs)
    kinds = ", ".join(t for t, _ in inputs.values())
    results = ", ".join(outputs.values())
    given = ", ".join(f"%{n}" for n in outputs)
    known = "\n".join(
        f"%c{n} = arith.constant {n} : index\n%i{n} = arith.constant {n} : i32" for n in (0, 1, 2, 3, 4, 5)
    )
    text = "\n".join(
        [
            'module attributes {pto.target_arch = "a5", pto.kernel_kind = #pto.kernel_kind<vector>} {',
            f"func.func @each({taken}) -> ({results}) {{",
            known,
            prologue,
            lines,
            *([] if "return" in lines.splitlines()[-1] else [f"return {given} : {results}"]),
            "}",
            f"func.func @k({', '.join(arguments)}) attributes {{pto.kernel}} {{",
            f"%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%count = arith.constant {count} : index",
            "scf.for %at = %c0 to %count step %c1 {",
            *loads,
            f"{given} = func.call @each({names}) : ({kinds}) -> ({results})",
            *stores,
            "}\nreturn\n}",
            helpers,
            "}\n",
        ]
    )
    module, found = parsed(text)
    assert found == [], found
    Kernel(module, "k", None, RunOptions()).run(values)
    return made


def signed(value: int, width: int) -> int:
    """The signed number with the low bits of ``value``."""
    value %= 1 << width
    return value - (1 << width) if value >> (width - 1) else value


def edges(width: int) -> list[int]:
    """Numbers around the limits of a width."""
    top = 1 << (width - 1)
    return [0, 1, -1, 2, -2, 3, 7, -7, width - 1, width, top - 1, -top, top // 2, -top + 1]


def rounded(value: Fraction, name: str) -> float:
    """An exact value other than 0 to nearest even."""
    precision, least, largest = FORMATS[name]
    size = abs(value)
    exponent = size.numerator.bit_length() - size.denominator.bit_length()
    if Fraction(2) ** exponent > size:
        exponent -= 1
    elif Fraction(2) ** (exponent + 1) <= size:
        exponent += 1
    quantum = Fraction(2) ** (max(exponent, least) - precision + 1)
    result = round(value / quantum) * quantum
    if abs(result) >= Fraction(2) ** (largest + 1):
        return float("inf") if value > 0 else float("-inf")
    return float(result) if result else (0.0 if value > 0 else -0.0)


def same_floats(found: np.ndarray, wanted: list[float]) -> None:
    """Equal bits; NaN for NaN."""
    expected = np.array(wanted, np.float64)
    seen = found.astype(np.float64)
    np.testing.assert_array_equal(np.isnan(seen), np.isnan(expected))
    np.testing.assert_array_equal(seen, expected)
    numbers = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(seen[numbers]), np.signbit(expected[numbers]))
