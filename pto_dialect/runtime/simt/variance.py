"""Which values differ between the work-items of a launch.

Values that all running work-items share stay plain numbers and pointers; what computes with nothing else runs once.
A value differs when it depends on the number of the work-item, on other lanes or on the order of atomic updates, when
it is of a packed type or lies in memory of the work-item, or when work-items may have come to it on different ways.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from pto_dialect.analysis.facts import space_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.walk import walk

if TYPE_CHECKING:
    from ..compile.program import Symbols

SOURCES = frozenset(
    (
        *(f"pto.get_tid_{axis}" for axis in "xyz"),
        "pto.get_laneid",
        *(f"pto.get_lanemask_{kind}" for kind in ("eq", "le", "lt", "ge", "gt")),
        *(f"pto.vote_{kind}" for kind in ("all", "any", "uni", "ballot")),
        *(f"pto.shuffle_{kind}" for kind in ("idx", "up", "down", "bfly")),
        *(f"pto.redux_{kind}" for kind in ("add", "max", "min")),
        *(f"pto.atomic_{kind}" for kind in ("add", "and", "cas", "exch", "max", "min", "or", "sub", "xor")),
        "pto.resume",
        "pto.declare_local_array",
        "pto.declare_struct",
    )
)
"""Operations whose results differ."""

LOADS = frozenset(("pto.load", "pto.load_scalar", "pto.ldg", "pto.ld_dev", "memref.load"))
STORES = frozenset(("pto.store", "pto.store_scalar", "pto.stg", "pto.st_dev", "memref.store"))
"""Accesses of single elements."""

_BRANCHES = frozenset(("cf.cond_br", "cf.switch"))


def is_packed(type_: Attribute) -> bool:
    """True for several numbers in one value."""
    return isinstance(type_, VectorType) or t.type_text(type_) in ("!pto.hif8x2", "!pto.bf16x2")


def is_private(op: Operation) -> bool:
    """True for an allocation of memory that each work-item has for itself: none of the chip's memories is named."""
    if op.name not in ("memref.alloc", "memref.alloca"):
        return False
    type_ = op.results[0].type
    return isinstance(type_, MemRefType) and space_of(type_) is None


class Variance:
    """The values that differ, in all code that work-items run."""

    def __init__(
        self, symbols: Symbols, bodies: Sequence[Operation], sections: Sequence[Operation], each_access: bool
    ) -> None:
        self._symbols = symbols
        self._sources = SOURCES | LOADS if each_access else SOURCES
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
        """True when one of the values differs."""
        return any(value in self._varying for value in values)

    def returned(self, function: Operation, position: int) -> bool:
        """True when a result of a function differs."""
        return position in self._returned.get(function, ())

    # ------------------------------------------------------------ propagation

    def _mark(self, values: Iterable[SSAValue]) -> None:
        self._varying.update(values)

    def _pass(self, sources: Sequence[SSAValue], targets: Sequence[SSAValue]) -> None:
        """Each target differs when its source does."""
        self._mark(target for source, target in zip(sources, targets, strict=True) if source in self)

    def _function(self, function: Operation) -> None:
        blocks = list(function.regions[0].blocks)
        self._blocks(blocks)
        split = self.diverges(function)
        known = self._returned.setdefault(function, set())
        for block in blocks:
            last = block.last_op
            if last is not None and last.name == "func.return":
                known.update(n for n, value in enumerate(last.operands) if split or value in self)

    def diverges(self, function: Operation) -> bool:
        """True when work-items may take different branches between the blocks of a function."""
        blocks = function.regions[0].blocks
        lasts = (block.last_op for block in blocks)
        return any(op is not None and op.name in _BRANCHES and op.operands[0] in self for op in lasts)

    def _blocks(self, blocks: Sequence[Block]) -> None:
        split = any(
            block.last_op is not None and block.last_op.name in _BRANCHES and block.last_op.operands[0] in self
            for block in blocks
        )
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
        operands = list(op.operands)
        position = 0 if op.name == "cf.br" else 1
        for successor in op.successors:
            count = len(successor.args)
            self._pass(operands[position : position + count], successor.args)
            position += count

    def _operation(self, op: Operation) -> None:
        if op.name in self._sources or is_private(op):
            self._mark(op.results)
        elif op.name == "scf.for":
            self._for(op)
        elif op.name == "scf.while":
            self._while(op)
        elif op.name == "scf.parallel":
            self._parallel(op)
        elif op.name in ("scf.if", "scf.index_switch", "scf.execute_region"):
            self._choice(op)
        elif op.name == "func.call":
            self._call(op)
        else:
            if self.any(op.operands):
                self._mark(op.results)
            for region in op.regions:
                self._blocks(region.blocks)

    def _choice(self, op: Operation) -> None:
        for region in op.regions:
            if region.blocks:
                self._blocks(region.blocks)
                for block in region.blocks:
                    if block.last_op is not None and block.last_op.name == "scf.yield":
                        self._pass(_yielded(block), op.results)
        if self.any(op.operands):
            self._mark(op.results)

    def _for(self, op: Operation) -> None:
        body = op.regions[0].block
        if self.any(op.operands[:3]):
            self._mark((*body.args, *op.results))
        self._pass(op.operands[3:], body.args[1:])
        self._blocks([body])
        self._pass(_yielded(body), body.args[1:])
        self._pass(body.args[1:], op.results)

    def _parallel(self, op: Operation) -> None:
        body = op.regions[0].block
        number = len(body.args)
        if self.any(op.operands[: 3 * number]):
            self._mark((*body.args, *op.results))
        self._pass(op.operands[3 * number :], op.results)
        self._blocks([body])
        reduced = body.last_op
        assert reduced is not None
        for region, operand, result in zip(reduced.regions, reduced.operands, op.results, strict=True):
            self._pass([result, operand], region.block.args)
            self._blocks([region.block])
            self._pass(_yielded(region.block), [result])
            self._pass([result], region.block.args[:1])

    def _while(self, op: Operation) -> None:
        before, after = (region.block for region in op.regions)
        self._pass(op.operands, before.args)
        self._blocks([before])
        condition = before.last_op
        assert condition is not None
        if condition.operands[0] in self:
            self._mark((*before.args, *after.args, *op.results))
        self._pass(condition.operands[1:], after.args)
        self._blocks([after])
        self._pass(_yielded(after), before.args)
        self._pass(condition.operands[1:], after.args)
        self._pass(after.args, op.results)

    def _call(self, op: Operation) -> None:
        callee = self._symbols.callee(op)
        if callee is None:
            return
        self._pass(op.operands, callee.regions[0].blocks[0].args)
        self._mark(result for n, result in enumerate(op.results) if self.returned(callee, n))


def _yielded(block: Block) -> Sequence[SSAValue]:
    last = block.last_op
    return last.operands if last is not None and last.name in ("scf.yield", "scf.reduce.return") else ()
