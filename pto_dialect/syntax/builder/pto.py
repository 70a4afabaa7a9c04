"""Shared parts of the builders of all PTO statements: naming operands, checking stated types, assembling
the operation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, IntegerType, StringAttr, i64
from xdsl.ir import Attribute, Operation, Region, SSAValue

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.remedies.names import event_name, replace
from pto_dialect.diagnostics.remedies.order import operand_count
from pto_dialect.diagnostics.remedies.statements import second_result
from pto_dialect.diagnostics.remedies.types import missing_types, types_of_operands
from pto_dialect.diagnostics.wording import count
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.aliases import ATTRIBUTE_ALIASES, DEPRECATED, MNEMONIC_ALIASES, SUCCESSORS
from pto_dialect.ir.core.attribute_text import attribute_text
from pto_dialect.ir.core.attributes import ENUMS, OpaqueAttr, PlaceholderAttr
from pto_dialect.ir.core.base import PtoOp, Slot, op_spec, segment_sizes, signature, sizes_by_order
from pto_dialect.ir.core.registry import op_class
from pto_dialect.ir.core.words import enumerator_rule

from ..documentation.schematic_words import PLACEHOLDER_WORD
from ..errors.types import TypeSyntaxError
from ..read.tokens import Tok
from ..types.attributes import pto_enum, unescape
from ..types.parser import parse_type
from ..usage import usage, value_usage
from .attributes import SCHEMATIC
from .builder import POISON, Stated
from .error import BuildError, FollowUp, at, suggest_word
from .memory import MemoryBuilder

Groups = dict[str, list[SSAValue]]


_RESULT_NAMES = re.compile(r"(%[\w$.\-]+(?:\s*,\s*%[\w$.\-]+)*)\s*=\s*\Z")
_GAP = 200
"""Number of characters before an operation in which the names of its results are searched."""


class Operands:
    """Values of one statement in text order, with the tokens that name them."""

    __slots__ = ("tokens", "values")

    def __init__(self) -> None:
        self.values: list[SSAValue] = []
        self.tokens: list[tuple[Tok, int]] = []

    def add(self, token: Tok, values: Sequence[SSAValue]) -> None:
        """Appends the values of a USES token."""
        self.tokens.append((token, len(self.values)))
        self.values.extend(values)

    def drop_first(self) -> Tok:
        """Removes the first value; returns the token that names it."""
        token, _ = self.tokens[0]
        self.values.pop(0)
        # The name stays in its token, which therefore starts before the remaining values.
        self.tokens = [(each, start - 1) for each, start in self.tokens]
        return token

    def place(self, position: int) -> tuple[Tok, int]:
        """Returns token and index inside it of the value at ``position``."""
        token, first = self.tokens[0]
        for candidate, start in self.tokens:
            if start <= position:
                token, first = candidate, start
        return token, position - first


@cache
def text_slots(cls: type[PtoOp]) -> tuple[Slot, ...]:
    """Returns declared operands in text order."""
    slots = {slot.name: slot for slot in signature(cls).operands}
    order = op_spec(cls).text or tuple(slots)
    return tuple(slots[name] for name in order)


@cache
def typed_names(cls: type[PtoOp]) -> tuple[str, ...]:
    """Returns the names of the operands whose types the text spells, in that order."""
    typed = op_spec(cls).typed
    return typed if typed is not None else tuple(slot.name for slot in text_slots(cls))


@cache
def fixed_result_types(cls: type[PtoOp]) -> list[Attribute]:
    """Returns result types that the text never spells."""
    return [parse_type(spelling) for spelling in op_spec(cls).fixed_results]


_TYPE_FOLLOWS = re.compile(r"\s*:\s*\w")
_EQUALS = re.compile(r"\s*=\s*")
_AT_EDGE = re.compile(r"\b")
_VALUE = re.compile(r'"[^"\n]*"|[^\s,}]+')


def declared_integer(value: IntegerAttr, type_: IntegerType) -> IntegerAttr:
    """Returns ``value`` as an integer of the declared type, if it had none (which reads as i64) and fits."""
    width = type_.width.data
    if value.type != i64 or not -(1 << (width - 1)) <= value.value.data < 1 << width:
        return value
    return IntegerAttr(value.value, type_)


class PtoBuilder(MemoryBuilder):
    """Shared part of the PTO statement builders."""

    def result_help(self, op: Operation, token: Tok) -> str | None:
        """Returns the help where an operation that needs a result has none."""
        if isinstance(op, PtoOp) and signature(type(op)).results and not op_spec(type(op)).shape.startswith("OP_DPS"):
            return None if op.results else "state the type of the result: -> type"
        return super().result_help(op, token)

    def pto_class(self, token: Tok) -> type[PtoOp]:
        """Returns the operation class that an operation token names; warns about retired names."""
        name = token.value if isinstance(token.value, str) else token.text
        if name in DEPRECATED:
            successor = SUCCESSORS.get(name)
            self.report(
                "op-deprecated",
                f"{name} was removed from the dialect",
                token.start,
                token.end,
                DEPRECATED[name],
                Severity.WARNING,
                remedies=(replace(None, successor),) if successor is not None else (),
            )
        return op_class(MNEMONIC_ALIASES.get(name, name))

    # ------------------------------------------------------------ operands

    def distribute(self, token: Tok, slots: Sequence[Slot], operands: Operands) -> Groups:
        """Assigns values to each declared operand: to required ones always, to optional ones in order while values
        remain."""
        values = operands.values
        required = sum(slot.arity == "1" for slot in slots)
        limit = None if any(slot.arity == "*" for slot in slots) else len(slots)
        if len(values) < required or (limit is not None and len(values) > limit):
            raise self.operand_count(token, operands, slots, required, limit)
        groups: Groups = {}
        position = 0
        for slot, size in zip(slots, sizes_by_order(slots, len(values)), strict=True):
            groups[slot.name] = values[position : position + size]
            position += size
        return groups

    def operand_count(
        self, token: Tok, operands: Operands, slots: Sequence[Slot], required: int, limit: int | None
    ) -> BuildError:
        """Returns the error for a wrong operand count; names the missing operands or points at the surplus."""
        given = len(operands.values)
        names = [slot.name for slot in slots]
        if limit is None:
            wanted = f"at least {required}"
        else:
            wanted = str(required) if required == limit else f"{required} to {limit}"
        what = f"{token.text} takes {wanted} operands ({', '.join(names)}), found {given}"
        mended = (operand_count(required, given),) if required == limit else ()
        values = any(isinstance(value.type, t.TileType) for value in operands.values)
        form = value_usage(token.text, slots) if values else usage(token.text)
        if limit is not None and given > limit:
            place, index = operands.place(limit)
            start, end = self.name_extent(place, index)
            return BuildError("op-operand-count", what, start, end, form, remedies=mended)
        return at(token, "op-operand-count", what, form, *mended)

    def check_stated(
        self, cls: type[PtoOp], groups: Groups, operands: Operands, stated: list[Attribute], where: Tok
    ) -> None:
        """Checks the types written in the type list against the values they belong to."""
        positions = {id(value): index for index, value in enumerate(operands.values)}
        expected = [value for name in typed_names(cls) for value in groups.get(name, ())]
        if len(expected) != len(stated):
            optional = any(slot.arity != "1" for slot in signature(cls).operands)
            if optional and any(value.type is POISON for value in operands.values):
                # The operand that a value belongs to may depend on its type.
                raise FollowUp
            raise at(
                where,
                "parse-type-count",
                f"{count(len(expected), 'typed operand')} but {count(len(stated), 'type')}",
                f"types of {', '.join(name for name in typed_names(cls) for _ in groups.get(name, ()))}",
                types_of_operands(),
            )
        wrong: list[Stated] = []
        for value, type_ in zip(expected, stated, strict=True):
            if value.type is not type_:
                wrong.append((value, type_, *operands.place(positions.get(id(value), 0))))
        if wrong:
            self.check_types(wrong)

    # ------------------------------------------------------------ assembling

    def assemble(
        self,
        cls: type[PtoOp],
        token: Tok,
        groups: Groups,
        results: Sequence[Attribute] = (),
        attributes: dict[str, Attribute] | None = None,
        regions: Sequence[Region] = (),
    ) -> Operation:
        """Returns the operation with operands in declared order and its attributes in canonical form."""
        declared = signature(cls)
        operands: list[SSAValue] = []
        sizes: list[int] = []
        for slot in declared.operands:
            values = groups.get(slot.name, ())
            operands.extend(values)
            sizes.append(len(values))
        attributes = attributes if attributes is not None else {}
        if attributes:
            self.canonical_attributes(cls, attributes, token)
        if declared.segmented:
            attributes["operandSegmentSizes"] = segment_sizes(tuple(sizes))
        return self.create(cls, token.start, operands, results, attributes, regions=regions)

    def canonical_attributes(self, cls: type[PtoOp], attributes: dict[str, Attribute], token: Tok) -> None:
        """Converts bare enumerators and stripped forms to their attributes, in place, gives integers without a type the
        declared one, replaces aliases, and drops attributes with their default value."""
        declared = signature(cls)
        aliases = ATTRIBUTE_ALIASES.get(cls.name)
        slots = declared.attributes
        if aliases is not None:
            slots = slots | {alias: slots[name] for alias, name in aliases.items()}
        self.typed_attributes(slots, attributes, token, op_spec(cls).tokens)
        if aliases is not None:
            self._rename_attributes(aliases, attributes, token)
        for name, default in declared.defaults.items():
            if name in attributes and attribute_text(attributes[name]) == default:
                del attributes[name]

    def _rename_attributes(self, aliases: dict[str, str], attributes: dict[str, Attribute], token: Tok) -> None:
        """Gives attributes their declared names, in place; reports one that is given under both names."""
        for alias, name in aliases.items():
            if alias not in attributes:
                continue
            value = attributes.pop(alias)
            if name in attributes:
                message = f"{alias} is another name of {name}, which is given as well"
                place = self.attribute_token(token, alias)
                self.report("attr-duplicate", message, place.start, place.end, "keep one")
            attributes[name] = value

    def typed_attributes(
        self, slots: dict[str, Slot], attributes: dict[str, Attribute], token: Tok, written: tuple[str, ...] = ()
    ) -> None:
        """Returns attributes in the declared kinds, in place; the form of the operation determines the type of those in
        ``written``. A number without a type is an i64 anywhere else, as in all dictionaries."""
        for name, value in attributes.items():
            slot = slots.get(name)
            if self.schematic and isinstance(value, StringAttr) and PLACEHOLDER_WORD.fullmatch(value.data):
                attributes[name] = PlaceholderAttr(value.data)
            elif isinstance(value, StringAttr) and slot is not None and value.data in slot.kind.synonyms:
                attributes[name] = StringAttr(slot.kind.synonyms[value.data])
            elif slot is None or not slot.kind.enums:
                if slot is not None and slot.kind.integer is not None and isinstance(value, IntegerAttr):
                    bare = (name in written or self.schematic) and not self._states_type(token, name)
                    if value.type == i64 != slot.kind.integer and not bare:
                        continue
                    attributes[name] = declared_integer(value, slot.kind.integer)
            elif isinstance(value, StringAttr):
                attributes[name] = self.enumerator(slot, value.data, self.attribute_token(token, name))
            elif isinstance(value, OpaqueAttr) and value.data.startswith("<"):
                place = self.attribute_token(token, name)
                attributes[name] = self.enumerator(slot, value.data[1:-1].strip(), place)

    def _states_type(self, token: Tok, name: str) -> bool:
        """Returns whether the text states a type for the number of attribute ``name``."""
        place = self.attribute_token(token, name)
        return place is not token and _TYPE_FOLLOWS.match(self.source.text, place.end) is not None

    def attribute_token(self, token: Tok, name: str) -> Tok:
        """Returns the token of the value of the attribute ``name`` in the statement of ``token``, or
        ``token`` itself."""
        text, start = self.source.text, token.start
        while (start := text.find(name, start, self.text.cursor)) >= 0:
            found = _EQUALS.match(text, start + len(name), self.text.cursor)
            if found is not None and _AT_EDGE.match(text, start):
                value = _VALUE.match(text, found.end())
                return Tok("WORD", value.group(), found.end()) if value is not None else token
            start += 1
        return token

    def enumerator(self, slot: Slot, word: str, token: Tok) -> Attribute:
        """Returns the enumerator ``word`` of an attribute that takes one of several enumerations."""
        for kind in slot.kind.enums:
            if word in ENUMS[kind].values:
                return pto_enum(kind, word, 0, 0)
        try:
            return pto_enum(slot.kind.enums[0], word, 0, len(token.text))
        except TypeSyntaxError as error:
            raise BuildError(
                error.rule, error.message, token.start, token.end, error.help, remedies=error.remedies
            ) from None

    def token_attribute(self, cls: type[PtoOp], name: str, token: Tok) -> Attribute:
        """Returns the value of an attribute that the syntax spells as a token: quoted, stripped, full or bare."""
        slot = signature(cls).attributes[name]
        text = token.text
        if token.type == "HASH":
            return self.hash_value([token])
        if token.type == "INTEGER":
            if slot.kind.enums and not slot.kind.accepts(IntegerAttr(0, 64)):
                names = ENUMS[slot.kind.enums[0]].values
                message = f"{name} is a name such as {names[0]}, found {text}"
                if not names[0].endswith("0"):
                    raise at(token, "attr-kind", message)
                meant = f"{names[0].rstrip('0')}{text}"
                raise at(token, "attr-kind", message, f"did you mean {meant}?", event_name(meant))
            return self.number([token])
        word = text
        if token.type == "STRING":
            word = unescape(text)
        elif token.type == "ANGLE":
            word = text[1:-1].strip()
        if self.schematic and PLACEHOLDER_WORD.fullmatch(word):
            return PlaceholderAttr(word.removesuffix("_*"))
        if slot.kind.enums:
            return self.enumerator(slot, word, token)
        word = slot.kind.synonyms.get(word, word)
        if slot.kind.words and word not in slot.kind.words:
            rule = enumerator_rule(cls.name, name) or "attr-word"
            raise at(token, rule, f"unknown {name} {word!r}", *suggest_word(word, slot.kind.words))
        return StringAttr(word)

    def result_list_types(self, token: Tok, cls: type[PtoOp], outputs: Any) -> list[Attribute]:
        """Returns the types of the results stated after the arrow (or the fixed ones)."""
        if outputs is None:
            return list(fixed_result_types(cls))
        results = self.types_of(outputs)
        declared = signature(cls).results
        required = sum(slot.arity == "1" for slot in declared)
        limit = None if any(slot.arity == "*" for slot in declared) else len(declared)
        if len(results) < required or (limit is not None and len(results) > limit):
            where = outputs if isinstance(outputs, Tok) else token
            message = f"{token.text} has {count(required, 'result')}, {len(results)} stated"
            raise at(where, "parse-result-count", message, None, *((second_result(),) if required == 2 else ()))
        return results

    def stated_types(self, signature_part: Any, token: Tok) -> tuple[Tok, list[Attribute], Any]:
        """Returns token, operand types and result part of a ``: types [-> types]`` tail."""
        if signature_part is None:
            message = f"{token.text} needs its operand types after ':'"
            raise at(token, "parse-missing-types", message, usage(token.text), missing_types())
        types, outputs = signature_part
        return (types, self.type_list(types), outputs) if types is not None else (token, [], outputs)

    def is_schematic(self, signature_part: Any) -> bool:
        """Returns whether a signature is written ``...``."""
        return signature_part is SCHEMATIC

    def schematic_results(self, cls: type[PtoOp], token: Tok) -> list[Attribute]:
        """Returns the result types of a statement whose signature is ``...``: as many as it names."""
        declared = signature(cls).results
        least = sum(slot.arity == "1" for slot in declared)
        text = self.source.text
        names = _RESULT_NAMES.search(text, max(0, token.start - _GAP), token.start)
        number = names[1].count(",") + 1 if names is not None else 0
        return [t.OpaqueType("!pto.tile<...>")] * min(max(least, number), len(declared))
