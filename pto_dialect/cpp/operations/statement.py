"""The text of one operation of the dialect: operands by their declared names, in the shape that the operation has.

Source: docs/reference/language.md, "Shapes".
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from pto_dialect.ir.core.base import PtoOp, op_spec, signature, takes_lists
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core.spec import Shape


class Named(NamedTuple):
    """A value of the program and its type, both as the text spells them."""

    name: str
    type: str


Operands = Mapping[str, Sequence[Named]]
"""Values by the declared names of the operands."""
Attributes = Mapping[str, str]
"""Texts of attributes by name."""

_DESTINATION = (Shape.DPS, Shape.DPS_INNER, Shape.DPS_KEYED, Shape.DPS_MASK, Shape.DPS_TLOAD)
_WORDS = {"preQuantScalar": "pre_quant"}
"""Words before operands whose word is not their name."""
_INNER_FIRST = ("pto.tcmp", "pto.tcmps", "pto.tcvt", "pto.trandom", "pto.ttri")
"""Operations whose dictionary always stands among the inputs."""


def statement(mnemonic: str, operands: Operands, attributes: Attributes) -> str:
    """Returns the text of an operation without results: the custom form, or the generic one of shapes whose custom
    form does not tell these operands apart."""
    op = op_class(mnemonic)
    shape = op_spec(op).shape
    if shape is Shape.DPS_MASK and set(operands) == {"src", "dst"}:
        return _mask_form(op, operands, attributes)
    if shape in _DESTINATION and (text := _destination_form(op, operands, attributes)):
        return text
    if shape is Shape.COMM_GROUP:
        return _group_form(op, operands, attributes)
    if shape is Shape.INS_ONLY and len(operands) == 1:
        (source,) = operands.values()
        return f"{mnemonic} ins({group(source)}){dictionary(attributes)}"
    if shape is Shape.PAREN:
        return f"{mnemonic}({group([one for values in operands.values() for one in values])}){dictionary(attributes)}"
    return generic(op, operands, attributes)


def group(values: Sequence[Named], inner: str = "") -> str:
    """Returns ``%a, %b inner : Ta, Tb``."""
    return f"{', '.join(v.name for v in values)}{inner} : {', '.join(v.type for v in values)}"


def dictionary(attributes: Attributes) -> str:
    """Returns `` {name = text}``; nothing without attributes."""
    return f" {{{', '.join(f'{name} = {text}' for name, text in attributes.items())}}}" if attributes else ""


def generic(op: type[PtoOp], operands: Operands, attributes: Attributes) -> str:
    """Returns the generic form of an operation without results."""
    declared = signature(op)
    sizes = [len(operands.get(slot.name, ())) for slot in declared.operands]
    values = [one for slot in declared.operands for one in operands.get(slot.name, ())]
    stated = dict(attributes)
    if declared.segmented:
        stated["operandSegmentSizes"] = f"array<i32: {', '.join(map(str, sizes))}>"
    names, types = ", ".join(v.name for v in values), ", ".join(v.type for v in values)
    return f'"{op.name}"({names}){dictionary(stated)} : ({types}) -> ()'


def _destination_form(op: type[PtoOp], operands: Operands, attributes: Attributes) -> str:
    """Returns ``name ins(..) outs(..)``; nothing where the number of inputs does not identify the optional ones."""
    spec = op_spec(op)
    inputs = [name for name in _text_order(op) if name not in spec.outs]
    outputs = [one for name in spec.outs for one in operands.get(name, ())]
    if spec.shape is Shape.DPS_KEYED:
        return _keyed_form(op, operands, attributes, inputs, outputs)
    values = [one for name in inputs for one in operands.get(name, ())]
    by_number = spec.shape is not Shape.DPS_MASK and not takes_lists(op)
    if by_number and not _is_unambiguous(op, operands, inputs):
        return ""
    inner = ""
    if op.name in _INNER_FIRST or any(operands.get(name) for name in (spec.inner_with, "excuted")):
        inner, attributes = dictionary(attributes), {}
    return f"{op.name} ins({group(values, inner)}) outs({group(outputs)}){dictionary(attributes)}"


def _keyed_form(
    op: type[PtoOp], operands: Operands, attributes: Attributes, inputs: Iterable[str], outputs: Sequence[Named]
) -> str:
    spec = op_spec(op)
    extra = (*spec.keyed, *spec.unnamed)
    text = group([one for name in inputs if name not in extra for one in operands.get(name, ())])
    for name in extra:
        for value in operands.get(name, ()):
            word = "," if name in spec.unnamed else f" {_WORDS.get(name, name)}"
            text += f"{word} {value.name} : {value.type}"
    return f"{op.name} ins({text}) outs({group(outputs)}){dictionary(attributes)}"


def _mask_form(op: type[PtoOp], operands: Operands, attributes: Attributes) -> str:
    inner = f", {{maskPattern = {attributes['maskPattern']}}}"
    axis = attributes.get("axis", '"row"')
    return f"{op.name} ins({group(operands['src'], inner)}, {axis}) outs({group(operands['dst'])})"


def _group_form(op: type[PtoOp], operands: Operands, attributes: Attributes) -> str:
    names = [slot.name for slot in signature(op).operands]
    buffers = [one for name in ("ping", "pong") for one in operands.get(name, ())]
    values = [one for name in names if name not in ("ping", "pong") for one in operands.get(name, ())]
    types = ", ".join(one.type for one in (*values, *buffers))
    listed = f"{', '.join(one.name for one in values)}, buf({', '.join(one.name for one in buffers)})"
    return f"{op.name}({listed} : {types}){dictionary(attributes)}"


def _text_order(op: type[PtoOp]) -> Sequence[str]:
    return op_spec(op).text or [slot.name for slot in signature(op).operands]


def _is_unambiguous(op: type[PtoOp], operands: Operands, inputs: Sequence[str]) -> bool:
    """Returns whether the number of inputs identifies the optional ones that are present: those that come first."""
    optional = [name for name in inputs if any(s.name == name and s.arity == "?" for s in signature(op).operands)]
    present = [bool(operands.get(name)) for name in optional]
    return present == sorted(present, reverse=True)


__all__ = ["Attributes", "Named", "Operands", "dictionary", "generic", "group", "statement"]
