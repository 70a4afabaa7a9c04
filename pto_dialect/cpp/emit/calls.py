"""Operations on tiles as calls of the interface, as the table of ``pto_dialect.cpp.operations`` says."""

from __future__ import annotations

import struct
from functools import cache
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import FloatAttr
from xdsl.ir import Operation

from pto_dialect.analysis.release import release_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, is_pto, signature
from pto_dialect.targets.backend import backend_of
from pto_dialect.targets.tcvt_pairs import default_saturation

from ..operations.calls import POWERS
from ..operations.modes import MODE_ATTRIBUTES, is_plain, spells
from ..operations.table import Role, Row, rows
from ..operations.tiles import LOCATIONS
from .buffers import groups_of, number_of, tensor
from .ctypes import element
from .errors import fail
from .expression import UNARY, Expr
from .spellings import ARRAYS, POINTERS, SAME, Item, Spelling, enumerators, spellings
from .writer import OTHERS, Writer, emits

if TYPE_CHECKING:
    from xdsl.ir import Attribute, SSAValue

Groups = dict[str, tuple["SSAValue", ...]]
_LARGEST_HALF = 65504.0
_IGNORED = frozenset(("operandSegmentSizes", "resultSegmentSizes"))


@cache
def _names() -> dict[str, tuple[tuple[str, Row], ...]]:
    """Returns the calls that operations are, by mnemonic."""
    found: dict[str, tuple[tuple[str, Row], ...]] = {}
    for name, listed in rows().items():
        for row in listed:
            found[row.mnemonic] = (*found.get(row.mnemonic, ()), (name, row))
    for mnemonic, name in SAME.items():
        found[mnemonic] = tuple((name, row) for row in rows()[name])
    return found


@emits(OTHERS)
def emit_call(op: Operation, w: Writer) -> None:
    """Emits an operation on tiles."""
    if not is_pto(op) or op.name not in _names():
        fail(op, f"{op.name} has no counterpart in C++", _help(op))
    if len(op.results) and op.name != "pto.comm.ttest":
        fail(op, f"{op.name} with a result has no form in C++", "make a program of level 2 with -p to-level2")
    groups = {name: values for name, values in groups_of(op).items() if values}
    if op.name in POWERS and "tmp" not in groups:
        # Powers of integers need no scratch, but the call has one.
        groups["tmp"] = groups["dst"]
    stated = _stated(op)
    for name, row in _names()[op.name]:
        if not _fits(row, groups, stated) or (name == "TFILLPAD" and _grows(groups)):
            continue
        for spelling in spellings(name):
            text = _spelled(name, row, spelling, op, groups, stated, w)
            if text is None:
                continue
            if len(op.results):
                w.declare(op, Expr(text))
            else:
                w.line(f"{text};")
            return
    with_ = ", ".join([*groups, *(f"{name} = {attribute}" for name, attribute in stated.items())])
    fail(op, f"{op.name} with {with_} has no form in C++", "leave out what C++ does not have")


def _grows(groups: Groups) -> bool:
    """Returns whether the destination is larger than the source, which has a call of its own."""
    source, target = groups["src"][0].type, groups["dst"][0].type
    if not isinstance(source, t.TileBufType) or not isinstance(target, t.TileBufType):
        return False
    return (source.rows, source.cols) != (target.rows, target.cols)


def _help(op: Operation) -> str:
    if op.name.startswith("cf."):
        return "write loops and branches with scf"
    return ""


def _stated(op: PtoOp) -> dict[str, Attribute]:
    """Returns the attributes that say more than their absence."""
    declared = signature(type(op))
    return {
        name: attribute
        for name, attribute in op.attributes.items()
        if name in declared.attributes and name not in _IGNORED and not is_plain(_word(attribute))
    }


def _word(attribute: Attribute) -> str:
    if isinstance(attribute, EnumAttr):
        return attribute.value
    number = number_of(attribute)
    if number is not None:
        return str(number)
    return str(getattr(attribute, "data", attribute))


