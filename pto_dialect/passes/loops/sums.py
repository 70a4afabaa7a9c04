"""``sums-in-place``: accumulating products write the accumulator that they read, as the hardware does.

Source: docs/reference/numerics.md, "Matrix products".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.analysis.alias import is_passed_on
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.buffers.views import AllocTileOp
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.location import set_location, span_of
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import DYNAMIC, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.cube.matmul import AccumulatingProductOp, AccumulatingScaledProductOp, PhasedProductOp
from pto_dialect.passes.base import PtoPass

from .webs import UnfollowedError, Webs, Write

SUMS = (AccumulatingProductOp, AccumulatingScaledProductOp)
"""Accumulating products."""


@dataclass(frozen=True)
class SumsInPlacePass(PtoPass):
    """Lets a product write the accumulator that it adds to, where nobody needs what that held; other uses of the value
    follow. Accumulators without address, whose sizes are stated and of which no handle shows a part, are followed."""

    name: ClassVar[str] = "sums-in-place"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``."""
        for op in list(walk(module)):
            if has_role(op, Role.FUNCTION) and op.regions[0].blocks:
                InPlace(op).write()


class InPlace:
    """Which sums of a function can be in the accumulators that they add to.

    ``apart`` has the products that cannot write the accumulator that they read.
    """

    def __init__(self, function: Operation) -> None:
        self.sums = [op for op in walk(function) if isinstance(op, SUMS)]
        self.apart = [op for op in self.sums if not is_in_place(op)]
        self.webs: Webs | None = None
        self._merged: dict[Write, set[SSAValue]] = {}
        buffers = [op.results[0] for op in walk(function) if isinstance(op, AllocTileOp) and is_supported(op, "acc")]
        if not self.apart or len(function.regions[0].blocks) > 1:
            return
        try:
            self.webs = Webs(function.regions[0].blocks[0], buffers, PhasedProductOp)
        except UnfollowedError:
            return
        self._join(self.webs)

    def _join(self, webs: Webs) -> None:
        pairs = {op: values for op in self.sums if (values := _values(webs, op)) is not None}
        for op, values in pairs.items():
            if is_in_place(op):
                webs.join(*values)
        for values in pairs.values():
            one, other = map(webs.value, values)
            if one == other or webs.together(one, other) or {one, other} & webs.held_before():
                continue
            buffers = self._merged.get(one, {one.buffer}) | self._merged.get(other, {other.buffer})
            if len({buffer.owner.parent for buffer in buffers if isinstance(buffer.owner, Operation)}) > 1:
                continue
            for value in (one, other):
                self._merged.pop(value, None)
            self._merged[webs.join(one, other)] = buffers
        self.apart = [op for op in self.apart if op not in pairs or len(set(map(webs.value, pairs[op]))) > 1]

    def write(self) -> None:
        """Puts the sums there."""
        if self.webs is not None:
            _rename(self.webs, self._merged)


def _values(webs: Webs, op: Operation) -> tuple[Write, Write] | None:
    """Returns the accumulator operand and the result of a product, where both are supported and of equal type."""
    start, dst = accumulator_of(op), find(op, "dst")
    if start not in webs.buffers or dst not in webs.buffers:
        return None
    assert start is not None
    assert dst is not None
    numbers = [number for number, value in enumerate(op.operands) if value in (start, dst)]
    if start.type != dst.type or (op, numbers[0]) not in webs.seen:
        return None
    return webs.seen[op, numbers[0]], webs.seen[op, numbers[-1]]


def accumulator_of(op: Operation) -> SSAValue | None:
    """Returns the accumulator operand of a product; ``None`` for any other operation."""
    return find(op, "acc_in" if isinstance(op, AccumulatingProductOp) else "c_in") if isinstance(op, SUMS) else None


def is_in_place(op: Operation) -> bool:
    """Returns whether a product writes the sum where it was."""
    return accumulator_of(op) is find(op, "dst")


def is_supported(op: AllocTileOp, *places: str) -> bool:
    """Returns whether a tile lies in one of some memories, has no address yet and sizes that are stated, and no handle
    shows a part of it."""
    type_ = op.result.type
    assert isinstance(type_, TileBufType)
    if type_.loc not in places or op.addr is not None:
        return False
    if DYNAMIC in (type_.valid_rows, type_.valid_cols):
        return False
    return not is_passed_on(op.result, _touches_memory)


def _touches_memory(op: Operation) -> bool:
    # Handles are results, but for a change of sizes, which are stated then.
    return isinstance(op, PtoOp) and not op.results


def _rename(webs: Webs, merged: dict[Write, set[SSAValue]]) -> None:
    """Gives each value that was made of several a buffer of its own."""
    homes: dict[Write, SSAValue] = {}
    for value, buffers in merged.items():
        allocations = [member.owner for member in buffers]
        homes[value] = _allocate_before([one for one in allocations if isinstance(one, AllocTileOp)])
    for (op, number), write in webs.seen.items():
        home = homes.get(webs.value(write))
        if home is not None:
            op.operands[number] = home
    for buffer in webs.buffers:
        if not buffer.uses and any(buffer in one for one in merged.values()):
            assert isinstance(buffer.owner, AllocTileOp)
            buffer.owner.detach()
            buffer.owner.erase()


def _allocate_before(allocations: list[AllocTileOp]) -> SSAValue:
    """Allocates a buffer before the first of some operations."""
    block = allocations[0].parent
    assert block is not None
    first = next(op for op in block.ops if op in allocations)
    made = first.clone()
    Rewriter.insert_op(made, InsertPoint.before(first))
    made.results[0].name_hint = first.results[0].name_hint
    if (span := span_of(first)) is not None:
        set_location(made, span)
    return made.results[0]
