"""Parse templates: what the grammar made of a statement, cached for statements that differ from it in names alone.

The text of a statement between the names of values is its normalized token sequence. A template states what becomes of
one: the class of the operation, which name is which operand and of which type, the types of the results, the
attributes. Templates are made from what the builder made of a statement that the grammar read, so the grammar remains
the definition of the language. A statement whose meaning depends on more than its token sequence and the types of the
values has no template.
"""

from __future__ import annotations

import re
from copy import copy
from typing import Any, NamedTuple

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.accel.operations.template import OperationTemplate
from pto_dialect.patterns import portable
from pto_dialect.syntax.builder.error import BuildError
from pto_dialect.syntax.builder.types import POISON
from pto_dialect.syntax.read.tokens import SPACE, SUFFIX_ID, Tok
from pto_dialect.syntax.text import number_attribute

Skeleton = tuple[str, ...]
"""The texts before, between and after the names of a statement."""

_LINE = r"[^\n]{0,3000}+(?=\n|\Z)"
_CONTINUED = r"(?:(?<=,)\n|\n[ \t]*+(?:[:,(<!\[{-]|ins\b|outs\b|\w++[ \t]*+=))"
EXTENT = re.compile(portable(rf"({_LINE}(?:{_CONTINUED}{_LINE}){{0,20}}+){SPACE}"))
"""The lines that may belong to one statement, in the group, and the space and comments after them.

That they are one follows from the normalized token sequence, which is that of a statement, and from the next token.
"""

NAMES = re.compile(rf"(%{SUFFIX_ID}(?:\#\d{{1,4}}(?!\d))?)")
"""A name as the lexer finds it in a list of values; ``split`` returns texts and names alternately."""

_AMBIGUOUS = re.compile(r"%(?:[:#]\d|>)")
"""What after a name may belong to it, depending on it: the size of a pack, the index of a result, an arrow."""

_CONSTANT = re.compile(
    r"[ ]*= arith\.constant +"
    r"(?:(?P<INTEGER>-?[0-9]{1,16})|(?P<FLOAT>-?[0-9]+\.[0-9]*(?:[eE][+-]?[0-9]+)?))"
    r" *: (?P<type>(?!i1\Z)\w+)"
)
"""What follows the name of a constant whose plan holds for other numbers as well."""

LONGEST = 4_000
"""Characters of the longest statement that is learnt."""

_MOST = 8_192
"""Plans that are kept."""

_MOST_HEADERS = 512
"""Templates of headers that are kept."""

_MOST_CHARACTERS = 4_000_000
"""Characters of all normalized token sequences that are cached."""


class ParseTemplate:
    """How a statement becomes an operation.

    ``results`` counts the names before the operation; ``operands`` has, for each operand, the index of its name among
    the parts of the split statement and its type; ``same`` are indices of the same name.
    """

    __slots__ = ("cls", "operands", "result_types", "results", "same", "template")

    def __init__(
        self, op: Operation, operands: tuple[tuple[int, Attribute], ...] = (), same: tuple[tuple[int, int], ...] = ()
    ) -> None:
        """The plan of statements like that of ``op``."""
        self.cls = type(op)
        self.operands = operands
        self.same = same
        self.result_types = tuple([result.type for result in op.results])
        self.results = len(self.result_types)
        self.template = OperationTemplate(op)

    def with_types(
        self, operands: tuple[tuple[int, Attribute], ...], result_types: tuple[Attribute, ...]
    ) -> ParseTemplate:
        """Returns the plan of a statement that differs in its types; all checks are made for these."""
        other = object.__new__(ParseTemplate)
        other.cls, other.results, other.same = self.cls, self.results, self.same
        other.operands, other.result_types = operands, result_types
        other.template = self.template.with_types([*[type_ for _, type_ in operands], *result_types])
        return other

    def with_value(self, value: Attribute) -> ParseTemplate:
        """Returns the plan of a constant that differs in its value; no check of constants looks at their numbers."""
        other = copy(self)
        other.template = self.template.with_properties({"value": value})
        return other


