"""The Python source code that makes an operation: the innermost call in a file of the user."""

from __future__ import annotations

import linecache
import os
import sys
from functools import cache
from types import CodeType, FrameType
from typing import NamedTuple

from pto_dialect.diagnostics.locations import Locations
from pto_dialect.diagnostics.origins import NamedPosition
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.location import state_maker

HIDDEN: set[str] = {"contextlib.py", "functools.py"}
"""Files that only pass calls on, by their names."""

_folders: list[str] = [os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep]


class Place(NamedTuple):
    """Characters of a source text: ``start`` up to ``end``."""

    source: SourceFile
    start: int
    end: int


def hide_folder(folder: str) -> None:
    """States that code below ``folder`` makes operations for its callers, whose calls are the source locations."""
    _folders.append(os.path.abspath(folder) + os.sep)
    _is_hidden.cache_clear()
    _places.clear()


@cache
def _is_hidden(file: str) -> bool:
    return file.startswith(tuple(_folders)) or os.path.basename(file) in HIDDEN


_places: dict[int, tuple[CodeType, dict[int, Place]]] = {}
"""Places of code objects by their identity; the objects are stored so that they stay alive."""


def current_place() -> Place:
    """Returns the call in the innermost frame that is not hidden."""
    frame: FrameType | None = sys._getframe(1)
    outer = frame
    while frame is not None:
        code = frame.f_code
        known = _places.get(id(code))
        if known is not None:
            place = known[1].get(frame.f_lasti)
            return _find_place(frame, known[1]) if place is None else place
        if not _is_hidden(code.co_filename):
            known = _places[id(code)] = (code, {})
            return _find_place(frame, known[1])
        outer, frame = frame, frame.f_back
    assert outer is not None
    return _find_place(outer, {})


def _find_place(frame: FrameType, places: dict[int, Place]) -> Place:
    code, instruction = frame.f_code, frame.f_lasti
    line, column, last, end = frame.f_lineno, None, None, None
    for number, found in enumerate(code.co_positions()):
        if 2 * number == instruction:
            first, last, column, end = found
            line = line if first is None else first
            break
    place = places[instruction] = place_of(code.co_filename, line, column, last, end)
    return place


def place_of(
    file: str, line: int | None, column: int | None = None, last: int | None = None, end: int | None = None
) -> Place:
    """Returns the location of a line, or of the columns from ``column`` to ``end`` of the lines ``line`` to ``last``;
    columns count bytes from 0."""
    source = _source_of(file, _short_name(file))
    start = source.line_start(line or 1)
    if line is None or start is None:
        return Place(_unread(file, line or 0), 0, 0)
    text = source.line_text(line)
    if column is None or end is None or last is None:
        indent = len(text) - len(text.lstrip())
        return Place(source, start + indent, start + len(text))
    stop = source.line_start(last)
    first = start + _characters(text, column)
    if stop is None:
        return Place(source, first, start + len(text))
    return Place(source, first, stop + _characters(source.line_text(last), end))


def _characters(text: str, column: int) -> int:
    return column if text.isascii() else len(text.encode()[:column].decode(errors="ignore"))


def _short_name(file: str) -> str:
    """Returns the path of a file relative to the working directory where that is around it."""
    near = os.path.relpath(file) if os.path.isabs(file) else file
    return file if near.startswith(os.pardir) else near


@cache
def _source_of(file: str, name: str) -> SourceFile:
    # No file has a name with a zero byte, and linecache raises for such.
    source = SourceFile(name, "" if "\0" in file else "".join(linecache.getlines(file)))
    # A call such as `loc(..)` in Python code is not a location of a statement.
    source.facts[Locations] = Locations("")
    return state_maker(source)


def stated_place(file: str, line: int, column: int) -> Place:
    """Returns the position in a file that a program states; lines and columns count from 1."""
    source = _source_of(file, file)
    start = source.line_start(line)
    if start is not None and 0 < column <= len(source.line_text(line)):
        return Place(source, start + column - 1, start + len(source.line_text(line)))
    return Place(state_maker(NamedPosition(file, line, column)), 0, 0)


@cache
def _unread(file: str, line: int) -> SourceFile:
    """Returns a source of which no text is known."""
    return state_maker(SourceFile(file, "", line))
