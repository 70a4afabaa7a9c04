"""The rows of the table of formats, against limits that follow from the fields of each.

Source: docs/reference/numerics.md, "Formats".
"""

from __future__ import annotations

import pytest

from pto_dialect.runtime.numerics.format_table import FORMATS

FLOATS = {
    # bits of one number, exponent bits, mantissa bits, bias, bytes and numbers of one unit in memory, special values
    "f16": (16, 5, 10, 15, 2, 1, "inf nan"), "bf16": (16, 8, 7, 127, 2, 1, "inf nan"),
    "f32": (32, 8, 23, 127, 4, 1, "inf nan"), "f64": (64, 11, 52, 1023, 8, 1, "inf nan"),
    "f8E4M3FN": (8, 4, 3, 7, 1, 1, "nan"), "f8E5M2": (8, 5, 2, 15, 1, 1, "inf nan"),
    "f8E8M0": (8, 8, 0, 127, 1, 1, "nan"), "bf16x2": (16, 8, 7, 127, 4, 2, "inf nan"),
    "f4E1M2x2": (4, 1, 2, 1, 1, 2, ""), "f4E2M1x2": (4, 2, 1, 1, 1, 2, ""),
    "tf32": (19, 8, 10, 127, 4, 1, "inf nan"), "fp19": (19, 8, 10, 127, 4, 1, "inf nan"),
}  # fmt: skip


def largest(name: str) -> float:
    """The largest finite number of a format."""
    _, exponent, mantissa, bias, *_, special = FLOATS[name]
    top = 2**exponent - 1 - bias
    steps = 2**mantissa
    if "inf" in special:
        return (2 - 1 / steps) * 2.0 ** (top - 1)
    if special and mantissa:
        # Only the number with all bits set is NaN.
        return (2 - 2 / steps) * 2.0**top
    return 2.0 ** (top - 1) if special else (2 - 1 / steps) * 2.0**top


@pytest.mark.parametrize("name", FLOATS)
def test_floats(name: str) -> None:
    bits, exponent, mantissa, bias, size, numbers, special = FLOATS[name]
    row = FORMATS[name]
    assert row.is_float and row.name == name
    assert (row.bits, row.exponent_bits, row.mantissa_bits, row.bias) == (bits, exponent, mantissa, bias)
    assert (row.bytes, row.elements) == (size, numbers)
    assert (row.has_inf, row.has_nan) == ("inf" in special, "nan" in special)
    assert row.max_finite == largest(name)
    assert row.compute.name == ("float64" if name == "f64" else "float32")
    assert row.compute_only == (name in ("tf32", "fp19"))


@pytest.mark.parametrize(("name", "size", "numbers"), [("hif8", 1, 1), ("hif8x2", 2, 2)])
def test_tapered_floats(name: str, size: int, numbers: int) -> None:
    row = FORMATS[name]
    assert (row.bits, row.bytes, row.elements, row.max_finite) == (8, size, numbers, 32768.0)
    assert (row.exponent_bits, row.mantissa_bits, row.bias) == (0, 0, 0)
    assert row.has_inf and row.has_nan and not row.compute_only


@pytest.mark.parametrize("bits", [4, 8, 16, 32, 64])
@pytest.mark.parametrize("sign", ["i", "si", "ui"])
def test_integers(sign: str, bits: int) -> None:
    row = FORMATS[f"{sign}{bits}"]
    signed = sign != "ui"
    low = -(2 ** (bits - 1)) if signed else 0
    assert (row.kind, row.bits, row.is_float) == ("int" if signed else "uint", bits, False)
    assert (row.min_value, row.max_value) == (low, low + 2**bits - 1)
    assert (row.bytes, row.elements) == (max(bits // 8, 1), 2 if bits == 4 else 1)
    assert row.compute.kind == ("i" if signed else "u") and row.compute.itemsize == max(bits // 8, 1)
    assert not row.compute_only


def test_truth_values_and_indices() -> None:
    truth, index = FORMATS["i1"], FORMATS["index"]
    assert (truth.kind, truth.bits, truth.bytes, truth.min_value, truth.max_value) == ("uint", 1, 1, 0, 1)
    assert (index.kind, index.bits, index.bytes, index.min_value) == ("int", 64, 8, -(2**63))


def test_there_are_no_others() -> None:
    integers = {f"{sign}{bits}" for sign in ("i", "si", "ui") for bits in (4, 8, 16, 32, 64)}
    assert set(FORMATS) == {*FLOATS, "hif8", "hif8x2", *integers, "i1", "index", "f8E4M3"}
    assert FORMATS["f8E4M3"] is FORMATS["f8E4M3FN"]
