"""Relations between the types of one arithmetic operation: agreement, casts, constants."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import builtin
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, IntegerType, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue, TypedAttribute

from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.remedies.order import other_operation
from pto_dialect.diagnostics.suggest import alternatives
from pto_dialect.ir.core.types import type_text

from ..engine.context import Context
from .kinds import bit_width, container_shape, element_type, is_signless, memref_element
from .operands import named

Relation = Callable[[Operation, Context], None]

RELATIONS: dict[str, Relation] = {}
"""Checks by the name that the table of constraints uses."""


def relation(function: Relation) -> Relation:
    """Registers a check under its function's name."""
    RELATIONS[function.__name__] = function
    return function


def _agree(op: Operation, values: list[SSAValue], ctx: Context) -> None:
    first = values[0].type
    for value in values[1:]:
        if value.type != first:
            message = f"{op.name} has one type for its operands and results, "
            message += f"found {type_text(first)} and {type_text(value.type)}"
            ctx.report("core-same-type", op, message, at=value)
            return


@relation
def same(op: Operation, ctx: Context) -> None:
    """Checks that operands and results have one type."""
    _agree(op, [*op.operands, *op.results], ctx)


def _flag_of(op: Operation, result: SSAValue, ctx: Context) -> None:
    """Returns whether ``result`` is an i1 for each element of the operands."""
    _agree(op, list(op.operands), ctx)
    operand = named(op, "lhs").type
    if container_shape(result.type) != container_shape(operand):
        message = f"{op.name} on {type_text(operand)} gives an i1 for each element, found {type_text(result.type)}"
        ctx.report("core-same-type", op, message, at=result)


@relation
def compared(op: Operation, ctx: Context) -> None:
    """Checks comparisons: operands of one type, an i1 for each element."""
    _flag_of(op, op.results[0], ctx)


@relation
def carry(op: Operation, ctx: Context) -> None:
    """Checks sums with their carry."""
    _agree(op, [*op.operands, op.results[0]], ctx)
    _flag_of(op, op.results[1], ctx)


@relation
def selected(op: Operation, ctx: Context) -> None:
    """Checks a choice between values of one type, by one i1 or one for each element."""
    condition, *values = op.operands
    _agree(op, [*values, op.results[0]], ctx)
    shape = container_shape(condition.type)
    if shape and shape != container_shape(op.results[0].type):
        message = f"{type_text(condition.type)} does not choose between values of type {type_text(op.results[0].type)}"
        ctx.report("core-same-type", op, message, at=condition, help="the condition is i1, or an i1 for each element")


@relation
def power(op: Operation, ctx: Context) -> None:
    """Checks a float and an integer exponent for each element."""
    base, exponent = op.operands
    _agree(op, [base, op.results[0]], ctx)
    _same_shape(op, exponent.type, base.type, ctx)


# ------------------------------------------------------------ casts


def _same_shape(op: Operation, source: Attribute, result: Attribute, ctx: Context) -> bool:
    if container_shape(source) == container_shape(result):
        return True
    message = f"{type_text(source)} and {type_text(result)} have different shapes"
    ctx.report("core-cast", op, message, at=op.results[0])
    return False


@relation
def shaped(op: Operation, ctx: Context) -> None:
    """Checks conversions element by element."""
    _same_shape(op, named(op, "operand").type, op.results[0].type, ctx)


def _elementwise(source: Attribute, result: Attribute) -> bool:
    """Returns whether the elements of two types correspond; an extent of a memref may be dynamic on one side."""
    if not isinstance(source, MemRefType) or not isinstance(result, MemRefType):
        return container_shape(source) == container_shape(result) and MemRefType not in (type(source), type(result))
    extents = source.get_shape(), result.get_shape()
    return len(extents[0]) == len(extents[1]) and all(
        a == b or DYNAMIC_INDEX in (a, b) for a, b in zip(*extents, strict=True)
    )


