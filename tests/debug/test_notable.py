"""What stands out in numbers: counts by numpy. Source: docs/debugger.md, "Values"."""

from __future__ import annotations

import numpy as np
import pytest

from pto_dialect.debug.notable import remarks


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
