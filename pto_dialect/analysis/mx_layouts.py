"""Which views of global memory hold MX scales in blocks of 16 x 2.

Source: docs/reference/layouts.md, "MX scales".
"""

from __future__ import annotations

from typing import Final

from xdsl.ir import SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.roles import Role, has_role

MX_LAYOUTS: Final = ("mx_a_zz", "mx_b_nn")
"""Layouts of views in blocks: scales of left operands, whose columns are groups, and of right ones, whose rows are."""


def inferred_layout(view: SSAValue) -> str | None:
    """Returns the block layout that all loads of a view of scales require, from the matrix tiles they fill; ``None``
    where they disagree.

    A single row of scales is contiguous.
    """
    layouts: set[str | None] = set()
    pending = [view]
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if has_role(op, Role.PART):
                pending.extend(op.results)
            elif has_role(op, Role.TILE_LOAD) and isinstance(op, PtoOp):
                operands = operand_groups(op)["dst"]
                layouts.add(_layout_of(operands[0] if operands else op.results[0]))
    return layouts.pop() if len(layouts) == 1 else None


def _layout_of(tile: SSAValue) -> str | None:
    type_ = tile.type
    if not isinstance(type_, t.TileBufType) or type_.loc != "mat" or t.element_name(type_.element) != "f8E8M0":
        return None
    match type_.blayout, type_.slayout:
        case "row_major", "row_major":
            return "mx_a_zz" if type_.rows != 1 else None
        case "col_major", "col_major":
            return "mx_b_nn"
        case _:
            return None