class ParseTemplates:
    """Templates by normalized token sequence, of this process; bounded, so that no text makes them grow without end."""

    def __init__(self) -> None:
        self.known: dict[Skeleton, ParseTemplate] = {}
        self.constants: dict[Skeleton, ParseTemplate] = {}
        """Plans of constants by the kind of their number and their type."""
        self.open: dict[tuple[tuple[str, ...], ...], Any] = {}
        """Templates of statements whose types are left open, of ``open_templates``."""
        self.headers: dict[tuple[tuple[str, ...], ...], Any] = {}
        """Templates of the headers of functions, of ``headers``."""
        self.characters = 0

    def keep(self, parts: list[str], plan: ParseTemplate) -> None:
        """Remembers ``plan`` for statements split into ``parts``; a full table starts over."""
        self.keep_closed(parts, plan)
        number = _number_in(parts)
        if number is not None and _is_number(plan, number):
            self.constants[number.kind] = plan

    def constant(self, parts: list[str]) -> ParseTemplate | None:
        """Returns a plan for a constant with another number than those of the plans so far."""
        number = _number_in(parts)
        like = self.constants.get(number.kind) if number is not None else None
        value = _meaning(like, number) if like is not None and number is not None else None
        if like is None or value is None:
            return None
        plan = like.with_value(value)
        self.keep_closed(parts, plan)
        return plan

    def keep_closed(self, parts: list[str], plan: ParseTemplate) -> None:
        """Remembers ``plan`` for statements with the same normalized token sequence as one split into ``parts``."""
        skeleton = tuple(parts[::2])
        size = sum(map(len, skeleton))
        if len(self.known) >= _MOST or self.characters + size > _MOST_CHARACTERS:
            self.forget()
        self.characters += size
        self.known[skeleton] = plan

    def keep_header(self, skeleton: tuple[tuple[str, ...], ...], template: Any) -> None:
        """Remembers the template of a header; a full table starts over."""
        if len(self.headers) >= _MOST_HEADERS:
            self.headers.clear()
        self.headers[skeleton] = template

    def forget(self) -> None:
        """Starts over."""
        self.known.clear()
        self.constants.clear()
        self.open.clear()
        self.headers.clear()
        self.characters = 0


class _Number(NamedTuple):
    """The number of a constant: the kind of its token with the type of the constant, and the token."""

    kind: Skeleton
    token: Tok


def _number_in(parts: list[str]) -> _Number | None:
    """Returns the number in a statement that defines a constant."""
    found = _CONSTANT.fullmatch(parts[-1]) if len(parts) == 3 and not parts[0] else None
    if found is None:
        return None
    kind = "INTEGER" if found["INTEGER"] else "FLOAT"
    return _Number((kind, found["type"]), Tok(kind, found[kind], 0))


def _meaning(plan: ParseTemplate, number: _Number) -> Attribute | None:
    """Returns the value of a constant like that of ``plan`` with another number; ``None`` where the number is wrong."""
    try:
        return number_attribute(number.token, plan.result_types[0])
    except BuildError:
        return None


def _is_number(plan: ParseTemplate, number: _Number) -> bool:
    """Returns True when the only thing that the number says is the value of the constant."""
    template = plan.template
    return not template.attributes and template.properties == {"value": _meaning(plan, number)}


TEMPLATES = ParseTemplates()
"""The plans of this process."""


def template_for(parts: list[str], op: Operation, values: dict[str, SSAValue]) -> ParseTemplate | None:
    """Returns the template that follows from ``op``, which was made of the statement split into ``parts``; ``None``
    where the statement depends on more than its token sequence: ``values`` are those of the names after it."""
    if op.regions or op.successors or isinstance(op, UnregisteredOp) or not is_plain(parts):
        return None
    results = len(op.results)
    names = parts[1::2]
    if len(names) != results + len(op.operands) or any("#" in name for name in names[:results]):
        return None
    if any(values.get(name) is not value for name, value in zip(names, op.results, strict=False)):
        return None
    places: dict[SSAValue, int] = {}
    same: list[tuple[int, int]] = []
    for place in range(2 * results + 1, len(parts), 2):
        value = values.get(parts[place])
        if value is None or value.type is POISON:
            return None
        first = places.setdefault(value, place)
        if first != place:
            # Which operand each of the two is makes no difference only as long as they are the same.
            if parts[first] != parts[place]:
                return None
            same.append((first, place))
    if any(value not in places for value in op.operands):
        return None
    return ParseTemplate(op, tuple([(places[value], value.type) for value in op.operands]), tuple(same))


def is_plain(parts: list[str]) -> bool:
    """Returns True when the parts are tokens by themselves whatever the names are: no comment, no name inside a string,
    no text that a name before it could swallow."""
    # No part has a name in it, so a percent sign can stand for the names.
    text = "%".join(parts[::2])
    if len(text) > LONGEST or text.count("%") * 2 + 1 != len(parts):
        return False
    if "//" in text or "\\" in text or _AMBIGUOUS.search(text):
        return False
    return '"' not in text or all(part.count('"') % 2 == 0 for part in parts[::2])
