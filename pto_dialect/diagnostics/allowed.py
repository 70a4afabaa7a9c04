"""Comments that allow findings.

``// pto: allow(rule) because reason`` after a statement, or alone on the lines above it, allows what the rule finds in
the statement. Commas separate several rules.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from .source import SourceFile, Span

_COMMENT = re.compile(r"//[ \t]*pto:[ \t]*allow\b[^\n]*")
_ALLOW = re.compile(
    r"//\s*pto:\s*allow\s*\(\s*(?P<rules>[\w-]+(?:\s*,\s*[\w-]+)*)\s*\)\s*(?P<because>because\b\s*(?P<reason>.*))?"
)
_CONTINUES = re.compile(r"\s*(?::(?!:)|->|,|outs\s*\(|ins\s*\()")
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')


class Allowed(NamedTuple):
    """A comment: the rules that it names, the lines whose findings it covers, and its reason (empty: none)."""

    rules: tuple[str, ...]
    first: int
    last: int
    reason: str
    span: Span


def allowed_in(source: SourceFile) -> Iterator[Allowed | Span]:
    """Yields the comments of a text; only the source location of one that has another form."""
    lines = source.text.split("\n")
    offset = 0
    for number, line in enumerate(lines):
        found = _COMMENT.search(_STRING.sub(lambda quoted: " " * len(quoted.group()), line))
        if found is not None:
            span = Span(source, offset + found.start(), offset + len(line.rstrip()))
            written = _ALLOW.match(line, found.start())
            if written is None:
                yield span
            else:
                first = number
                if not line[: found.start()].strip():
                    first = _next_statement(lines, number + 1)
                rules = tuple(part.strip() for part in written["rules"].split(","))
                last = first
                while last + 1 < len(lines) and _CONTINUES.match(lines[last + 1]):
                    last += 1
                begin = source.first_line
                yield Allowed(rules, begin + first, begin + last, (written["reason"] or "").strip(), span)
        offset += len(line) + 1


def _next_statement(lines: list[str], number: int) -> int:
    while number < len(lines) - 1 and (not lines[number].strip() or lines[number].lstrip().startswith("//")):
        number += 1
    return number
