"""The a5 profile, and cpu-sim with the same tables.  Source: docs/reference/targets.md, "Choice of the target"."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from .dma_units import A5_BURST_UNITS
from .matmul_types import A5_MX_TRIPLES, A5_TRIPLES, MAD_DOCUMENTED, MAD_MX, MAD_UNDOCUMENTED
from .memory import A5_CAPACITY, A5_PLANNER_LIMIT, BASE_ALIGNMENT, LOC_TO_SPACE, SPACE_ALIASES
from .op_availability import A5_FOREIGN_LEVELS, A5_FOREIGN_PREFIXES, A5_LOW_PRECISION_OPS, A5_UNAVAILABLE
from .profile import Profile
from .sync_resources import A5_SYNC
from .tcvt_pairs import A5_TCVT_PAIRS
from .tile_dtypes import A5_DOCUMENTED_DTYPES, A5_GATHER_COMPARE_EQ_ONLY, A5_GATHER_INDEX, A5_TILE_DTYPES
from .tile_layouts import A5_LAYOUTS
from .tile_pairs import (
    A5_ACC_MOVE,
    A5_ACC_MOVE_QUANT,
    A5_ACC_STORE,
    A5_QUANT_MODE,
    A5_TEXTRACT,
    A5_TINSERT,
    A5_TMOV,
    A5_TSTORE_SOURCES,
    TLOAD_DESTINATIONS,
)
from .tile_rules import A5_TILE_RULES

A5: Final = Profile(
    name="a5",
    arch="a5",
    capacity=A5_CAPACITY,
    planner_limit=A5_PLANNER_LIMIT,
    alignment=BASE_ALIGNMENT,
    loc_to_space=LOC_TO_SPACE,
    space_aliases=SPACE_ALIASES,
    burst_units=A5_BURST_UNITS,
    matmul_triples=A5_TRIPLES,
    mx_triples=A5_MX_TRIPLES,
    mad_documented=MAD_DOCUMENTED,
    mad_undocumented=MAD_UNDOCUMENTED,
    mad_mx=MAD_MX,
    layouts=A5_LAYOUTS,
    tile_dtypes=A5_TILE_DTYPES,
    documented_dtypes=A5_DOCUMENTED_DTYPES,
    gather_index=A5_GATHER_INDEX,
    gather_compare_eq_only=A5_GATHER_COMPARE_EQ_ONLY,
    low_precision_ops=A5_LOW_PRECISION_OPS,
    unavailable_ops=A5_UNAVAILABLE,
    foreign_levels=A5_FOREIGN_LEVELS,
    foreign_prefixes=A5_FOREIGN_PREFIXES,
    tmov_pairs=A5_TMOV,
    textract_pairs=A5_TEXTRACT,
    tinsert_pairs=A5_TINSERT,
    tload_destinations=TLOAD_DESTINATIONS,
    tstore_sources=A5_TSTORE_SOURCES,
    acc_move=A5_ACC_MOVE,
    acc_move_quant=A5_ACC_MOVE_QUANT,
    acc_store=A5_ACC_STORE,
    acc_quant_mode=A5_QUANT_MODE,
    tcvt_pairs=A5_TCVT_PAIRS,
    tile_rules=A5_TILE_RULES,
    sync=A5_SYNC,
)

# The simulator follows the a5 rules under its own name.
CPU_SIM: Final = replace(A5, name="cpu-sim")
