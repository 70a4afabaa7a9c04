"""Reaching definitions of buffers in a structured program.

Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups

from .webs import transfer

Last = Mapping[SSAValue, dict[Operation | None, None]]
"""The operations that may have written each buffer last, in the order of the program; ``None`` where none has."""


class Definitions:
    """The definitions of some buffers that reach each operation that uses one of them.

    Raises :class:`~.webs.UnfollowedError` for unsupported control flow.
    """

    def __init__(self, entry: Block, buffers: Collection[SSAValue]) -> None:
        self.buffers = frozenset(buffers)
        self._before: dict[Operation, Last] = {}
        self._forward(entry, {buffer: {None: None} for buffer in buffers})

    def only(self, op: Operation, buffer: SSAValue) -> Operation | None:
        """The unique definition of ``buffer`` that must reach ``op``.

        No other operation writes the buffer in between. All loops around the definition enclose ``op``, and it comes
        first in their bodies, so both are in the same iteration.
        """
        last = self.ends(op, buffer)
        return last[0] if len(last) == 1 else None

    def ends(self, op: Operation, buffer: SSAValue) -> list[Operation | None]:
        """The operations that may have written ``buffer`` last when ``op`` runs, ``None`` for none of them and where
        ``op`` never runs."""
        last = self._before.get(op, {}).get(buffer, {None: None})
        return list(last)

    def _forward(self, block: Block, last: Last) -> Last:
        for op in block.ops:
            if not self.buffers.isdisjoint(op.operands):
                self._before[op] = last
                written = {one for one in _written(op) if one in self.buffers}
                if written:
                    last = {**last, **{buffer: {op: None} for buffer in written}}
            last = transfer(op, last, self._forward, _merged)
        return last


def _written(op: Operation) -> tuple[SSAValue, ...]:
    if not isinstance(op, PtoOp):
        return ()
    groups = operand_groups(op)
    return tuple(value for name in op_spec(type(op)).writes for value in groups.get(name, ()))


def _merged(one: Last, other: Last) -> Last:
    return {buffer: {**writes, **other[buffer]} for buffer, writes in one.items()}
