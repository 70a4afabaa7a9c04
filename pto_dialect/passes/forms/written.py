"""What the values of a function do not say about its buffers, kept in its attribute ``pto.buffers``.

``["x", ["acc", !pto.tile_buf<..>, 7]]``: the values ``%x``, ``%x.1``, ``%x.2`` lie in one buffer that holds no others,
and so do ``%acc``, ``%acc.1``. Buffers are allocated in this order, where an entry has a number before that operation
of the function, and have the type that an entry states, and the address in ``{addr = 4096 : i64}``.
Source: docs/reference/language.md, "Level 1 and Level 2".
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.syntax.types.parser import intern_type

ATTRIBUTE = "pto.buffers"
EMPTY_ELSE = "pto.empty_else"
"""On an ``scf.if`` with tiles: its else branch is retained, although it only yields."""
_ADDRESS = "addr"
_VERSION = re.compile(r"\.\d+\Z")
_UNNAMED = re.compile(r"_\d+\Z")
_AGAIN = re.compile(r"\$\d+\Z")


class BufferFacts(NamedTuple):
    """Facts on a buffer that values do not state: its type, the index of the operation before which it is allocated,
    and its address."""

    type: Attribute | None = None
    at: int | None = None
    address: int | None = None


def read(function: Operation) -> dict[str, BufferFacts]:
    """Returns the buffers that the attribute of a function names; what is not understood is left out."""
    attribute = function.attributes.get(ATTRIBUTE)
    facts: dict[str, BufferFacts] = {}
    if isinstance(attribute, ArrayAttr):
        for entry in attribute.data:
            parts = entry.data if isinstance(entry, ArrayAttr) else [entry]
            if not parts or not isinstance(parts[0], StringAttr):
                continue
            current = BufferFacts()
            for part in parts[1:]:
                if isinstance(part, IntegerAttr):
                    current = current._replace(at=part.value.data)
                elif isinstance(part, DictionaryAttr):
                    address = part.data.get(_ADDRESS)
                    current = current._replace(address=address.value.data if isinstance(address, IntegerAttr) else None)
                elif isinstance(part, TileBufType):
                    current = current._replace(type=intern_type(part))
            facts[parts[0].data] = current
    return facts


def write(buffers: Mapping[str, BufferFacts]) -> Attribute:
    """Returns the attribute for ``buffers``."""
    entries: list[Attribute] = []
    for name, (type_, at, address) in buffers.items():
        parts: list[Attribute] = [StringAttr(name)]
        parts += [type_] if type_ is not None else []
        parts += [IntegerAttr(at, i64)] if at is not None else []
        parts += [DictionaryAttr({_ADDRESS: IntegerAttr(address, i64)})] if address is not None else []
        entries.append(ArrayAttr(parts) if len(parts) > 1 else parts[0])
    return ArrayAttr(entries)


def key_of(value: SSAValue, buffers: Mapping[str, BufferFacts]) -> str | None:
    """Returns the buffer of ``value`` by its name."""
    name = value._name
    if name is None:
        return None
    if name in buffers:
        return name
    stem = _VERSION.sub("", name)
    return stem if stem in buffers else None


def handle_name(name: str | None) -> str | None:
    """Returns the name of a buffer whose first value has ``name``."""
    if name is None or _UNNAMED.match(name):
        return None
    return _AGAIN.sub("", name)


def numbered(function: Operation) -> Iterator[tuple[int, Operation]]:
    """Yields the operations of a function with their numbers; those that only end regions have none."""
    number = 0
    for op in walk(function):
        if op is not function and not has_role(op, Role.YIELD):
            yield number, op
            number += 1
