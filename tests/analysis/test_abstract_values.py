"""Places of pointers. Source: docs/reference/language.md, "Types"."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import IndexType, NoneType, f16, f32, i8

from pto_dialect.analysis.abstract_values import AbstractValue, offset_pointer
from pto_dialect.ir.core.types import PtrType

A, B = ("at", "ub", 64), ("argument", 3)


@pytest.mark.parametrize(
    ("base", "distance", "element", "place"),
    [
        (A, 3, f16, ("at", "ub", 70)),
        (A, -2, f32, ("at", "ub", 56)),
        (A, 5, i8, ("at", "ub", 69)),
        (A, 0, f32, A),
        (B, 4, f32, ("behind", B, 16)),
        (("behind", B, 16), 2, f16, ("behind", B, 20)),
        (B, 0, f32, B),
        # What only a run knows: how far, from where, or how large an element is.
        (A, ("new", 1), f32, None),
        (64, 1, f32, None),
        (A, 1, NoneType(), None),
    ],
)
def test_locations_after_a_pointer(
    base: AbstractValue, distance: AbstractValue, element: IndexType, place: AbstractValue | None
) -> None:
    assert offset_pointer(base, distance, PtrType(element, "ub")) == place
