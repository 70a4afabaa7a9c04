"""Bounds of counted loops as operands of ``scf.for``."""

from __future__ import annotations

from dataclasses import dataclass

from ..llvm.model import Constant, Instruction
from ..llvm.model import Operand as IrOperand
from .context import Context
from .flow.tree import Counted
from .interface import Operand
from .ranges import Range
from .writer import hint_of


@dataclass(slots=True)
class Bounds:
    """Names of type index; where the loop counts down, the counter is ``start`` minus the counter of the text."""

    lower: str
    upper: str
    step: str
    counted: Counted
    start: str = ""
    range: Range | None = None
    """The numbers that the counter can be, where the bounds are constant."""

    @property
    def hint(self) -> str:
        """A name of the counter."""
        name = hint_of(self.counted.counter.name)
        return "i" if name.startswith("indvars") else name

    def bind(self, name: str, ctx: Context) -> None:
        """Gives the counter of the IR its value, in the body."""
        counter = self.counted.counter
        if self.range is not None:
            ctx.ranges[counter] = self.range
        index = name
        if self.counted.is_down:
            index = ctx.writer.define(f"arith.subi {self.start}, {name} : index", self.hint, True)
        number = ctx.writer.define(f"arith.index_cast {index} : index to {counter.type}", self.hint, True)
        if self.counted.is_signed:
            ctx.indices[number] = index
        ctx.bind(counter, Operand(counter.type, name=number))


class _Sum:
    """A constant, or the name of an index; sums and differences of constants are computed."""

    def __init__(self, ctx: Context, value: int | str) -> None:
        self.ctx = ctx
        self.value = value

    @property
    def name(self) -> str:
        """The name of the number."""
        return self.value if isinstance(self.value, str) else self.ctx.constant(self.value, "index")

    def combine(self, word: str, other: _Sum) -> _Sum:
        """Returns the result of ``arith.<word>``."""
        if isinstance(self.value, int) and isinstance(other.value, int):
            a, b = self.value, other.value
            return _Sum(self.ctx, a + b if word == "addi" else a - b if word == "subi" else max(a, b))
        if other.value == 0 and word != "maxsi":
            return self
        body = f"arith.{word} {self.name}, {other.name} : index"
        return _Sum(self.ctx, self.ctx.writer.define(body, "bound", True))


def emit_bounds(counted: Counted, ctx: Context) -> Bounds:
    """Emits the bounds of a counted loop."""
    start = _index(counted.lower, counted, ctx)
    step = _index(counted.step, counted, ctx)
    end = _index(counted.upper, counted, ctx).combine("addi", _Sum(ctx, counted.addend))
    if counted.shift:
        end = end.combine("addi", step)
    if not counted.is_down:
        if not counted.is_entered:
            end = end.combine("maxsi", start.combine("addi", _Sum(ctx, 1)))
        return Bounds(start.name, end.name, step.name, counted, range=_range(start.value, end.value, step.value))
    zero = _Sum(ctx, 0)
    distance = start.combine("subi", end)
    if not counted.is_entered:
        distance = distance.combine("maxsi", _Sum(ctx, 1))
    return Bounds(zero.name, distance.name, zero.combine("subi", step).name, counted, start.name)


def _range(first: int | str, end: int | str, step: int | str) -> Range | None:
    """Returns the numbers from ``first`` up to those below ``end``, where all are constant."""
    if not isinstance(first, int) or not isinstance(end, int) or not isinstance(step, int) or step <= 0:
        return None
    return Range(first, first + max(end - 1 - first, 0) // step * step)


def _index(operand: IrOperand, counted: Counted, ctx: Context) -> _Sum:
    """Returns an operand as index, from the number before it was extended."""
    if isinstance(operand, Constant):
        return _Sum(ctx, operand.value if isinstance(operand.value, int) else 0)
    is_signed = counted.is_signed or operand is counted.step
    if isinstance(operand, Instruction) and operand.opcode in ("sext", "zext"):
        inner = operand.operands[0]
        if not isinstance(inner, Constant) and inner.type != "i1":
            is_signed = operand.opcode == "sext" or "nneg" in operand.flags or _is_guarded_signed(operand, counted)
            operand = inner
    known = ctx.operand(operand)
    if isinstance(known.value, int):
        return _Sum(ctx, known.value)
    if is_signed or known.type == "i64":
        return _Sum(ctx, ctx.index(known))
    body = f"arith.index_castui {ctx.name(known)} : {known.type} to index"
    return _Sum(ctx, ctx.writer.define(body, "bound", True))


def _is_guarded_signed(operand: Instruction, counted: Counted) -> bool:
    """Returns whether the condition on the way to the loop compares with a sign."""
    return counted.guard is not None and operand is counted.upper and counted.guard.word[0] == "s"
