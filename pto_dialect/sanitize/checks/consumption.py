"""Which operations only move data, and which compute with it.

Reading bytes that were never written is a mistake where they are used; what moves them carries the mark along.  One
statement per family of operations, with its exceptions.  Source: docs/reference/watching.md, "Findings".
"""

from __future__ import annotations

from pto_dialect.ir.core.index import OPS

MOVING_FAMILIES = frozenset(
    (
        *("mte", "mte_raw", "dma", "fixpipe", "tile_move", "tile_memory", "pipes"),
        *("vector_memory", "predicate_memory", "vmi_load", "vmi_store"),
    )
)
"""Families whose operations copy, convert element by element, or pad."""

COMPUTING = frozenset(("pto.tgetval", "pto.tprint", "pto.set_quant_vector"))
"""Operations of those families that use the values they read."""

MOVING = frozenset(("memref.copy",))
"""Operations of other families that move data."""


def moves(name: str) -> bool:
    """True when the operation called ``name`` passes on what it reads without looking at it."""
    if name in COMPUTING:
        return False
    return name in MOVING or (name in OPS and OPS[name][0] in MOVING_FAMILIES)
