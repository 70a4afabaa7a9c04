"""Variance analysis: which values differ between the work-items of a launch.

Values that all running work-items share are plain numbers and pointers; operations on these alone run once. A value
differs when it depends on the id of the work-item, on other lanes or on the order of atomic updates, when it is of a
packed type or in private memory of the work-item, or when work-items may have reached it on different control-flow
paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from pto_dialect.analysis.type_facts import space_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.operands import listed, named
from pto_dialect.ir.core.roles import Role, has_role, roles_of
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.branches import branch_edges, flag_of

if TYPE_CHECKING:
    from xdsl.dialects.scf import ForOp, ParallelOp, WhileOp

    from ..compile.program import Symbols


def is_packed(type_: Attribute) -> bool:
    """Returns whether a type holds several numbers in one value."""
    return isinstance(type_, VectorType) or t.type_text(type_) in ("!pto.hif8x2", "!pto.bf16x2")


def is_private(op: Operation) -> bool:
    """Returns whether an allocation is private memory of each work-item: it names none of the chip's memories."""
    if not has_role(op, Role.ALLOCATION):
        return False
    type_ = op.results[0].type
    return isinstance(type_, MemRefType) and space_of(type_) is None


def is_structured(op: Operation) -> bool:
    """Returns whether an operation is of ``scf``, including those that end its regions."""
    return op.dialect_name() == "scf"


def deciding_values(op: Operation) -> Sequence[SSAValue]:
    """Returns the values that decide what an operation of ``scf`` runs, and how often."""
    # A program with such operations has loaded their dialect.
    from xdsl.dialects import scf  # deferred: start-up

    match op:
        case scf.IfOp():
            return (op.cond,)
        case scf.IndexSwitchOp():
            return (op.arg,)
        case scf.ForOp():
            return (op.lb, op.ub, op.step)
        case scf.ParallelOp():
            return (*op.lowerBound, *op.upperBound, *op.step)
        case scf.WhileOp():
            condition = op.before_region.block.last_op
            return () if condition is None else (named(condition, "condition"),)
        case _:
            return ()


