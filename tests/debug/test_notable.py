"""What is notable in numbers: counts by numpy. Source: docs/debugger.md, "Values"."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from pto_dialect.debug.notable import not_held, not_nearest, remarks
from pto_dialect.runtime.numerics.format_table import format_of


@pytest.mark.parametrize(
    ("values", "element", "told"),
    [
        (np.array([-128, 127, 127, 3], np.int8), "i8", "of 4 elements 1 at -128 and 2 at 127, the ends of i8"),
        (np.array([0, 255, 0], np.uint8), "ui8", "of 3 elements 1 at 255, the end of ui8"),
        (np.array([np.nan, np.inf, -np.inf]), "f32", "of 3 elements 1 NaN; 2 infinite"),
        (np.array([np.nan, 448.0]), "f8E4M3FN", "of 2 elements 1 NaN; 1 at 448, the end of f8E4M3FN"),
        (np.array([65504.0, -65504.0]), "f16", "of 2 elements 1 at -65504 and 1 at 65504, the ends of f16"),
        (np.array([1.0, 2.0]), "f32", ""),
        (np.array([127, 1]), "nothing", ""),
    ],
)  # fmt: skip
def test_remarks(values: np.ndarray, element: str, told: str) -> None:
    assert remarks(values, element) == told


HALVES = np.array([[-1.75, -0.5, 0.5], [0.25, 1.5, 2.75]], np.float32)


@pytest.mark.parametrize(
    ("rounded", "told"),
    [
        (np.rint, ""),
        (lambda x: np.sign(x) * np.floor(np.abs(x) + 0.5), ""),
        (np.floor, "1 of 6 elements are not rounded to the nearest of i32, all are below and nearer to 0; "
                   "first [1, 2]: 2.75 becomes 2"),
        (np.ceil, "2 of 6 elements are not rounded to the nearest of i32, all are above; "
                  "first [0, 0]: -1.75 becomes -1"),
        (np.trunc, "2 of 6 elements are not rounded to the nearest of i32, all are nearer to 0; "
                   "first [0, 0]: -1.75 becomes -1"),
        (lambda x: x + 7, "6 of 6 elements are not rounded to the nearest of i32, all are above and farther from 0; "
                          "first [0, 0]: -1.75 becomes 5"),
    ],
)  # fmt: skip
def test_rounding_of_whole_numbers(rounded: object, told: str) -> None:
    assert callable(rounded)
    assert not_nearest(HALVES, np.asarray(rounded(HALVES)).astype(np.int32), format_of("i32")) == told


@pytest.mark.parametrize(("element", "type_"), [("f16", np.float16), ("bf16", ml_dtypes.bfloat16)])
def test_rounding_of_floats(element: str, type_: type) -> None:
    random = np.random.default_rng(3)
    values = random.normal(size=500).astype(np.float32)
    nearest = values.astype(type_)
    form = format_of(element)
    assert not_nearest(values, nearest, form) == ""
    # Cut off: the neighbour nearer to zero wherever the nearest number is farther from it.
    away = np.abs(nearest.astype(np.float64)) > np.abs(values)
    bits = nearest.view(np.uint16)
    cut = np.where(away, bits - 1, bits).view(type_)
    told = not_nearest(values, cut, form)
    assert told.startswith(f"{int(away.sum())} of 500 elements are not rounded to the nearest of {element}")
    assert "all are nearer to 0;" in told


def test_what_is_outside_of_the_range_is_reported_as_that_alone() -> None:
    values, result = np.array([300.0, 1.0, -300.0]), np.array([44, 1, -44], np.int8)
    assert not_held(values, result, format_of("i8")) == (
        "2 of 3 elements are outside of i8, -128 to 127; first [0]: 300 becomes 44"
    )
    assert not_nearest(values, result, format_of("i8")) == ""
    assert not_nearest(np.array([np.nan, np.inf, 2.0**60]), np.array([0, 0, 0]), format_of("i32")) == ""
    # There is no such type in numpy.
    assert not_nearest(np.array([1.0, 2.0]), np.array([1.0, 4.0]), format_of("hif8")) == ""
