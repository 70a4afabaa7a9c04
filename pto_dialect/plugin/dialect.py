"""The dialect as xDSL sees it: operations, types and attributes, readable by xDSL's own parser of generic MLIR."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Attribute, Dialect
from xdsl.parser import AttrParser

from pto_dialect.ir.core.attributes import ENUMS, EnumAttr, OpaqueAttr
from pto_dialect.ir.core.registry import all_op_classes
from pto_dialect.ir.core.types import PLAIN_TYPES, PtoType
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.types.attributes import STRUCTURED, parse_attribute
from pto_dialect.syntax.types.forms import PTO_FORMS
from pto_dialect.syntax.types.parser import parse_type


def _reader(
    base: type[Attribute], name: str, read: Callable[[str], Attribute], spelling: Callable[[AttrParser], str]
) -> type[Attribute]:
    """Returns a class that xDSL's parser finds under ``name`` and that gives what ``read`` makes of the attribute's
    spelling.

    The classes proper hold Python fields beside their text, which xDSL's way of making them leaves out.
    """

    def parse_parameter(cls: type[Attribute], parser: AttrParser) -> Attribute:
        start = parser.pos
        try:
            return read(spelling(parser))
        except TypeSyntaxError as error:
            parser.raise_error(error.message, start, parser.pos)

    def new(cls: type[Attribute], value: Any) -> Any:
        return value

    members = {"name": name, "parse_parameter": classmethod(parse_parameter), "__new__": new}
    return type(base.__name__, (base,), members)


def _scan(parser: AttrParser, opened: int) -> str:
    """Returns the text from the current token (``opened`` brackets long) to the bracket that closes it."""
    start = parser.pos
    end = parser._raw_scan_balanced(start + opened) + opened
    parser._resume_from(end)
    return parser.lexer.input.content[start:end]


def _is_bracketed(parser: AttrParser) -> bool:
    return parser.lexer.input.content.startswith("<", parser.pos)


def _type_reader(name: str) -> type[Attribute]:
    """Returns ``!pto.name`` or ``!pto.name<..>``."""
    return _reader(
        PtoType, name, parse_type, lambda parser: f"!{name}{_scan(parser, 1) if _is_bracketed(parser) else ''}"
    )


def _attribute_reader(base: type[Attribute], kind: str) -> type[Attribute]:
    """Returns ``#pto.kind<..>`` or, read up to the last bracket, ``#pto<kind ..>``."""
    return _reader(
        base,
        f"pto.{kind}",
        parse_attribute,
        lambda parser: (
            f"#pto.{kind}{_scan(parser, 1)}" if _is_bracketed(parser) else f"#pto<{kind} {_scan(parser, 0)}>"
        ),
    )


PTO = Dialect(
    "pto",
    [*all_op_classes()],
    [
        *(_type_reader(name) for name in (*PTO_FORMS, *PLAIN_TYPES)),
        *(_attribute_reader(EnumAttr, kind) for kind in ENUMS),
        *(_attribute_reader(OpaqueAttr, kind) for kind in sorted(STRUCTURED)),
    ],
)
