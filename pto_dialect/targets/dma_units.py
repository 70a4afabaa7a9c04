"""Units in which data-movement operations count lengths and strides.

Source: docs/reference/layouts.md, "Transfers".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class BurstUnit(NamedTuple):
    """Units of one operation.

    ``bytes`` is the unit of the burst length. ``stride`` states what a stride measures: ``start`` is the distance
    between the starts of two bursts, ``gap`` the distance from the end of one to the start of the next, in the same
    unit.
    """

    bytes: int
    stride: str


_BYTES = BurstUnit(1, "start")
_BLOCKS = BurstUnit(32, "gap")

_COMMON: Final = {
    **dict.fromkeys(("mte_gm_ub", "mte_ub_gm", "mte_gm_l1"), _BYTES),
    **dict.fromkeys(("copy_gm_to_ubuf", "copy_ubuf_to_gm"), _BYTES),
    **dict.fromkeys(("mte_l1_ub", "mte_ub_l1", "mte_ub_ub"), _BLOCKS),
    **dict.fromkeys(("copy_cbuf_to_ubuf", "copy_ubuf_to_cbuf", "copy_ubuf_to_ubuf"), _BLOCKS),
    "copy_gm_to_cbuf": _BLOCKS,
}

A2A3_BURST_UNITS: Final[Mapping[str, BurstUnit]] = MappingProxyType(
    {**_COMMON, "mte_l1_bt": BurstUnit(64, "gap"), "mte_l1_fb": BurstUnit(128, "gap")}
)
A5_BURST_UNITS: Final[Mapping[str, BurstUnit]] = MappingProxyType(
    {**_COMMON, "mte_l1_bt": BurstUnit(32, "gap"), "mte_l1_fb": BurstUnit(64, "gap")}
)
"""Burst unit per operation; for ``mte_l1_bt`` the unit counts bytes of the source."""

COUNT_BITS: Final = 21
PAD_COUNT_BITS: Final = 8
GM_STRIDE_BITS: Final = 40
LOCAL_STRIDE_BITS: Final = 21
"""Widths of the fields that hold burst counts, padding counts, and strides on the global and the on-chip side.
Source: docs/reference/constraints.md, "Transfers"."""

LOCAL_ALIGNMENT: Final = 32
"""Alignment in bytes of burst addresses in the unified buffer and in L1."""

L2_HINT_LIMIT: Final = 15
"""Largest value of an L2 cache hint."""
