"""Shared parts of all statement printers: names and types already spelled, regions as pieces of a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TypeVar

from xdsl.dialects.builtin import DenseArrayBase
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from pto_dialect.ir.core.attribute_text import dictionary_text
from pto_dialect.ir.core.types import type_text

from ..portable import portable
from .value_names import ValueNames

T = TypeVar("T")


class Inexpressible(Exception):
    """The operation has no custom form that expresses all of it; it is printed in generic form instead."""


@dataclass(slots=True, eq=False)
class Body:
    """A region inside a statement, printed as ``{`` .. ``}``.

    ``entered`` states that the statement has opened the region for names already, ``labelled`` that the arguments of
    the entry block are still to be written; ``elided`` is an implied terminator; ``generic`` states that an empty block
    has a label.
    """

    region: Region
    _: KW_ONLY
    entered: bool = False
    labelled: bool = True
    isolated: bool = False
    elided: Operation | None = None
    generic: bool = False


Piece = str | Body
"""Part of a statement that has regions: text, or a region."""

Leaf = Callable[["Writer", Operation], str]
"""Prints a statement without regions: everything after the result names."""

Composite = Callable[["Writer", Operation], list[Piece]]
"""The pieces of a statement with regions: everything after the result names."""


class Writer:
    """State of one printed text."""

    def __init__(self, generic: bool, portable: bool = False, names: ValueNames | None = None) -> None:
        self.generic = generic
        self.portable = portable
        self.around_calls: frozenset[int] = frozenset()
        self.names = names or ValueNames()
        self.blocks: dict[int, str] = {}
        self.indent = ""
        self._types: dict[int, str] = {}

    def use(self, value: SSAValue) -> str:
        """Returns the name of a value where it is read."""
        return self.names.texts.get(id(value)) or self.names.late(value)

    def uses(self, values: Iterable[SSAValue]) -> str:
        """Returns a comma list of names."""
        texts = self.names.texts
        return ", ".join([texts.get(id(value)) or self.names.late(value) for value in values])

    def type(self, attr: Attribute) -> str:
        """Returns the text of a type that a value of the printed program has."""
        text = self._types.get(id(attr))
        if text is None:
            text = self._types[id(attr)] = type_text(self.readable(attr))
        return text

    def readable(self, attr: Attribute) -> Attribute:
        """Returns the attribute or type to be spelled for ``attr``: one that MLIR can read, in a text meant for it."""
        return portable(attr) if self.portable else attr

    def types(self, values: Iterable[SSAValue]) -> str:
        """Returns a comma list of the types of ``values``."""
        return ", ".join([self.type(value.type) for value in values])

    def arrow(self, values: Iterable[SSAValue]) -> str:
        """Returns the result part of a function type: one type without parentheses, otherwise a parenthesised list."""
        texts = [self.type(value.type) for value in values]
        if len(texts) == 1 and texts[0][0] != "(":
            return texts[0]
        return f"({', '.join(texts)})"

    def signature(self, operands: Iterable[SSAValue], results: Iterable[SSAValue]) -> str:
        """Returns ``(types) -> types``."""
        return f"({self.types(operands)}) -> {self.arrow(results)}"

    def bindings(self, arguments: Iterable[SSAValue], values: Iterable[SSAValue]) -> str:
        """Returns ``%i = %x, %j = %y``: region arguments with their initial values."""
        pairs = zip(arguments, values, strict=True)
        return ", ".join([f"{self.use(name)} = {self.use(value)}" for name, value in pairs])

    def block(self, block: Block) -> str:
        """Returns the label of a block of an open region."""
        return self.blocks.get(id(block), "^invalid")

    def target(self, block: Block, values: Iterable[SSAValue]) -> str:
        """Returns ``^bb1(%a : i32)``: a branch target with its operands."""
        given = tuple(values)
        if not given:
            return self.block(block)
        return f"{self.block(block)}({self.uses(given)} : {self.types(given)})"


def dictionary_part(entries: Mapping[str, Attribute], before: str = " ") -> str:
    """Returns the dictionary after ``before``, nothing when it is empty."""
    return before + dictionary_text(entries) if entries else ""


def one_block(region: Region) -> Block:
    """Returns the only block of a region; raises ``Inexpressible`` when there are none or several."""
    block = region.first_block
    if block is None or block is not region.last_block:
        raise Inexpressible
    return block


def require(condition: object) -> None:
    """Raises ``Inexpressible`` unless ``condition`` holds."""
    if not condition:
        raise Inexpressible


def checked(value: object, cls: type[T]) -> T:
    """Returns ``value`` as a ``cls``; raises ``Inexpressible`` when it is something else."""
    if not isinstance(value, cls):
        raise Inexpressible
    return value


def only_properties(op: Operation, *allowed: str) -> None:
    """Raises ``Inexpressible`` when ``op`` has a property that its custom form does not show."""
    require(all(name in allowed for name in op.properties))


def integers(op: Operation, name: str) -> list[int]:
    """Returns the integers of an array property."""
    values = checked(op.properties.get(name), DenseArrayBase)
    return [int(value) for value in values.get_values()]  # pyright: ignore[reportAttributeAccessIssue]