class Variance:
    """The values that differ, in all code that work-items run."""

    def __init__(
        self, symbols: Symbols, bodies: Sequence[Operation], sections: Sequence[Operation], each_access: bool
    ) -> None:
        self._symbols = symbols
        self._sources = Role.VARIES | Role.ELEMENT_LOAD if each_access else Role.VARIES
        self._varying: set[SSAValue] = set()
        self._returned: dict[Operation, set[int]] = {}
        blocks = [block for op in (*bodies, *sections) for block in op.regions[0].blocks]
        for block in blocks:
            for op in walk(block):
                self._mark(value for value in op.results if is_packed(value.type))
                for region in op.regions:
                    self._mark(value for inner in region.blocks for value in inner.args if is_packed(value.type))
            self._mark(value for value in block.args if is_packed(value.type))
        while True:
            before = len(self._varying), sum(map(len, self._returned.values()))
            for op in bodies:
                self._function(op)
            for op in sections:
                self._blocks(op.regions[0].blocks)
            if before == (len(self._varying), sum(map(len, self._returned.values()))):
                break

    def __contains__(self, value: SSAValue) -> bool:
        return value in self._varying

    def any(self, values: Iterable[SSAValue]) -> bool:
        """Returns whether one of the values differs."""
        return any(value in self._varying for value in values)

    def returned(self, function: Operation, position: int) -> bool:
        """Returns whether a result of a function differs."""
        return position in self._returned.get(function, ())

    # ------------------------------------------------------------ propagation

    def _mark(self, values: Iterable[SSAValue]) -> None:
        self._varying.update(values)

    def _pass(self, sources: Sequence[SSAValue], targets: Sequence[SSAValue]) -> None:
        """Marks each target as differing when its source does."""
        self._mark(target for source, target in zip(sources, targets, strict=True) if source in self)

    def _function(self, function: Operation) -> None:
        blocks = list(function.regions[0].blocks)
        self._blocks(blocks)
        split = self.diverges(function)
        known = self._returned.setdefault(function, set())
        for block in blocks:
            last = block.last_op
            if last is not None and has_role(last, Role.RETURN):
                known.update(n for n, value in enumerate(last.operands) if split or value in self)

    def diverges(self, function: Operation) -> bool:
        """Returns whether work-items may take different branches between the blocks of a function."""
        return any(self._splits(block) for block in function.regions[0].blocks)

    def _splits(self, block: Block) -> bool:
        """Returns whether work-items leave a block on different control-flow paths."""
        flag = None if block.last_op is None else flag_of(block.last_op)
        return flag is not None and flag in self

    def _blocks(self, blocks: Sequence[Block]) -> None:
        split = any(self._splits(block) for block in blocks)
        for block in blocks:
            for op in block.ops:
                self._operation(op)
            self._branches(block)
        if split:
            for block in list(blocks)[1:]:
                self._mark(block.args)
                for op in block.ops:
                    self._mark(op.results)

    def _branches(self, block: Block) -> None:
        op = block.last_op
        if op is None or not op.successors:
            return
        for edge in branch_edges(op):
            self._pass(edge.values, edge.block.args)

    def _operation(self, op: Operation) -> None:
        roles = roles_of(op)
        if roles & self._sources or is_private(op):
            self._mark(op.results)
        elif is_structured(op):
            self._structured(op)
        elif Role.CALL in roles:
            self._call(op)
        else:
            if self.any(op.operands):
                self._mark(op.results)
            for region in op.regions:
                self._blocks(region.blocks)

    def _structured(self, op: Operation) -> None:
        from xdsl.dialects import scf  # deferred: start-up

        match op:
            case scf.ForOp():
                self._for(op)
            case scf.WhileOp():
                self._while(op)
            case scf.ParallelOp():
                self._parallel(op)
            case scf.IfOp() | scf.IndexSwitchOp() | scf.ExecuteRegionOp():
                self._choice(op)
            case _:
                if self.any(op.operands):
                    self._mark(op.results)
                for region in op.regions:
                    self._blocks(region.blocks)

    def _choice(self, op: Operation) -> None:
        for region in op.regions:
            if region.blocks:
                self._blocks(region.blocks)
                for block in region.blocks:
                    if block.last_op is not None and has_role(block.last_op, Role.YIELD):
                        self._pass(_yielded(block), op.results)
        if self.any(op.operands):
            self._mark(op.results)

    def _for(self, op: ForOp) -> None:
        body = op.body.block
        if self.any(deciding_values(op)):
            self._mark((*body.args, *op.results))
        self._pass(op.iter_args, body.args[1:])
        self._blocks([body])
        self._pass(_yielded(body), body.args[1:])
        self._pass(body.args[1:], op.results)

    def _parallel(self, op: ParallelOp) -> None:
        body = op.body.block
        if self.any(deciding_values(op)):
            self._mark((*body.args, *op.results))
        self._pass(op.initVals, op.results)
        self._blocks([body])
        reduced = body.last_op
        assert reduced is not None
        for region, operand, result in zip(reduced.regions, reduced.operands, op.results, strict=True):
            self._pass([result, operand], region.block.args)
            self._blocks([region.block])
            self._pass(_yielded(region.block), [result])
            self._pass([result], region.block.args[:1])

    def _while(self, op: WhileOp) -> None:
        before, after = op.before_region.block, op.after_region.block
        self._pass(op.arguments, before.args)
        self._blocks([before])
        condition = before.last_op
        assert condition is not None
        initial = listed(condition, "args")
        if self.any(deciding_values(op)):
            self._mark((*before.args, *after.args, *op.results))
        self._pass(initial, after.args)
        self._blocks([after])
        self._pass(_yielded(after), before.args)
        self._pass(initial, after.args)
        self._pass(after.args, op.results)

    def _call(self, op: Operation) -> None:
        callee = self._symbols.callee(op)
        if callee is None:
            return
        self._pass(op.operands, callee.regions[0].blocks[0].args)
        self._mark(result for n, result in enumerate(op.results) if self.returned(callee, n))


def _yielded(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    return last.operands if last is not None and has_role(last, Role.YIELD) else ()
