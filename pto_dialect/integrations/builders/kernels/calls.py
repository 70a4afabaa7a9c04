"""Calls of operations in kernels: numbers become constants, and types of results follow from the operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.ir import Attribute as XAttribute
from xdsl.ir import SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import Slot, signature
from pto_dialect.ir.core.kinds import ANY, I1, INTEGER, Kind
from pto_dialect.ir.core.registry import op_class
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types.parser import intern_type, parse_type

from ..declare import RESULT, results_of
from ..dialects import arith
from ..ir.attributes import wrap
from ..ir.structure import Value
from ..pto.classes import op_function, op_view
from ..pto.helpers import FUNCTIONS
from ..pto.signatures import form_of, function_names
from .surface import SurfaceType


def exact_type(kind: Kind) -> XAttribute | None:
    """Returns the only type of a kind; ``None`` where there are several."""
    try:
        return parse_type(kind.label)
    except TypeSyntaxError:
        return None


def constant(value: Any, of: XAttribute) -> Any:
    """Makes a constant of a type."""
    number = float(value) if t.is_float(of) else int(value)
    return arith.ConstantOp(wrap(of), number).result


def operand_types(name: str, arguments: int) -> list[XAttribute | None]:
    """Returns the types that an operation demands of its arguments, ``None`` for those that may differ."""
    mnemonic = function_names().get(name)
    if mnemonic is None:
        return [None] * arguments
    slots = {slot.name: slot for slot in signature(op_class(mnemonic)).operands}
    given = [one.name for one in form_of(mnemonic).positional if one.role != RESULT]
    return [exact_type(slots[one].kind) if one in slots else None for one in given]


def call_operation(name: str, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    """Makes an operation of `pto` from its arguments without the types of results; returns its results."""
    if name in FUNCTIONS:
        return FUNCTIONS[name](*arguments, **named)
    mnemonic = function_names().get(name)
    if mnemonic is None:
        raise ValueError(f"pto has no operation {name!r}")
    form = form_of(mnemonic)
    slots = {slot.name: slot for slot in signature(op_class(mnemonic)).operands}
    stated = [one for one in arguments if isinstance(one, SurfaceType)]
    rest = [one for one in arguments if not isinstance(one, SurfaceType)]
    parameters = [one for one in form.positional if one.role != RESULT]
    values = [_operand(slots.get(one.name), value) for one, value in zip(parameters, rest, strict=False)]
    values += rest[len(values) :]
    if form.infer is not None or not any(one.role == RESULT for one in form.positional):
        return op_function(mnemonic)(*values, **named)
    kinds = {slot.name: slot.kind for slot in signature(op_class(mnemonic)).results}
    types = [
        None if one.arity == "?" else wrap(stated.pop(0).x if stated else _result(kinds[one.name], values))
        for one in form.positional
        if one.role == RESULT
    ]
    return results_of(op_view(mnemonic)(*types, *values, **named))


def _operand(slot: Slot | None, value: Any) -> Any:
    if slot is None or not isinstance(value, (int, float)):
        return value
    return constant(value, _type_of_number(slot.kind, value))


def _type_of_number(kind: Kind, value: float) -> XAttribute:
    found = exact_type(kind)
    if found is not None:
        return found
    if isinstance(value, bool) and kind in (I1, INTEGER):
        return t.I1
    return t.F32 if isinstance(value, float) else t.I64 if kind.accepts(t.I64) or kind is ANY else t.I32


def _result(kind: Kind, values: Sequence[Any]) -> XAttribute:
    """Returns the type of a result: the only one of its kind, that of a register, or what a pointer points to."""
    found = exact_type(kind)
    if found is not None:
        return found
    types = [one._x.type for one in values if isinstance(one, Value) and isinstance(one._x, SSAValue)]
    registers = [one for one in types if isinstance(one, (t.VRegType, t.MaskType)) and kind.accepts(one)]
    if registers:
        return registers[0]
    elements = [one.element for one in types if isinstance(one, (t.VRegType, t.PtrType))]
    bits = t.bit_width(elements[0]) if elements else None
    if bits is not None:
        for made in (t.VRegType(2048 // bits, elements[0]), t.MaskType(f"b{bits}"), elements[0]):
            if kind.accepts(made):
                return intern_type(made)
    raise ValueError(f"the type of the result ({kind.label}) does not follow from the arguments: state it")
