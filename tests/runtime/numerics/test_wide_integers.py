"""Floats near the limits of 64-bit integers, against Python's own integers. Source: docs/reference/numerics.md,
"Narrowing and saturation".
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from pto_dialect.runtime.numerics.decode import value_table
from pto_dialect.runtime.numerics.formats import FORMATS
from pto_dialect.runtime.numerics.integers import to_integer

EDGES = sorted(
    {
        sign * number
        for power in (31, 32, 62, 63, 64, 65)
        for number in (
            2.0**power,
            math.nextafter(2.0**power, 0),
            math.nextafter(2.0**power, math.inf),
            2.0**power * 1.5,
        )
        for sign in (1, -1)
    }
    | {0.0, 1.0, -1.0, 2.0**100, -(2.0**100)}
)


@pytest.mark.parametrize("name", ["i64", "ui64", "i32", "ui32", "index", "si16", "i4", "ui4"])
@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_limits(name: str, saturate: bool, dtype: type) -> None:
    fmt = FORMATS[name]
    values = np.array(EDGES, dtype)
    found = to_integer(values, fmt, "Z", saturate)
    for value, result in zip(values, found, strict=True):
        exact = int(value)
        if saturate:
            wanted = min(max(exact, fmt.min_value), fmt.max_value)
        else:
            low = exact % (1 << fmt.bits)
            wanted = low - (1 << fmt.bits) if low > fmt.max_value else low
        assert int(result) == wanted, (value, name)


@pytest.mark.parametrize("saturate", [True, False])
@pytest.mark.parametrize("name", ["i64", "ui64", "i32", "i8", "i4", "ui4"])
def test_what_is_no_number(name: str, saturate: bool) -> None:
    fmt = FORMATS[name]
    found = to_integer(np.array([math.nan, math.inf, -math.inf]), fmt, "R", saturate)
    assert [int(number) for number in found] == [0, fmt.max_value, fmt.min_value]


@pytest.mark.parametrize("pair", ["f4E1M2x2", "f4E2M1x2"])
def test_tables_of_pairs_are_those_of_single_numbers(pair: str) -> None:
    exponent, mantissa = (1, 2) if pair.startswith("f4E1") else (2, 1)
    found = value_table(pair)
    assert found.shape == (16,) and not found.flags.writeable
    for code in range(16):
        sign, field, rest = code >> 3, code >> mantissa & (1 << exponent) - 1, code & (1 << mantissa) - 1
        bias = FORMATS[pair].bias
        size = (rest / (1 << mantissa) + (field > 0)) * 2.0 ** (max(field, 1) - bias)
        assert found[code] == (-size if sign else size)


def test_scales_are_powers_of_two() -> None:
    found = value_table("f8E8M0")
    assert found[:255].tolist() == [2.0 ** (code - 127) for code in range(255)]
    assert math.isnan(found[255])


def test_tables_of_hif8() -> None:
    assert value_table("hif8").shape == (256,)
    assert np.array_equal(value_table("hif8x2"), value_table("hif8"), equal_nan=True)


@pytest.mark.parametrize("name", ["f16", "f32", "i8", "bf16"])
def test_other_formats_have_no_table(name: str) -> None:
    with pytest.raises(ValueError, match=f"^{name} has no code table$"):
        value_table(name)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.float32])
def test_low_bits_of_pairs(dtype: type) -> None:
    values = np.arange(-40, 40).astype(dtype)
    signed, unsigned = (to_integer(values, FORMATS[name], "Z", False) for name in ("i4", "ui4"))
    assert signed.tolist() == [(value + 8) % 16 - 8 for value in range(-40, 40)]
    assert unsigned.tolist() == [value % 16 for value in range(-40, 40)]
