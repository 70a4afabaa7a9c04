"""Parses one type spelling into its interned type object.

``parse_type`` is cached: the same spelling always yields the same object, so types of values can be compared with
``is`` first.  Source: docs/reference/language.md, "Types".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from xdsl.dialects import builtin
from xdsl.ir import Attribute

from pto_dialect.accel.parsing.type_templates import keep_type, read_type
from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.ir.core import types as t
from pto_dialect.nesting import FUNCTIONS, too_deep
from pto_dialect.nesting import RULE as NESTING

from ..errors.type_names import type_suggestion
from ..errors.types import TypeSyntaxError
from ..read.grammar import load_grammar
from ..read.lalr import END, UnexpectedToken
from ..read.tokens import Tok, balanced, braced
from .forms import PTO_FORMS
from .parameter import Parameter

_BUILTIN_HEADS = frozenset(("memref", "vector", "tensor", "complex", "tuple"))

_NEGATIVE_SIZE = re.compile(r"-\d+\Z")

_TOKEN = re.compile(
    rf"""\s+
    |(?P<ELLIPSIS>\.\.\.)
    |(?P<HEAD>![A-Za-z_][\w.]*)
    |(?P<ATTRIBUTE>\#[A-Za-z_][\w.]*(?:{balanced(3)})?|(?:strided|affine_map){balanced(3)}
      |"(?:[^"\\\n]|\\.)*"|{braced(3)})
    |(?P<DIMS>(?:(?:\d{{1,19}}|\?)\s*x\s*)+)
    |(?P<UNRANKED>\*\s*x\s*)
    |(?P<ARROW>->)
    |(?P<INTEGER>-?\d{{1,18}})
    |(?P<WORD>[A-Za-z_]\w*)
    |(?P<PUNCT>[<>(),=?:])
    """,
    re.VERBOSE,
)

_FOLLOWING = re.compile(r"\s*+([<=])")
"""Lookahead that distinguishes a key, or the head of a type, from other words."""


class TypeLexer:
    """Splits the text of one type into tokens; keywords and types are identified by their spelling."""

    def __init__(self, literals: dict[str, str]) -> None:
        self.punctuation = literals

    def lex(self, data: str) -> Iterator[Tok]:
        """Yields the tokens of one type."""
        position, end = 0, len(data)
        match = _TOKEN.match
        while position < end:
            found = match(data, position)
            if found is None:
                from ..errors.type_misfit import misfit  # deferred: start-up

                raise misfit(data, position, position + 1)
            kind, text = found.lastgroup, found.group()
            start, position = position, found.end()
            if kind is None:
                continue
            if kind == "PUNCT":
                kind = self.punctuation[text]
            elif kind == "WORD":
                following = _FOLLOWING.match(data, position)
                sign = following.group(1) if following is not None else ""
                if sign == "<" and text in _BUILTIN_HEADS:
                    kind = "BUILTIN"
                elif sign == "=":
                    kind = "KEY"
                elif text in t.BUILTIN_SCALARS:
                    kind = "SCALAR"
            yield Tok(kind, text, start)


class _TypeBuilder:
    """Callbacks of ``grammar/types.lark``; every value has its extent for error messages."""

    def start(self, items: list[Any]) -> Attribute:
        return items[0].value

    def empty(self, items: list[Any]) -> list[Parameter]:
        return []

    def sequence(self, items: list[Any]) -> list[Parameter]:
        return items[::2]

    def scalar(self, items: list[Tok]) -> Parameter:
        return _parameter("type", t.BUILTIN_SCALARS[items[0].text], items)

    def plain(self, items: list[Tok]) -> Parameter:
        return _parameter("type", _named(items[0], None, items[0].text), items)

    def parametrised(self, items: list[Any]) -> Parameter:
        text = _current[items[0].start : items[3].end]
        named = _named(items[0], items[2], text)
        if len(text) == len(_current):
            keep_type(text, items[0], items[2])
        return _parameter("type", named, items)

    def builtin(self, items: list[Any]) -> Parameter:
        return _parameter("type", _builtin(items[0], items[2]), items)

    def function(self, items: list[Any]) -> Parameter:
        inputs = [p.value for p in items[1]]
        return _parameter("type", builtin.FunctionType.from_lists(inputs, [items[4].value]), items)

    def function_pack(self, items: list[Any]) -> Parameter:
        inputs, outputs = ([p.value for p in items[k]] for k in (1, 5))
        return _parameter("type", builtin.FunctionType.from_lists(inputs, outputs), items)

    def positional(self, items: list[Any]) -> Parameter:
        return items[0]

    def shaped(self, items: list[Any]) -> Parameter:
        return _parameter("shaped", (_dims(items[0].text), items[1].value), items)

    def unranked(self, items: list[Any]) -> Parameter:
        return _parameter("unranked", items[1].value, items)

    def shaped_word(self, items: list[Any]) -> Parameter:
        return _parameter("shaped_word", (_dims(items[0].text), items[1].text), items)

    def keyed(self, items: list[Any]) -> Parameter:
        return Parameter("keyed", items[2], items[0].start, items[2].end, items[0].text)

    def word(self, items: list[Tok]) -> Parameter:
        return _parameter("word", items[0].text, items)

    def integer(self, items: list[Tok]) -> Parameter:
        return _parameter("integer", int(items[0].text), items)

    def typed_integer(self, items: list[Tok]) -> Parameter:
        return _parameter("typed_integer", (int(items[0].text), t.BUILTIN_SCALARS[items[2].text]), items)

    def dynamic(self, items: list[Tok]) -> Parameter:
        return _parameter("integer", t.DYNAMIC, items)

    def extent(self, items: list[Any]) -> Parameter:
        return _parameter("extent", (*_dims(items[0].text), items[1].value), items)

    def attribute(self, items: list[Tok]) -> Parameter:
        return _parameter("attribute", items[0].text, items)

    def ellipsis(self, items: list[Tok]) -> Parameter:
        return _parameter("ellipsis", None, items)


def _parameter(form: str, value: Any, items: list[Any]) -> Parameter:
    return Parameter(form, value, items[0].start, items[-1].end)


def _dims(text: str) -> tuple[int, ...]:
    extents = [extent.strip() for extent in text.rstrip()[:-1].split("x")]
    return tuple([t.DYNAMIC if extent == "?" else int(extent) for extent in extents])


def _named(head: Tok, parameters: list[Parameter] | None, text: str) -> Attribute:
    """Returns a type that starts with ``head``; types of other dialects are stored as ``text``."""
    name = head.text[1:]
    if name in t.PLAIN_TYPES and not parameters:
        return t.PLAIN_TYPES[name]()
    form = PTO_FORMS.get(name)
    if form is None:
        if name.startswith("pto."):
            raise unknown_type(head.text, head.start, head.end)
        return t.OpaqueType(text)
    if parameters and any(p.form == "ellipsis" for p in parameters):
        return t.OpaqueType(f"!{name}<...>")
    return form(head, parameters or [])


def _builtin(head: Tok, parameters: list[Parameter]) -> Attribute:
    from .builtin import builtin_form  # deferred: start-up

    return builtin_form(head, parameters, parse_type)


def unknown_type(name: str, start: int, end: int) -> TypeSyntaxError:
    """Returns the error that ``name`` is not a type."""
    close = type_suggestion(name)
    help = f"did you mean {close}?" if close else None
    mended = (replace(None, close),) if close else ()
    return TypeSyntaxError("type-unknown", f"unknown type {name}", start, end, help, mended)


WITHOUT_TYPES = frozenset(("func", "arith", "scf", "cf", "memref", "math", "affine", "index"))
"""Dialects that define operations only."""


def _without_dialect(text: str) -> bool:
    """Returns whether a type of another dialect is spelled like one of PTO without its ``pto.``."""
    name = f"pto.{text[1:].partition('<')[0]}"
    return name in PTO_FORMS and "<" in text


_cache: dict[str, Attribute] = {}
_current = ""


def parse_type(text: str) -> Attribute:
    """Returns the type with this spelling.

    Raises ``TypeSyntaxError`` (rule, message and offsets inside ``text``) for a spelling that is not a type.
    """
    found = _cache.get(text)
    if found is not None:
        return found
    result = _read(text)
    result = _interned.setdefault(result, result)
    _cache[text] = result
    return result


def _read(text: str) -> Attribute:
    global _current
    deep = too_deep(text, FUNCTIONS)
    if deep is not None:
        raise TypeSyntaxError(NESTING, deep[0], deep[1], deep[1] + 1)
    head = re.match(r"![A-Za-z_]\w*", text)
    if head is not None and head.group() != "!pto":
        if _without_dialect(text):
            raise unknown_type(text.partition("<")[0], 0, len(text.partition("<")[0]))
        if head.group()[1:] in WITHOUT_TYPES:
            name = text.partition("<")[0]
            raise TypeSyntaxError(
                "type-unknown", f"dialect {head.group()[1:]} has no types, found {name}", 0, len(name)
            )
        return t.OpaqueType(text)
    known = read_type(text)
    if known is not None:
        return known
    _current = text
    try:
        result = _parser().parse(text)
    except UnexpectedToken as error:
        token = error.token
        if token.type == END:
            message, start, end = f"incomplete type {text!r}", max(0, len(text) - 1), len(text)
        elif negative := _NEGATIVE_SIZE.search(text, 0, token.start):
            message, (start, end) = f"sizes are not negative, found {negative.group()}", negative.span()
        else:
            from ..errors.type_misfit import misfit  # deferred: start-up

            raise misfit(text, token.start, token.end) from None
        raise TypeSyntaxError("type-syntax", message, start, end) from None
    return result


_builder = _TypeBuilder()
_interned: dict[Attribute, Attribute] = {attr: attr for attr in t.BUILTIN_SCALARS.values()}


def intern_type(attr: Attribute) -> Attribute:
    """Returns the one instance that parsing yields for a type equal to ``attr``."""
    return _interned.setdefault(attr, attr)


_parsers: list[Any] = []


def _parser() -> Any:
    if not _parsers:
        _parsers.append(load_grammar("types.lark", TypeLexer, _builder))
    return _parsers[0]
