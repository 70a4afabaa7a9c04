"""Kinds of operands and results of llvm operations, which the xDSL definitions do not state."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from xdsl.dialects.builtin import AnyFloat, VectorType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.types import OpaqueType, type_text

from .kinds import is_signless

_OF_LLVM: Final = re.compile("!llvm").match

_POINTER_TYPE: Final = "llvm.ptr"
_AGGREGATE_TYPES: Final = frozenset(("llvm.struct", "llvm.array"))
"""Types of xDSL's llvm dialect by name: programs without llvm operations do not import it."""


class Kind(NamedTuple):
    """A set of types with a phrase that describes it."""

    label: str
    accepts: Callable[[Attribute], bool]


def _element(type_: Attribute) -> Attribute:
    return type_.element_type if isinstance(type_, VectorType) else type_


def _named(type_: Attribute, name: str) -> bool:
    """Returns whether a type that is stored as text is ``name``; an unknown text matches everything."""
    return isinstance(type_, OpaqueType) and (not _OF_LLVM(text := type_text(type_)) or text.startswith(name))


def _pointer(type_: Attribute) -> bool:
    element = _element(type_)
    return element.name == _POINTER_TYPE or _named(element, "!llvm.ptr")


def _integer(type_: Attribute) -> bool:
    element = _element(type_)
    return is_signless(element) or _named(element, "!llvm.i")


def _plain(type_: Attribute) -> bool:
    return _integer(type_) or _pointer(type_) or isinstance(_element(type_), AnyFloat)


def _first_class(type_: Attribute) -> bool:
    return type_.name in _AGGREGATE_TYPES or _plain(type_) or _named(type_, "!llvm.")


_POINTER: Final = Kind("!llvm.ptr", _pointer)
_INTEGER: Final = Kind("a signless integer", _integer)
_PLAIN: Final = Kind("a signless integer, a float or !llvm.ptr", _plain)
_FIRST_CLASS: Final = Kind("a type of llvm", _first_class)
_ANY: Final = Kind("a value", lambda type_: True)

KINDS: Final[Mapping[str, tuple[tuple[Kind, ...], Kind]]] = MappingProxyType(
    {
        "llvm.inttoptr": ((_INTEGER,), _POINTER),
        "llvm.ptrtoint": ((_POINTER,), _INTEGER),
        "llvm.addrspacecast": ((_POINTER,), _POINTER),
        "llvm.bitcast": ((_PLAIN,), _PLAIN),
        "llvm.load": ((_POINTER,), _FIRST_CLASS),
        "llvm.store": ((_FIRST_CLASS, _POINTER), _ANY),
        "llvm.getelementptr": ((_POINTER, _INTEGER), _POINTER),
    }
)
"""Operation -> kinds of its operands, of which the last one holds for all further operands, and of its result."""


def kind_mismatches(op: Operation) -> Iterator[tuple[SSAValue, str]]:
    """Returns the operands and results of another kind, with the message for each."""
    kinds = KINDS.get(op.name)
    if kinds is None:
        return
    operands, result = kinds
    named = [("operand", value, operands[min(i, len(operands) - 1)]) for i, value in enumerate(op.operands)]
    for role, value, kind in (*named, *(("result", value, result) for value in op.results)):
        if not kind.accepts(value.type):
            yield value, f"{role} of {op.name} must be {kind.label}, found {type_text(value.type)}"
