"""Characters that no program has: those of word processors, of other languages, and marks of other tools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .wrong import Wrong, told


@told(r"^unexpected character '(.+)' \(U\+\w+\)", r"^write (.+)$")
def _look_alike(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    """All characters that look like an ASCII one are written as that one, since one is told for all."""
    from pto_dialect.syntax.errors.characters import LOOK_ALIKE  # deferred: start-up

    found = [place for place, letter in enumerate(w.text) if letter in LOOK_ALIKE]
    edits = tuple(Edit(place, place + 1, LOOK_ALIKE[w.text[place]]) for place in found if not _commented(w, place))
    yield Fix("write characters of ASCII", edits)


@told(r"^an invisible character stands here")
def _invisible(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = [place for place, letter in enumerate(w.text) if letter == w.word and not _commented(w, place)]
    yield Fix("remove the invisible characters", tuple(Edit(place, place + 1, "") for place in found))


def _commented(w: Wrong, place: int) -> bool:
    return "//" in w.text[w.text.rfind("\n", 0, place) + 1 : place]


@told(r"^``` is no part of a program")
def _fence(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    lines = re.finditer(r"^[ \t]*```[^\n]*(?:\n|\Z)", w.text, re.MULTILINE)
    yield Fix("remove the lines with ```", tuple(Edit(line.start(), line.end(), "") for line in lines))


@told(r"^lines do not begin with '([+-])'")
def _patch(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    lines = re.finditer(rf"^[ \t]*{re.escape(m[1])}", w.text, re.MULTILINE)
    if m[1] == "+":
        yield Fix("remove the '+'", tuple(Edit(line.end() - 1, line.end(), " ") for line in lines))


@told(r"^unexpected character", r"remove it$")
def _surplus(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    yield w.replaced("", w.start, w.end)


@told(r"^'=' stands behind the name of a result, not '.=")
def _equals(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    yield w.replaced("=", w.start, w.end)


@told(r"^the quote before \S+ is missing", r'^("\S+")$')
def _quote(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    yield w.inserted('"', w.start)


@told(r"^names of values are numbers, or begin with", r"^(%\S+)$")
def _name(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    places = re.finditer(rf"{re.escape(w.word)}(?![\w$.\-])", w.text)
    if h[1] not in w.text:
        yield Fix(f"write {h[1]}", tuple(Edit(found.start(), found.end(), h[1]) for found in places))


@told(r"^(true|false) is an i1 and stands without its type", r", or ([01]) : \S+$")
def _truth(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start = w.text.rfind(m[1], w.statement_start, w.start)
    if start >= 0:
        yield w.replaced(h[1], start, start + len(m[1]))


@told(r"^unexpected character '\$'", r"^names of values begin with %")
def _shell(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    places = [found.start() for found in re.finditer(r"\$(?=[A-Za-z_])", w.text) if not _commented(w, found.start())]
    yield Fix("write % before names", tuple(Edit(place, place + 1, "%") for place in places))


@told(r"^the bounds of scf.for stand around 'to'")
def _bounds(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    rest = re.compile(r",(\s*%[\w$.\-]+\s*),").match(w.text, w.start)
    if rest is not None:
        edits = (Edit(w.start, w.start + 1, " to"), Edit(rest.end() - 1, rest.end(), " step"))
        yield Fix("write to and step", edits)


@told(r"^unexpected character \"'\"")
def _single_quotes(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    strings = [found for found in re.finditer(r"'([^'\"\n]*)'", w.text) if not _commented(w, found.start())]
    yield Fix('write strings between " and "', tuple(Edit(s.start(), s.end(), f'"{s[1]}"') for s in strings))


@told(r"^attribute \S+ of \S+ must be .*, found (#\w+<\w+>)$", r"^did you mean (#pto\S+)\?$")
def _dialect(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start = w.text.find(m[1], w.statement_start, w.statement_end)
    if start >= 0:
        yield w.replaced(h[1], start, start + len(m[1]))


@told(r"^(pto\.\w+) takes names alone, found the value")
def _computed(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start = w.text.find(m[1], w.statement_start, w.start)
    if start >= 0:
        yield w.replaced(f"{m[1]}_dyn", start, start + len(m[1]))


@told(r"^the element type stands before the space", r"^(!pto\.ptr<.+>)$")
def _pointer(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start, end = w.text.rfind("!pto.ptr<", w.statement_start, w.start), w.text.find(">", w.end)
    if start >= 0 and end >= 0:
        yield w.replaced(h[1], start, end + 1)
