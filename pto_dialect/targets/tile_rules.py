"""Tile rules that differ between the profiles and are no table of types. Source: docs/reference/targets.md, "Element
types".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

ROWEXPAND_TMP_OPS: Final = frozenset(f"trowexpand{suffix}" for suffix in ("sub", "mul", "div", "max", "min", "expdif"))
"""Operations whose scratch operand ``TileRules.rowexpand_tmp`` speaks about."""


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
    tmov_equal_shapes: bool
    """Whether every tmov needs equal physical shapes (otherwise only a mat source does)."""
    tmov_mx_scale: bool
    """Whether mat->scaling may fill an MX scale memory."""
    tmov_zz_reorder: bool
    """Whether vec->vec may reorder MX scales into the ZZ layout."""
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
    select_tmp_type: str | None
    """Element type of that scratch operand where its content matters."""
    texpands_col_major: str | None
    """Severity of a col_major vec destination of texpands."""
    gm_slot_tensors: str | None
    """Severity of pipe entries that go through a GM slot tensor, and of ``local_slot_num``."""
    cube_to_vector: str
    """Transport of a cross-core entry from cube to vector: ``gm`` or ``l0c_ub``."""
    vector_to_cube: str
    """Transport of a cross-core entry from vector to cube: ``gm`` or ``ub_l1``."""


A2A3_TILE_RULES: Final = TileRules(
    tload_wide_pads=None,
    tload_vec_layouts=None,
    tmov_equal_shapes=True,
    tmov_mx_scale=False,
    tmov_zz_reorder=False,
    ttrans_major_align=None,
    rowexpand_tmp=None,
    trecip_in_place="error",
    tprelu_shared="error",
    select_tmp_ignored=False,
    select_tmp_type="ui8",
    texpands_col_major="error",
    gm_slot_tensors=None,
    cube_to_vector="gm",
    vector_to_cube="gm",
)
A5_TILE_RULES: Final = TileRules(
    tload_wide_pads=frozenset({"null", "zero"}),
    tload_vec_layouts=frozenset({"ND", "DN", "NZ"}),
    tmov_equal_shapes=False,
    tmov_mx_scale=True,
    tmov_zz_reorder=True,
    ttrans_major_align=32,
    rowexpand_tmp="warning",
    trecip_in_place=None,
    tprelu_shared=None,
    select_tmp_ignored=True,
    select_tmp_type=None,
    texpands_col_major=None,
    gm_slot_tensors="error",
    cube_to_vector="l0c_ub",
    vector_to_cube="ub_l1",
)