def _fits(row: Row, groups: Groups, stated: dict[str, Attribute]) -> bool:
    """Returns whether a call has exactly the operands of an operation."""
    named: dict[str, int] = {}
    for role in row.roles:
        if role.kind == "attribute":
            continue
        for name in role.names:
            named[name] = named.get(name, 0) + 1
    if named != {name: len(values) for name, values in groups.items()}:
        return False
    if not all(_is_of_kind(role, groups) for role in row.roles):
        return False
    key, value = row.mode
    wanted = [name for name in MODE_ATTRIBUTES.get(key, ()) if name in stated]
    return not key or any(_word(stated[name]) == value for name in wanted)


def _is_object(value: SSAValue) -> bool:
    """Returns whether a value is a tile or a tensor."""
    return isinstance(value.type, (t.TileBufType, t.ShapedView))


def _is_of_kind(role: Role, groups: Groups) -> bool:
    if role.kind == "attribute":
        return True
    for name in role.names:
        for value in groups[name]:
            if role.kind in ("tile", "number") and _is_object(value) != (role.kind == "tile"):
                return False
            if role.location and not (
                isinstance(value.type, t.TileBufType) and value.type.loc == LOCATIONS[role.location]
            ):
                return False
    if len(role.names) > 1:
        return len({value for name in role.names for value in groups[name]}) == 1
    return True


class _Call:
    """One call while it is written: which modes are left."""

    def __init__(self, op: Operation, groups: Groups, stated: dict[str, Attribute], w: Writer) -> None:
        self.op, self.groups, self.w = op, groups, w
        self.left = dict(stated)

    def mode(self, item: Item) -> str | None:
        """Returns the value of a mode, if it is stated."""
        for name in MODE_ATTRIBUTES[item.name]:
            if name in self.left:
                return _enumerator(self.op, item, self.left.pop(name))
        return None

    def types(self, item: Item) -> list[str]:
        """Returns the types of operands, by the variables that have them."""
        if item.kind == "element":
            value = self.groups[item.name][0]
            destination = self.groups["dst"][0].type
            of = destination.element if isinstance(destination, t.TileBufType) else value.type
            return [element(of, self.op)]
        return [
            f"decltype({tensor(value, self.op, self.w).text})"
            for value in self.groups[_operand(item.name, self.groups)]
        ]


def _operand(name: str, groups: Groups) -> str:
    return f"{name}s" if name not in groups and f"{name}s" in groups else name


def _spelled(
    name: str, row: Row, spelling: Spelling, op: PtoOp, groups: Groups, stated: dict[str, Attribute], w: Writer
) -> str | None:
    """Returns the text of a call; nothing where the spelling does not have all that the operation states."""
    for item in spelling.template:
        if item.kind != "mode" and (_operand(item.name, groups) in groups) == (item.kind == "without"):
            return None
        if item.kind == "type" and not all(map(_is_object, groups[_operand(item.name, groups)])):
            return None
    call = _Call(op, groups, stated, w)
    template = _template(spelling, call)
    if template is None:
        return None
    positions: dict[str, int] = {}
    arguments: list[str] = []
    for role in row.roles:
        arguments += _argument(name, role, call, positions)
    arguments = _in_arrays(name, arguments, w)
    for item in spelling.arguments:
        value = call.mode(item)
        value = value if value is not None else _implied(op, item, w)
        if value is not None:
            arguments.append(value)
    if call.left:
        return None
    listed = f"<{', '.join(template)}>" if template else ""
    return f"{name}{listed}({', '.join(arguments)})"


def _in_arrays(name: str, arguments: list[str], w: Writer) -> list[str]:
    """Returns arguments, of which some are arrays in C++, which are declared here."""
    if name not in ARRAYS:
        return arguments
    found, position = arguments[:1], 1
    for type_, size in ARRAYS[name]:
        array = w.names.fresh(type_.removeprefix("TRandom").lower())
        numbers = ", ".join(f"(uint32_t){one}" for one in arguments[position : position + size])
        w.line(f"{type_} {array} = {{{numbers}}};")
        found.append(array)
        position += size
    return found


