"""``assign-memory``: an address for every tile and queue buffer that has none.

Source: docs/reference/memory-planning.md, "Live ranges", "Packing".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i1, i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from pto_dialect.diagnostics.diagnostic import Note
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.ir.core.base import PtoOp, operand_groups, segment_sizes
from pto_dialect.ir.core.location import label_of, set_location, span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.pipes import ReserveBufferOp
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.base import PtoPass
from pto_dialect.verify.engine.rule import read_rules

from .live_ranges import Buffer
from .plan import Plan, lacking, memory_plans

_RULES = read_rules("passes")
UNSUPPORTED = _RULES["assign-memory-unsupported"]
FULL = _RULES["assign-memory-full"]


LONG = 4
"""Operations in a row that do not use a tile, from which on it is worth to store it and load it again."""


@dataclass(frozen=True)
class AssignMemoryPass(PtoPass):
    """Gives addresses. ``reuse``: ``max`` packs tightly, ``safe`` shares bytes only where that adds no order between
    pipes, ``none`` gives every buffer bytes of its own; ``auto`` is ``safe`` in functions that order their pipes
    themselves, whose flags know nothing of shared bytes; in others it shares where it costs least in memories that are
    too small for ``safe``."""

    name: ClassVar[str] = "assign-memory"
    reuse: str = "auto"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; after an error nothing changes."""
        planned: list[Plan] = []
        for function in walk(module):
            if has_role(function, Role.FUNCTION) and function.regions[0].blocks and any(lacking(function)):
                try:
                    plans = memory_plans(function, self.target, self.reuse)
                except UnsupportedError as error:
                    message = f"assign-memory cannot follow this: {error.reason}"
                    engine.report(UNSUPPORTED.at(error.op, message))
                    continue
                for plan in plans:
                    _check(plan, engine)
                planned += plans
        if not engine.has_errors:
            for plan in planned:
                for buffer, address in plan.addresses.items():
                    if buffer.address is None:
                        _give(buffer.op, address)


def _check(plan: Plan, engine: DiagnosticEngine) -> None:
    """Says who is needed at the peak of a plan that does not fit."""
    if plan.capacity is None or plan.peak <= plan.capacity:
        return
    idle = sorted((buffer for buffer in plan.addresses if buffer.last < 0), key=lambda buffer: -buffer.size)
    # Without reuse, tiles that nobody uses may be too much together.
    alive = [buffer for buffer in idle if buffer.size > plan.capacity] or plan.alive(plan.worst) or idle
    unused = alive[0].last < 0
    message = f"the tiles of {plan.space} need {plan.peak} bytes and there are {plan.capacity}"
    if plan.bound <= plan.capacity and not unused:
        message += f"; {plan.bound} of them are needed at one time, but no addresses for all were found"
    when = ", and nothing uses it" if unused else " at the peak"
    notes = tuple(Note(f"{name_of(b)} needs {b.size} bytes{when}{_used(b)}", span_of(b.op)) for b in alive)
    engine.report(FULL.at(alive[0].op, message, notes, _advice(plan, alive)))


def _used(buffer: Buffer) -> str:
    """From where to where a buffer is used."""
    spans = [span for time in sorted(buffer.uses) if (span := span_of(buffer.uses[time])) is not None]
    if not spans:
        return ""
    first, last = shown_line(spans[0]), shown_line(spans[-1])
    return f", used in line {first}" if first == last else f", used from line {first} to line {last}"


def _advice(plan: Plan, alive: list[Buffer]) -> str:
    """Returns which tile to shrink, and which to store and load again, because nothing uses it for long."""
    largest = name_of(alive[0])
    if alive[0].last < 0:
        return f"remove {largest}"
    advice = f"make {largest} smaller, or use it later or less long"
    for buffer in alive:
        before = [time for time in buffer.uses if time < plan.worst]
        later = [time for time in buffer.uses if time > plan.worst]
        if plan.worst in buffer.uses or not before or not later:
            continue
        spans = [span_of(buffer.uses[time]) for time in (max(before), min(later))]
        if spans[0] is not None and spans[1] is not None and min(later) - max(before) > LONG:
            lines = f"between line {shown_line(spans[0])} and line {shown_line(spans[1])}"
            return f"{advice}; nothing uses {name_of(buffer)} {lines}, where others could have its bytes"
    return advice


def name_of(buffer: Buffer) -> str:
    """How the text calls a buffer."""
    return label_of(buffer.op.results[0], "a tile")


def _give(op: Operation, address: int) -> None:
    """Writes an address into an allocation."""
    if isinstance(op, ReserveBufferOp):
        op.attributes["autoAlloc"] = IntegerAttr(0, i1)
        op.attributes["base"] = IntegerAttr(address, i32)
        return
    assert isinstance(op, PtoOp)
    constant = ConstantOp(IntegerAttr(address, i64))
    constant.result.name_hint = f"c{address}_i64"
    groups = {**operand_groups(op), "addr": (constant.result,)}
    operands: list[SSAValue] = [value for values in groups.values() for value in values]
    attributes = {name: value for name, value in op.attributes.items() if name != "operandSegmentSizes"}
    properties = {name: value for name, value in op.properties.items() if name != "operandSegmentSizes"}
    sizes = segment_sizes(tuple(len(values) for values in groups.values()))
    holder = properties if "operandSegmentSizes" in op.properties else attributes
    holder["operandSegmentSizes"] = sizes
    result = op.results[0]
    hint = result.name_hint
    new = type(op).create(operands=operands, result_types=[result.type], attributes=attributes, properties=properties)
    span = span_of(op)
    if span is not None:
        set_location(constant, span)
        set_location(new, span)
    Rewriter.insert_op(constant, InsertPoint.before(op))
    Rewriter.replace_op(op, new)
    new.results[0].name_hint = hint
