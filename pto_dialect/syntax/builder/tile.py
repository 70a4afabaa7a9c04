"""Statement builders for tile operations in destination-passing style (Level 2): ``ins(..) outs(..)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.diagnostics.remedies.statements import missing_outs
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.attributes import enum_attr
from pto_dialect.ir.core.base import PtoOp, Shape, op_spec, signature, takes_lists
from pto_dialect.ir.core.suffixes import SUFFIX_ATTRIBUTES
from pto_dialect.ir.tile.clauses import KEYED_INPUTS, NO_SCRATCH

from ..read.tokens import Tok
from ..tile_inputs import fitting_slots, merge_sort_inputs
from .builder import Stated
from .error import at
from .flat import FlatBuilder
from .pto import Groups, Operands, text_slots
from .step import statement


class Typed:
    """One group inside ``ins(..)`` or ``outs(..)``: values and their types."""

    __slots__ = ("types", "uses")

    attributes: Mapping[str, Attribute] = {}
    word: Tok | None = None
    key: Tok | None = None

    def __init__(self, uses: Tok, types: Tok) -> None:
        self.uses = uses
        self.types = types


class Input(Typed):
    """A group with the other items in it: attributes, a keyword after the values, a key before them."""

    def __init__(
        self,
        uses: Tok,
        types: Tok,
        attributes: dict[str, Attribute] | None = None,
        word: Tok | None = None,
        key: Tok | None = None,
    ) -> None:
        super().__init__(uses, types)
        self.attributes = attributes or {}
        self.word = word
        self.key = key


_BY_KIND = frozenset((Shape.DPS_TLOAD, Shape.DPS_KEYED, Shape.DPS_MASK))
"""Shapes whose optional inputs are identified by the types of the values."""


class TileBuilder(FlatBuilder):
    """Builders of the destination-passing shapes."""

    # ------------------------------------------------------------ parts

    def typed(self, items: list[Any]) -> Typed:
        """Returns the operands with their types."""
        return Typed(items[0], items[2])

    def inner_word(self, items: list[Any]) -> Input:
        """Reads a keyword among the inputs."""
        return Input(items[0], items[4], items[2], items[1])

    def inner_dict(self, items: list[Any]) -> Input:
        """Returns a dictionary among the inputs."""
        return Input(items[0], items[3], items[1])

    def mask_dict(self, items: list[Any]) -> Input:
        """Returns a mask pattern among the inputs."""
        return Input(items[0], items[4], items[2])

    def first_input(self, items: list[Any]) -> list[Any]:
        """Returns the first input of ``ins(..)``."""
        return [Typed(items[0], items[2])]

    def next_input(self, items: list[Any]) -> list[Any]:
        """Returns a further input of ``ins(..)``."""
        items[0].append(Typed(items[2], items[4]))
        return items[0]

    def next_other_input(self, items: list[Any]) -> list[Any]:
        """Returns a further input of another form."""
        items[0].append(items[2])
        return items[0]

    def keyed_input(self, items: list[Any]) -> list[Any]:
        """Returns ``word %x : type`` among the inputs."""
        items[0].append(Input(items[2], items[4], key=items[1]))
        return items[0]

    def more_keyed(self, items: list[Any]) -> list[Any]:
        """Reads a further ``name = %x`` after ``outs(..)``."""
        items[0].append(items[1])
        return items[0]

    def keyed_value(self, items: list[Any]) -> Any:
        """Reads the value after ``name =``."""
        return Typed(items[0], items[2]) if len(items) > 1 else items[0]

    def keyed_tail(self, items: list[Any]) -> list[Any]:
        """Reads named operands after ``outs(..)``."""
        first, others, result = items
        return [{}, [first, *others], result]

    def result_tail(self, items: list[Any]) -> list[Any]:
        """Reads a result type after ``outs(..)``."""
        return [{}, [], items[1]]

    # ------------------------------------------------------------ the statement

    @statement
    def dps(self, items: list[Any]) -> Operation:
        """``op ins(..) outs(..)``."""
        token, _, inputs, _, outputs, tail = items
        attributes, keyed, result = tail or ({}, [], None)
        return self.dps_statement(token, inputs, outputs, attributes, keyed, result)

    def dps_statement(
        self, token: Tok, inputs: list[Any], outputs: Any, attributes: dict[str, Any], keyed: list[Any], result: Any
    ) -> Operation:
        """Builds the operation of a statement with all its parts."""
        cls = self.pto_class(token)
        self.suffix_words(token, cls, attributes)
        self.mismatched: list[Stated] = []
        operands = Operands()
        named: Groups = {}
        strings: list[Tok] = []
        scratch = True
        for entry in inputs:
            if isinstance(entry, Tok):
                strings.append(entry)
                continue
            attributes.update(entry.attributes)
            values = self._typed_values(entry)
            if entry.word is not None:
                self._no_scratch(token, cls, entry.word)
                scratch = False
            if entry.key is not None:
                row = KEYED_INPUTS.find(entry.key.text)
                assert row is not None  # The grammar reads no other keywords.
                self._named_input(token, cls, row.operands[0], entry, values, named)
            elif operands.values and op_spec(cls).shape is Shape.DPS_KEYED and len(inputs) > 1:
                self._named_input(token, cls, _extra_name(values), entry, values, named)
            else:
                operands.add(entry.uses, values)
        for key, value in keyed:
            if isinstance(value, Typed):
                self._named_input(token, cls, key.text, value, self._typed_values(value), named)
            else:
                attributes[key.text] = value
        for word in strings:
            self._axis(token, cls, word, attributes)
        spec = op_spec(cls)
        if takes_lists(cls):
            lists = isinstance(outputs, list) and sum(len(self.type_list(o.types)) for o in outputs) > 1
            groups: Groups = merge_sort_inputs(operands.values, scratch and lists)
        else:
            slots = [s for s in text_slots(cls) if s.name not in spec.outs and s.name not in named]
            chosen = fitting_slots(slots, operands.values) if spec.shape in _BY_KIND else slots
            groups = {**self.distribute(token, chosen, operands), **named}
        results: list[Attribute] = []
        if isinstance(outputs, Tok):
            results = self.type_list(outputs)
        else:
            groups.update(self._outputs(token, cls, outputs))
        if result is not None:
            results = self.type_list(result)
        if self.mismatched:
            self.check_types(self.mismatched)
        return self.assemble(cls, token, groups, results, attributes)

    def suffix_words(self, token: Tok, cls: type[PtoOp], attributes: dict[str, Attribute]) -> bool:
        """Adds the attributes of an opcode's suffixes (``mgather.row.clamp``); returns True if there are any."""
        table = SUFFIX_ATTRIBUTES.get(cls.name)
        if table is None:
            return False
        opcode = token.text.lower().removeprefix("pto.")
        words = opcode.split(".")[1:]
        for word in words:
            name, value = table[word]
            attributes.setdefault(name, enum_attr(signature(cls).attributes[name].kind.enums[0], value))
        return bool(words)

    def _typed_values(self, entry: Typed) -> list[SSAValue]:
        return self.use_typed(entry.uses, self.type_list(entry.types), entry.types, self.mismatched)

    def _named_input(
        self, token: Tok, cls: type[PtoOp], name: str, entry: Typed, values: list[SSAValue], named: Groups
    ) -> None:
        if name not in {slot.name for slot in signature(cls).operands}:
            raise at(entry.uses, "parse-syntax", f"{token.text} takes no {name} operand")
        if name in named:
            raise at(entry.uses, KEYED_INPUTS.duplicate, f"{name} is given twice")
        named[name] = values

    def _axis(self, token: Tok, cls: type[PtoOp], word: Tok, attributes: dict[str, Attribute]) -> None:
        """Returns the axis of a mask pattern, a string after the type of the source; elsewhere the leading format."""
        if "axis" not in signature(cls).attributes:
            self.token_attributes(token, [word], attributes)
            return
        if "maskPattern" not in attributes:
            raise at(word, "parse-syntax", f"unexpected {word.text} inside ins(..) of {token.text}")
        if "axis" in attributes:
            raise at(word, "parse-clause-duplicate", "the axis is given twice")
        attributes["axis"] = self.token_attribute(cls, "axis", word)

    def _no_scratch(self, token: Tok, cls: type[PtoOp], word: Tok) -> None:
        if word.text != NO_SCRATCH or not takes_lists(cls):
            raise at(word, "parse-syntax", f"unexpected {word.text!r} inside ins(..) of {token.text}")

    def _outputs(self, token: Tok, cls: type[PtoOp], outputs: list[Typed]) -> Groups:
        names = op_spec(cls).outs
        slots = [s for s in text_slots(cls) if s.name in names]
        operands = Operands()
        for entry in outputs:
            operands.add(entry.uses, self._typed_values(entry))
        if not slots and not operands.values:
            return {}
        if not operands.values:
            raise at(token, "op-missing-outs", f"{token.text} needs outs(..)", "outs(%dst : type)", missing_outs())
        if len(operands.values) > len(slots):
            place, index = operands.place(len(slots))
            start, end = self.name_extent(place, index)
            token = Tok("USES", self.source.text[start:end], start)
            found = len(operands.values)
            raise at(token, "op-operand-count", f"outs(..) takes {len(slots)} operands, found {found}")
        return {s.name: [v] for s, v in zip(slots, operands.values, strict=False)}


def _extra_name(values: list[SSAValue]) -> str:
    """Returns the optional input of a keyed operation that an unnamed extra value is: a tile is channel parameters, a
    number one parameter for all channels."""
    return "preQuantScalar" if values and values[0].type == t.I64 else "fp"
