"""Words that are misspelt, foreign, or lack the sign of their kind."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Fix
from pto_dialect.diagnostics.suggest import edit_distance

from .wrong import Wrong, told

_ALTERNATIVES = re.compile(r", | or ")
_QUOTED = re.compile(r"'([^']+)'")
_NAMED = re.compile(r"attribute ([\w.]+)|(?:function|type|alias|is no function) ([@!][\w.]+)|(%[\w.$]+) is")


def _place(w: Wrong, word: str | None) -> tuple[int, int]:
    """Where the wrong ``word`` stands in what the diagnostic points at; that as a whole where it does not."""
    at = w.word.find(word) if word else -1
    if word is None or at < 0:
        at = w.text.find(word, w.start, w.statement_end) if word else -1
        if word is None or at < 0:
            return w.start, w.end
        return at, at + len(word)
    return w.start + at, w.start + at + len(word)


@told(r"", r"^did you mean ([^?]+)\?$")
@told(r"; did you mean ([^?]+)\?")
@told(r"", r"did you mean ([^?]+)\?$")
def _meant(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    names = (h if h.re.groups else m)[1]
    found = _QUOTED.search(m.string)
    named = re.match(r"(?:attribute|unknown type|undefined type alias|\S+ :)?\s*([!%#@^]?[\w.]+)", m.string)
    word = found[1] if found else None
    if word is None and named is not None and named[1] in w.word:
        word = named[1]
    if word is None:
        found = _NAMED.search(m.string)
        word = next((group for group in found.groups() if group), None) if found else None
    start, end = _place(w, word)
    quoted = w.text[start - 1 : start] != '"' and '", ' in w.text[w.statement_start : start]
    for name in _ALTERNATIVES.split(names):
        name = name.removesuffix("<..>")
        if quoted and name.startswith("EVENT_ID"):
            name = f'"{name}"'
        yield w.replaced(name, start, end)


@told(r"unknown (\w+) '([^']+)'", r"one of (.+)")
@told(r"unknown (\w+) '([^']+)'", r"^(\w+(?:, \w+)*)$")
@told(r"(\w+) does not take '([^']+)'", r"one of (.+)")
def _one_of(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start, end = _place(w, m[2])
    words = [word for word in h[1].split(", ") if word != ".."]
    alike = sorted(words, key=lambda word: (not word.endswith(m[2]), edit_distance(m[2].lower(), word.lower(), 40)))
    for word in alike[:6]:
        yield w.replaced(word, start, end, safe=False)


@told(r"^names of (functions|blocks|results|aliases) begin with (.), found '([^']+)'")
@told(r"^(attributes) begin with (#), found '([^']+)'")
def _sign(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start, _ = _place(w, m[3])
    colon = ":" if h.string.endswith(":") and w.text[start + len(m[3]) : start + len(m[3]) + 1] != ":" else ""
    yield w.replaced(f"{m[2]}{m[3]}{colon}", start, start + len(m[3]))


@told(r"^expected a value, found '([^']+)'", r"^(%[\w.$]+)")
def _percent(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start, end = _place(w, m[1])
    yield w.replaced(h[1], start, end)


@told(r"", r"^write (\S.*?)(?:;.*)?$")
@told(r"^names with '-' stand in quotes", r"^(.+)$")
@told(r"needs a quoted word before", r"^(.+)$")
@told(r"literals have a decimal point", r"^(.+)$")
@told(r"^pointers are written", r"^(.+)$")
@told(r"a vector register holds", r"^(!pto\.\S+)$")
@told(r"^the element type is missing after", r"^(.+)$")
def _written(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    new = h[1]
    if "needs a quoted word" in m.string:
        new = f'"{w.word}"'
    found = re.search(r"found (\S.*)$", m.string)
    places = [(w.start, w.end)]
    if found is not None and found[1] not in w.word:
        # What was found may be abridged by its default type.
        for shape in (found[1], found[1].partition(" :")[0]):
            at = w.text.find(shape, w.start, w.statement_end)
            if at >= 0:
                places.append((at, at + len(shape)))
    elif found is not None:
        at = w.start + w.word.index(found[1])
        places.insert(0, (at, at + len(found[1])))
    if m.string.startswith("pointers are written"):
        end = w.trimmed(w.start)
        begin = re.search(r"[\w.!<>]+$", w.text[:end])
        if begin is not None:
            places.insert(0, (begin.start(), w.end))
    safe = "element type is missing" not in m.string
    element = new.rpartition("x")[2]
    if not safe and w.text.startswith(element, w.end):
        # The type is there, only the x before it is not.
        places, safe = [(w.start, w.end + len(element))], True
    for start, end in places:
        yield w.replaced(new, start, end, safe=safe)


@told(r"^round_mode is not written in this form|is not written in this form", r"^write (.+)$")
def _other_form(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(r"#pto[.\w<]*(?:<[^>]*>|[^>]*>)").search(w.text, w.start, w.statement_end)
    if found is not None:
        yield w.replaced(h[1], *found.span())


@told(r"^(-?\d+)\.0* is not an integer")
def _whole_number(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    start, end = _place(w, m[0].partition(" ")[0])
    yield w.replaced(m[1], start, end)


@told(r"names no known target .*found '([^']+)'")
def _target(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    at = w.text.find(f'"{m[1]}"', w.start)
    key = w.text.find("pto.target_arch", w.start)
    if at < 0:
        return
    if m[1].lower().startswith("ascend") and key >= 0:
        yield w.replaced('"pto.device-spec"', key, key + len("pto.target_arch"))
    for name in ("a5", "a3"):
        yield w.replaced(f'"{name}"', at, at + len(m[1]) + 2, safe=False)


@told(r"is (#pto\.\w+)<(\w+)> or #pto\.\w+<(\w+)>; \"(\w+)\" has no effect")
def _kind_as_string(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    at = w.text.find(f'"{m[4]}"', w.start)
    if at >= 0 and m[4] in (m[2], m[3]):
        yield w.replaced(f"{m[1]}<{m[4]}>", at, at + len(m[4]) + 2)


@told(r"^expected (\w+) = \[\.\.\], found '(\w+)'")
@told(r"^unexpected '([^']+)'", r"^did you mean (\w+)\?")
def _keyword(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    new, old = (h[1], m[1]) if h.re.groups else (m[1], m[2])
    start, end = _place(w, old)
    yield w.replaced(new, start, end)
