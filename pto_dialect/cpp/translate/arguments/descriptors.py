"""The descriptor of a tensor in a kernel that a run time calls: which of its fields a load reads.

The fields are those of ``pto_dialect/cpp/include/fallback/tensor.h``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...llvm.model import BasicBlock, Constant, Global, GlobalVariable, Instruction, Operand, Value
from ...llvm.reader import Module
from ...llvm.types import TypeReadError
from ..addresses import split_indices
from ..calls import is_interface

ADDRESS, START = 0, 24
"""Offsets of the address of the buffer, and of the first element in it."""

ELSEWHERE = -(1 << 62)
"""The offset of what is in no descriptor."""

_DIMENSIONS = 5
_FIELDS = {
    ADDRESS: ("", "i64"), 8: ("size", "i64"), 16: ("owner", "i64"), START: ("start", "i64"), 32: ("version", "i32"),
    36: ("dimensions", "i32"), 40: ("dtype", "i8"), 41: ("manual", "i8"), 42: ("contiguous", "i8"), 43: ("space", "i8"),
    64: ("extent", "i64"),
    **{44 + 4 * n: (f"shape_{n}", "i32") for n in range(_DIMENSIONS)},
    **{72 + 4 * n: (f"stride_{n}", "i32") for n in range(_DIMENSIONS)},
}  # fmt: skip
"""Names and types of fields by offset."""

_ARRAYS = ((range(START, 64), 44, "shape"), (range(64, 96), 72, "stride"))
"""Where the addresses of elements with an index begin (``shapes[n - 1]`` begins before ``shapes``), the offset of the
array, and the name of its elements."""

_CHECK = "check:a tensor has at most 5 dimensions"


class Access(NamedTuple):
    """An access through a pointer: the constant part of its offset in bytes, and the value that chooses an element of
    4 bytes or, where ``places`` has its constants, a field."""

    offset: int
    load: Instruction
    chosen: Value | None = None
    places: tuple[int, ...] = ()


class _Offset(NamedTuple):
    """What is known of an address: the constant part of its offset, and the value that is added times a stride; a
    stride of 0 says that there are several."""

    offset: int = 0
    value: Value | None = None
    stride: int = 0

    def plus(self, constant: int, terms: Sequence[tuple[Value, int]]) -> _Offset:
        """Returns the address that many bytes further."""
        if not terms:
            return self._replace(offset=self.offset + constant)
        value, stride = terms[0]
        return _Offset(self.offset + constant, value, stride if len(terms) == 1 and self.value is None else 0)


def accesses_of(pointer: Value, uses: Mapping[Value, Sequence[Instruction]], module: Module) -> list[Access] | None:
    """Returns the accesses through a pointer; ``None`` if it has uses of which it is not known what they access.

    What is surely no field of a descriptor has the offset :data:`ELSEWHERE`.
    """
    found: list[Access] = []
    pending: list[tuple[Value, _Offset]] = [(pointer, _Offset())]
    while pending:
        value, place = pending.pop()
        for user in uses.get(value, ()):
            if user.opcode == "load":
                access = _loaded(user, place)
                if access is None:
                    return None
                found.append(access)
            elif (user.opcode == "store" and user.operands[0] is not value) or is_interface(user):
                found.append(Access(ELSEWHERE, user))
            elif user.opcode == "getelementptr" and user.operands[0] is value:
                try:
                    pending.append((user, place.plus(*split_indices(module, user))))
                except TypeReadError:
                    return None
            else:
                return None
    return found


def _loaded(load: Instruction, place: _Offset) -> Access | None:
    """Returns what a load reads; ``None`` if it may be any field."""
    if place.value is None:
        return Access(place.offset, load)
    if place.stride == 4:
        return Access(place.offset, load, place.value)
    constants = _constants(place.value) if place.stride == 1 else None
    if constants:
        return Access(place.offset, load, place.value, tuple(sorted(constants)))
    # The descriptor has no other arrays than those of numbers of 4 bytes.
    return Access(ELSEWHERE, load) if load.type not in ("i8", "i16", "i32") else None


def _constants(value: Operand) -> set[int] | None:
    """Returns the constants that a value may be; ``None`` if it is not chosen among constants."""
    found: set[int] = set()
    seen: set[Operand] = set()
    pending = [value]
    while pending:
        one = pending.pop()
        if one in seen:
            continue
        seen.add(one)
        if isinstance(one, Constant) and isinstance(one.value, int):
            found.add(one.value)
        elif isinstance(one, Instruction) and one.opcode in ("phi", "select"):
            pending += one.operands if one.opcode == "phi" else one.operands[1:]
        else:
            return None
    return found


def is_field(access: Access) -> bool:
    """Returns whether a load reads a field of the descriptor."""
    if access.places:
        return all(_is_field_at(access.offset + place, access.load) for place in access.places)
    if access.chosen is not None:
        return access.load.type == "i32" and _array(access.offset) is not None
    return _is_field_at(access.offset, access.load)


def _is_field_at(offset: int, load: Instruction) -> bool:
    return _FIELDS.get(offset, ("", ""))[1] == load.type


def field_name(offset: int) -> str:
    """Returns the name of the field at a constant offset."""
    return _FIELDS[offset][0]


def choices_of(access: Access) -> list[tuple[int, str]]:
    """Returns the names of the fields that a load chooses among, each with the value that chooses it."""
    if access.places:
        return [(place, field_name(access.offset + place)) for place in access.places]
    array = _array(access.offset)
    assert array is not None
    return [(n - (access.offset - array[0]) // 4, f"{array[1]}_{n}") for n in range(_DIMENSIONS)]


def _array(offset: int) -> tuple[int, str] | None:
    for begins, start, name in _ARRAYS:
        if offset in begins and (offset - start) % 4 == 0:
            return start, name
    return None


def choose_field(access: Access, fields: Sequence[Value], block: BasicBlock, module: Module) -> None:
    """Makes a load the choice of one of ``fields``, which stand for those of :func:`choices_of`, in place; the index of
    an array is checked before."""
    load, chosen = access.load, access.chosen
    assert chosen is not None
    values = [Constant(chosen.type, number) for number, _ in choices_of(access)]
    added: list[Instruction] = []

    def add(opcode: str, type: str, *operands: Operand, word: str = "") -> Instruction:
        made = Instruction(opcode, load.name, type, operands, word)
        made.debug = load.debug
        added.append(made)
        return made

    if not access.places:
        first = values[0].value
        assert isinstance(first, int)
        index = add("add", chosen.type, chosen, Constant(chosen.type, -first)) if first else chosen
        holds = add("icmp", "i1", index, Constant(chosen.type, _DIMENSIONS), word="ult")
        add("call", "void", _text("assert", module), _text(_CHECK, module), holds, word="__pto_call")
    result: Operand = fields[-1]
    for value, field in reversed(list(zip(values[:-1], fields[:-1], strict=True))):
        is_at = add("icmp", "i1", chosen, value, word="eq")
        result = add("select", load.type, is_at, field, result)
    if not isinstance(result, Instruction):
        result = add("freeze", load.type, result)
    added.pop()
    load.opcode, load.operands, load.flags = result.opcode, result.operands, ""
    place = block.instructions.index(load)
    block.instructions[place:place] = added


def _text(text: str, module: Module) -> Global:
    """Returns a string of the program."""
    name = f"pto.{text}"
    module.globals[name] = GlobalVariable(name, "ptr", f'c"{text}\\00"', True)
    return Global(name)


def constant_call(load: Instruction, name: str, module: Module) -> None:
    """Makes a load the call of what never changes in a run, in place."""
    load.opcode, load.operands, load.word, load.flags = "call", (_text(name, module),), "__pto_constant", ""


__all__ = [
    "ADDRESS",
    "START",
    "Access",
    "accesses_of",
    "choices_of",
    "choose_field",
    "constant_call",
    "field_name",
    "is_field",
]
