"""Locations of MLIR after statements: where in the program that a compiler translated a statement comes from.

A location is read from the text on request. Source: docs/reference/language.md, "Attributes".
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from .source import SourceFile

FRAMES = 32
"""Frames of one location that are read; further ones are left out."""

DEPTH = 64
"""Locations in one another that are read."""

_STRING = r'"(?:[^"\\\n]|\\[^\n])*"'
_TOKEN = re.compile(
    rf"(?P<string>{_STRING})|(?P<alias>\#[\w.$\-]+)|(?P<number>\d+)|(?P<word>[A-Za-z]\w*)|(?P<mark>[^\s])"
)
_ALIAS = re.compile(r"^[ \t]*(#[\w.$\-]+)[ \t]*=[ \t]*loc\(", re.MULTILINE)
_DEFINES = re.compile(r"[ \t]*#[\w.$\-]+[ \t]*=")
_STATEMENT = r"""[ \t]*(?:
    %[\w.$\-]+(?:\#\d+|:\d+)?(?:[ \t]*,[ \t]*%[\w.$\-]+(?::\d+)?)*[ \t]*=   # results
    |[A-Za-z_]\w*(?:\.\w+)+\b(?![ \t]*[=:])                                  # the name of an operation
    |(?:return|call|func|module|yield)\b|"|\^|\}|[#!][\w.$\-]+[ \t]*=)"""
_PIECE = re.compile(
    rf"""(?P<skipped>{_STRING}|//[^\n]*)|(?P<loc>(?<![\w.$%@\#\-])loc\()|(?P<open>[({{\[])|(?P<close>[)}}\]])
    |(?P<next>\n(?={_STATEMENT}))""",
    re.VERBOSE,
)
_ESCAPED = re.compile(r"\\(?:([0-9A-Fa-f]{2})|([^\n]))")


class Frame(NamedTuple):
    """A position in a file; ``line`` and ``column`` (in bytes of UTF-8) count from 1."""

    file: str
    line: int
    column: int


class Location(NamedTuple):
    """What a location names: ``frames`` are a position and the calls that lead to it, the innermost first; ``others``
    are further positions that were fused with it; ``name`` is that of the value, empty without one."""

    frames: tuple[Frame, ...] = ()
    others: tuple[Frame, ...] = ()
    name: str = ""

    def spelled(self, quote: Callable[[str], str]) -> str:
        """Returns the text of the location inside ``loc(..)``; ``quote`` writes strings."""
        text = ""
        for file, line, column in reversed(self.frames):
            place = f"{quote(file)}:{line}:{column}"
            text = f"callsite({place} at {text})" if text else place
        if self.others:
            text = f"fused[{', '.join([text, *(f'{quote(one.file)}:{one.line}:{one.column}' for one in self.others)])}]"
        return f"{quote(self.name)}({text})" if self.name else text


NOWHERE = Location()


def location_at(source: SourceFile, offset: int) -> Location:
    """Returns the location of the statement, or of the function argument, in which ``offset`` is."""
    locations = Locations.of(source)
    start = _find(source.text, offset) if locations.are_present else None
    return NOWHERE if start is None else locations.read(start)


def enclosing_location(source: SourceFile, offset: int) -> Location:
    """Returns the location of the statement at ``offset``, or of the nearest around it that has one."""
    position: int | None = offset
    while position is not None:
        found = location_at(source, position)
        if found.frames:
            return found
        position = _region_end(source.text, position)
    return NOWHERE


def _find(text: str, offset: int) -> int | None:
    """Returns the offset after ``loc(`` of the statement around ``offset``; ``None`` where it has none."""
    depth = 0
    for piece in _PIECE.finditer(text, offset):
        kind = piece.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            if depth == 0 and piece[0] == "}" and _begins_line(text, piece.start()):
                return None
            depth = max(depth - 1, 0)
        elif depth == 0 and kind == "loc":
            return None if _DEFINES.match(text, text.rfind("\n", 0, piece.start()) + 1) else piece.end()
        elif kind == "loc":
            depth += 1
        elif depth == 0 and kind == "next":
            return None
    return None


def _region_end(text: str, offset: int) -> int | None:
    """Returns the offset after the region around ``offset``."""
    depth = 0
    for piece in _PIECE.finditer(text, offset):
        kind = piece.lastgroup
        if kind in ("open", "loc"):
            depth += 1
        elif kind == "close":
            if depth == 0 and piece[0] == "}" and _begins_line(text, piece.start()):
                return piece.end()
            depth = max(depth - 1, 0)
    return None


def _begins_line(text: str, offset: int) -> bool:
    return not text[text.rfind("\n", 0, offset) + 1 : offset].strip()


class Locations:
    """The aliases of locations in one text, and the locations that were read."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.are_present = "loc(" in text
        self.aliases = {found[1]: found.end() for found in _ALIAS.finditer(text)} if self.are_present else {}
        self.known: dict[int, Location] = {}

    @classmethod
    def of(cls, source: SourceFile) -> Locations:
        """Returns those of ``source``, made once."""
        known: Locations | None = source.facts.get(cls)
        if known is None:
            known = source.facts[cls] = cls(source.text)
        return known

    def read(self, start: int, depth: int = 0) -> Location:
        """Returns the location that begins at ``start``, after ``loc(``."""
        if start not in self.known:
            # An alias that stands for itself finds this.
            self.known[start] = NOWHERE
            self.known[start] = _Reader(self, start, depth).location()
        return self.known[start]


class _Reader:
    """Reads one location."""

    def __init__(self, locations: Locations, start: int, depth: int) -> None:
        self.locations = locations
        self.position = start
        self.depth = depth

    def _next(self, kind: str, text: str = "") -> str:
        """Takes the next token if it is of a kind, and ``text`` if that is given; returns it, or an empty text."""
        found = _TOKEN.search(self.locations.text, self.position)
        if found is None or found.lastgroup != kind or (text and found[0] != text):
            return ""
        self.position = found.end()
        return found[0]

    def location(self) -> Location:
        """Returns the location at the position; what is wrong in it names nothing."""
        self.depth += 1
        if self.depth > DEPTH:
            return NOWHERE
        try:
            if string := self._next("string"):
                return self._file_or_name(_unquoted(string))
            if alias := self._next("alias"):
                start = self.locations.aliases.get(alias)
                return NOWHERE if start is None else self.locations.read(start, self.depth)
            if self._next("word", "callsite"):
                return self._call()
            if self._next("word", "fused"):
                return self._fused()
            self._next("word", "unknown")
            return NOWHERE
        finally:
            self.depth -= 1

    def _file_or_name(self, text: str) -> Location:
        if self._next("mark", ":"):
            line = self._next("number")
            self._next("mark", ":")
            column = self._next("number")
            if not line or len(line) > 9 or len(column) > 9:
                return NOWHERE
            return Location((Frame(text, max(int(line), 1), max(int(column or 1), 1)),))
        if self._next("mark", "("):
            child = self.location()
            self._next("mark", ")")
            return child._replace(name=text)
        return Location(name=text)

    def _call(self) -> Location:
        self._next("mark", "(")
        callee = self.location()
        self._next("word", "at")
        caller = self.location()
        self._next("mark", ")")
        return callee._replace(frames=(*callee.frames, *caller.frames)[:FRAMES])

    def _fused(self) -> Location:
        if self._next("mark", "<"):
            self._skip_metadata()
        self._next("mark", "[")
        parts = [self.location()]
        while self._next("mark", ",") and len(parts) < FRAMES:
            parts.append(self.location())
        self._next("mark", "]")
        named = [part for part in parts if part.frames] or [NOWHERE]
        first, *rest = named
        name = next((part.name for part in parts if part.name), "")
        others = tuple(dict.fromkeys([*first.others, *(part.frames[0] for part in rest)]))
        return Location(first.frames, tuple(one for one in others if one not in first.frames)[:FRAMES], name)

    def _skip_metadata(self) -> None:
        depth = 1
        for found in _TOKEN.finditer(self.locations.text, self.position):
            depth += (found[0] == "<") - (found[0] == ">")
            if depth == 0:
                self.position = found.end()
                return


def _unquoted(string: str) -> str:
    def character(found: re.Match[str]) -> str:
        return chr(int(found[1], 16)) if found[1] else {"n": "\n", "t": "\t"}.get(found[2], found[2])

    return _ESCAPED.sub(character, string[1:-1])
