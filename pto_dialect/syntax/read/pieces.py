"""Division of a text into its functions and the frame around them.

A text is split into functions, because an edit mostly changes one of them: the others keep their cached results. The
frame is the text without the functions: aliases, headers of modules, their braces.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate
from typing import NamedTuple

from pto_dialect.patterns import portable

from .lexer import is_assembly
from .tokens import SPACE

_MARK = re.compile(
    portable(r"//[^\n]*|\"(?:[^\"\\\n]++|\\.)*+\"|([{}])|(func\.func)(?<![\w.%@#!$]func\.func)(?![\w.])")
)
_START = re.compile(r"^([ \t]*)func\.func(?![\w.])", re.MULTILINE)
_BEHIND = re.compile(SPACE)
_GOES_ON = re.compile(r"[{,):]|->|attributes\b")
"""The text after the braces of an attribute in the header of a function."""
_NO_END = re.compile(r"loc\s*\(|[=%]")
"""The text that cannot follow a function: its location (which is not parsed here), or a part of a statement."""
_TRAILER = re.compile(rf"(?<!\s){SPACE}\Z")
_CLOSING = re.compile(r"^[ \t]*\}[ \t]*$", re.MULTILINE)


class Pieces(NamedTuple):
    """``functions`` are the extents of the functions in the order of the text, ``frame`` is the text without them."""

    text: str
    functions: tuple[tuple[int, int], ...]
    frame: str

    def places(self) -> list[int]:
        """Returns the positions of the functions in the frame."""
        lengths = accumulate((end - start for start, end in self.functions), initial=0)
        return [start - before for (start, _), before in zip(self.functions, lengths, strict=False)]

    def at(self, offset: int) -> int | None:
        """Returns the index of the function around a character, or after it."""
        number = bisect_right(self.functions, (offset, len(self.text) + 1)) - 1
        return number if number >= 0 and offset <= self.functions[number][1] else None


def split(text: str) -> Pieces | None:
    """Returns the pieces of ``text``; ``None`` for one that has no functions, and for the assembly form.

    Braces determine where functions end. Where these are unbalanced, as during editing, a function reaches to the next
    line that starts one.
    """
    if is_assembly(text):
        return None
    functions = _by_braces(text)
    if functions is None:
        functions = _by_lines(text)
    if not functions:
        return None
    frame, last = "", 0
    for start, end in functions:
        frame += text[last:start]
        last = end
    return Pieces(text, tuple(functions), frame + text[last:])


_MARKS = re.compile(r"[{}\"\r]|//|func\.func")


def edited(pieces: Pieces | None, start: int, end: int, new: str) -> Pieces | None:
    """Returns the pieces after the characters from ``start`` to ``end`` were replaced by ``new``, where the lines of
    the edit determine them: they are inside of one function and contain nothing that could end a function."""
    if pieces is None:
        return None
    text = pieces.text
    number = pieces.at(start)
    first, last = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    if number is None or last < 0:
        return None
    begin, stop = pieces.functions[number]
    # The text after a brace determines whether the function ends there.
    brace = text.rfind("}", 0, first)
    if not begin < first <= last < stop or (brace >= begin and _after(text, brace + 1) >= first):
        return None
    written = text[first:start] + new + text[end:last]
    if _MARKS.search(text, first, last) or _MARKS.search(written) or not _has_braces(text, begin, first):
        return None
    # A tile operation without its dialect makes the text one of the assembly form.
    if is_assembly(f"\n{written}\n"):
        return None
    grown = len(new) - (end - start)
    functions = [*pieces.functions[:number], (begin, stop + grown)]
    functions += [(a + grown, b + grown) for a, b in pieces.functions[number + 1 :]]
    return Pieces(text[:start] + new + text[end:], tuple(functions), pieces.frame)


def _after(text: str, offset: int) -> int:
    """Returns the end of white space and comments."""
    found = _BEHIND.match(text, offset)
    assert found is not None
    return found.end()


def _has_braces(text: str, begin: int, first: int) -> bool:
    return "{" in text[begin:first]


def _by_braces(text: str) -> list[tuple[int, int]] | None:
    functions: list[tuple[int, int]] = []
    depth = level = 0
    start: int | None = None
    for found in _MARK.finditer(text):
        kind = found.lastindex
        if kind is None:
            continue
        if kind == 2:
            # A function without a body stays in the frame; there is none inside of a body.
            if start is not None and depth != level:
                return None
            start, level = found.start(), depth
        elif found[1] == "{":
            depth += 1
        else:
            depth -= 1
            if depth < 0:
                return None
            if start is not None and depth == level:
                following = _BEHIND.match(text, found.end())
                assert following is not None
                if _NO_END.match(text, following.end()):
                    return None
                if not _GOES_ON.match(text, following.end()):
                    functions.append((start, found.end()))
                    start = None
            elif start is not None and depth < level:
                start = None
    return functions if depth == 0 else None


def _by_lines(text: str) -> list[tuple[int, int]] | None:
    starts = list(_START.finditer(text))
    if not starts:
        return None
    indent = min(len(found[1]) for found in starts)
    begins = [found.end(1) for found in starts if len(found[1]) == indent]
    end = len(text)
    if indent:
        # The braces of the modules around the last function are indented less than it.
        for closing in reversed(list(_CLOSING.finditer(text, begins[-1]))):
            if len(closing[0]) - len(closing[0].lstrip()) >= indent:
                break
            end = closing.start()
    functions: list[tuple[int, int]] = []
    for begin, following in zip(begins, [*(text.rfind("\n", 0, b) for b in begins[1:]), end], strict=True):
        trailer = _TRAILER.search(text, begin, following)
        if "{" in text[begin:following]:
            functions.append((begin, trailer.start() if trailer else following))
    return functions
