"""Where the statements of a recording come from: lines of its program, or of the file that a compiler made it from.

Source: docs/debugger.md, "C++ kernels and programs with locations".
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import NamedTuple

from pto_dialect.diagnostics.locations import location_at
from pto_dialect.diagnostics.origins import Origins
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.recording import Recording
from pto_dialect.recording.model import Statement

_CPP = (".cpp", ".cc", ".cxx", ".cce")
_WORD = re.compile(r"\w+")
_NUMBERED = re.compile(r"%([A-Za-z_]\w*?)(?:_\d+)?\Z")


class SourceLine(NamedTuple):
    """A line of a file, with its text without indentation."""

    file: str
    line: int
    text: str


class SourceLines:
    """The source positions of the statements of a recording.

    Those that a location names are in another file where that file can be read (docs/locations.md, "Which files are
    read") and the program on disk is still the one that was recorded. ``is_cpp``: the program is a C++ kernel, whose
    values are called as in C++.
    """

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        program = recording.program
        self.program = SourceFile(program.file, program.text)
        self.is_cpp = program.file.endswith(_CPP)
        self._places: dict[int, SourceLine] = {}
        self._words: frozenset[str] | None = None
        is_located = not self.is_cpp and "loc(" in program.text
        self._origins = self._read() if is_located else None

    def _read(self) -> Origins:
        name, text = self.program.name, self.program.text
        folder = None
        if os.path.isfile(name):
            with open(name, encoding="utf-8", errors="replace", newline="") as stream:
                folder = (os.path.dirname(name) or ".") if stream.read(len(text) + 1) == text else None
        return Origins(folder)

    # ------------------------------------------------------------ places

    def place(self, statement: Statement) -> SourceLine:
        """Returns where a person looks for a statement."""
        if statement.number not in self._places:
            self._places[statement.number] = self._place(statement)
        return self._places[statement.number]

    def _place(self, statement: Statement) -> SourceLine:
        start = self.program.line_start(statement.line) if self._origins is not None and statement.line else None
        if self._origins is not None and start is not None:
            for frame in location_at(self.program, start + statement.col - 1).frames[:1]:
                file = self._origins.file(frame.file)
                if file is not None and file.line_start(frame.line) is not None:
                    return SourceLine(frame.file, frame.line, file.line_text(frame.line).strip())
        return SourceLine(self.program.name, statement.line, statement.text)

    def lines(self, file: str) -> dict[int, list[int]]:
        """Returns the numbers of the statements by their lines in a file; the last part of its path is enough."""
        found: defaultdict[int, list[int]] = defaultdict(list)
        for statement in self.recording.statements:
            for place in {self.place(statement), SourceLine(self.program.name, statement.line, statement.text)}:
                if _is_called(place.file, file):
                    found[place.line].append(statement.number)
        return dict(found)

    def text(self, file: str) -> list[str] | None:
        """Returns the lines of a file; ``None`` where it is not read."""
        if _is_called(self.program.name, file):
            return self.program.text.split("\n")
        names = {self.place(one).file for one in self.recording.statements} if self._origins is not None else set[str]()
        for name in sorted(names):
            read = self._origins.file(name) if self._origins is not None and _is_called(name, file) else None
            if read is not None:
                return read.text.split("\n")
        return None

    def named(self, name: str) -> list[int]:
        """Returns the statements at whose position an identifier stands that matches, such as the operation of a C++
        kernel."""
        return [number for number, word in self._mnemonics() if fnmatchcase(word, name)]

    def _mnemonics(self) -> Iterator[tuple[int, str]]:
        for one in self.recording.statements:
            line = self.program.line_text(one.line) if one.line else ""
            word = _WORD.match(line, max(one.col - 1, 0))
            if word is not None:
                yield one.number, word[0]

    # ------------------------------------------------------------ names

    def value_name(self, name: str) -> str:
        """Returns the name of a value in the program, which C++ writes without ``%``."""
        return f"%{name}" if self.is_cpp and not name.startswith("%") else name

    def shown_name(self, name: str) -> str:
        """Returns the name of a value as a person writes it."""
        return name.removeprefix("%") if self.is_cpp else name

    def is_written(self, name: str) -> bool:
        """Returns whether a value has a name in the text: the compiler makes further ones."""
        if not self.is_cpp:
            return True
        if self._words is None:
            self._words = frozenset(_WORD.findall(self.program.text))
        plain = _NUMBERED.match(name)
        return plain is not None and (plain[1] in self._words or name[1:] in self._words)


def _is_called(path: str, name: str) -> bool:
    return path == name or os.path.basename(path) == name or os.path.abspath(path) == os.path.abspath(name)
