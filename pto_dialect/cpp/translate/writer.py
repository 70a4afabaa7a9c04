"""The text of a function: names, constants, indentation, locations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

from ..llvm.location import SourceLocation

_NAME = re.compile(r"%[A-Za-z_]\w*")
_SUFFIX = re.compile(r"(?:\.(?:i|\d+|i\d+|ph|pre|lcssa|cast|sroa))+\d*\Z")
_UNSAFE = re.compile(r"[^A-Za-z0-9_]+")
_FRAMES = 3
"""Frames of a location that a location states: the innermost ones and the outermost one."""


class Line:
    """A line, with the names that it defines. A ``pure`` line whose names nobody uses is left out."""

    __slots__ = ("depth", "is_pure", "results", "text")

    def __init__(self, text: str, depth: int, results: tuple[str, ...] = (), is_pure: bool = False) -> None:
        self.text = text
        self.depth = depth
        self.results = results
        self.is_pure = is_pure


def hint_of(name: str) -> str:
    """Returns a name for the ``.pto`` text from one of the IR: ``i.0.i37`` becomes ``i``."""
    short = _UNSAFE.sub("_", _SUFFIX.sub("", name)).strip("_")
    return short if short and not short[0].isdigit() else f"v{short}"


@lru_cache(1024)
def quote(text: str) -> str:
    """Returns a string literal."""
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\{ord(c) & 255:02X}" for c in text) + '"'


def location_text(frames: list[SourceLocation]) -> str:
    """Returns ``loc(..)`` of the frames of a location, innermost first; "" if there is none."""
    if not frames:
        return ""
    kept = frames if len(frames) <= _FRAMES else [*frames[: _FRAMES - 1], frames[-1]]
    text = ""
    for frame in reversed(kept):
        own = f"{quote(frame.file)}:{frame.line}:{max(frame.column, 1)}"
        text = f"callsite({own} at {text})" if text else own
    return f" loc({text})"


class Writer:
    """Collects the lines of a function."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self.constants: dict[tuple[str, str], tuple[str, Line]] = {}
        self.numbers: dict[str, tuple[str, str]] = {}
        """For the name of a constant its text and type."""
        self.heads: list[Line] = []
        self.location = ""
        self.scopes = [0]
        self.parameters: set[str] = set()
        """Names of the parameters of the function."""
        self._counts: dict[str, int] = {}
        self._regions = 0

    def fresh(self, hint: str = "v") -> str:
        """Returns a name that is not used yet."""
        return self._unused(hint_of(hint))

    def fresh_parameter(self, name: str) -> str:
        """Returns a name for a parameter: its own if possible, because launches name arguments."""
        given = self._unused(name if name.isidentifier() and name.isascii() else hint_of(name))
        self.parameters.add(given)
        return given

    def _unused(self, base: str) -> str:
        number = self._counts.get(base, 0)
        while True:
            name = f"{base}_{number}" if number else base
            number += 1
            if number == 1 or name not in self._counts:
                break
        self._counts[base] = number
        self._counts.setdefault(name, 1)
        return f"%{name}"

    def constant(self, text: str, type: str) -> str:
        """Returns the name of a constant, which is defined at the begin of the function."""
        key = text, type
        known = self.constants.get(key)
        if known is None:
            word = "true" if text == "true" else "false" if text == "false" else "c" + text.replace("-", "m")
            name = self.fresh(word if type in ("index", "i1") else f"{word}_{type}")
            line = Line(f"{name} = arith.constant {text}{'' if type == 'i1' else f' : {type}'}", 0, (name,), True)
            known = self.constants[key] = name, line
            self.numbers[name] = key
        return known[0]

    def head(self, body: str, hint: str) -> str:
        """Emits an operation at the begin of the function, after the constants; returns the name of its result."""
        name = self.fresh(hint)
        self.heads.append(Line(f"{name} = {body}", 0, (name,), True))
        return name

    def emit(self, text: str, results: tuple[str, ...] = (), is_pure: bool = False) -> Line:
        """Emits a line with the current location."""
        line = Line(text + self.location, len(self.scopes) - 1, results, is_pure)
        self.lines.append(line)
        return line

    def define(self, body: str, hint: str = "v", is_pure: bool = False) -> str:
        """Emits an operation with one result; returns its name."""
        name = self.fresh(hint)
        self.emit(f"{name} = {body}", (name,), is_pure)
        return name

    def bare(self, text: str) -> Line:
        """Emits a line without location: the begin or end of a region."""
        line = Line(text, len(self.scopes) - 1)
        self.lines.append(line)
        return line

    @contextmanager
    def region(self) -> Iterator[None]:
        """Indents lines; what they define is visible in the region only."""
        self._regions += 1
        self.scopes.append(self._regions)
        try:
            yield
        finally:
            self.scopes.pop()

    def is_open(self, scope: int) -> bool:
        """Returns whether a region is still open."""
        return scope in self.scopes

    def text(self, depth: int, location: str) -> list[str]:
        """Returns the lines, indented by ``depth``, without unused ones; constants have ``location``."""
        heads = [*(line for _, line in self.constants.values()), *self.heads]
        for line in heads:
            line.text += location
        lines = [*heads, *self.lines]
        used: set[str] = set()
        kept: list[str] = []
        for line in reversed(lines):
            if line.is_pure and not any(name in used for name in line.results):
                continue
            used.update(_NAME.findall(line.text.partition(" = ")[2] if line.results else line.text))
            kept.append("  " * (depth + line.depth) + line.text)
        return kept[::-1]
