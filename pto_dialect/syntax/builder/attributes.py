"""Builders of signatures, attribute dictionaries and attribute values."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from xdsl.dialects import builtin
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute

from pto_dialect.diagnostics.remedies.order import repeated_attribute
from pto_dialect.ir.core.attributes import BROKEN, PlaceholderAttr
from pto_dialect.nesting import FUNCTIONS, LIMIT, ROOMY, NestingError, make_room

from ..documentation.schematic_words import PLACEHOLDER_WORD
from ..enum_spelling import ASSEMBLY_ENUM, respelled
from ..errors.types import TypeSyntaxError
from ..read.tokens import Tok, integer, is_alias, without_comments
from ..text import number_attribute, symbol
from ..types.attributes import parse_attribute, unescape
from .builder import POISON, BuilderBase
from .error import BuildError


def _alias_name(token: Tok) -> str:
    """Returns the name that a TYPE_ALIAS or ATTRIBUTE_ALIAS token (``!name =``) defines."""
    return token.text.rstrip("=").strip()


PARENTHESISED = object()
"""Marks the token of a type list in parentheses."""

SCHEMATIC = object()
"""Signature written ``...`` in a documentation snippet."""

TRUE = IntegerAttr(-1, 1)
FALSE = IntegerAttr(0, 1)


_UNIT = UnitAttr()


class JoinedTypes(Tok):
    """A TYPES token of several pieces; ``depth`` is the nesting depth of brackets. Its text is made on demand, so that
    a token of many pieces costs no more than they do."""

    __slots__ = ("_end", "_source", "depth")

    def __init__(self, source: str, start: int, end: int, depth: int) -> None:
        self.type = "TYPES"
        self.start = start
        self.value = None
        self.depth = depth
        self._source = source
        self._end = end

    @property
    def text(self) -> str:
        """The pieces and the text between them, without comments."""
        return without_comments(self._source[self.start : self._end])

    @property
    def end(self) -> int:
        """End offset of the last token."""
        return self._end


class TypeRun:
    """Several types (the first may be a value with its type) between commas inside an array attribute; exists only
    while the array is built."""

    __slots__ = ("types",)

    def __init__(self, types: list[Attribute]) -> None:
        self.types = types


class AttributeBuilder(BuilderBase):
    """Builders of the parts around operands: lists, signatures, attributes."""

    # ------------------------------------------------------------ parts by position, as the grammar names them

    def nothing(self, items: list[Any]) -> None:
        """Builds an absent part."""
        return None

    def empty(self, items: list[Any]) -> list[Any]:
        """Returns a list without entries."""
        return []

    def second(self, items: list[Any]) -> Any:
        """Returns the second part."""
        return items[1]

    def third(self, items: list[Any]) -> Any:
        """Returns the third part."""
        return items[2]

    def single(self, items: list[Any]) -> list[Any]:
        """Returns a list of one part."""
        return [items[0]]

    def parts(self, items: list[Any]) -> list[Any]:
        """Returns all parts."""
        return items

    def pair(self, items: list[Any]) -> tuple[Any, Any]:
        """Returns two parts around a separator."""
        return items[0], items[2]

    def listed_pair(self, items: list[Any]) -> tuple[Any, Any]:
        """Returns two parts around a separator, after a comma."""
        return items[1], items[3]

    def sequence(self, items: list[Any]) -> list[Any]:
        """Returns a list with a separator between its entries."""
        return items[::2]

    def bracketed(self, items: list[Any]) -> list[Any]:
        """Returns a list in square brackets."""
        return items[1:-1:2]

    def joined_types(self, items: list[Any]) -> Tok:
        """Joins adjacent tokens into one TYPES token: the pieces of a function type, or of a list that contains one."""
        depth = max([item.depth for item in items if isinstance(item, JoinedTypes)], default=0)
        depth += items[0].type == "LPAR"
        if depth > FUNCTIONS:
            raise NestingError("function types", items[0].start, FUNCTIONS)
        return JoinedTypes(self.text.text, items[0].start, items[-1].end, depth)

    # ------------------------------------------------------------ signatures

    def schematic_signature(self, items: list[Any]) -> Any:
        """Builds types of a documentation snippet, which may be omitted."""
        token = items[0]
        if not self.schematic:
            self.report(
                "type-schematic",
                "... is a documentation placeholder, not a type list",
                token.start,
                token.end,
                "write the types in full, or pass --allow-schematic to read documentation snippets",
            )
        return SCHEMATIC

    def operand_types(self, items: list[Any]) -> tuple[Tok | None, Any]:
        """``: T, ..``: types of operands alone."""
        return items[0], None

    def parenthesised_types(self, items: list[Any]) -> tuple[Tok | None, Any]:
        """``: (T, ..)``: types of operands alone."""
        return items[1], None

    def function_no_inputs(self, items: list[Any]) -> tuple[Tok | None, Any]:
        """``() -> R``: a function type without inputs."""
        return None, items[3]

    def function_inputs(self, items: list[Any]) -> tuple[Tok | None, Any]:
        """``(T, ..) -> R``: a function type with inputs."""
        return items[1], items[4]

    def parenthesised(self, items: list[Any]) -> Tok:
        """Result types in parentheses."""
        items[1].value = PARENTHESISED
        return items[1]

    def types_of(self, part: Any) -> list[Attribute]:
        """Returns the types of a result part: a TYPES token, or nothing."""
        return self.type_list(part) if isinstance(part, Tok) else []

    # ------------------------------------------------------------ attributes

    def type_alias(self, items: list[Any]) -> None:
        """``!name = type``."""
        name = _alias_name(items[0])
        meaning = self.define_alias(name, items[1].text, items[1].start)
        if meaning is not None and self._one_type(meaning, items[1].start) is POISON:
            self.wrong_aliases.add(name)

    def attribute_alias(self, items: list[Any]) -> None:
        """``#name = attribute``."""
        name = _alias_name(items[0])
        start = items[0].end
        text = without_comments(self.text.text[start : self.text.cursor])
        start += len(text) - len(text.lstrip())
        meaning = self.define_alias(name, text.strip(), start)
        self.attribute_aliases[name] = BROKEN if meaning is None else items[1]
        if items[1] is BROKEN:
            self.wrong_aliases.add(name)

    def location_alias(self, items: list[Any]) -> None:
        """``#name = loc(..)``."""
        self.attribute_aliases[_alias_name(items[0])] = _UNIT

    def no_dict(self, items: list[Any]) -> dict[str, Attribute]:
        """No attributes."""
        return {}

    def some_dict(self, items: list[Any]) -> dict[str, Attribute]:
        """``{..}``: attributes by name; a duplicate name is an error."""
        result: dict[str, Attribute] = {}
        for token, name, value in items[1:-1:2]:
            if name in result:
                message, mended = f"attribute {name} is given twice", (repeated_attribute(),)
                self.report("attr-duplicate", message, token.start, token.end, "keep one", remedies=mended)
            if isinstance(value, TypeRun):
                self.report("parse-syntax", f"attribute {name} takes one type", token.start, token.end)
                value = value.types[0]
            result[name] = value
        return result

    def entry(self, items: list[Any]) -> tuple[Tok, str, Attribute]:
        """Returns ``name = value``, or a name alone, which is a unit attribute."""
        token = items[0]
        name = unescape(token.text) if token.type == "STRING" else token.text
        return token, name, items[2] if len(items) > 1 else _UNIT

    def number(self, items: list[Any]) -> Attribute:
        """Returns an integer or float without a type."""
        token = items[0]
        if token.type == "INTEGER":
            return IntegerAttr(integer(token.text), i64)
        return builtin.FloatAttr(float(token.text), 64)

    def typed_number(self, items: list[Any]) -> Attribute | TypeRun:
        """Returns ``number : type``."""
        token = items[0]
        types = self.type_list(items[2])
        try:
            return self.and_types(number_attribute(token, types[0]), types)
        except BuildError as error:
            if types[0] is not POISON:
                self.fail(error)
            return BROKEN

    def typed_truth(self, items: list[Any]) -> Attribute:
        """Returns ``true : i1``."""
        token, stated = items[0], self.one_type(items[2])
        if stated != builtin.i1:
            if stated is not POISON:
                self.report("literal-type", f"{token.text} has type i1, found {stated}", token.start, token.end, "i1")
            return BROKEN
        return self.boolean(items)

    def and_types(self, value: Attribute, types: Sequence[Attribute]) -> Attribute | TypeRun:
        """Builds a typed value; the types after the first are the next entries of the array around it."""
        return value if len(types) == 1 else TypeRun([value, *types[1:]])

    def string(self, items: list[Any]) -> Attribute:
        """Returns a string."""
        return StringAttr(unescape(items[0].text))

    def typed_string(self, items: list[Any]) -> Attribute | TypeRun:
        """Returns ``"text" : type``."""
        return self.and_types(StringAttr(unescape(items[0].text)), self.type_list(items[2]))

    def boolean(self, items: list[Any]) -> Attribute:
        """Returns ``true`` or ``false``."""
        return TRUE if items[0].text == "true" else FALSE

    def body_value(self, items: list[Any]) -> Attribute | TypeRun:
        """Returns ``dense<..>`` or another attribute with a body in angle brackets."""
        token = items[0]
        if len(items) == 1:
            return self.attribute_text(token, token.text)
        types = self.type_list(items[2])
        return self.and_types(self.attribute_text(token, token.text, types[0]), types)

    def hash_value(self, items: list[Any]) -> Attribute:
        """Returns ``#name`` or ``#name<..>``."""
        token = items[0]
        alias = self.attribute_aliases.get(token.text)
        if alias is not None:
            size = len(self.alias_texts.get(token.text, ""))
            return alias if self.spend(size, token.start, len(token.text)) else BROKEN
        if is_alias(token.text) and not self.schematic:
            self.report("name-undefined", f"undefined alias {token.text}", token.start, token.end)
            return BROKEN
        text = ASSEMBLY_ENUM.sub(respelled, token.text) if self.text.assembly else token.text
        expanded = self.expanded(text, token.start, len(token.text))
        return BROKEN if expanded is None else self.attribute_text(token, expanded)

    def attribute_text(self, token: Tok, text: str, type_: Attribute | None = None) -> Attribute:
        """Returns the attribute spelled ``text``; an incorrect spelling is reported at ``token``."""
        try:
            return parse_attribute(text, type_)
        except TypeSyntaxError as error:
            start, end = token.start + error.start, token.start + error.end
            self.report(error.rule, error.message, start, end, error.help, remedies=error.remedies)
            return BROKEN

    def type_value(self, items: list[Any]) -> Attribute | TypeRun:
        """Returns a type as an attribute."""
        types = self.type_list(items[0])
        return types[0] if len(types) == 1 else TypeRun(types)

    def function_value(self, items: list[Any]) -> Attribute | TypeRun:
        """Returns a function type as an attribute."""
        inputs, outputs = items[0]
        results = self.types_of(outputs)
        if isinstance(outputs, Tok) and outputs.value is not PARENTHESISED:
            # A bare result is one type; what follows it are the next entries of an array.
            function = builtin.FunctionType.from_lists(self.types_of(inputs), results[:1])
            return self.and_types(function, results)
        return builtin.FunctionType.from_lists(self.types_of(inputs), results)

    def symbol_value(self, items: list[Any]) -> Attribute:
        """Returns ``@name`` or ``@a::@b``."""
        return symbol(items[0].text)

    def uses_value(self, items: list[Any]) -> Attribute:
        """Reports a value where an attribute belongs."""
        token = items[0]
        self.report("parse-syntax", "an attribute cannot contain a value", token.start, token.end)
        return UnitAttr()

    def word_value(self, items: list[Any]) -> Attribute:
        """Builds a bare keyword."""
        word = items[0].text
        if self.schematic and PLACEHOLDER_WORD.fullmatch(word):
            return PlaceholderAttr(word)
        return UnitAttr() if word == "unit" else StringAttr(word)

    def array_value(self, items: list[Any]) -> Attribute:
        """Returns ``[..]``."""
        values: list[Attribute] = []
        for value in items[1:-1:2]:
            values.extend(value.types if isinstance(value, TypeRun) else [value])
        return self.nested(ArrayAttr(values), values, items[0].start)

    def dict_value(self, items: list[Any]) -> Attribute:
        """Returns ``{..}`` inside an attribute."""
        return self.nested(DictionaryAttr(items[0]), items[0].values(), self.text.cursor)

    def nested(self, attr: Attribute, parts: Iterable[Attribute], start: int) -> Attribute:
        """Returns ``attr``, which consists of ``parts``; raises ``NestingError`` for ``start`` if it is too deep."""
        inner = [part for part in parts if isinstance(part, (ArrayAttr, DictionaryAttr))]
        if inner:
            depth = 1 + max(self.depths[id(part)][1] if id(part) in self.depths else 1 for part in inner)
            if depth > ROOMY:
                if depth > LIMIT:
                    raise NestingError("attributes", start)
                make_room(depth)
            self.depths[id(attr)] = attr, depth
        return attr
