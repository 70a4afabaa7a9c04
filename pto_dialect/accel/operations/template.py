"""What structurally equal operations have in common, and the verdicts about all of them.

The parser gives one ``OperationTemplate`` to all operations that it makes in the same way. An operation may change
later, so verdicts are used only after a comparison with the operation.
"""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import Any

from xdsl.ir import Attribute, Operation


class OperationTemplate:
    """Types, attributes and properties of operations of one class without regions and successors.

    ``verdicts`` has what was computed for all operations of the template, by query.
    """

    __slots__ = ("attributes", "cls", "deferred", "operands", "properties", "types", "verdicts")

    def __init__(self, op: Operation) -> None:
        """What operations like ``op`` have in common."""
        self.cls = type(op)
        self.deferred = isinstance(getattr(self.cls, "attributes", None), property)
        self.operands = len(op._operands)
        self.types = [value._type for value in (*op._operands, *op.results)]
        self.attributes = sharing_keys(op.attributes)
        self.properties = sharing_keys(op.properties)
        self.verdicts: dict[object, Any] = {}

    def with_properties(self, properties: dict[str, Attribute]) -> OperationTemplate:
        """Returns the template of operations with other properties, for which the same verdicts hold."""
        other = copy(self)
        other.properties = sharing_keys(properties)
        return other

    def with_types(self, types: list[Attribute]) -> OperationTemplate:
        """Returns the template of operations with other types, about which nothing is known yet."""
        other = object.__new__(OperationTemplate)
        other.cls, other.deferred, other.operands = self.cls, self.deferred, self.operands
        other.attributes, other.properties = self.attributes, self.properties
        other.types, other.verdicts = types, {}
        return other

    def fits(self, op: Operation) -> bool:
        """Returns True when ``op`` still is what it was made as."""
        operands = op._operands
        if len(operands) != self.operands:
            return False
        if self.deferred:
            if getattr(op, "_attributes", self.attributes) != self.attributes:
                return False
            if getattr(op, "_properties", self.properties) != self.properties:
                return False
        elif op.attributes != self.attributes or op.properties != self.properties:
            return False
        types = [value._type for value in operands]
        types += [value._type for value in op.results]
        return types == self.types and not op.regions and not op._successors and type(op) is self.cls


_ROOM = 40
"""Objects of a class after which CPython leaves no room for further attributes in the next ones."""


def sharing_keys(entries: dict[str, Attribute]) -> dict[str, Attribute]:
    """Equal to ``entries``; a copy of it takes less than half of the memory that a copy of another dictionary does.

    It is that of an object, of which CPython keeps the keys once for all objects of a class and for copies as well.
    """
    if not entries:
        return {}
    holder = _holder(tuple(entries))()
    for key, value in entries.items():
        setattr(holder, key, value)
    return vars(holder)


@lru_cache(256)
def _holder(keys: tuple[str, ...]) -> type:
    """Returns the class of objects with these attributes."""
    cls = type("Entries", (), {})
    first = cls()
    for key in keys:
        setattr(first, key, None)
    for _ in range(_ROOM):
        cls()
    return cls


def set_template(op: Operation, template: OperationTemplate) -> None:
    """Remembers that ``op`` was made as ``template`` says."""
    # Not through __dict__, which would cost each operation a dictionary.
    op._template = template  # pyright: ignore[reportAttributeAccessIssue]


def template_of(op: Operation) -> OperationTemplate | None:
    """Returns the template that ``op`` was built from; ``None`` for an operation without one. It may have changed
    since."""
    return getattr(op, "_template", None)
