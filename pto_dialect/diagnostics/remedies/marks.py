"""Marks that are missing, one too many, or others than they must be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .site import Site, pieces, remedy

_STOPS = ("outs", "attributes", "->", "{", ":", ",", "=", "sizes", "strides", "offsets")
CLOSING = {"(": ")", "[": "]", "{": "}", "<": ">"}
"""The closing bracket of each opening one."""


@remedy
def mark_before(site: Site, mark: str) -> Iterator[Fix]:
    """``mark``, a bracket, comma, arrow, colon or keyword, is missing before what the diagnostic points at."""
    if mark == ",":
        yield site.inserted(mark, site.trimmed(site.start))
    elif mark == "}":
        line = site.text[site.line_start : site.start]
        yield site.inserted("} " if not line.strip() else " } ", site.start)
    elif mark == "<<<":
        yield from _launch_brackets(site)
    elif mark in CLOSING:
        if site.word in CLOSING and site.word != mark:
            yield from _other_brackets(site, mark)
        yield site.inserted(mark, site.start)
        for end in _stops(site, site.end):
            edits = (Edit(site.start, site.start, mark), Edit(end, end, CLOSING[mark]))
            yield Fix(f"put {mark}{CLOSING[mark]} around it", edits)
    else:
        blank = "" if site.text[site.start - 1 : site.start].isspace() else " "
        yield site.inserted(f"{blank}{mark} ", site.start)
        if mark.isalpha() and site.word.isalpha():
            yield site.replaced(mark)
        if mark == "->":
            yield from _result_type(site)


def _other_brackets(site: Site, mark: str) -> Iterator[Fix]:
    close = site.closing(site.start)
    if close is not None:
        edits = (Edit(site.start, site.start + 1, mark), Edit(close, close + 1, CLOSING[mark]))
        yield Fix(f"write {mark}{CLOSING[mark]}", edits)


def _result_type(site: Site) -> Iterator[Fix]:
    """Yields the arrow with the type of the result, where the name that has this type is at its position."""
    name = next((piece.text for piece in site.statement if piece.kind == "word" and piece.text.startswith("%")), None)
    statement = site.text[site.statement_start : site.statement_end]
    initial = re.search(r"iter_args\s*\(\s*%[\w$.]+\s*=\s*(%[\w$.]+)", statement)
    type_ = site.types.get(initial[1] if initial else name or "")
    if type_ is not None:
        yield site.inserted(f"-> ({type_}) ", site.start)


def _launch_brackets(site: Site) -> Iterator[Fix]:
    end = site.text.find(">>", site.start)
    if end >= 0:
        start = site.start + (site.text[site.start + 1 : site.start + 2] == "<") + 1
        stop = end + len(site.text[end:]) - len(site.text[end:].lstrip(">"))
        yield Fix("write <<< and >>>", (Edit(site.start, start, "<<<"), Edit(end, stop, ">>>")))


@remedy
def comma_before(site: Site) -> Iterator[Fix]:
    """A comma is missing before what the diagnostic points at, or between its parts."""
    yield site.inserted(",", site.trimmed(site.start))
    for piece in pieces(site.text, site.start + 1, site.end):
        if site.text[piece.start - 1].isspace():
            yield site.inserted(",", site.trimmed(piece.start))


@remedy
def closing_before(site: Site, mark: str) -> Iterator[Fix]:
    """The bracket ``mark`` closes before what the diagnostic points at."""
    yield site.inserted(mark, site.trimmed(site.start))
    yield site.inserted(mark, site.end)


@remedy
def mark_after(site: Site, mark: str) -> Iterator[Fix]:
    """``mark`` is missing after what the diagnostic points at."""
    if mark == "{":
        yield site.inserted(" {", site.trimmed(site.line_end(site.start)))
        return
    yield site.inserted(mark, site.end)
    yield site.inserted(f" {mark} ", site.end)
    if mark == "(":
        for stop in _stops(site, site.end):
            yield Fix("put () around it", (Edit(site.end, site.end, "("), Edit(stop, stop, ")")))


@remedy
def close_quote(site: Site) -> Iterator[Fix]:
    """A quote is missing after the token that the diagnostic points at the start of, or at the end of the line."""
    word = re.compile(r'"[\w.$\-]*').match(site.text, site.start)
    for end in dict.fromkeys((word.end() if word is not None else site.end, site.trimmed(site.line_end(site.start)))):
        yield site.inserted('"', end)


@remedy
def without_comma(site: Site) -> Iterator[Fix]:
    """Without the comma that the diagnostic points at."""
    if site.word == ",":
        yield site.replaced("")
    behind = "" if site.text[site.end : site.end + 1].isspace() else " "
    yield site.replaced(behind)


@remedy
def without_equals(site: Site) -> Iterator[Fix]:
    """Without the equal sign that the diagnostic points at, and one blank of two."""
    rest = site.text[site.end :]
    blanks = len(rest) - len(rest.lstrip(" "))
    yield site.replaced("", site.trimmed(site.start), site.end + blanks - (rest[:1] == " "))


@remedy
def other_mark(site: Site, old: str, new: str) -> Iterator[Fix]:
    """The mark ``new`` in place of ``old``."""
    if site.word.strip() == old:
        key = new == "=" and not site.text[site.start - 1].isspace() and site.text[site.end : site.end + 1] == " "
        yield site.replaced(f" {new}" if key else new)


# ---------------------------------------------------------------- brackets


def _stops(site: Site, start: int) -> Iterator[int]:
    """Offsets in the statement after ``start`` where a bracket may close: before what is no part of a list."""
    ends: list[int] = []
    for piece in site.pieces_from(start):
        ahead = site.trimmed(piece.start)
        if piece.text in _STOPS and ahead > start and ahead not in ends:
            # No bracket follows a comma; the list before it may end there.
            ends.append(ahead - 1 if site.text[ahead - 1] == "," else ahead)
    last = max((piece.end for piece in site.statement), default=site.end)
    if site.text[last - 1 : last] == "{":
        last = site.trimmed(last - 1)
    yield from (stop for stop in (*ends, last) if stop > start)


@remedy
def close_bracket(site: Site, opening: str) -> Iterator[Fix]:
    """The bracket ``opening``, at which the diagnostic points, is not closed."""
    mark = CLOSING[opening]
    if mark == "}":
        here = site.indentation(site.line_start)
        for note in site.diagnostic.notes:
            if note.span is not None:
                start = site.text.rfind("\n", 0, note.span.start) + 1
                yield site.inserted(f"{here}}}\n", start)
        end = "" if site.text.endswith("\n") else "\n"
        yield site.inserted(f"{end}{here}}}\n", len(site.text))
    outer = _outer_bracket(site, site.start)
    if outer is not None:
        yield site.inserted(mark, outer)
    for stop in _stops(site, site.start + 1):
        yield site.inserted(mark, stop)


def _outer_bracket(site: Site, start: int) -> int | None:
    """Returns the first bracket after ``start`` that closes another one: what is not closed ends there at last."""
    opened: list[str] = []
    for piece in site.pieces_from(start):
        if piece.text in CLOSING:
            opened.append(CLOSING[piece.text])
        elif piece.text in CLOSING.values() and (not opened or piece.text != opened.pop()):
            return piece.start
    return None


@remedy
def without_brace(site: Site) -> Iterator[Fix]:
    """A closing brace is one too many: that of a note, or the one that the diagnostic points at."""
    offsets = [note.span.start for note in site.diagnostic.notes if note.span is not None]
    for offset in (*offsets, site.start):
        begin, end = site.text.rfind("\n", 0, offset) + 1, site.line_end(offset)
        if site.text[begin:end].strip() == "}":
            yield site.replaced("", begin, min(end + 1, len(site.text)))
        else:
            yield site.replaced("", offset, offset + 1)


@remedy
def open_angle(site: Site, found: str, head: str) -> Iterator[Fix]:
    """``<`` is missing after ``head``, which is written as ``found`` followed by the first parameter."""
    if site.text[site.end : site.end + 1] == " ":
        yield site.replaced(f"{head}<", site.start, site.end + 1)
    rest = site.text[site.end : site.end + 1]
    for known in (head, found.removesuffix(rest)):
        if site.word.startswith(known):
            yield site.replaced(f"{known}<{site.word[len(known) :].lstrip()}")


@remedy
def without_parentheses(site: Site) -> Iterator[Fix]:
    """What is in the parentheses that the diagnostic points at stands alone, or in angle brackets."""
    close = site.closing(site.start)
    if close is None:
        return
    inside = site.text[site.start + 1 : close].strip()
    ahead = "" if not inside or site.text[site.start - 1].isspace() else " "
    yield site.replaced(f"{ahead}{inside}", site.start, close + 1)
    if inside:
        yield site.replaced(f" <{inside}>", site.start, close + 1)


@remedy
def square_brackets(site: Site) -> Iterator[Fix]:
    """Square brackets in place of the parentheses that the diagnostic points at, or around the rest."""
    if site.word == "(":
        close = site.closing(site.start)
        if close is not None:
            edits = (Edit(site.start, site.start + 1, "["), Edit(close, close + 1, "]"))
            yield Fix("write [ ] in place of ( )", edits)
        return
    end = max((piece.end for piece in site.statement), default=site.end)
    start = site.trimmed(site.start)
    yield Fix("put [ ] around it", (Edit(start, site.start, "["), Edit(end, end, "]")))


@remedy
def without_empty_parentheses(site: Site) -> Iterator[Fix]:
    """Without ``()``."""
    found = re.compile(r"\(\s*\)").match(site.text, site.start)
    if found is not None:
        yield site.replaced("", found.start(), found.end())


@remedy
def without_value(site: Site) -> Iterator[Fix]:
    """Without the equal sign that the diagnostic points at and the token after it."""
    found = re.compile(r"\s*=\s*\w+").match(site.text, site.trimmed(site.start))
    if found is not None:
        yield site.replaced("", found.start(), found.end())


@remedy
def bounds(site: Site) -> Iterator[Fix]:
    """``%a to %b step %c`` in place of ``%a, %b, %c``."""
    rest = re.compile(r",(\s*%[\w$.\-]+\s*),").match(site.text, site.start)
    if rest is not None:
        edits = (Edit(site.start, site.start + 1, " to"), Edit(rest.end() - 1, rest.end(), " step"))
        yield Fix("write to and step", edits)
