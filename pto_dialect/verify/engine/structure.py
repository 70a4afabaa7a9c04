"""Structure of PTO operations: kinds of operands, results and attributes. Pass ``verify-structure``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.diagnostics.remedies.names import replace, replace_in_statement, typed_number
from pto_dialect.diagnostics.remedies.order import into_destination, other_operation, swap_operands
from pto_dialect.diagnostics.remedies.statements import attribute_word
from pto_dialect.diagnostics.remedies.types import constant_type
from pto_dialect.diagnostics.remedy import Remedy
from pto_dialect.diagnostics.suggest import near_hint, near_terms
from pto_dialect.ir.core.attributes import BROKEN, PlaceholderAttr
from pto_dialect.ir.core.base import PtoOp, Signature, Slot, op_spec, operand_groups, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.location import span_of_value
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MaskType, OpaqueType, TileBufType, type_text
from pto_dialect.ir.core.words import enumerator_rule
from pto_dialect.syntax.usage import usage

from .context import Context
from .kind_help import kind_help
from .unread_attributes import report_unread

_FOREIGN = re.compile(r"#(\w+)<(\w+)>")
"""An attribute name without the prefix of its dialect."""

_accepted: set[tuple[type[Operation], int, tuple[Attribute, ...]]] = set()


def check_pto(op: PtoOp, ctx: Context) -> bool:
    """Checks the kinds of operands, results and attributes of one PTO operation; returns False when later checks make
    no sense."""
    cls = type(op)
    types = tuple([value._type for value in op._operands] + [result._type for result in op.results])
    attributes = op.seen_attributes()
    bare = not attributes or (len(attributes) == 1 and "operandSegmentSizes" in attributes)
    if bare and not signature(cls).attributes:
        key = (cls, len(op._operands), types)
        if key in _accepted and not signature(cls).segmented:
            return True
        if _check_values(op, ctx):
            _accepted.add(key)
            return True
        return False
    return _check_values(op, ctx) and _check_attributes(op, ctx)


def _check_values(op: PtoOp, ctx: Context) -> bool:
    declared = signature(type(op))
    try:
        groups = operand_groups(op)
    except ValueError:
        names = ", ".join(slot.name for slot in declared.operands)
        ctx.report("operand-count", op, f"{op.name} has {len(op.operands)} operands; declared are {names}")
        return False
    if sum(map(len, groups.values())) != len(op._operands):
        names = ", ".join(slot.name for slot in declared.operands)
        ctx.report("operand-count", op, f"{op.name} has {len(op.operands)} operands; declared are {names}")
        return False
    wrong: list[tuple[Slot, SSAValue]] = []
    for slot in declared.operands:
        values = groups[slot.name]
        if (slot.arity == "1" and len(values) != 1) or (slot.arity == "?" and len(values) > 1):
            ctx.report("operand-count", op, f"{op.name} needs its operand {slot.name}")
            return False
        for value in values:
            if not slot.kind.accepts(value._type) and not isinstance(value._type, OpaqueType):
                wrong.append((slot, value))
    _report_kinds(op, wrong, ctx)
    good = not wrong
    required = sum(slot.arity == "1" for slot in declared.results)
    most = declared.maximum_results
    if len(op.results) < required or (most is not None and len(op.results) > most):
        span = "" if most == required else " or more" if most is None else f" to {most}"
        ctx.report("result-kind", op, f"{op.name} has {required}{span} results, found {len(op.results)}")
        return False
    if (not op.results or isinstance(op.results[0].type, TileBufType)) and _has_result_instead_of_outs(op, groups):
        message = f"{op.name} on buffers has no result: it writes to outs(..)"
        ctx.report("op-missing-outs", op, message, help=usage(op.name), remedies=(into_destination(),))
        return False
    if not _check_destinations(op, declared, groups, ctx):
        return False
    for slot, result in zip(declared.results, op.results, strict=False):
        if not slot.kind.accepts(result.type) and not isinstance(result.type, OpaqueType):
            found = type_text(result.type)
            message = f"the result of {op.name} must be {slot.kind.label}, found {found}"
            ctx.report("result-kind", op, message, at=result, remedies=_mask_width(op, result.type))
            good = False
    return good


def _mask_width(op: PtoOp, found: Attribute) -> tuple[Remedy, ...]:
    """Returns the operation that makes masks of the width of ``found``, where there is one."""
    stem = op.name.rpartition("_")[0]
    other = f"{stem}_{found.granularity}" if isinstance(found, MaskType) else ""
    return (other_operation(other, False),) if other in OPS else ()


def _report_kinds(op: PtoOp, wrong: list[tuple[Slot, SSAValue]], ctx: Context) -> None:
    """Reports operands of other kinds than declared; two operands that have the kinds of each other are one mistake."""
    if len(wrong) == 2:
        (slot, value), (other_slot, other) = wrong
        if slot.kind.accepts(other.type) and other_slot.kind.accepts(value.type):
            message = f"{slot.name} and {other_slot.name} of {op.name} are swapped: {slot.name} must be "
            message += f"{slot.kind.label}, found {type_text(value.type)}"
            ctx.report("operand-kind", op, message, at=value, help="swap the two", remedies=(swap_operands(True),))
            return
    for slot, value in wrong:
        help, *mended = kind_help(op.name, slot.kind, value.type)
        if isinstance(value.owner, Operation) and has_role(value.owner, Role.CONSTANT):
            if not ctx.engine.first(span_of_value(value), slot.kind.label):
                ctx.follows_from_another()
                continue
            if help is not None and slot.kind.label in ("index", "i64"):
                help = f"state the type of the constant: arith.constant .. : {slot.kind.label}"
                mended = [constant_type(f"%{value.name_hint}", slot.kind.label), *mended]
        message = f"{slot.name} of {op.name} must be {slot.kind.label}, found {type_text(value.type)}"
        ctx.report("operand-kind", op, message, at=value, help=help, remedies=tuple(mended))


def _check_destinations(op: PtoOp, declared: Signature, groups: Mapping[str, Sequence[SSAValue]], ctx: Context) -> bool:
    """Checks that results in the role of destinations have types of the declared kinds."""
    outs = op_spec(type(op)).outs
    if not outs or any(groups[name] for name in outs if name in groups):
        return True
    good = True
    slots = {slot.name: slot for slot in declared.operands}
    for name, result in zip((name for name in outs if name in slots), op.results, strict=False):
        kind = slots[name].kind
        if not kind.accepts(result.type) and not isinstance(result.type, OpaqueType):
            message = f"the result of {op.name} must be {kind.label}, found {type_text(result.type)}"
            ctx.report("result-kind", op, message, at=result)
            good = False
    return good


def _has_result_instead_of_outs(op: PtoOp, groups: Mapping[str, Sequence[SSAValue]]) -> bool:
    """Returns whether the operation takes its destination as an operand and has buffers and a result instead."""
    destinations = [groups[name] for name in op_spec(type(op)).outs if name in groups]
    if not destinations or any(destinations):
        return False
    return any(isinstance(value.type, TileBufType) for value in op.operands)


def _check_attributes(op: PtoOp, ctx: Context) -> bool:
    good = True
    declared = signature(type(op)).attributes
    attributes = op.seen_attributes()
    misspelt = report_unread(op, ctx) if any(name not in declared for name in attributes) else ()
    for name, slot in declared.items():
        value = attributes.get(name)
        if value is None:
            if slot.arity == "1" and name in misspelt:
                good = False
            elif slot.arity == "1":
                ctx.report("attr-missing", op, f"{op.name} needs its attribute {name}", help=slot.kind.label)
                good = False
        elif value is BROKEN:
            good = False
        elif not slot.kind.accepts(value) and not isinstance(value, PlaceholderAttr):
            message = f"attribute {name} of {op.name} must be {slot.kind.label}, found {value}"
            own = enumerator_rule(op.name, name) if slot.kind.words else None
            near = near_terms(value.data, slot.kind.words) if isinstance(value, StringAttr) else []
            help, mended = near_hint(near), _other_word(name, slot.kind.words, value, near)
            foreign = _FOREIGN.fullmatch(str(value))
            if foreign is not None and f"#pto.{foreign[1]}<" in slot.kind.label:
                help = f"did you mean #pto.{foreign[1]}<{foreign[2]}>?"
                mended = (replace_in_statement(str(value), f"#pto.{foreign[1]}<{foreign[2]}>"),)
            if isinstance(value, IntegerAttr) and isinstance(slot.kind.integer, IntegerType):
                typed = f"{value.value.data} : {slot.kind.integer}"
                help, mended = f"write {typed}; a number without a type is an i64", (typed_number(name, typed),)
            ctx.report(own or "attr-kind", op, message, at=name, help=help, remedies=mended)
            good = False
    return good


def _other_word(name: str, words: tuple[str, ...], value: Attribute, near: list[str]) -> tuple[Remedy, ...]:
    """Returns what to do about an attribute that takes one of ``words`` and has another ``value``."""
    if not words or not isinstance(value, StringAttr):
        return ()
    return (*((replace(value.data, *near),) if near else ()), attribute_word(name, *words))
