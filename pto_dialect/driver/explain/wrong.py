"""An incorrect program for each operation, with its diagnostics: the example with one mistake."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.render import render_text
from pto_dialect.verify.engine.rule import REPORTED_AS

from .checked_by import rules_of
from .examples import Example
from .running import findings


class Wrong(NamedTuple):
    """The statement with the mistake, and its diagnostic."""

    statement: str
    message: str


_TYPE = re.compile(r"!pto\.\w+(?:\.\w+)*<(?:[^<>]|<[^<>]*>)*>|(?<![\w<,])(?:i64|i32|index|f32|f16)\b")
_SWAPS = (
    (r"(?<![a-wyz])f32\b", "i64"),
    (r"(?<![a-wyz])f16\b", "f64"),
    (r"(?<![a-rt-z])(?:[su]?i|(?<=x)i)(?:8|16|32)\b", "f64"),
    (r"<vec,", "<acc,"),
    (r"<left,", "<vec,"),
    (r"<(mat|acc),", "<bias,"),
    (r", ub>", ", l0c>"),
    (r", gm>", ", ub>"),
    (r", l1>", ", l0a>"),
    (r", l0[abc]>", ", ub>"),
    (r"<b32>", "<b8>"),
    (r"<b16>", "<b8>"),
    (r"<b8>", "<b32>"),
    (r"16x16x", "16x8x"),
    (r"PIPE_\w+", "PIPE_X"),
    (r'"PAT_\w+"', '"PAT_HALF"'),
    (r"\bi64\b", "f32"),
    (r"\bi32\b", "f32"),
    (r"\bindex\b", "f32"),
    (r"\bi1\b", "f32"),
    (r"(?<=<)TMATMUL(?=>)", "TMATMULL"),
    (r"(?<=\")VST_VLD(?=\")", "VLD_VSTT"),
    (r"split = 0", "split = 7"),
)
"""One type, place or word for another."""


@cache
def wrong(example: Example) -> Wrong | None:
    """Returns the first mistake that an error is reported for, best one of a rule about the operation, or one that
    names it; ``None`` where nothing that is tried is an error."""
    own = {REPORTED_AS.get(rule.id, rule.id) for rule in rules_of(example.name)}
    others: dict[tuple[bool, bool], Wrong] = {}
    for statement, text in _mistakes(example):
        found = [one for one in findings(example._replace(text=text).program) if one.severity is Severity.ERROR]
        if not found:
            continue
        message = re.sub(r"^example\.pto:\d+:\d+: ", "", render_text(found[:1])).rstrip("\n")
        made = Wrong(statement, message.partition("\n  example.pto:")[0])
        if found[0].rule in own and not str(found[0].rule).startswith("parse-"):
            return made
        unread = str(found[0].rule).startswith("parse-")
        elsewhere = re.search(rf"{re.escape(example.name)}(?![\w.])", found[0].message) is None
        others.setdefault((unread, elsewhere), made)
    return others[min(others)] if others else None


def _mistakes(example: Example) -> Iterator[tuple[str, str]]:
    """Statements with one mistake, and the texts with them."""
    lines = example.text.split("\n")
    is_operation = re.compile(rf"{re.escape(example.name)}(?![\w.])")
    at = next((number for number, line in enumerate(lines) if is_operation.search(line)), 0)
    end = at + 1
    while end < len(lines) and lines[end].lstrip().startswith((":", "->", "outs(", "pre_", "!pto", "{")):
        end += 1
    statement = "\n".join(lines[at:end])
    whole = lines[0].startswith(("func.func", "module"))
    begin, _, rest = statement.partition(example.name)
    for changed, old, new in _changes(rest):
        text = "\n".join([*lines[:at], f"{begin}{example.name}{changed}", *lines[end:]])
        if whole and old:
            # What defines the value has the same type.
            text = example.text.replace(old, new)
        yield (
            "\n".join(
                line.removeprefix(" " * _indent(statement)) for line in (begin + example.name + changed).split("\n")
            ),
            text,
        )


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _changes(rest: str) -> Iterator[tuple[str, str, str]]:
    """Yields the text after the name with a mistake; where that is a type, the old and the new one."""
    for pattern, other in _SWAPS:
        for found in list(re.finditer(pattern, rest))[:3]:
            inside = next((m for m in _TYPE.finditer(rest) if m.start() <= found.start() < m.end()), None)
            old = inside[0] if inside is not None else ""
            yield rest[: found.start()] + other + rest[found.end() :], old, re.sub(pattern, other, old, count=1)
    if (operand := re.search(r"%[\w$]+, ", rest)) is not None:
        yield rest[: operand.start()] + rest[operand.end() :], "", ""
    yield rest.replace(",", "", 1), "", ""
    yield f" %undefined{rest}", "", ""
    yield f"x{rest}", "", ""
