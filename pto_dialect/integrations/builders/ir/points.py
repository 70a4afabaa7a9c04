"""Where operations are inserted."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation as XOperation
from xdsl.traits import IsTerminator

from .context import Current, Entered, Top, stack
from .parts import PartOfProgram
from .structure import Block, operation_in, operation_of


class InsertionPoint(PartOfProgram, Entered):
    """Where operations are inserted: before an operation, or at the end of a block."""

    current = Current("point")

    __slots__ = ("_before", "block")

    def __init__(self, beforeOperation: Any) -> None:
        self._before: XOperation | None = None
        if isinstance(beforeOperation, Block):
            self.block = beforeOperation
            return
        before = operation_in(beforeOperation, "what an InsertionPoint takes, unless it is a Block,")
        if before.parent is None:
            raise ValueError("this operation is in no block, so nothing can be inserted before it")
        self._before = before
        self.block = Block(before.parent)

    @classmethod
    def at_block_begin(cls, block: Block) -> InsertionPoint:
        """Returns the point before the first operation of a block."""
        point = cls(block)
        point._before = point.block._x.first_op
        return point

    @classmethod
    def at_block_terminator(cls, block: Block) -> InsertionPoint:
        """Returns the point before the terminator of a block. Raises ``ValueError`` where it has none."""
        point = cls(block)
        last = point.block._x.last_op
        if last is None or not last.has_trait(IsTerminator):
            raise ValueError("this block has no terminator")
        point._before = last
        return point

    @classmethod
    def after(cls, op: Any) -> InsertionPoint:
        """Returns the point after an operation."""
        point = cls(op)
        assert point._before is not None
        point._before = point._before.next_op
        return point

    @property
    def ref_operation(self) -> Any:
        """The operation before which others are inserted; ``None`` at the end of the block."""
        return None if self._before is None else operation_of(self._before)

    def _top(self) -> Top:
        return Top(self, self.block.context, None, self)

    def insert(self, operation: Any) -> None:
        """Inserts an operation that is in no block."""
        made = operation_in(operation, "what is inserted")
        if made.parent is not None:
            raise ValueError("this operation is in a block already")
        self._insert(made)

    def _insert(self, operation: XOperation) -> None:
        if self._before is None:
            self.block._x.add_op(operation)
        else:
            self.block._x.insert_op_before(operation, self._before)


def current_point() -> InsertionPoint | None:
    """Returns the current insertion point; ``None`` where there is none."""
    point = stack.entries[-1].point if stack.entries else None
    assert point is None or isinstance(point, InsertionPoint)
    return point
