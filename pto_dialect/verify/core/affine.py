"""Rules of ``affine``: maps and their operands, dimensions and symbols, loops. Source: docs/reference/core-dialects.md,
"Affine maps"."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AnyFloat,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    ModuleOp,
    VectorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.core.attributes import OpaqueAttr
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import type_text
from pto_dialect.ir.core_dialects.affine_maps import AffineText, affine_text

from ..engine.context import Context
from .control import FLOWS, check_arguments, check_yields, format_types, types_differ, types_of
from .kinds import TYPES
from .operands import group, groups_of, named, split_groups
from .relations import relation
from .table import constraints_of

_SIZED = frozenset(("memref.alloc", "memref.view", "memref.subview"))
_FLOAT_REDUCTIONS = frozenset((0, 3, 6, 9, 13, 14))
_ASSIGNMENT = 2
_REDUCTIONS = range(15)


def map_of(op: Operation, name: str) -> AffineText:
    """Returns the affine map or set of a property, or of the one attribute that is not a property."""
    attr = op.properties.get(name) or op.attributes[name]
    assert isinstance(attr, OpaqueAttr)
    found = affine_text(attr.data)
    assert found is not None
    return found


# ------------------------------------------------------------ dimensions and symbols


def _top_level(value: SSAValue, scope: Operation) -> bool:
    owner = value.block.parent_op() if isinstance(value, BlockArgument) else _definition(value).parent_op()
    return owner is scope


def _definition(value: SSAValue) -> Operation:
    assert isinstance(value, OpResult)
    return value.op


def _scope(op: Operation) -> Operation | None:
    around = op.parent_op()
    while around is not None and not isinstance(around, (FuncOp, ModuleOp)):
        around = around.parent_op()
    return around


def is_symbol(value: SSAValue, scope: Operation) -> bool:
    """Returns whether a value is an affine symbol: it does not change inside ``scope``."""
    if not isinstance(value.type, IndexType):
        return False
    if _top_level(value, scope):
        return True
    if isinstance(value, BlockArgument):
        return False
    op = _definition(value)
    if has_role(op, Role.CONSTANT):
        return True
    follow = _SYMBOLS.get(op.name)
    return follow is not None and follow(op, scope)


def _of_symbols(op: Operation, scope: Operation) -> bool:
    return all(is_symbol(operand, scope) for operand in op.operands)


def _sized_by_symbols(op: Operation, scope: Operation) -> bool:
    """Returns whether a size of a memref is a symbol: the memref is defined at the top of the scope, or the size is
    given by a symbol."""
    operands = groups_of(op)
    if not operands:
        return False
    (memref,), (index,) = operands["memref"], operands["index"]
    if _top_level(memref, scope):
        return True
    number = constant_of(index)
    if isinstance(memref, BlockArgument) or not isinstance(number, int) or not isinstance(memref.type, MemRefType):
        return False
    source = _definition(memref)
    shape = memref.type.get_shape()
    # As in MLIR, only the sizes of these three kinds of views are followed.
    if source.name not in _SIZED or not 0 <= number < len(shape):
        return False
    if shape[number] >= 0:
        return True
    sizes = groups_of(source).get("sizes", ())
    place = sum(size < 0 for size in shape[:number])
    return place < len(sizes) and is_symbol(sizes[place], scope)


_SYMBOLS = {"affine.apply": _of_symbols, "memref.dim": _sized_by_symbols}
"""Operations whose result is a symbol when their operands are symbols."""


def is_dimension(value: SSAValue, scope: Operation) -> bool:
    """Returns whether a value is an affine dimension: a symbol, the induction variable of an affine loop, or a map of
    dimensions."""
    if not isinstance(value.type, IndexType):
        return False
    if is_symbol(value, scope):
        return True
    if isinstance(value, BlockArgument):
        around = value.block.parent_op()
        # Operations of core dialects are matched by name: an operation may be an instance of an xDSL class or
        # unregistered.
        return around is not None and around.name in _MAP_NAMES
    op = _definition(value)
    follow = _DIMENSIONS.get(op.name)
    return follow is not None and follow(op, scope)


def _of_dimensions(op: Operation, scope: Operation) -> bool:
    return all(is_dimension(operand, scope) for operand in op.operands)


def _size_at_the_top(op: Operation, scope: Operation) -> bool:
    return any(_top_level(memref, scope) for memref in groups_of(op).get("memref", ()))


_DIMENSIONS = {"affine.apply": _of_dimensions, "memref.dim": _size_at_the_top}
"""Operations whose result is a dimension when their operands are dimensions."""


def _bound_operands(op: Operation) -> list[tuple[Sequence[SSAValue], AffineText]]:
    """Returns the operands of each map of an operation that distinguishes dimensions and symbols."""
    maps = [map_of(op, name) for name in _MAP_NAMES.get(op.name, ("condition",))]
    given = groups_of(op)
    if "operands" in given:
        # Only the maps state how many operands each of them takes.
        return list(zip(split_groups(op.operands, [text.inputs for text in maps]), maps, strict=True))
    return list(zip((given["lower"], given["upper"]), maps, strict=True))


_MAP_NAMES = {
    "affine.for": ("lowerBoundMap", "upperBoundMap"),
    "affine.parallel": ("lowerBoundsMap", "upperBoundsMap"),
}
_ACCESSES = ("affine.load", "affine.store", "affine.vector_load", "affine.vector_store", "affine.prefetch")


def _check_identifiers(op: Operation, ctx: Context) -> None:
    """Checks the dimensions and symbols of the maps of ``op``."""
    scope = _scope(op)
    if scope is None:
        return
    indices = groups_of(op).get("indices")
    if indices is not None:
        for value in indices:
            if not is_dimension(value, scope):
                ctx.report("affine-identifier", op, f"an index of {op.name} is a dimension or symbol", at=value)
                return
        return
    for operands, text in _bound_operands(op):
        for number, value in enumerate(operands):
            symbol = number >= len(text.dims)
            if not (is_symbol if symbol else is_dimension)(value, scope):
                what = "symbol" if symbol else "dimension"
                ctx.report("affine-identifier", op, f"this operand of {op.name} is no {what}", at=value)
                return


IDENTIFIERS = dict.fromkeys((*_MAP_NAMES, "affine.if", *_ACCESSES), _check_identifiers)
"""Operations whose operands are dimensions and symbols, with the check for each."""


# ------------------------------------------------------------ maps


def _fits(op: Operation, text: AffineText, operands: int, ctx: Context) -> bool:
    if text.inputs == operands:
        return True
    message = f"the map of {op.name} has {len(text.dims)} dimensions and {len(text.symbols)} symbols"
    ctx.report("affine-map", op, f"{message}, found {operands} operands")
    return False


@relation
def applied(op: Operation, ctx: Context) -> None:
    """Checks ``affine.apply``: one result, as many operands as the map has dimensions and symbols."""
    text = map_of(op, "map")
    if _fits(op, text, len(op.operands), ctx) and len(text.results) != 1:
        ctx.report("affine-map", op, f"the map of {op.name} has one result, found {len(text.results)}", at="map")


@relation
def extremes(op: Operation, ctx: Context) -> None:
    """Checks the minimum or maximum of the results of a map."""
    text = map_of(op, "map")
    if _fits(op, text, len(op.operands), ctx) and not text.results:
        ctx.report("affine-map", op, f"the map of {op.name} has a result", at="map")


@relation
def accessed(op: Operation, ctx: Context) -> None:
    """Checks an access: one map result for each dimension of the memref, a value of the element type."""
    row, operands = constraints_of(op.name), groups_of(op)
    type_ = named(op, "memref").type
    assert isinstance(type_, MemRefType)
    moved = next(iter(operands.get("value", op.results)), None)
    if moved is not None:
        whole = TYPES["vector"] in [slot.kind for slot in (*row.operands, *row.results)]
        found = moved.type.element_type if whole and isinstance(moved.type, VectorType) else moved.type
        if found != type_.element_type:
            message = f"{type_text(type_)} has elements of type {type_text(type_.element_type)}, "
            ctx.report("memref-indices", op, f"{message}found {type_text(found)}", at=moved)
            return
    text = map_of(op, "map")
    if len(text.results) != type_.get_num_dims():
        message = f"{type_text(type_)} has {type_.get_num_dims()} dimensions, the map {len(text.results)} results"
        ctx.report("affine-map", op, message, at="map")
    else:
        _fits(op, text, len(operands["indices"]), ctx)


@relation
def conditional(op: Operation, ctx: Context) -> None:
    """Checks ``affine.if``: as many operands as the set has dimensions and symbols."""
    _fits(op, map_of(op, "condition"), len(op.operands), ctx)


@relation
def delinearized(op: Operation, ctx: Context) -> None:
    """Checks delinearization: one index for each element of the basis."""
    basis = len(group(op, "basis"))
    if not basis or len(op.results) != basis:
        ctx.report("affine-map", op, f"{op.name} gives an index for each of {basis} sizes, found {len(op.results)}")


# ------------------------------------------------------------ loops


@relation
def looped(op: Operation, ctx: Context) -> None:
    """Checks the bounds of a loop: one map result for each bound."""
    for (operands, text), name in zip(_bound_operands(op), _MAP_NAMES[op.name], strict=True):
        if not text.results:
            ctx.report("affine-map", op, f"{name} of {op.name} has a result", at=name)
            return
        if not _fits(op, text, len(operands), ctx):
            return


@relation
def in_parallel(op: Operation, ctx: Context) -> None:
    """Checks ``affine.parallel``: a step and a group of lower and upper bounds for each induction variable, a reduction
    for each result."""
    steps, reductions = op.properties["steps"], op.properties["reductions"]
    assert isinstance(steps, ArrayAttr) and isinstance(reductions, ArrayAttr)
    count = len(steps.data)
    lower, upper = (map_of(op, name) for name in _MAP_NAMES[op.name])
    for name, text in (("lowerBoundsGroups", lower), ("upperBoundsGroups", upper)):
        groups = op.properties[name]
        assert isinstance(groups, DenseIntOrFPElementsAttr)
        numbers = [int(number) for number in groups.get_values()]
        if len(numbers) != count:
            ctx.report("loop-bounds", op, f"{op.name} has {count} steps, but {len(numbers)} numbers in {name}", at=name)
            return
        if sum(numbers) != len(text.results):
            message = f"{name} of {op.name} is about {sum(numbers)} bounds, the map has {len(text.results)}"
            ctx.report("affine-map", op, message, at=name)
            return
    if len(reductions.data) != len(op.results):
        message = f"{op.name} has a reduction for each of {len(op.results)} results, found {len(reductions.data)}"
        ctx.report("loop-bounds", op, message, at="reductions")
    elif not all(isinstance(entry, IntegerAttr) and entry.value.data in _REDUCTIONS for entry in reductions.data):
        ctx.report("loop-bounds", op, "a reduction is a number from 0 to 14", at="reductions")
    elif not all(map(_reduces, reductions.data, op.results)):
        ctx.report("loop-bounds", op, "a reduction of integers has integers, one of floats has floats", at="reductions")
    elif lower.inputs + upper.inputs != len(op.operands):
        message = f"the bounds of {op.name} have {lower.inputs + upper.inputs} operands, found {len(op.operands)}"
        ctx.report("affine-map", op, message)


def _reduces(kind: Attribute, result: SSAValue) -> bool:
    assert isinstance(kind, IntegerAttr)
    number = kind.value.data
    wanted = AnyFloat if number in _FLOAT_REDUCTIONS else IntegerType
    return number == _ASSIGNMENT or isinstance(result.type, wanted)


def _for(op: Operation, ctx: Context) -> None:
    block = op.regions[0].first_block
    assert block is not None
    results, initial = types_of(op.results), types_of(group(op, "inits"))
    if types_differ(initial, results):
        message = f"{op.name} starts with {format_types(initial)}, but has results of type {format_types(results)}"
        ctx.report("region-yield", op, message)
        return
    check_arguments(op, block, [IndexType(), *initial], "counter and variables", ctx)
    check_yields(op, op.regions[0], results, ctx)


def _if(op: Operation, ctx: Context) -> None:
    if op.results and op.regions[1].first_block is None:
        ctx.report("region-form", op, f"{op.name} with results has an else region")
        return
    for region in op.regions:
        if region.first_block is not None:
            check_arguments(op, region.first_block, (), "regions", ctx)
        check_yields(op, region, types_of(op.results), ctx)


def _parallel(op: Operation, ctx: Context) -> None:
    steps = op.properties["steps"]
    block = op.regions[0].first_block
    assert block is not None and isinstance(steps, ArrayAttr)
    if len(block.args) != len(steps.data):
        message = f"{op.name} has {len(steps.data)} counters, found {len(block.args)}"
        ctx.report("region-form", op, message)
        return
    check_yields(op, op.regions[0], types_of(op.results), ctx)


FLOWS.update({"affine.for": _for, "affine.if": _if, "affine.parallel": _parallel})
