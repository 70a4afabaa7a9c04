"""Element types and extents of matrix multiplications.

Tile level: docs/reference/targets.md, "Matrix products of tiles".
Micro level: docs/reference/targets.md, "Products on pointers".
"""

from __future__ import annotations

from typing import Final

from .element_types import FP4, FP8, finite_spelling, signed_as_signless, signless

Triple = tuple[str, str, str]

COMMON_TRIPLES: Final[frozenset[Triple]] = frozenset(
    {("i32", "i8", "i8"), ("f32", "f16", "f16"), ("f32", "bf16", "bf16"), ("f32", "f32", "f32")}
)
A2A3_TRIPLES: Final = COMMON_TRIPLES
A5_TRIPLES: Final[frozenset[Triple]] = (
    COMMON_TRIPLES | {("f32", lhs, rhs) for lhs in FP8 for rhs in FP8} | {("f32", "hif8", "hif8")}
)
"""Triples of tmatmul, tgemv and their .acc and .bias forms; ``i8`` stands for every 8-bit integer."""

A2A3_MX_TRIPLES: Final[frozenset[Triple]] = frozenset()
A5_MX_TRIPLES: Final[frozenset[Triple]] = frozenset(
    ("f32", lhs, rhs) for family in (FP8, FP4) for lhs in family for rhs in family
)
"""Triples of the MX forms: any mix inside the fp8 family or inside the fp4 family."""

MX_SCALE_TYPES: Final = frozenset({"f8E8M0", "ui8", "i8"})
MX_SCALE_GROUP: Final = 32
"""Elements of K that share one scale."""

MX_K_MULTIPLE: Final = 64
"""Physical K of an MX multiplication is a multiple of this."""

MX_BIAS_TYPE: Final = "f32"
"""Bias of an MX form.  Every other bias has the element type of the destination."""

EXTENT_RANGE: Final = (1, 4095)
"""Inclusive range of M, K and N, tile level and micro level (12-bit fields of the control word)."""

MAD_DOCUMENTED: Final[frozenset[Triple]] = frozenset(
    {
        ("f16", "f16", "f32"),
        ("bf16", "bf16", "f32"),
        ("f32", "f32", "f32"),
        ("i8", "i8", "i32"),
        ("hif8", "hif8", "f32"),
        *((lhs, rhs, "f32") for lhs in FP8 for rhs in FP8),
    }
)
MAD_UNDOCUMENTED: Final[frozenset[Triple]] = frozenset(
    {
        ("f16", "f16", "f16"),
        ("f16", "f16", "i32"),
        ("f16", "i4", "f32"),
        ("f16", "i8", "f32"),
        ("f16", "ui2", "f32"),
        ("f16", "f8E8M0", "f32"),
        ("i4", "i4", "i32"),
        ("ui8", "ui8", "i32"),
        ("ui8", "i8", "i32"),
        ("i8", "ui8", "i32"),
    }
)
"""Combinations accepted with the warning ``mad-combo-undocumented``."""

MAD_MX: Final[frozenset[Triple]] = frozenset((lhs, rhs, dst) for dst, lhs, rhs in A5_MX_TRIPLES)

MAD_EVEN_K_BITS: Final = 4
"""Operands of this many bits need an even K."""

TF32_COMBO: Final[Triple] = ("f32", "f32", "f32")
"""The only combination that accepts ``tf32_mode``."""


def tile_key(dst: str, lhs: str, rhs: str) -> Triple:
    """Returns the spelling under which the tile-level tables hold a triple: integers signless."""
    return signless(dst), signless(lhs), signless(rhs)


def mad_key(lhs: str, rhs: str, dst: str) -> Triple:
    """Returns the key of a combination in the micro-level tables: signed integers signless, one e4m3."""
    lhs, rhs = finite_spelling(lhs), finite_spelling(rhs)
    return signed_as_signless(lhs), signed_as_signless(rhs), signed_as_signless(dst)


def mad_status(lhs: str, rhs: str, dst: str) -> str | None:
    """Returns ``documented``, ``undocumented`` or ``None`` (refused) for a non-MX combination."""
    key = mad_key(lhs, rhs, dst)
    if key in MAD_DOCUMENTED:
        return "documented"
    return "undocumented" if key in MAD_UNDOCUMENTED else None
