"""Documented conversions of ``pto.tcvt``.  Source: docs/reference/targets.md, "Conversions".

Integer names are literal here: ``i8`` is signed (or signless), ``ui8`` unsigned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from .element_types import is_low_precision, signed_as_signless

if TYPE_CHECKING:
    from .backend import Backend
    from .release import Release

PairTable = Mapping[str, frozenset[str]]


def _pairs(rows: dict[str, str]) -> PairTable:
    return MappingProxyType({src: frozenset(dsts.split()) for src, dsts in rows.items()})


A2A3_TCVT_PAIRS: Final = _pairs(
    {
        "f32": "f16 f32 bf16 i16 i32 i64",
        "f16": "f32 i32 i16 i8 ui8 i4",
        "bf16": "f32 i32",
        "i16": "f16 f32",
        "i32": "f32 i16 i64 f16",
        "i64": "f32 i32",
        "ui8": "f16",
        "i8": "f16",
        "i4": "f16",
    }
)
A5_TCVT_PAIRS: Final = _pairs(
    {
        "f32": "f16 f32 bf16 i16 i32 i64 f8E4M3FN f8E5M2 hif8",
        "f16": "f32 i32 i16 i8 ui8 hif8",
        "bf16": "f32 i32 f16 f4E1M2x2 f4E2M1x2",
        "i16": "f16 f32 ui8 ui32 i32",
        "i32": "f32 i16 ui16 i64 ui8",
        "i64": "f32 i32",
        "ui8": "f16 ui16",
        "i8": "f16 i16 i32",
        "ui32": "ui8 ui16 i16",
        "f8E4M3FN": "f32",
        "f8E5M2": "f32",
        "hif8": "f32",
        "f4E1M2x2": "bf16",
        "f4E2M1x2": "bf16",
    }
)
"""Source element type -> documented destination element types."""

UNDOCUMENTED_PAIR: Final = "tcvt-pair-undocumented"
LOW_PRECISION_PAIR: Final = "tcvt-lowprec-pair"


def tcvt_finding(table: PairTable, src: str, dst: str) -> str | None:
    """Returns the rule id a conversion outside ``table`` violates, or ``None`` for a documented pair."""
    if signed_as_signless(dst) in table.get(signed_as_signless(src), ()):
        return None
    return LOW_PRECISION_PAIR if is_low_precision(src) or is_low_precision(dst) else UNDOCUMENTED_PAIR


_WRAPPING: Final = frozenset(
    {("f16", "ui8"), ("f16", "i8"), ("f32", "i16"), ("f16", "i16"), ("i64", "i32"), ("i32", "i16")}
)


def default_saturation(backend: Backend, release: Release) -> str | None:
    """Returns the default saturation mode; ``None`` for that of the pair. The templates of ``vpto`` have one default
    per pair, in every release."""
    return "ON" if backend == "emitc" and release.has("tcvt-saturation") else None


def wraps_by_default(src: str, dst: str) -> bool:
    """Returns whether a narrowing pair keeps the low bits where neither the program nor the release states saturation;
    on a2a3 all other pairs saturate."""
    return (signed_as_signless(src), signed_as_signless(dst)) in _WRAPPING


_LARGEST_FLOATS: Final = {"f16": 65504, "bf16": 2**128 - 2**120, "f32": 2**128 - 2**104}
_INTEGER: Final = re.compile(r"[su]?i(\d+)")


def fits_always(src: str, dst: str) -> bool:
    """Returns whether every finite number of the source type is in the range of the destination type, and no infinity
    becomes an integer."""
    largest = _LARGEST_FLOATS.get(dst)
    if src in _LARGEST_FLOATS:
        return largest is not None and _LARGEST_FLOATS[src] <= largest
    given, wanted = _integers(src), _integers(dst)
    if largest is not None:
        return given is not None and given[-1] <= largest
    return given is not None and wanted is not None and given[0] in wanted and given[-1] in wanted


def _integers(element: str) -> range | None:
    """Returns the integers of a type."""
    match = _INTEGER.fullmatch(element)
    if match is None:
        return None
    bits = int(match[1])
    return range(2**bits) if element[0] == "u" else range(-(2 ** (bits - 1)), 2 ** (bits - 1))
