"""Which operations compute each row of their results from the same row of their tiles.

Source: docs/reference/tiles.md, "Elementwise", "Broadcasts and reductions".
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.tile.elementwise import TCvtOp
from pto_dialect.passes.lower_vector.reduce import ROWS
from pto_dialect.passes.lower_vector.table import row_of


class NotTiledError(Exception):
    """Why an operation cannot be tiled."""

    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason


def works_row_by_row(op: PtoOp) -> bool:
    """Whether the rows of an operation do not depend on each other."""
    return row_of(op) is not None or isinstance(op, TCvtOp) or ROWS.get(op.name) is not None


def once_for_all_rows(op: PtoOp, value: SSAValue) -> bool:
    """Whether a tile has one row that serves all rows."""
    row = row_of(op)
    return row is not None and bool(row.spread) and value in operand_groups(op)[row.spread]
