"""Formatting of a whole program."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..read.lexer import is_assembly
from .spacing import spaced
from .statements import Statement, statements
from .tokens import Token, tokens
from .wrap import CONTINUED, joined, wrapped

WIDTH = 100
"""Maximum columns of a line."""

INDENT = "  "
"""Indentation of the statements of a region relative to their operation."""

_COUNTS_LINES = re.compile(r"//.*(?:expected-\w+\s*@|@LINE)")
"""Comments that refer to other lines by their distance: such programs keep their lines."""

COMMENT_SPACE = "  "


def laid_out(text: str, width: int = WIDTH, only: Sequence[range] = ()) -> str:
    """Returns ``text`` in the canonical style: the same tokens and comments, other white space.

    Statements are on lines of their own, indented by two spaces for each region; one longer than ``width`` columns
    continues, four spaces further, where a clause or an operand starts. Runs of empty lines become one. Comments after
    statements of adjacent lines start in one column. Programs whose comments count lines (``expected-error@+1``) keep
    their lines. With ``only``, lines outside of these ranges, from 1, are unchanged.
    """
    fixed = counts_lines(text)
    assembly = is_assembly(text)
    found = list(tokens(text, assembly))
    if not found:
        return ""
    pieces = list(statements(found, assembly))
    if only:
        return _in_part(text, pieces, width, fixed, only)
    rows: list[_Row] = []
    for piece in pieces:
        empty = piece.tokens[0].lines - 1 if rows else (piece.tokens[0].lines if fixed else 0)
        rows += [_Row("", None)] * (empty if fixed else min(max(empty, 0), 1))
        if fixed and rows and not piece.tokens[0].lines and not rows[-1].comment:
            rows[-1:] = _beside(rows[-1], piece)
            continue
        rows += _rows(piece, width, fixed)
    return "\n".join(_text(rows)) + "\n"


def counts_lines(text: str) -> bool:
    """Returns whether comments of ``text`` refer to other lines by their distance."""
    return _COUNTS_LINES.search(text) is not None


class _Row:
    """A line, and the comment after it."""

    def __init__(self, text: str, comment: str | None) -> None:
        self.text = text
        self.comment = comment


def _rows(piece: Statement, width: int, fixed: bool) -> list[_Row]:
    indent = INDENT * piece.depth
    if piece.tokens[0].comment:
        return [_Row(indent + piece.first, None)]
    if fixed or piece.own_lines:
        rows = _author_lines(piece, indent)
    else:
        rows = [_Row(line, None) for line in wrapped(spaced(piece.tokens), indent, width)]
    if piece.comment is not None:
        rows[-1].comment = piece.comment.text
    return rows


def _beside(row: _Row, piece: Statement) -> list[_Row]:
    text = joined(spaced(piece.tokens))
    return [_Row(f"{row.text} {text}", piece.comment.text if piece.comment is not None else None)]


def _author_lines(piece: Statement, indent: str) -> list[_Row]:
    """Returns the statement on its original lines."""
    rows = [_Row(indent, None)]
    for item in spaced(piece.tokens):
        token = item.token
        if token.lines and rows[-1].text.strip():
            rows += [_Row("", None)] * (token.lines - 1)
            rows.append(_Row(indent + CONTINUED, None))
        elif item.space and rows[-1].text.strip():
            rows[-1].text += " "
        if token.comment and rows[-1].text.strip():
            rows[-1].text = rows[-1].text.rstrip()
            rows[-1].comment = token.text
        else:
            rows[-1].text += token.text
    return rows


def _text(rows: Sequence[_Row]) -> Iterator[str]:
    """Returns the lines, with comments of adjacent ones in one column."""
    place = 0
    while place < len(rows):
        end = place
        while end < len(rows) and rows[end].comment is not None:
            end += 1
        column = max((len(row.text.rstrip()) for row in rows[place:end]), default=0)
        for row in rows[place:end]:
            yield f"{row.text.rstrip():{column}}{COMMENT_SPACE}{row.comment}".rstrip()
        if end < len(rows):
            yield rows[end].text.rstrip()
        place = end + 1


def _in_part(text: str, pieces: Sequence[Statement], width: int, fixed: bool, only: Sequence[range]) -> str:
    """Formats the statements that touch the lines ``only``; the others are unchanged."""
    lines = text.removesuffix("\n").split("\n")
    out: list[str] = []
    done = 0
    for piece in pieces:
        first, last = piece.tokens[0].number, _last_line(piece)
        alone = piece.tokens[0].lines or first == 1
        if not alone or first <= done or not any(set(wanted) & set(range(first, last + 1)) for wanted in only):
            continue
        out += lines[done : first - 1]
        out += list(_text(_rows(piece, width, fixed)))
        done = last
    out += lines[done:]
    return "\n".join(out) + "\n"


def _last_line(piece: Statement) -> int:
    last: Token = piece.comment or piece.tokens[-1]
    return last.number + last.text.count("\n")
