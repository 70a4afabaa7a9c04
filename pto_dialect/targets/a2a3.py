"""The a2a3 profile.  Source: docs/reference/targets.md, "Choice of the target"."""

from __future__ import annotations

from typing import Final

from .dma_units import A2A3_BURST_UNITS
from .matmul_types import A2A3_MX_TRIPLES, A2A3_TRIPLES, MAD_DOCUMENTED, MAD_MX, MAD_UNDOCUMENTED
from .memory import A2A3_CAPACITY, A2A3_PLANNER_LIMIT, BASE_ALIGNMENT, LOC_TO_SPACE, SPACE_ALIASES
from .op_availability import A2A3_FOREIGN_LEVELS, A2A3_FOREIGN_PREFIXES, A2A3_LOW_PRECISION_OPS, A2A3_UNAVAILABLE
from .profile import Profile
from .sync_resources import A2A3_SYNC
from .tcvt_pairs import A2A3_TCVT_PAIRS
from .tile_dtypes import A2A3_DOCUMENTED_DTYPES, A2A3_GATHER_COMPARE_EQ_ONLY, A2A3_GATHER_INDEX, A2A3_TILE_DTYPES
from .tile_layouts import A2A3_LAYOUTS
from .tile_pairs import (
    A2A3_ACC_MOVE,
    A2A3_ACC_MOVE_QUANT,
    A2A3_ACC_STORE,
    A2A3_QUANT_MODE,
    A2A3_TEXTRACT,
    A2A3_TINSERT,
    A2A3_TMOV,
    A2A3_TSTORE_SOURCES,
    TLOAD_DESTINATIONS,
)
from .tile_rules import A2A3_TILE_RULES

A2A3: Final = Profile(
    name="a2a3",
    arch="a2a3",
    capacity=A2A3_CAPACITY,
    planner_limit=A2A3_PLANNER_LIMIT,
    alignment=BASE_ALIGNMENT,
    loc_to_space=LOC_TO_SPACE,
    space_aliases=SPACE_ALIASES,
    burst_units=A2A3_BURST_UNITS,
    matmul_triples=A2A3_TRIPLES,
    mx_triples=A2A3_MX_TRIPLES,
    # Micro-level verifiers do not look at the target: mad under a2a3 is reported as arch-mix, and its types
    # are checked like those of any other mad.
    mad_documented=MAD_DOCUMENTED,
    mad_undocumented=MAD_UNDOCUMENTED,
    mad_mx=MAD_MX,
    layouts=A2A3_LAYOUTS,
    tile_dtypes=A2A3_TILE_DTYPES,
    documented_dtypes=A2A3_DOCUMENTED_DTYPES,
    gather_index=A2A3_GATHER_INDEX,
    gather_compare_eq_only=A2A3_GATHER_COMPARE_EQ_ONLY,
    low_precision_ops=A2A3_LOW_PRECISION_OPS,
    unavailable_ops=A2A3_UNAVAILABLE,
    foreign_levels=A2A3_FOREIGN_LEVELS,
    foreign_prefixes=A2A3_FOREIGN_PREFIXES,
    tmov_pairs=A2A3_TMOV,
    textract_pairs=A2A3_TEXTRACT,
    tinsert_pairs=A2A3_TINSERT,
    tload_destinations=TLOAD_DESTINATIONS,
    tstore_sources=A2A3_TSTORE_SOURCES,
    acc_move=A2A3_ACC_MOVE,
    acc_move_quant=A2A3_ACC_MOVE_QUANT,
    acc_store=A2A3_ACC_STORE,
    acc_quant_mode=A2A3_QUANT_MODE,
    tcvt_pairs=A2A3_TCVT_PAIRS,
    tile_rules=A2A3_TILE_RULES,
    sync=A2A3_SYNC,
)
