"""Classification of operations into data movement and computation.

Reading uninitialized bytes is a mistake where they are used; data movement propagates the mark.  One statement per
family of operations, with its exceptions.  Source: docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.ir.core.registry import family_of_name
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.sync.pipes import SetQuantVectorOp
from pto_dialect.ir.tile.memory import TGetValOp, TPrintOp

MOVING_FAMILIES = frozenset(
    (
        *("mte", "mte_raw", "dma", "fixpipe", "tile_move", "tile_memory", "pipes"),
        *("vector_memory", "predicate_memory", "vmi_load", "vmi_store"),
    )
)
"""Families whose operations copy, convert element by element, or pad."""

COMPUTING = (TGetValOp, TPrintOp, SetQuantVectorOp)
"""Operations of those families that use the values they read."""


def moves(op: Operation) -> bool:
    """Returns whether ``op`` passes on what it reads without using it."""
    if isinstance(op, COMPUTING):
        return False
    return has_role(op, Role.COPY) or family_of_name(op.name) in MOVING_FAMILIES
