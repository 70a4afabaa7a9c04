"""Operands and types of a statement, as places in its text."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from .site import Site, pieces

_VALUE = r"%[\w.$\-]*[\w$]"
_OPENS = frozenset("([{<")
_CLOSES = frozenset(")]}>")


class Part(NamedTuple):
    """One entry of a list, from ``start`` up to ``end``."""

    text: str
    start: int
    end: int


class Group(NamedTuple):
    """Operands and their types: ``%a, %b : type, type``, followed by an arrow and results where there are some.

    ``colon`` is the offset of the colon, ``arrow`` that of the arrow; ``end`` is that after the last type of the
    operands.
    """

    values: list[Part]
    types: list[Part]
    results: list[Part]
    colon: int | None
    arrow: int | None
    start: int
    end: int


def parts(text: str, start: int, end: int) -> list[Part]:
    """Returns the entries of a list with commas; nothing for blank text."""
    found: list[Part] = []
    depth, begin = 0, start
    for piece in pieces(text, start, end):
        if piece.text in _OPENS:
            depth += 1
        elif piece.text in _CLOSES:
            depth -= 1
        elif piece.text == "," and depth == 0:
            found.append(_part(text, begin, piece.start))
            begin = piece.end
    if found or text[begin:end].strip():
        found.append(_part(text, begin, end))
    return found


def _part(text: str, start: int, end: int) -> Part:
    inside = text[start:end]
    begin = start + len(inside) - len(inside.lstrip())
    stop = max(begin, start + len(inside.rstrip()))
    return Part(text[begin:stop], begin, stop)


def group(text: str, start: int, end: int) -> Group:
    """Returns the operands and types between two offsets."""
    depth = 0
    colon = arrow = None
    for piece in pieces(text, start, end):
        if piece.text in _OPENS:
            depth += 1
        elif piece.text in _CLOSES:
            depth -= 1
        elif depth == 0 and piece.text == ":" and colon is None:
            colon = piece.start
        elif depth == 0 and arrow is None and (piece.text == "->" or (piece.text == "to" and colon is not None)):
            arrow = piece.start
    stop = end if arrow is None else arrow
    operands = parts(text, start, stop if colon is None else colon)
    types: list[Part] = []
    if colon is not None:
        types = parts(text, colon + 1, stop)
        stop = types[-1].end if types else colon + 1
        if len(types) == 1 and types[0].text.startswith("("):
            types, stop = parts(text, types[0].start + 1, types[0].end - 1), types[0].end - 1
    results: list[Part] = []
    if arrow is not None:
        results = parts(text, arrow + 2, end)
        if len(results) == 1 and results[0].text.startswith("("):
            results = parts(text, results[0].start + 1, results[0].end - 1)
    return Group(operands, types, results, colon, arrow, start, stop)


def groups(site: Site) -> dict[str, Group]:
    """Returns the groups of the statement: ``ins`` and ``outs``, or one under the name ``all``."""
    operation = site.operation
    start = operation.end if operation is not None else site.statement_start
    end = max((piece.end for piece in site.statement), default=start)
    found: dict[str, Group] = {}
    for name in ("ins", "outs"):
        head = re.compile(rf"\b{name}\s*\(").search(site.text, start, end)
        close = site.closing(head.end() - 1) if head is not None else None
        if head is not None and close is not None:
            found[name] = group(site.text, head.end(), close)
    return found or {"all": group(site.text, start, end)}


def around(site: Site) -> Group:
    """Returns the group in which the diagnostic points, else the first one."""
    found = list(groups(site).values())
    return next((each for each in found if each.start <= site.start <= each.end + 1), found[0])


def values_before(site: Site) -> list[str]:
    """Returns the names of values in the text before the statement with known types: those that nothing uses, then the
    nearest."""
    text = site.text[: site.statement_start]
    begin = max(text.rfind("func.func"), 0)
    end = site.text.find("func.func", site.statement_start)
    uses = Counter(re.findall(_VALUE, site.text[begin : end if end >= 0 else len(site.text)]))
    names = [name for name in dict.fromkeys(reversed(re.findall(_VALUE, text[begin:]))) if name in site.types]
    return sorted(names, key=lambda name: uses[name] > 1)
