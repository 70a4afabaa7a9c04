"""a·b + c of vector registers in every element type: floats are rounded once, integers wrap."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from vmi_programs import run

DTYPES: dict[str, Any] = {
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "i16": np.int16, "ui16": np.uint16,
    "i32": np.int32, "ui32": np.uint32,
}  # fmt: skip
DIGITS = {"f16": (11, -24), "bf16": (8, -133), "f32": (24, -149)}
"""Significant binary digits, and the exponent of the smallest number."""


def rounded(exact: Fraction, element: str) -> float:
    """The nearest number of a format, ties to even."""
    if exact == 0:
        return 0.0
    digits, least = DIGITS[element]
    exponent = max(_magnitude(abs(exact)) - digits, least)
    return float(round(exact / Fraction(2) ** exponent) * Fraction(2) ** exponent)


def _magnitude(value: Fraction) -> int:
    """The exponent of the smallest power of two above ``value``."""
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess + 1 if value >= Fraction(2) ** guess else guess


def operands(element: str) -> list[np.ndarray]:
    dtype = np.dtype(DTYPES[element])
    rng, count = np.random.default_rng(8), 256 // dtype.itemsize
    if dtype.kind in "iu":
        return [rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, count, dtype) for _ in range(3)]
    return [(rng.standard_normal(count) * 4).astype(dtype) for _ in range(3)]


FORMS: dict[str, tuple[str, Callable[[Any, Any, Any, Any], Any]]] = {
    "vmula": ("pto.vmula %c, %a, %b, %m : {v}, {v}, {v}, {m}", lambda a, b, c, s: a * b + c),
    "vmadd": ("pto.vmadd %c, %a, %b, %m : {v}, {v}, {v}, {m}", lambda a, b, c, s: a * c + b),
    "vaxpy": ("pto.vaxpy %a, %b, %s, %m : {v}, {v}, {e}, {m}", lambda a, b, c, s: s * a + b),
}
CASES = [(name, element) for name in FORMS for element in ("f16", "f32")]
CASES += [("vmula", element) for element in ("bf16", "i16", "ui16", "i32", "ui32")]


@pytest.mark.parametrize(("name", "element"), CASES)
def test_rounded_once(name: str, element: str) -> None:
    dtype = np.dtype(DTYPES[element])
    v, m = f"!pto.vreg<{256 // dtype.itemsize}x{element}>", f"!pto.mask<b{8 * dtype.itemsize}>"
    text, formula = FORMS[name]
    a, b, c = operands(element)
    body = f'%m = pto.pset_b{8 * dtype.itemsize} "PAT_ALL" : {m}\n%r = {text.format(v=v, m=m, e=element)} -> {v}'
    arguments = {"a": (v, a), "b": (v, b), "c": (v, c), "s": (element, 3 if dtype.kind in "iu" else 0.1)}
    if name != "vaxpy":
        del arguments["s"]
    if name == "vaxpy":
        del arguments["c"]
    (got,) = run(body, arguments, {"r": v})
    if dtype.kind in "iu":
        want = [
            formula(int(row[0]), int(row[1]), int(row[2]), 3) % 2 ** (8 * dtype.itemsize)
            for row in zip(a, b, c, strict=True)
        ]
        assert [int(x) % 2 ** (8 * dtype.itemsize) for x in got] == want
    else:
        scalar = Fraction(float(dtype.type(0.1)))
        rows = [[Fraction(float(x)) for x in row] for row in zip(a, b, c, strict=True)]
        assert [float(x) for x in got] == [
            rounded(Fraction(formula(row[0], row[1], row[2], scalar)), element) for row in rows
        ]
