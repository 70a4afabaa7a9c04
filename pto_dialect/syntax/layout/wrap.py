"""Breaks statements that are longer than a line where a clause or an operand starts."""

from __future__ import annotations

from collections.abc import Sequence

from .spacing import Spaced

_CLAUSES = frozenset((":", "->", "outs", "ins", "attributes", "iter_args", "{"))
"""Preferred starts of a new line, outside of brackets."""

DEEPEST = 12
"""Nesting depth of brackets beyond which they stay on a line."""

CONTINUED = "    "
"""Indentation of the further lines of a statement relative to its first one."""


def wrapped(found: Sequence[Spaced], indent: str, width: int) -> list[str]:
    """Returns the lines of a statement, none longer than ``width`` where a space allows a break."""
    text = indent + joined(found)
    if len(text) <= width:
        return [text]
    lines = [indent + joined(found[:1])]
    for piece in _pieces(found[1:], 0):
        _put(lines, piece, indent + CONTINUED, width, 0)
    return lines


def joined(found: Sequence[Spaced]) -> str:
    """Returns the tokens on one line."""
    return "".join([f" {item.token.text}" if item.space else item.token.text for item in found])


def _put(lines: list[str], piece: Sequence[Spaced], indent: str, width: int, level: int) -> None:
    """Adds ``piece`` to the last line, or starts others."""
    text = joined(piece)
    if len(lines[-1]) + len(text) <= width:
        lines[-1] += text
        return
    if piece[0].space and len(indent) + len(text) - 1 <= width:
        lines.append(indent + text[1:])
        return
    parts = _pieces(piece, level + 1)
    if len(parts) > 1:
        for part in parts:
            _put(lines, part, indent, width, level + 1)
    elif level < min(max(item.depth for item in piece), DEEPEST) + 2:
        _put(lines, piece, indent, width, level + 1)
    elif piece[0].space and lines[-1].strip():
        lines.append(indent + text[1:])
    else:
        lines[-1] += text


def _pieces(found: Sequence[Spaced], level: int) -> list[Sequence[Spaced]]:
    """Returns ``found`` in parts that start with a space: at clauses first, then after commas outside of brackets, then
    anywhere, one bracket deeper with each further level."""
    starts = [0, *(place for place in range(1, len(found)) if found[place].space and _may_break(found, place, level))]
    return [found[a:b] for a, b in zip(starts, [*starts[1:], len(found)], strict=True)]


def _may_break(found: Sequence[Spaced], place: int, level: int) -> bool:
    item, before = found[place], found[place - 1]
    if before.token.text == "=" and item.depth == 0:
        return False
    if item.depth == 0:
        if item.token.text in _CLAUSES and level < 1:
            return not (item.token.text == "{" and place == len(found) - 1)
        following = found[place + 1].token.text if place + 1 < len(found) else ""
        clause = following == "(" and not found[place + 1].space
        return (level >= 1 and (clause or before.token.text == "," or item.token.text in _CLAUSES)) or level >= 2
    return level >= item.depth + 1 and (before.token.text == "," or level >= item.depth + 2)
