"""What operations written alike have in common, and what was found out about all of them at once.

The parser gives one ``Likeness`` to all operations that it makes in the same way. An operation may change later, so a
likeness is only believed after a look at the operation.
"""

from __future__ import annotations

from copy import copy
from typing import Any

from xdsl.ir import Attribute, Operation


class Likeness:
    """Types, attributes and properties of operations of one class without regions and successors.

    ``verdicts`` is what was found out, by the question.
    """

    __slots__ = ("attributes", "cls", "operands", "properties", "types", "verdicts")

    def __init__(self, op: Operation) -> None:
        """What operations like ``op`` have in common."""
        self.cls = type(op)
        self.operands = len(op._operands)
        self.types = [value._type for value in (*op._operands, *op.results)]
        self.attributes = dict(op.attributes)
        self.properties = dict(op.properties)
        self.verdicts: dict[object, Any] = {}

    def with_properties(self, properties: dict[str, Attribute]) -> Likeness:
        """The likeness of operations with other properties, of which nothing is known."""
        other = copy(self)
        other.properties = properties
        other.verdicts = {}
        return other

    def fits(self, op: Operation) -> bool:
        """True when ``op`` still is what it was made as."""
        operands = op._operands
        if len(operands) != self.operands or op.attributes != self.attributes or op.properties != self.properties:
            return False
        types = [value._type for value in operands]
        types += [value._type for value in op.results]
        return types == self.types and not op.regions and not op._successors and type(op) is self.cls


def set_likeness(op: Operation, likeness: Likeness) -> None:
    """Remembers that ``op`` was made as ``likeness`` says."""
    # Not through __dict__, which would cost each operation a dictionary.
    op._likeness = likeness  # pyright: ignore[reportAttributeAccessIssue]


def likeness_of(op: Operation) -> Likeness | None:
    """What ``op`` was made as; ``None`` where nobody said so. It may have changed since."""
    return getattr(op, "_likeness", None)
