"""Limits of one chip generation. Source: docs/reference/targets.md, "Memories", "Synchronisation resources"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from .dma_units import BurstUnit
from .element_types import is_low_precision, row_admits
from .matmul_types import Triple, mad_status, tile_key
from .memory import BaseAlignment
from .sync_resources import SyncResources
from .tcvt_pairs import PairTable, tcvt_finding
from .tile_dtypes import SIGNLESS_ONLY, DtypeTable
from .tile_layouts import LayoutRequirement
from .tile_pairs import AccStore, ElemPair, LocPair
from .tile_rules import TileRules

MOST_BLOCKS = 65_535
"""Blocks that the chips can launch at once: they count them in 16 bits."""


@dataclass(frozen=True, slots=True, eq=False)
class Profile:
    """The tables of one target.  Sizes are bytes; operations are named without ``pto.``."""

    name: str
    """Name of the tool option: ``a2a3``, ``a5`` or ``cpu-sim``."""
    arch: str
    """Name of the rule set: ``a2a3`` or ``a5``."""

    # memory
    capacity: Mapping[str, int | None]
    planner_limit: Mapping[str, int]
    alignment: Mapping[str, BaseAlignment]
    loc_to_space: Mapping[str, str]
    space_aliases: Mapping[str, str]
    burst_units: Mapping[str, BurstUnit]

    # matrix multiplication
    matmul_triples: frozenset[Triple]
    mx_triples: frozenset[Triple]
    mad_documented: frozenset[Triple]
    mad_undocumented: frozenset[Triple]
    mad_mx: frozenset[Triple]

    # layouts
    layouts: Mapping[str, LayoutRequirement]

    # tile operations
    tile_dtypes: DtypeTable
    documented_dtypes: DtypeTable
    gather_index: frozenset[str]
    gather_compare_eq_only: frozenset[str]
    low_precision_ops: frozenset[str]
    unavailable_ops: frozenset[str]
    foreign_levels: frozenset[str]
    foreign_prefixes: tuple[str, ...]
    tmov_pairs: frozenset[LocPair]
    textract_pairs: frozenset[LocPair]
    tinsert_pairs: frozenset[LocPair]
    tload_destinations: frozenset[str]
    tstore_sources: frozenset[str]
    acc_move: frozenset[ElemPair]
    acc_move_quant: frozenset[ElemPair]
    acc_store: AccStore
    acc_quant_mode: Mapping[ElemPair, str]
    tcvt_pairs: PairTable
    tile_rules: TileRules

    # synchronisation
    sync: SyncResources

    def dtype_allowed(self, op: str, elem: str) -> bool:
        """Returns whether ``op`` (with its form, e.g. ``tgather[index]``) accepts tiles of element type ``elem``.

        True for an operation without a row: its element types do not depend on the target.
        """
        row = self.tile_dtypes.get(op)
        return row is None or row_admits(row, elem, any_sign=op not in SIGNLESS_ONLY)

    def low_precision_allowed(self, op: str, elem: str) -> bool:
        """Returns whether ``op`` (without form) may touch a tile of type ``elem`` as far as ``tile-lowprec`` goes."""
        return op in self.low_precision_ops or not is_low_precision(elem)

    def available(self, op: str) -> bool:
        """Returns whether the tile operation ``op`` (without form) exists on this target."""
        return op not in self.unavailable_ops

    def is_foreign(self, op: str, level: str) -> bool:
        """Returns whether an operation of catalogue level ``level`` belongs to the other chip generation."""
        return level in self.foreign_levels or op.startswith(self.foreign_prefixes)

    def matmul_allowed(self, dst: str, lhs: str, rhs: str) -> bool:
        """Returns whether tmatmul and tgemv accept the element types; 8-bit and 32-bit integers of any sign."""
        return tile_key(dst, lhs, rhs) in self.matmul_triples

    def mx_allowed(self, dst: str, lhs: str, rhs: str) -> bool:
        """Returns whether the MX forms of tmatmul and tgemv accept the element types."""
        return (dst, lhs, rhs) in self.mx_triples

    def mad_status(self, lhs: str, rhs: str, dst: str) -> str | None:
        """Returns ``documented``, ``undocumented`` (warning) or ``None`` (error) for a micro-level combination."""
        return mad_status(lhs, rhs, dst)

    def tcvt_finding(self, src: str, dst: str) -> str | None:
        """Returns the rule id that a tcvt ``src`` -> ``dst`` violates, or ``None`` for a documented pair."""
        return tcvt_finding(self.tcvt_pairs, src, dst)

    def capacity_of(self, space: str) -> int | None:
        """Bytes of a space named by pointer name or tile location; ``None`` for gm.

        Raises ``KeyError`` for an unknown name.
        """
        return self.capacity[self.space_aliases[space]]