def _template(spelling: Spelling, call: _Call) -> list[str] | None:
    """Returns the template arguments; nothing where a required mode is missing."""
    found: list[str] = []
    needed = 0
    for item in spelling.template:
        if item.kind != "mode":
            found += call.types(item) if item.kind in ("type", "element") else []
            continue
        value = call.mode(item)
        if value is None:
            if item.is_required:
                return None
            if item.is_optional:
                continue
        found.append(value if value is not None else _value(item, item.default or ""))
        if value is not None or item.is_shown:
            needed = len(found)
    return found[:needed]


def _argument(name: str, role: Role, call: _Call, positions: dict[str, int]) -> list[str]:
    op, w = call.op, call.w
    if role.kind == "attribute":
        attribute = call.left.pop(role.names[0], None)
        declared = signature(type(op)).attributes[role.names[0]].kind.default if is_pto(op) else None
        word = _word(attribute) if attribute is not None else (declared or "0").partition(" ")[0]
        return [{"-1": "true", "1": "true", "0": "false"}.get(word, word) if _is_flag(role) else word]
    if role.kind == "executed":
        taken = w.names.fresh("executed")
        w.line(f"MrgSortExecutedNumList {taken};")
        return [taken]
    values = call.groups[role.names[0]]
    at = positions.get(role.names[0], 0)
    positions[role.names[0]] = at + 1
    if role.type == "f32":
        _check_number(name, values[at], op, call)
    found = tensor(values[at], op, w) if role.kind == "tile" else w.get(values[at], op)
    if name in ARRAYS and role.kind == "number":
        return [found.at(UNARY)]
    return [f"&{found.text}" if role.names[0] in POINTERS.get(name, ()) else found.text]


def _check_number(name: str, value: SSAValue, op: Operation, call: _Call) -> None:
    """Refuses a float that loses digits because C++ takes it in the type of the tiles."""
    tile = call.groups["dst"][0].type
    made_by = value.owner
    if not isinstance(tile, t.TileBufType) or tile.element == t.F32:
        return
    if isinstance(made_by, Operation) and made_by.name == "arith.extf" and made_by.operands[0].type == tile.element:
        return
    constant = made_by.properties.get("value") if isinstance(made_by, Operation) else None
    if isinstance(constant, FloatAttr) and t.element_name(tile.element) == "f16":
        number = constant.value.data
        if abs(number) <= _LARGEST_HALF and struct.unpack("<e", struct.pack("<e", number))[0] == number:
            return
    kind = element(tile.element, op)
    fail(op, f"{name} takes a number of type {kind} in C++, which may not have all digits of this one",
         f"make it of a number of type {t.type_text(tile.element)} by arith.extf")  # fmt: skip


def _is_flag(role: Role) -> bool:
    return role.names[0] == "isBinary"


def _implied(op: Operation, item: Item, w: Writer) -> str | None:
    """Returns the value of a mode that an operation does not state."""
    if item.name == "sat":
        found = default_saturation(backend_of(op, None, w.shared.target), release_of(op))
        return None if found is None else _value(item, found)
    return None if item.default is None else _value(item, item.default)


def _enumerator(op: Operation, item: Item, attribute: Attribute) -> str:
    word = _word(attribute)
    if item.enumeration == "int":
        return {"true": "1", "false": "0", "-1": "1"}.get(word, word)
    if item.enumeration == "bool":
        return {"1": "true", "-1": "true", "0": "false"}.get(word, word)
    for one in enumerators(item.enumeration):
        if spells(one, word):
            return _value(item, one)
    fail(op, f"{op.name} with {item.name} {word} has no form in C++")


def _value(item: Item, word: str) -> str:
    return word if item.enumeration in ("int", "bool") else f"{item.enumeration}::{word}"


__all__ = ["emit_call"]
