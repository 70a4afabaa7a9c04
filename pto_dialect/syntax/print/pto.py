"""Shared parts of the printers of all PTO statements: operands by name, attributes spelled outside the dictionary.

A statement is printed in custom form only if the parser would assign every operand its name again; see ``Statement``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from xdsl.dialects.builtin import IntegerAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.clauses import Taken, clauses_of
from pto_dialect.ir.core.attribute_text import attribute_text, string_literal
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import (
    SEGMENT_SIZES,
    OpSpec,
    PtoOp,
    Shape,
    Slot,
    op_spec,
    operand_groups,
    signature,
    sizes_by_order,
    sizes_of,
    stores,
    takes_lists,
)

from .writer import Inexpressible, Leaf, Writer, checked, dictionary_part, require


@dataclass(frozen=True)
class Layout:
    """How an operation class is written: operands in text order, those with types, attributes."""

    spec: OpSpec
    slots: tuple[Slot, ...]
    required: tuple[str, ...]
    """Operands that are always present, in text order."""
    typed: tuple[str, ...]
    attributes: dict[str, Slot]
    defaults: dict[str, str]
    tokens: tuple[str, ...]
    segmented: bool
    stores: bool
    lists: bool
    clauses: tuple[Taken, ...]
    outside: tuple[str, ...]
    """Operands that are in no clause."""
    straight: bool
    """Whether text order is operand order and every operand is typed and present."""


@cache
def layout(cls: type[PtoOp]) -> Layout:
    """Returns the layout of ``cls``."""
    declared, spec = signature(cls), op_spec(cls)
    by_name = {slot.name: slot for slot in declared.operands}
    order = spec.text or tuple(by_name)
    clauses = clauses_of(cls)
    inside = {name for _, names, _ in clauses for name in names}
    return Layout(
        spec=spec,
        slots=tuple(by_name[name] for name in order),
        required=tuple(name for name in order if by_name[name].arity == "1"),
        typed=spec.typed if spec.typed is not None else order,
        attributes=declared.attributes,
        defaults=declared.defaults,
        tokens=tuple(name for name in spec.tokens if name in declared.attributes),
        segmented=declared.segmented,
        stores=stores(cls),
        lists=takes_lists(cls),
        clauses=clauses,
        outside=tuple(name for name in order if name not in inside),
        straight=order == tuple(by_name) == (spec.typed or order) and not declared.segmented,
    )


class Statement:
    """The operation being printed: its operands by declared name, and which attributes are already spelled."""

    __slots__ = ("groups", "layout", "op", "spelled", "writer")

    def __init__(self, writer: Writer, op: Operation) -> None:
        pto = checked(op, PtoOp)
        require(not op.properties and not op.successors)
        self.writer = writer
        self.op = pto
        self.layout = layout(type(pto))
        self.spelled: set[str] = set(SEGMENT_SIZES)
        try:
            self.groups = operand_groups(pto)
        except ValueError:
            # Fewer segments than declared operands.
            raise Inexpressible from None
        segments = op.attributes.get("operandSegmentSizes")
        require((segments is not None) == self.layout.segmented and "resultSegmentSizes" not in op.attributes)
        sizes, given = sizes_of(segments), len(op._operands)
        require(given == sum(map(len, self.groups.values())) and (sizes is None or sum(sizes) == given))

    # ------------------------------------------------------------ operands

    def group(self, name: str) -> tuple[SSAValue, ...]:
        """Returns the values of a declared operand; empty when it is absent."""
        return self.groups[name]

    def single(self, name: str) -> str:
        """Returns the name of the one value of an operand."""
        (value,) = self.expect(name, 1)
        return self.writer.use(value)

    def expect(self, name: str, *counts: int) -> tuple[SSAValue, ...]:
        """Returns the values of an operand whose count must be one of the given numbers."""
        values = self.groups[name]
        require(len(values) in counts)
        return values

    def present(self, *names: str) -> int:
        """Returns how many of ``names`` have a value; these must be the first ones, with one value each."""
        sizes = [len(self.groups[name]) for name in names]
        found = sum(sizes)
        require(sizes == [1] * found + [0] * (len(names) - found))
        return found

    def outside(self) -> list[SSAValue]:
        """Returns the values of the operands that are in no clause, in text order; each has one."""
        groups = self.groups
        values = [value for name in self.layout.outside for value in groups[name]]
        require(len(values) == len(self.layout.outside))
        return values

    def flatten(self, slots: Iterable[Slot]) -> list[SSAValue]:
        """Returns the values of operands written as one list; raises unless the list alone identifies them."""
        chosen = list(slots)
        sizes = [len(self.groups[slot.name]) for slot in chosen]
        require(sizes == sizes_by_order(chosen, sum(sizes)))
        return [value for slot in chosen for value in self.groups[slot.name]]

    def values(self, names: Iterable[str]) -> list[SSAValue]:
        """Returns the values of the named operands, in that order."""
        return [value for name in names for value in self.groups[name]]

    def typed_values(self) -> list[SSAValue]:
        """Returns the values whose types the text spells."""
        return self.values(self.layout.typed)

    # ------------------------------------------------------------ attributes

    def attribute(self, name: str) -> Attribute | None:
        """Returns the value of an attribute that the statement spells outside the dictionary."""
        value = self.op.attributes.get(name)
        if value is None:
            require(self.layout.attributes[name].arity != "1")
            return None
        require(self.layout.attributes[name].kind.accepts(value))
        self.spelled.add(name)
        return value

    def word(self, name: str) -> str | None:
        """Returns an enumerator, string or unit attribute as a bare keyword."""
        value = self.attribute(name)
        if value is None:
            return None
        if isinstance(value, UnitAttr):
            return name
        return value.value if isinstance(value, EnumAttr) else checked(value, StringAttr).data

    def required_keyword(self, name: str) -> str:
        """Returns the enumerator of a required attribute."""
        return checked(self.word(name), str)

    def quoted(self, name: str) -> str:
        """Returns a required enumerator in quotes."""
        return string_literal(self.required_keyword(name))

    def stripped(self, name: str) -> str:
        """Returns a required enumerator in stripped form, ``<PIPE_V>``."""
        return f"<{self.required_keyword(name)}>"

    def full(self, name: str) -> str:
        """Returns a required attribute in full."""
        return attribute_text(checked(self.attribute(name), Attribute))

    def field(self, name: str) -> str | None:
        """Returns the value of an attribute in a field list: integers of the declared type need no type."""
        value = self.attribute(name)
        if value is None:
            return None
        declared = self.layout.attributes[name].kind.integer
        if isinstance(value, IntegerAttr) and declared is not None and value.type == declared:
            return str(value.value.data)
        return attribute_text(value)

    def dictionary(self, before: str = " ", *names: str) -> str:
        """Returns the attribute dictionary: attributes that are neither spelled elsewhere nor the default; only
        ``names``, if given."""
        attributes = self.op.attributes
        if not attributes:
            return ""
        defaults = self.layout.defaults
        shown = {
            name: value
            for name, value in attributes.items()
            if name not in self.spelled
            and (not names or name in names)
            and (name not in defaults or attribute_text(value) != defaults[name])
        }
        self.spelled.update(names)
        return dictionary_part(shown, before)

    # ------------------------------------------------------------ results

    def results(self) -> str:
        """Returns the types of the results."""
        return self.writer.types(self.op.results)

    def arrow_part(self) -> str:
        """Returns ``-> types``, nothing without results."""
        return f" -> {self.results()}" if self.op.results else ""


def comma(parts: Sequence[str]) -> str:
    """Joins the parts that are not empty by commas."""
    return ", ".join([part for part in parts if part])


LEAVES: dict[Shape, Leaf] = {}
"""Printers of operations without regions, by shape, for the loaded modules."""


def prints(*shapes: Shape) -> Callable[[Leaf], Leaf]:
    """Registers a function as the printer of operations of these shapes, which have no regions."""

    def register(function: Leaf) -> Leaf:
        LEAVES.update(dict.fromkeys(shapes, function))
        return function

    return register
