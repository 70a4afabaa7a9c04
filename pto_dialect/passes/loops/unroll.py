"""``unroll``: several iterations of a loop become one.

Source: docs/reference/core-dialects.md, "Control flow".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import AddiOp, ConstantOp, DivSIOp, MaxSIOp, MuliOp, SubiOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.analysis.constants import constant_of, constant_trip_count
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.base import PtoPass
from pto_dialect.verify.engine.rule import read_rules

from .copies import copy_body, put

LONGEST = 64
"""Maximum trip count of a loop that ``full`` unrolls."""
UNCHANGED = read_rules("passes")["unroll-unchanged"]


@dataclass(frozen=True)
class UnrollPass(PtoPass):
    """Unrolls each innermost ``scf.for`` by ``factor``; the remaining iterations run in a loop after it. ``full``:
    loops with a known trip count of at most 64 are unrolled completely, others are not changed."""

    factor: str = "2"

    name: ClassVar[str] = "unroll"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; innermost loops that stay as they are, and a module without loops, get a remark."""
        loops = [op for op in walk(module) if isinstance(op, ForOp)]
        if not loops:
            engine.report(UNCHANGED.at(module, "unroll changes nothing: there is no loop"))
        for loop in loops:
            if any(isinstance(op, ForOp) for op in walk(loop) if op is not loop):
                continue
            reason = self._reason(constant_trip_count(loop))
            if reason:
                engine.report(UNCHANGED.at(loop, f"this loop is not unrolled: {reason}"))
            elif self.factor == "full":
                _dissolve(loop)
            else:
                _unroll(loop, int(self.factor))

    def _reason(self, trips: int | None) -> str:
        """Why a loop that runs ``trips`` times stays as it is; empty for one that is unrolled."""
        if self.factor == "full":
            if trips is None:
                return "only a run knows its trip count"
            return f"it has {trips} iterations, and at most {LONGEST} are unrolled" if trips > LONGEST else ""
        short = trips is not None and trips < int(self.factor)
        return f"its trip count, {trips}, is less than {self.factor}" if short else ""


class _Numbers:
    """Writes scalars before a loop; known ones are folded."""

    def __init__(self, loop: ForOp) -> None:
        self.loop = loop
        self.type: Attribute = loop.lb.type

    def constant(self, number: int) -> SSAValue:
        assert isinstance(self.type, (IndexType, IntegerType))
        op = ConstantOp(IntegerAttr(number, self.type))
        op.result.name_hint = f"c{number}".replace("-", "m")
        return put(op, InsertPoint.before(self.loop), self.loop).results[0]

    def of(self, kind: type[AddiOp | SubiOp | MuliOp | DivSIOp | MaxSIOp], one: SSAValue, other: SSAValue) -> SSAValue:
        return put(kind(one, other), InsertPoint.before(self.loop), self.loop).results[0]


def _unroll(loop: ForOp, factor: int) -> None:
    """The loop with ``factor`` iterations in one, and a loop for what is left."""
    trips, numbers = constant_trip_count(loop), _Numbers(loop)
    step = constant_of(loop.step)
    wide = (
        numbers.constant(step * factor)
        if isinstance(step, int)
        else numbers.of(MuliOp, loop.step, numbers.constant(factor))
    )
    middle = _middle(loop, numbers, factor, wide, trips)
    results = _wide_loop(loop, factor, middle, wide)
    if trips is None or trips % factor:
        loop.operands = [middle, loop.ub, loop.step, *results]
        return
    Rewriter.replace_op(loop, [], results)


def _middle(loop: ForOp, numbers: _Numbers, factor: int, wide: SSAValue, trips: int | None) -> SSAValue:
    """Returns where the wide iterations end."""
    first, step = constant_of(loop.lb), constant_of(loop.step)
    if trips is not None:
        assert isinstance(first, int)
        assert isinstance(step, int)
        return numbers.constant(first + trips // factor * factor * step)
    # With u = ub - lb the wide iterations are those that lie wholly in u: none where u is negative.
    length = numbers.of(MaxSIOp, numbers.of(SubiOp, loop.ub, loop.lb), numbers.constant(0))
    rounded = numbers.of(MuliOp, numbers.of(DivSIOp, length, wide), wide)
    return numbers.of(AddiOp, loop.lb, rounded)


def _wide_loop(loop: ForOp, factor: int, middle: SSAValue, wide: SSAValue) -> list[SSAValue]:
    """Writes the unrolled loop before ``loop``; returns its results."""
    old = loop.body.block
    block = Block(arg_types=[argument.type for argument in old.args])
    for argument, named in zip(block.args, old.args, strict=True):
        argument.name_hint = named.name_hint
    made = ForOp(loop.lb, middle, wide, list(loop.iter_args), Region(block))
    made.attributes.update(loop.attributes)
    carried = list(block.args[1:])
    index: SSAValue = block.args[0]
    for copy in range(factor):
        if copy:
            index = put(AddiOp(index, loop.step), InsertPoint.at_end(block), loop).results[0]
            index.name_hint = old.args[0].name_hint
        known: dict[SSAValue, SSAValue] = dict(zip(old.args, [index, *carried], strict=True))
        carried = copy_body(old, known, InsertPoint.at_end(block))
    assert old.last_op is not None
    put(YieldOp(*carried), InsertPoint.at_end(block), old.last_op)
    put(made, InsertPoint.before(loop), loop)
    return list(made.results)


def _dissolve(loop: ForOp) -> None:
    """Unrolls a loop completely."""
    trips, numbers = constant_trip_count(loop), _Numbers(loop)
    first, step = constant_of(loop.lb), constant_of(loop.step)
    assert trips is not None
    assert isinstance(first, int)
    assert isinstance(step, int)
    carried = list(loop.iter_args)
    for iteration in range(trips):
        index = numbers.constant(first + iteration * step)
        known: dict[SSAValue, SSAValue] = dict(zip(loop.body.block.args, [index, *carried], strict=True))
        carried = copy_body(loop.body.block, known, InsertPoint.before(loop))
    Rewriter.replace_op(loop, [], carried)
