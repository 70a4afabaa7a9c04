"""Layout, which is that of ``pto-fmt``."""

from __future__ import annotations

from difflib import SequenceMatcher

from lsprotocol import types

from pto_dialect.driver.formatting import formatted

from .program.document import Document
from .program.lines import Lines

_FEW = 3000
"""Lines up to which single lines are replaced; a longer text is replaced between its first and last change."""


def whole(server: object, document: Document, params: types.DocumentFormattingParams) -> list[types.TextEdit] | None:
    """Returns the whole text laid out; nothing for one that cannot be read."""
    return _edits(document, formatted(document.text, document.uri).text)


def part(
    server: object, document: Document, params: types.DocumentRangeFormattingParams
) -> list[types.TextEdit] | None:
    """Returns the statements that touch a range laid out."""
    first, last = params.range.start.line, params.range.end.line
    if last > first and params.range.end.character == 0:
        last -= 1
    return _edits(document, formatted(document.text, document.uri, [range(first + 1, last + 2)]).text)


def _edits(document: Document, new: str) -> list[types.TextEdit] | None:
    old = document.text
    if new == old:
        return None
    before, after = (_split(text) for text in (old, new))
    begin = 0
    while begin < min(len(before), len(after)) and before[begin] == after[begin]:
        begin += 1
    end = 0
    while end < min(len(before), len(after)) - begin and before[-1 - end] == after[-1 - end]:
        end += 1
    inner = before[begin : len(before) - end], after[begin : len(after) - end]
    changes = [("replace", 0, len(inner[0]), 0, len(inner[1]))]
    if len(inner[0]) <= _FEW:
        changes = SequenceMatcher(None, *inner, autojunk=False).get_opcodes()
    starts = document.lines.starts
    edits: list[types.TextEdit] = []
    for kind, first, last, new_first, new_last in changes:
        if kind != "equal":
            start, stop = begin + first, begin + last
            area = document.range(
                starts[start] if start < len(starts) else len(old), starts[stop] if stop < len(starts) else len(old)
            )
            edits.append(types.TextEdit(area, "".join(inner[1][new_first:new_last])))
    return edits


def _split(text: str) -> list[str]:
    """Returns the lines of a text with their ends."""
    starts = Lines(text).starts
    return [text[start:end] for start, end in zip(starts, [*starts[1:], len(text)], strict=True)]
