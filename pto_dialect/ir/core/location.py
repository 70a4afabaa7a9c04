"""Source locations of operations."""

from __future__ import annotations

import re

from xdsl.ir import Block, BuiltinAttribute, Data, Operation, SSAValue
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from pto_dialect.accel import enabled
from pto_dialect.accel.operations.locations import defer_locations, record_extent
from pto_dialect.diagnostics.origins import is_translated, name_at
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.patterns import portable

_TRAILER = re.compile(portable(r"(?<!\s)(?:\s++|//[^\n]*+)*+\Z"))
_set = object.__setattr__


class SourceLoc(Data[Span], BuiltinAttribute):
    """The span of an operation in its source text; ``data`` may include trailing space and comments."""

    name = "pto.source_loc"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Span:
        """Refuses: only the parser of the dialect reads locations."""
        raise parser.raise_error("source locations are not written")

    def print_parameter(self, printer: Printer) -> None:
        """Prints the extent of the text."""
        source, start, _ = self.data
        line, column = source.line_col(start)
        with printer.in_location():
            printer.print_string_literal(source.name)
            printer.print_string(f":{line}:{column}")

    print_builtin = print_parameter


def locate(op: Operation, source: SourceFile, start: int, end: int) -> None:
    """Sets the location of ``op`` to ``source[start:end]``."""
    set_location(op, Span(source, start, end))


def set_extent(op: Operation, source: SourceFile, start: int, end: int) -> None:
    """Records that ``op``, which has no location yet, was read from ``source[start:end]``; may be repeated."""
    if not enabled("locations"):
        locate(op, source, start, end)
        return
    record_extent(op, source, start, end)


def set_location(op: Operation, span: Span) -> None:
    """Sets the location of ``op`` to ``span``."""
    loc = SourceLoc.__new__(SourceLoc)
    _set(loc, "data", span)
    op.location = loc  # pyright: ignore[reportAttributeAccessIssue]


class _Maker:
    """The fact that a source makes operations."""


def state_maker(source: SourceFile) -> SourceFile:
    """States that the operations located in ``source`` were made by this code, not read from this text; returns it."""
    source.facts[_Maker] = _Maker()
    return source


def is_read(op: Operation) -> bool:
    """Returns whether ``op`` was read from a text, whose reader has checked the order of definitions and uses."""
    location: object = op.location
    return isinstance(location, SourceLoc) and _Maker not in location.data.source.facts


def share_location(op: Operation, other: Operation) -> None:
    """Sets the location of ``op`` to that of ``other``."""
    op.location = other.location


defer_locations(set_location)


def _trimmed(text: str, start: int, end: int) -> int:
    """Returns the end of the text between two offsets, without trailing space and comments."""
    # Only the last line that has more than these can hold it; searching a long function would be slow.
    first = end
    while (found := text.rfind("\n", start, first)) >= 0:
        line = text[found + 1 : first].lstrip()
        if line and not line.startswith("//"):
            break
        first = found
    trailer = _TRAILER.search(text, max(found + 1, start), end)
    return trailer.start() if trailer else end


def span_of(op: Operation | None) -> Span | None:
    """Returns the source text of ``op`` without trailing space, or of the nearest enclosing operation that has one."""
    while op is not None:
        loc: object = op.location
        if isinstance(loc, SourceLoc):
            source, start, end = loc.data
            return Span(source, start, _trimmed(source.text, start, end))
        op = op.parent_op()
    return None


def span_of_value(value: SSAValue) -> Span | None:
    """Returns the span that defines ``value``: its name in a result list, otherwise the operation that owns it."""
    owner = value.owner
    op = owner.parent_op() if isinstance(owner, Block) else owner
    span = span_of(op)
    return None if span is None else find_name(span, value) or span


_MADE_UP = re.compile(r"\d+|(?:arg|c|t|v)\d+(?:_\w+)?|(?:part|tile|view)(?:_\d+)?")
"""Names that a translation gives to values without a name of their own."""


_COUNTED = re.compile(r"_\d+\Z")


def label_of(value: SSAValue, default: str = "") -> str:
    """Returns what a person calls ``value``: its name in the source that the program was made from, else its name in
    the program, else ``default``."""
    owner, hint = value.owner, value.name_hint
    is_result = isinstance(owner, Operation)
    span = span_of(owner if is_result else owner.parent_op())
    if is_result and len(owner.results) == 1 and (name := name_at(span)):
        return name
    if not hint:
        return default
    # A translation names values as their variables, and counts those of one name.
    if span is not None and is_translated(span.source) and not _MADE_UP.fullmatch(hint):
        return _COUNTED.sub("", hint)
    return f"%{hint}"


_BEHIND_NAME = re.compile(r"(?![\w$.\-])(?:#\d+)?")
"""Lookahead after a complete name: no character that continues it, optionally the index of a result."""


def find_name(span: Span, value: SSAValue, occurrence: int = 0) -> Span | None:
    """Returns the span of the ``occurrence``-th use of the name of ``value`` inside ``span``."""
    if value.name_hint is None:
        return None
    source, start, end = span
    name = "%" + value.name_hint
    while (start := source.text.find(name, start, end)) >= 0:
        behind = _BEHIND_NAME.match(source.text, start + len(name), end)
        if behind is not None:
            if occurrence == 0:
                return Span(source, start, behind.end())
            occurrence -= 1
        start += 1
    return None
