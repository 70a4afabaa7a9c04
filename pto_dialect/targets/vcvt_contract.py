"""Clauses that ``pto.vcvt`` (a5) needs per conversion.  Source: docs/reference/targets.md, "Conversions".

A clause that a conversion does not need must be absent; both directions are errors.  Signless integers
count as signed.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from .element_types import signed_as_signless


class VcvtClauses(NamedTuple):
    """Clauses of one conversion.

    ``rounding``: allowed rounding letters, empty if ``rnd`` must be absent. ``saturation``: whether ``sat`` must be
    present. ``parts``: allowed ``part`` enumerators, empty if ``part`` must be absent.
    """

    rounding: str
    saturation: bool
    parts: tuple[str, ...]


_HALVES = ("EVEN", "ODD")
_QUARTERS = ("P0", "P1", "P2", "P3")
_ALL_ROUNDS = "RAFCZO"

# Rows: source, destinations, round letters, sat, part.
_ROWS: tuple[tuple[str, str, str, bool, tuple[str, ...]], ...] = (
    ("f32", "f8E4M3FN f8E5M2", "RAHZ", True, _QUARTERS),
    ("f32", "hif8", "AH", True, _QUARTERS),
    ("f32", "f16 bf16 i16 i64", _ALL_ROUNDS, True, _HALVES),
    ("f32", "i32", _ALL_ROUNDS, True, ()),
    ("f16", "f8E4M3FN f8E5M2", "RAFZC", True, _HALVES),
    ("f16", "hif8", "AH", True, _HALVES),
    ("f16", "f32", "", False, _HALVES),
    ("f16", "i32", _ALL_ROUNDS, False, _HALVES),
    ("f16", "i16", _ALL_ROUNDS, True, ()),
    ("f16", "i8 ui8", _ALL_ROUNDS, True, _HALVES),
    ("bf16", "f8E4M3FN f8E5M2", "RAFZC", True, _HALVES),
    ("bf16", "f4E1M2x2 f4E2M1x2", "RAFCZ", False, _QUARTERS),
    ("bf16", "f16", _ALL_ROUNDS, True, ()),
    ("bf16", "f32", "", False, _HALVES),
    ("bf16", "i32", _ALL_ROUNDS, True, _HALVES),
    ("ui8", "f16 ui16", "", False, _HALVES),
    ("ui8", "ui32", "", False, _QUARTERS),
    ("i8", "f16 i16", "", False, _HALVES),
    ("i8", "i32", "", False, _QUARTERS),
    ("ui16", "ui8", "", True, _HALVES),
    ("ui16", "ui32", "", False, _HALVES),
    ("i16", "f16", _ALL_ROUNDS, False, ()),
    ("i16", "f32 ui32 i32", "", False, _HALVES),
    ("i16", "ui8", "", True, _HALVES),
    ("ui32", "ui8", "", True, _QUARTERS),
    ("ui32", "ui16 i16", "", True, _HALVES),
    ("i32", "f32", _ALL_ROUNDS, False, ()),
    ("i32", "ui8", "", True, _QUARTERS),
    ("i32", "ui16 i16", "", True, _HALVES),
    ("i32", "i64", "", False, _HALVES),
    ("i64", "f32", _ALL_ROUNDS, False, _HALVES),
    ("i64", "i32", "", True, _HALVES),
    ("f8E4M3FN", "f32", "", False, _QUARTERS),
    ("f8E5M2", "f32", "", False, _QUARTERS),
    ("hif8", "f32", "", False, _QUARTERS),
    ("f4E1M2x2", "bf16", "", False, _QUARTERS),
    ("f4E2M1x2", "bf16", "", False, _QUARTERS),
)

VCVT_CONTRACT: Final[Mapping[tuple[str, str], VcvtClauses]] = MappingProxyType(
    {
        (src, dst): VcvtClauses(rounding, saturation, parts)
        for src, dsts, rounding, saturation, parts in _ROWS
        for dst in dsts.split()
    }
)
"""(source, destination) -> clauses; a pair that is absent has no ``vcvt``."""


def vcvt_clauses(src: str, dst: str) -> VcvtClauses | None:
    """Clauses of the conversion ``src`` -> ``dst``, or ``None`` if the unit has no such conversion."""
    return VCVT_CONTRACT.get((signed_as_signless(src), signed_as_signless(dst)))
