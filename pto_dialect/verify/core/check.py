"""Checks one operation of a core dialect against its row of ``table``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from xdsl.dialects.builtin import DenseArrayBase, IndexType, IntegerType, ModuleOp, UnregisteredOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.utils.exceptions import VerifyException

from pto_dialect.diagnostics.remedies.order import other_operation
from pto_dialect.diagnostics.remedies.statements import cast
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.ir.core.types import type_text

from ..engine.context import Context, is_opaque
from . import forall as core_forall  # noqa: F401 - registers relations
from . import memref as core_memref  # noqa: F401 - registers relations
from .affine import IDENTIFIERS
from .control import check_branch, check_flow, check_function, check_parent, check_regions
from .kinds import element_type, is_signless
from .llvm import kind_mismatches
from .operands import split_groups
from .relations import RELATIONS
from .symbols import CALLS, check_calls
from .table import CORE_NAMES, Constraints, CoreSlot, constraints_of

_FLOAT_TWINS = {
    "addi": "addf", "subi": "subf", "muli": "mulf", "divsi": "divf", "divui": "divf", "remsi": "remf",
    "remui": "remf", "maxsi": "maximumf", "minsi": "minimumf", "maxui": "maximumf", "minui": "minimumf",
    "cmpi": "cmpf", "extsi": "extf", "extui": "extf", "trunci": "truncf", "absi": "absf",
}  # fmt: skip
_INTEGER_TWINS = {
    "addf": "addi", "subf": "subi", "mulf": "muli", "divf": "divsi", "remf": "remsi", "maximumf": "maxsi",
    "minimumf": "minsi", "maxnumf": "maxsi", "minnumf": "minsi", "cmpf": "cmpi", "extf": "extsi",
    "truncf": "trunci", "absf": "absi",
}  # fmt: skip


def check_core(op: Operation, ctx: Context) -> bool:
    """Checks one operation of a core dialect; what follows from its types and attributes alone is checked once for each
    combination.

    Returns False when later checks make no sense.
    """
    name = op.name
    if name in CORE_NAMES:
        types = [value._type for value in op._operands]
        types += [result._type for result in op.results]
        stated = op.attributes if constraints_of(name).discardable else op.properties
        key = (name, len(op._operands), *map(id, types), *map(id, stated.values()))
        if key not in ctx.accepted:
            if is_opaque(op):
                return True
            _check_signature(op, ctx)
            if ctx.failed:
                return False
            ctx.accepted.add(key)
        return check_surroundings(op, ctx)
    elif isinstance(op, FuncOp):
        return check_regions(op, ctx) and check_function(op, ctx)
    elif isinstance(op, IRDLOperation) and not isinstance(op, (UnregisteredOp, ModuleOp)):
        return _check_definition(op, ctx)
    return True


def check_surroundings(op: Operation, ctx: Context) -> bool:
    """Checks what does not follow from types and attributes alone: parent, regions and callees. Returns False when
    later checks make no sense."""
    check = _SURROUNDINGS.get(op.name) or (_check_regions_only if op.regions else None)
    if check is not None and not check(op, ctx):
        return False
    identifiers = IDENTIFIERS.get(op.name)
    if identifiers is not None and not ctx.failed:
        identifiers(op, ctx)
    return True


def has_surroundings(name: str) -> bool:
    """Returns whether operations with this name have checks beyond their types and attributes."""
    return bool(_SURROUNDINGS.get(name) or IDENTIFIERS.get(name))


def _check_regions_only(op: Operation, ctx: Context) -> bool:
    if not check_regions(op, ctx):
        return False
    check_flow(op, ctx)
    return True


def _check_parent_only(op: Operation, ctx: Context) -> bool:
    check_parent(op, ctx)
    check_branch(op, ctx)
    return True


def _check_parent_and_regions(op: Operation, ctx: Context) -> bool:
    if _check_parent_only(op, ctx) and not ctx.failed:
        _check_regions_only(op, ctx)
    return True


def _call(op: Operation, ctx: Context) -> bool:
    if op.regions:
        return _check_regions_only(op, ctx)
    check_calls(op, ctx)
    return True


_SURROUNDINGS: dict[str, Callable[[Operation, Context], bool]] = {
    **dict.fromkeys(("scf.for", "scf.if", "scf.while", "scf.execute_region", "scf.index_switch"), _check_regions_only),
    **dict.fromkeys(("scf.parallel", "scf.forall", "affine.for", "affine.if", "affine.parallel"), _check_regions_only),
    **dict.fromkeys(("memref.alloca_scope", "memref.generic_atomic_rmw"), _check_regions_only),
    **dict.fromkeys(
        ("func.return", "scf.yield", "scf.condition", "scf.reduce.return", "affine.yield"), _check_parent_only
    ),
    **dict.fromkeys(("memref.alloca_scope.return", "memref.atomic_yield"), _check_parent_only),
    **dict.fromkeys(("cf.br", "cf.cond_br", "cf.switch"), _check_parent_only),
    **dict.fromkeys(("scf.reduce", "scf.forall.in_parallel"), _check_parent_and_regions),
    **dict.fromkeys(CALLS, _call),
}
"""Checks of the surroundings of the operations in the table; operations that are not in it may have regions as well."""


def _check_definition(op: IRDLOperation, ctx: Context) -> bool:
    """Checks an operation without a row in the table against its xDSL definition."""
    for value, message in kind_mismatches(op):
        ctx.report("core-op", op, message, at=value if value in op.operands else None)
        return False
    if is_opaque(op):
        return True
    try:
        op.verify_()
    except (VerifyException, ValueError, AssertionError, IndexError) as error:
        reason = str(error).strip().splitlines()[-1] if str(error) else "malformed"
        ctx.report("core-op", op, f"{op.name} is not as its dialect defines it: {reason}")
        return False
    return True


def _check_signature(op: Operation, ctx: Context) -> None:
    """Checks operands, results and attributes, then the relations between them."""
    row = constraints_of(op.name)
    operands = _groups(op, row, ctx)
    if operands is None:
        return
    fixed = [slot.arity for slot in row.results]
    if len(op.results) < fixed.count("1") or ("*" not in fixed and len(op.results) > len(fixed)):
        ctx.report("result-kind", op, f"{op.name} has {len(fixed)} results, found {len(op.results)}")
        return
    results = ((row.results[min(number, len(row.results) - 1)], [result]) for number, result in enumerate(op.results))
    for slot, values in (*operands, *results):
        if not _check_kinds(op, slot, values, ctx):
            return
    if not row.attributes and not row.segmented and op.properties:
        name = next(iter(op.properties))
        ctx.report("attr-kind", op, f"{op.name} has no properties, found {name}", at=name)
        return
    for slot in row.attributes:
        stated = op.attributes if row.discardable else op.properties
        _check_attribute(op, slot, stated.get(slot.name), ctx)
    for relation in row.relations:
        if not ctx.failed:
            RELATIONS[relation](op, ctx)


def _groups(op: Operation, row: Constraints, ctx: Context) -> list[tuple[CoreSlot, Sequence[SSAValue]]] | None:
    """Returns the operands of each slot; ``None``, after a report, when their number is wrong."""
    total = len(op.operands)
    names = ", ".join(slot.name + {"1": "", "*": "..", "?": " (optional)"}[slot.arity] for slot in row.operands)
    if row.segmented:
        sizes = op.properties.get("operandSegmentSizes")
        numbers: list[int] = []
        if isinstance(sizes, DenseArrayBase) and sizes.elt_type == IntegerType(32):
            numbers = [int(number) for number in sizes.get_values()]
        if len(numbers) != len(row.operands) or sum(numbers) != total or min(numbers, default=0) < 0:
            message = f"operandSegmentSizes of {op.name} divides its {total} operands into {names}"
            found = f", found {numbers}" if numbers else ""
            ctx.report("operand-count", op, message + found)
            return None
        if any(slot.arity == "1" and number != 1 for slot, number in zip(row.operands, numbers, strict=True)):
            ctx.report("operand-count", op, f"{op.name} has the operands {names}, found {numbers}")
            return None
    else:
        single = sum(slot.arity == "1" for slot in row.operands)
        most = None if any(slot.arity == "*" for slot in row.operands) else len(row.operands)
        if total < single or (most is not None and total > most):
            count = f"{len(row.operands)} operands ({names})" if row.operands else "no operands"
            ctx.report("operand-count", op, f"{op.name} has {count}, found {total}")
            return None
        numbers = [1 if slot.arity == "1" else total - single for slot in row.operands]
    return list(zip(row.operands, split_groups(tuple(op._operands), numbers), strict=True))


def _check_kinds(op: Operation, slot: CoreSlot, values: Sequence[SSAValue], ctx: Context) -> bool:
    for value in values:
        if not slot.kind.accepts(value.type):
            what = f"{slot.name} of {op.name} must be {slot.kind.label}"
            help, *mended = _hint(op, value.type)
            if slot.kind.label == "index" and isinstance(value.type, IntegerType):
                mended.append(cast(None, type_text(value.type), "index"))
            message = f"{what}, found {type_text(value.type)}"
            ctx.report("core-operand", op, message, at=value, help=help, remedies=tuple(mended))
            return False
    return True


def _hint(op: Operation, type_: Attribute) -> tuple[str | None, *tuple[Remedy, ...]]:
    """Returns the help for a type of the other kind, with remedies."""
    dialect, _, short = op.name.partition(".")
    element = element_type(type_)
    if isinstance(element, IntegerType) and not is_signless(element) and dialect in ("arith", "math"):
        cast = f"builtin.unrealized_conversion_cast converts to i{element.width.data}"
        return (f"arithmetic has signless integers; {cast}",)
    twins = _INTEGER_TWINS if isinstance(element, IntegerType | IndexType) else _FLOAT_TWINS
    twin = twins.get(short)
    if not twin:
        return (None,)
    return f"{dialect}.{twin} is for {type_text(type_)}", other_operation(f"{dialect}.{twin}", True)


def _check_attribute(op: Operation, slot: CoreSlot, value: Attribute | None, ctx: Context) -> None:
    if value is None:
        if slot.arity == "1":
            message = f"{op.name} needs its attribute {slot.name}"
            ctx.report("attr-missing", op, message, help=slot.kind.label)
    elif not slot.kind.accepts(value):
        message = f"attribute {slot.name} of {op.name} must be {slot.kind.label}, found {value}"
        ctx.report("attr-kind", op, message, at=slot.name)
