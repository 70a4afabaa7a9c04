"""Tile rules that differ between the profiles and are no table of types. Source: docs/reference/targets.md, "Element
types".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ROWEXPAND_TMP_OPS: Final = frozenset(f"trowexpand{suffix}" for suffix in ("sub", "mul", "div", "max", "min", "expdif"))
"""Operations whose scratch operand ``TileRules.rowexpand_tmp`` applies to."""


@dataclass(frozen=True, slots=True)
class TileRules:
    """Per-profile behaviour of single tile operations.

    ``None`` in a set-valued field means that everything is allowed; a severity field holds ``error``,
    ``warning`` or ``None`` (allowed).
    """

    tload_wide_pads: frozenset[str] | None
    """Pad kinds of a tload of 8-byte elements."""
    tload_vec_layouts: frozenset[str] | None
    """Short layout names of a vec destination of tload."""
    ttrans_major_align: int | None
    """Bytes the major dimension of source and destination of ttrans is a multiple of."""
    rowexpand_tmp: str | None
    """Severity of a scratch operand on ``ROWEXPAND_TMP_OPS``."""
    trecip_in_place: str | None
    """Severity of a trecip whose source is its destination."""
    tprelu_shared: str | None
    """Severity of tprelu operands that share storage."""
    select_tmp_ignored: bool
    """Whether the scratch operand of tsel, tsels and tprelu is an ignored placeholder."""


A2A3_TILE_RULES: Final = TileRules(
    tload_wide_pads=None,
    tload_vec_layouts=None,
    ttrans_major_align=None,
    rowexpand_tmp=None,
    trecip_in_place="error",
    tprelu_shared="error",
    select_tmp_ignored=False,
)
A5_TILE_RULES: Final = TileRules(
    tload_wide_pads=frozenset({"null", "zero"}),
    tload_vec_layouts=frozenset({"ND", "DN", "NZ"}),
    ttrans_major_align=32,
    rowexpand_tmp="warning",
    trecip_in_place=None,
    tprelu_shared=None,
    select_tmp_ignored=True,
)
