"""Rules of predicates: equal granularity, packing by one step, predicates in memory."""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import element_type
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import MaskType, element_name

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import SHAPES, TRIPLES
from .common import mnemonics


@checks(TRIPLES, *mnemonics("pand por pxor psel pnot"))
def check_same_granularity(op: Operation, ctx: Context) -> None:
    """Checks the operands and the result of predicate logic."""
    assert isinstance(op, PtoOp)
    operands = [(name, value) for name, values in operand_groups(op).items() for value in values]
    model = operands[0]
    first = model[1].type
    for name, value in operands:
        if value.type != first:
            message = f"{model[0]} of {op.name} is {first}, but {name} is {value.type}"
            ctx.report("mask-op-same", op, message, at=value)
    if op.results[0].type != first:
        ctx.report("mask-op-same", op, f"the result of {op.name} is {first}, found {op.results[0].type}")


_STEPS = {"pto.ppack": ("b32", "b16", "b8"), "pto.punpack": ("b8", "b16", "b32")}


@checks(TRIPLES, *_STEPS)
def check_pack_step(op: Operation, ctx: Context) -> None:
    """Checks how far a predicate is packed or unpacked."""
    source, result = named(op, "input").type, op.results[0].type
    assert isinstance(source, MaskType)
    assert isinstance(result, MaskType)
    order = _STEPS[op.name]
    step = order.index(result.granularity) - order.index(source.granularity)
    if step not in (0, 1):
        start = order.index(source.granularity)
        allowed = " or ".join(order[start : start + 2])
        message = f"{op.name} of {source.granularity} yields {allowed}, found {result.granularity}"
        ctx.report("mask-pack-step", op, message)


@checks(SHAPES, "pto.pldi", "pto.psti")
def check_immediate_offset(op: Operation, ctx: Context) -> None:
    """Checks an offset that is part of the instruction."""
    offset = named(op, "offset")
    if ctx.constant(offset) is None:
        other = op.name[:-1] + "s"
        message = f"the offset of {op.name} is a constant"
        ctx.report(
            "pld-imm",
            op,
            message,
            at=offset,
            help=f"{other} takes a computed offset",
        )


_STREAM = {"b16": ("ui16", "i16"), "b32": ("ui32", "i32")}


@checks(TRIPLES, "pto.pstu")
def check_stream_pair(op: Operation, ctx: Context) -> None:
    """Checks the granularity of the predicate against the element type of the memory."""
    mask, memory = named(op, "value").type, element_type(named(op, "base").type)
    assert isinstance(mask, MaskType)
    assert memory is not None
    allowed = _STREAM.get(mask.granularity)
    if allowed is None:
        ctx.report(
            "pstu-pair",
            op,
            f"pstu appends b16 or b32 predicates, found {mask.granularity}",
            at=named(op, "value"),
        )
    elif element_name(memory) not in allowed:
        message = f"pstu of {mask.granularity} predicates goes to {allowed[0]}, found {element_name(memory)}"
        ctx.report("pstu-pair", op, message, at=named(op, "base"))