_NARROWING = {"arith.extsi": "arith.trunci", "arith.extui": "arith.trunci", "arith.extf": "arith.truncf"}
_EXTENSION = {"arith.index_cast": "arith.extsi", "arith.index_castui": "arith.extui"}
_WIDENING = {"arith.trunci": ("arith.extsi", "arith.extui"), "arith.truncf": ("arith.extf",)}


@relation
def wider(op: Operation, ctx: Context) -> None:
    """Checks extensions: the result has more bits."""
    _resized(op, 1, "wider", (_NARROWING[op.name],), ctx)


@relation
def narrower(op: Operation, ctx: Context) -> None:
    """Checks truncations: the result has fewer bits."""
    _resized(op, -1, "narrower", _WIDENING[op.name], ctx)


def _resized(op: Operation, sign: int, word: str, opposites: tuple[str, ...], ctx: Context) -> None:
    source, result = named(op, "operand").type, op.results[0].type
    if not _same_shape(op, source, result, ctx):
        return
    difference = (bit_width(element_type(result)) - bit_width(element_type(source))) * sign
    if difference > 0:
        return
    help = "both have the same number of bits" if difference == 0 else f"{alternatives(opposites)} does that"
    mended = tuple(other_operation(name, False) for name in opposites) if difference else ()
    ctx.report(
        "core-cast", op, f"the result of {op.name} is {word} than {type_text(source)}, found {type_text(result)}",
        at=op.results[0], help=help, remedies=mended,
    )  # fmt: skip


@relation
def index_cast(op: Operation, ctx: Context) -> None:
    """Checks casts between index and a signless integer, or memrefs of them."""
    source, result = named(op, "operand").type, op.results[0].type
    alike = _elementwise(source, result)
    kinds = [isinstance(memref_element(type_), IndexType) for type_ in (source, result)]
    if alike and kinds[0] != kinds[1]:
        return
    message = f"{op.name} converts between index and an integer, found {type_text(source)} and {type_text(result)}"
    help, mended = None, ()
    if alike and is_signless(element_type(source)) and is_signless(element_type(result)):
        extension = _EXTENSION[op.name]
        difference = bit_width(element_type(result)) - bit_width(element_type(source))
        meant = extension if difference > 0 else "arith.trunci" if difference else None
        if meant is not None:
            help, mended = f"{meant} does that", (other_operation(meant, False),)
    ctx.report("core-cast", op, message, at=op.results[0], help=help, remedies=mended)


@relation
def bit_cast(op: Operation, ctx: Context) -> None:
    """Checks casts between types with the same number of bits."""
    source, result = named(op, "operand").type, op.results[0].type
    bits = [bit_width(memref_element(type_)) for type_ in (source, result)]
    if _elementwise(source, result) and bits[0] == bits[1] != 0:
        return
    found = f"found {type_text(source)} and {type_text(result)}"
    ctx.report("core-cast", op, f"{op.name} keeps the number of bits, {found}", at=op.results[0])


@relation
def converted(op: Operation, ctx: Context) -> None:
    """Checks an unrealized conversion: it has at least one result."""
    if not op.results:
        ctx.report("core-cast", op, f"{op.name} has at least one result")


# ------------------------------------------------------------ constants


@relation
def constant(op: Operation, ctx: Context) -> None:
    """Checks that a constant has a value of the result's type."""
    value, result = op.properties["value"], op.results[0]
    stated = None
    if isinstance(value, TypedAttribute):
        stated = value.get_type()
    elif isinstance(value, builtin.DenseIntOrFPElementsAttr):
        stated = value.type
    if stated is None:
        ctx.report("core-constant", op, "arith.constant has a number, or dense<..> numbers", at="value")
    elif stated != result.type:
        message = f"a constant of type {type_text(stated)} has a result of type {type_text(result.type)}"
        ctx.report("core-constant", op, message, at=result)
    elif isinstance(value, IntegerAttr) and isinstance(stated, IntegerType) and not is_signless(stated):
        message = f"arith.constant has signless integers, found {type_text(stated)}"
        right = f"i{stated.width.data}"
        mended = (replace(None, right),)
        ctx.report("core-constant", op, message, at=type_text(stated), help=f"write {right}", remedies=mended)
