"""Marks that are missing, one too many, or others than they must be."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pto_dialect.diagnostics.fix import Edit, Fix

from .wrong import Wrong, pieces, told

_HASH = re.compile(
    r'^(?P<before>(?:[^"/#\n]|"(?:[^"\\\n]|\\.)*"|/(?!/))*?)(?P<mark>(?<!\S)#(?![\w.]*[<=]))', re.MULTILINE
)
_BLOCK = re.compile(r"/\*(?P<inside>.*?)(?:\*/|\Z)", re.DOTALL)
_SEMICOLON = re.compile(r"^(?P<before>[ \t]*)(?P<mark>;+)", re.MULTILINE)
_STOPS = ("outs", "attributes", "->", "{", ":", ",", "=", "sizes", "strides", "offsets")


@told(r"^'(.+)' is missing before ")
def _missing_before(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    mark = m[1]
    if mark in ",":
        yield w.inserted(mark, w.trimmed(w.start))
    elif mark == "}":
        line = w.text[w.line_start : w.start]
        yield w.inserted("} " if not line.strip() else " } ", w.start)
    elif mark in "(<[{" or mark == "<<<":
        yield from _opened(w, mark)
    else:
        blank = "" if w.text[w.start - 1 : w.start].isspace() else " "
        yield w.inserted(f"{blank}{mark} ", w.start)
        if mark == "->":
            # A result in place of the name that gives it its type.
            yield from _result_type(w)


def _result_type(w: Wrong) -> Iterator[Fix]:
    name = next((piece.text for piece in w.statement if piece.kind == "word" and piece.text.startswith("%")), None)
    args = re.search(r"iter_args\s*\(\s*%[\w$.]+\s*=\s*(%[\w$.]+)", w.text[w.statement_start : w.statement_end])
    type_ = w.types.get(args[1] if args else name or "")
    if type_ is not None:
        yield w.inserted(f"-> ({type_}) ", w.start)


def _opened(w: Wrong, mark: str) -> Iterator[Fix]:
    """An opening bracket, with the closing one if that is missing as well."""
    if mark == "<<<":
        end = w.text.find(">>", w.start)
        if end >= 0:
            start = w.start + (w.text[w.start + 1 : w.start + 2] == "<") + 1
            stop = end + len(w.text[end:]) - len(w.text[end:].lstrip(">"))
            yield Fix("write <<< and >>>", (Edit(w.start, start, "<<<"), Edit(end, stop, ">>>")))
        return
    close = {"(": ")", "[": "]", "{": "}", "<": ">"}[mark]
    yield w.inserted(mark, w.start)
    for end in _stops(w, w.end):
        yield Fix(f"put {mark}{close} around it", (Edit(w.start, w.start, mark), Edit(end, end, close)))


@told(r"^'(,)' (?:or '.' )?is missing between ")
@told(r"^'(.+)' is missing between ")
def _missing_between(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    if m[1] != ",":
        yield w.inserted(f" {m[1]}", w.trimmed(w.start))
        for piece in w.behind(w.start)[1:2]:
            yield w.inserted(f"{m[1]} ", piece.start)
        return
    yield w.inserted(",", w.trimmed(w.start))
    # The place may be that of both.
    for piece in pieces(w.text, w.start + 1, w.end):
        if w.text[piece.start - 1].isspace():
            yield w.inserted(",", w.trimmed(piece.start))


@told(r"^'(.+)' is missing (?:after|at the end) ")
def _missing_after(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    mark = m[1]
    if mark == "{":
        yield w.inserted(" {", w.trimmed(w.line_end(w.start)))
        return
    yield w.inserted(mark, w.end)
    yield w.inserted(f" {mark} ", w.end)
    if mark == "(":
        for stop in _stops(w, w.end):
            yield Fix("put () around it", (Edit(w.end, w.end, "("), Edit(stop, stop, ")")))


@told(r"^nothing follows this ','")
@told(r"^no comma stands before")
@told(r"are separated by blanks, not by commas")
def _comma_too_many(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    if w.word == ",":
        yield w.replaced("")
    behind = "" if w.text[w.end : w.end + 1].isspace() else " "
    yield w.replaced(behind)


@told(r"^no '=' stands after")
def _equals_too_many(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    rest = w.text[w.end :]
    yield w.replaced("", w.trimmed(w.start), w.end + (len(rest) - len(rest.lstrip(" "))) - (rest[:1] == " "))


@told(r" follows '(.+)', not '(.+)'")
def _other_mark(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    if w.word.strip() == m[2]:
        key = m[1] == "=" and not w.text[w.start - 1].isspace() and w.text[w.end : w.end + 1] == " "
        yield w.replaced(f" {m[1]}" if key else m[1])


@told(r"^'=' is missing after ")
def _equals_after(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    yield w.inserted(" =", w.end)


# ---------------------------------------------------------------- brackets


def _stops(w: Wrong, start: int) -> Iterator[int]:
    """Places of the statement behind ``start`` where a bracket may close: before what is no part of a list."""
    ends: list[int] = []
    for piece in w.behind(start):
        ahead = w.trimmed(piece.start)
        if piece.text in _STOPS and ahead > start and ahead not in ends:
            # Behind a comma stands no bracket; the list before it may end there.
            ends.append(ahead - 1 if w.text[ahead - 1] == "," else ahead)
    end = w.trimmed(w.statement_end)
    for piece in w.statement:
        end = max(end, piece.end) if piece.start < w.statement_end else end
    last = max((piece.end for piece in w.statement), default=w.end)
    if w.text[last - 1 : last] == "{":
        last = w.trimmed(last - 1)
    yield from (stop for stop in (*ends, last) if stop > start)


@told(r"^th(?:is|e) '(.)'(?: of .*)? is not closed")
def _not_closed(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    mark = {"(": ")", "[": "]", "{": "}", "<": ">"}[m[1]]
    if mark == "}":
        yield from _brace_not_closed(w)
    outer = _outer_bracket(w, w.start)
    if outer is not None:
        yield w.inserted(mark, outer)
    for stop in _stops(w, w.start + 1):
        yield w.inserted(mark, stop)


def _outer_bracket(w: Wrong, start: int) -> int | None:
    """The first bracket behind the one at ``start`` that closes another one: what is not closed ends there at last."""
    opened: list[str] = []
    for piece in w.behind(start):
        if piece.text in _PAIRS:
            opened.append(_PAIRS[piece.text])
        elif piece.text in _PAIRS.values():
            if opened and piece.text == opened[-1]:
                opened.pop()
            else:
                return piece.start
    return None


_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


def _brace_not_closed(w: Wrong) -> Iterator[Fix]:
    here = w.indentation(w.line_start)
    for note in w.diagnostic.notes:
        if note.span is not None:
            start = w.text.rfind("\n", 0, note.span.start) + 1
            yield w.inserted(f"{here}}}\n", start)
    end = "" if w.text.endswith("\n") else "\n"
    yield w.inserted(f"{end}{here}}}\n", len(w.text))


@told(r"^this '}' closes nothing")
def _closes_nothing(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    places = [note.span.start for note in w.diagnostic.notes if note.span is not None]
    for place in (*places, w.start):
        begin, end = w.text.rfind("\n", 0, place) + 1, w.line_end(place)
        if w.text[begin:end].strip() == "}":
            yield w.replaced("", begin, min(end + 1, len(w.text)))
        else:
            yield w.replaced("", place, place + 1)


@told(r"^'<' is missing in (\S+)", r"did you mean (!?[\w.]+)<")
@told(r"^'<' is missing in (\S+)", r"add the missing '(<)'")
def _angle_missing(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    head = h[1] if h[1] != "<" else m[1]
    rest = w.text[w.end : w.end + 1]
    for known in (head, m[1].removesuffix(rest)):
        if w.word.startswith(known):
            yield w.replaced(f"{known}<{w.word[len(known) :].lstrip()}")


@told(r"is written without parentheses")
def _without_parentheses(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    close = w.closing(w.start)
    if close is None:
        return
    inside = w.text[w.start + 1 : close].strip()
    ahead = "" if not inside or w.text[w.start - 1].isspace() else " "
    yield w.replaced(f"{ahead}{inside}", w.start, close + 1)
    if inside:
        yield w.replaced(f" <{inside}>", w.start, close + 1)


@told(r"needs .+ in brackets before")
def _brackets_missing(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    if w.word == "(":
        close = w.closing(w.start)
        if close is not None:
            yield Fix("write [ ] in place of ( )", (Edit(w.start, w.start + 1, "["), Edit(close, close + 1, "]")))
        return
    end = max((piece.end for piece in w.statement), default=w.end)
    start = w.trimmed(w.start)
    yield Fix("put [ ] around it", (Edit(start, w.start, "["), Edit(end, end, "]")))


# ---------------------------------------------------------------- comments


@told(r"^comments begin with //")
def _comment(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = w.text[w.start : w.start + 1]
    edits: list[Edit] = []
    if found == "#":
        edits = [Edit(f.start("mark"), f.end("mark"), "//") for f in _HASH.finditer(w.text)]
    elif found == ";":
        edits = [Edit(f.start("mark"), f.end("mark"), "//") for f in _SEMICOLON.finditer(w.text)]
    elif found == "/":
        for block in _BLOCK.finditer(w.text):
            lines = [line.strip().removeprefix("*").strip() for line in block["inside"].split("\n")]
            kept = [line for line in lines if line] or [""]
            end = block.end()
            if w.text[end : w.line_end(end)].strip():
                # Text goes on behind the comment, which a comment up to the end of the line would hide.
                continue
            begin = w.text.rfind("\n", 0, block.start()) + 1
            indent = w.indentation(begin)
            edits.append(Edit(block.start(), end, f"\n{indent}".join(f"// {line}".rstrip() for line in kept)))
    if edits:
        yield Fix("begin comments with //", tuple(edits))


@told(r"^\w+ takes nothing in parentheses")
def _empty_parentheses(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(r"\(\s*\)").match(w.text, w.start)
    if found is not None:
        yield w.replaced("", found.start(), found.end())


@told(r"^\w+ is a clause, and no '=' stands behind it")
def _needless_value(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    found = re.compile(r"\s*=\s*\w+").match(w.text, w.trimmed(w.start))
    if found is not None:
        yield w.replaced("", found.start(), found.end())


@told(r"^indices stand in square brackets")
def _square(w: Wrong, m: re.Match[str], h: re.Match[str]) -> Iterator[Fix]:
    end = w.text.find(")", w.end)
    if end >= 0:
        yield Fix("write square brackets", (Edit(w.start, w.start + 1, "["), Edit(end, end + 1, "]")))
