"""The signatures of the classes of `pto`, from the declarations of the operations and a table of what differs.

By rule a constructor takes, by position, the types of the results, then operands and attributes in the order of the
declaration. What may be absent is passed by keyword, except destinations. Results of an operation with a destination
that may be absent are no arguments. ``signatures.csv`` has the exceptions: the name of the class, the positional
arguments, the types of results that are not arguments (``=i64``, or ``=src`` for the type of an operand), and
positional arguments of older releases.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple

from xdsl.ir import Attribute as XAttribute

from pto_dialect.accel.operations.deferred_definitions import declared_names
from pto_dialect.ir.core.base import Signature, Slot, op_spec, signature
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.registry import op_class

from ..declare import ATTRIBUTE, OPERAND, RESULT, Form, Infer, Parameter, make_form
from ..ir.structure import value_of
from ..ir.types import read_type
from .conversions import converter
from .inference import infer_subview

_TABLE = os.path.join(os.path.dirname(__file__), "signatures.csv")


class Row(NamedTuple):
    """What differs from the rule for an operation."""

    cls: str = ""
    positional: str = ""
    results: str = ""
    older: str = ""


@cache
def _rows() -> dict[str, Row]:
    with open(_TABLE, encoding="utf-8", newline="") as file:
        return {mnemonic: Row(*fields) for mnemonic, *fields in csv.reader(file)}


def row_of(mnemonic: str) -> Row:
    """Returns what differs from the rule for an operation."""
    return _rows().get(mnemonic, _RULE)


_RULE = Row()


@cache
def class_names() -> dict[str, str]:
    """Returns the mnemonic of each class, by the name of the class."""
    return {row_of(mnemonic).cls or OPS[mnemonic][1]: mnemonic for mnemonic in OPS}


def function_name(mnemonic: str) -> str:
    """Returns the name of the function that makes an operation."""
    name = mnemonic.removeprefix("pto.").replace(".", "_")
    return f"{name}_" if name in ("print", "yield") else name


@cache
def function_names() -> dict[str, str]:
    """Returns the mnemonic of each function, by its name."""
    return {function_name(mnemonic): mnemonic for mnemonic in OPS}


class _Parts(NamedTuple):
    """The declared parts of an operation: all slots by name, in order; the names of those with a role."""

    slots: dict[str, Slot]
    roles: dict[str, str]


def _parts(declared: Signature, order: list[str]) -> _Parts:
    roles = {one.name: RESULT for one in declared.results}
    roles |= {one.name: OPERAND for one in declared.operands} | dict.fromkeys(declared.attributes, ATTRIBUTE)
    slots = {one.name: one for one in (*declared.results, *declared.operands)} | declared.attributes
    return _Parts({name: slots[name] for name in [*(one.name for one in declared.results), *order]}, roles)


def _parameter(mnemonic: str, parts: _Parts, text: str) -> Parameter:
    """Returns the parameter that the table calls ``text``: a declared name, or ``group:name``."""
    group, _, name = text.rpartition(":")
    slot = parts.slots[group or name]
    role = parts.roles[slot.name]
    convert = converter(mnemonic, slot) if role == ATTRIBUTE else None
    arity = "?" if group and slot.arity == "*" and role == OPERAND else slot.arity
    return Parameter(name, role, arity, convert, group)


def _by_rule(parts: _Parts, outs: tuple[str, ...], inferred: bool) -> list[str]:
    optional = {name for name in outs if name in parts.slots and parts.slots[name].arity == "?"}
    hides = inferred or bool(optional)
    return [
        name
        for name, slot in parts.slots.items()
        if (not hides if parts.roles[name] == RESULT else slot.arity != "?" or name in optional)
    ]


@cache
def form_of(mnemonic: str) -> Form:
    """Returns the arguments of the constructor of an operation."""
    cls = op_class(mnemonic)
    declared, row = signature(cls), row_of(mnemonic)
    parts = _parts(declared, [name for name in declared_names(cls) if name in _named(declared)])
    words = row.positional.split() or _by_rule(parts, op_spec(cls).outs, bool(row.results))
    positional = [_parameter(mnemonic, parts, word) for word in words]
    taken = {one.group or one.name for one in positional}
    older = [[_parameter(mnemonic, parts, word) for word in text.split()] for text in row.older.split(";") if text]
    by_keyword = [name for name in parts.slots if name not in taken and parts.roles[name] != RESULT]
    return make_form(
        row.cls or cls.__name__,
        mnemonic,
        positional,
        [_parameter(mnemonic, parts, name) for name in by_keyword],
        [*(one.name for one in declared.results), *(one.name for one in declared.operands), *declared.attributes],
        {len(one): tuple(one) for one in older},
        declared.segmented,
        len(cls.get_irdl_definition().regions),
        _inference(row.results),
    )


def _named(declared: Signature) -> set[str]:
    return {one.name for one in declared.operands} | set(declared.attributes)


def _inference(text: str) -> Infer | None:
    if not text:
        return None
    if text == "subview":
        return infer_subview
    rules = [one.removeprefix("=") for one in text.split()]

    def infer(given: Mapping[str, Any]) -> list[XAttribute]:
        return [value_of(given[one]).type if one in given else read_type(one) for one in rules]

    return infer
