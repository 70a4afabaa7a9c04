"""What a person sees of a statement that a compiler made: the source line that the statement comes from.

A statement may end with a location (`loc("k.cpp":14:5)`). Diagnostics then show that position first, the calls that
lead to it as notes, and the line of the `.pto` text last. Source: docs/locations.md, "Source locations".
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from .diagnostic import Diagnostic, Note
from .source import SourceFile, Span

if TYPE_CHECKING:
    from .locations import Frame, Location

SUFFIXES = frozenset(
    (".c", ".cc", ".cce", ".cpp", ".cu", ".cxx", ".h", ".hh", ".hpp", ".hxx", ".inc", ".inl", ".mlir", ".pto", ".py")
)
"""Files of which a line may be shown because a location names them."""

SOURCES = "PTO_SOURCES"
"""Environment variable with folders of source files that locations may name."""

MOST_BYTES = 16_000_000
MOST_TEXTS = 256
CALLED = "called from here"
ALSO = "made from this as well"
DEFINED = "is defined here"
STATEMENT = "the statement of the program"
SYNTAX = ("parse-", "input-", "documentation-")
"""Rules about the text itself, which is what has to be changed."""

_WORD = re.compile(r"\w+|\S")


_registered: dict[str, Origins] = {}
"""Translated texts: all readers of a program have its text in common."""


class NamedPosition(SourceFile):
    """A position in a file whose text is not known."""

    __slots__ = ("position",)

    def __init__(self, name: str, line: int, column: int) -> None:
        super().__init__(name, "", line)
        self.position = line, column

    def line_col(self, offset: int) -> tuple[int, int]:
        """Returns the position, whatever the offset is."""
        return self.position


class Origins:
    """The files that the locations of a program name.

    ``folder`` is that of the program: files below it, and below the folders that ``PTO_SOURCES`` names, whose suffix is
    that of a source file are read. ``texts`` are files whose text is known already, by the name that locations use.
    Other files are named and never read. ``translated`` says that the text of the program is not the user's own, so
    that nothing of it is shown or changed; frames in files that begin with ``hidden`` are not shown as long as there
    are others. ``spell`` writes messages as the language of the source spells operations and values; an empty note is
    left out.
    """

    def __init__(
        self,
        folder: str | None,
        texts: Mapping[str, str] | None = None,
        translated: bool = False,
        hidden: tuple[str, ...] = (),
        spell: Callable[[str], str] | None = None,
    ) -> None:
        self.folder = folder
        self.translated = translated
        self.hidden = hidden
        self.spell = spell
        self._files: dict[str, SourceFile | None] = {
            name: SourceFile(name, text) for name, text in (texts or {}).items()
        }
        self._spans: dict[Frame, Span] = {}

    @classmethod
    def of(cls, source: SourceFile) -> Origins:
        """Returns those of ``source``; of a program that is no file, no other file is read."""
        known = cls.stated(source)
        if known is None:
            known = cls(os.path.dirname(source.name) or "." if _is_file(source.name) else None)
            known.attach(source)
        return known

    @classmethod
    def stated(cls, source: SourceFile) -> Origins | None:
        """Returns those that were attached to ``source``, or registered for its text."""
        return source.facts.get(cls) or _registered.get(source.text)

    def attach(self, source: SourceFile) -> SourceFile:
        """States that the locations in ``source`` name these files; returns it."""
        source.facts[Origins] = self
        return source

    def register(self, text: str) -> None:
        """States that the locations in ``text``, which a translation has made, name these files."""
        while len(_registered) >= MOST_TEXTS:
            _registered.pop(next(iter(_registered)), None)
        _registered[text] = self

    @property
    def main(self) -> SourceFile | None:
        """Returns the first file whose text is known."""
        return next(iter(self._files.values()), None)

    def span(self, frame: Frame) -> Span:
        """Returns the token at a position, or the position alone where the file is not read."""
        if frame not in self._spans:
            self._spans[frame] = self._span(frame)
        return self._spans[frame]

    def _span(self, frame: Frame) -> Span:
        source = self.file(frame.file)
        start = None if source is None else source.line_start(frame.line)
        if source is None or start is None:
            return Span(NamedPosition(frame.file, frame.line, frame.column), 0, 0)
        line = source.line_text(frame.line)
        column = frame.column - 1
        if not line.isascii():
            column = len(line.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
        column = min(column, len(line))
        word = _WORD.match(line, column)
        return Span(source, start + column, start + (word.end() if word is not None else column))

    def file(self, name: str) -> SourceFile | None:
        """Returns a file that may be shown; ``None`` for others."""
        if name not in self._files:
            text = None if self.folder is None else _read_below_one((self.folder, *named_folders()), name)
            self._files[name] = None if text is None else SourceFile(name, text)
        return self._files[name]

    def chosen(self, frames: Sequence[Frame]) -> int:
        """Returns the index of the frame that a person sees first: the innermost in a file of theirs."""
        if not self.hidden:
            return 0
        return next((number for number, one in enumerate(frames) if not one.file.startswith(self.hidden)), 0)


def _is_file(path: str) -> bool:
    try:
        return stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def named_folders() -> list[str]:
    """Returns the folders of source files that the user names in the environment; relative ones are left out."""
    return [one for one in os.environ.get(SOURCES, "").split(os.pathsep) if os.path.isabs(one)]


def _read_below_one(folders: Sequence[str], name: str) -> str | None:
    """Returns the text of a source file below the first of ``folders`` that has it; ``None`` for all other files."""
    return next((text for folder in folders if (text := _read_below(folder, name)) is not None), None)


def _read_below(folder: str, name: str) -> str | None:
    """Returns the text of a source file at or below ``folder``, links followed; ``None`` for all other files."""
    if os.path.splitext(name)[1].lower() not in SUFFIXES:
        return None
    try:
        inside = os.path.realpath(folder)
        path = os.path.realpath(os.path.join(inside, name))
        if os.path.splitext(path)[1].lower() not in SUFFIXES or os.path.commonpath((inside, path)) != inside:
            return None
        # A named pipe would wait for a writer.
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        with open(descriptor, "rb") as stream:
            status = os.fstat(stream.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_size > MOST_BYTES:
                return None
            return stream.read(MOST_BYTES).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def location_of(span: Span | None) -> Location:
    """Returns the location of the statement at ``span``."""
    from .locations import NOWHERE, enclosing_location, location_at  # deferred: start-up

    if span is None:
        return NOWHERE
    source = span.source
    if is_translated(source):
        found = location_at(source, span.start)
        return found if found.frames else enclosing_location(source, span.start)._replace(name=found.name)
    return location_at(source, span.start)


def shown_span(span: Span) -> Span:
    """Returns what a person sees of a span of a program: the position that its statement comes from, if it states
    one."""
    frames = location_of(span).frames
    if frames:
        origins = Origins.of(span.source)
        return origins.span(frames[origins.chosen(frames)])
    known = Origins.stated(span.source)
    if known is not None and known.translated and known.main is not None:
        return Span(known.main, 0, 0)
    return span


def shown_line(span: Span) -> int:
    """Returns the line of what a person sees."""
    return shown_span(span).line


def name_at(span: Span | None) -> str:
    """Returns the name that the location at ``span`` gives to its value, empty without one."""
    return location_of(span).name


def is_translated(source: SourceFile) -> bool:
    """Returns whether the text is not the user's own."""
    known = Origins.stated(source)
    return known is not None and known.translated


def shown(found: Diagnostic) -> Diagnostic:
    """Returns a diagnostic as a person sees it. Its fixes remain those of the text of the program."""
    if not (_may_be_located(found.span) or any(_may_be_located(note.span) for note in found.notes)):
        return found
    if found.span is None or is_about_text(found):
        return _with_shown_notes(found) if found.notes else found
    seen = shown_span(found.span)
    if seen is found.span:
        return _with_shown_notes(found) if found.notes else found
    notes = [*_with_shown_notes(found).notes, *_chain(found.span, seen)]
    if not is_translated(found.span.source):
        edited = found.span.source if found.fixes else None
        return found._replace(span=seen, notes=(*notes, Note(STATEMENT, found.span)), edited=edited)
    return _spelled(found._replace(span=seen, notes=tuple(notes), fixes=(), remedies=()), Origins.of(found.span.source))


class LocationsPresent:
    """The fact of a text whether it may have locations, a truth value."""


def _may_be_located(span: Span | None) -> bool:
    """Returns whether the text around ``span`` names other files: most programs do not."""
    if span is None:
        return False
    source = span.source
    # The text is searched once, however many diagnostics it has.
    has_locations = source.facts.get(LocationsPresent)
    if has_locations is None:
        has_locations = source.facts[LocationsPresent] = "loc(" in source.text
    return has_locations or Origins.stated(source) is not None


def _spelled(found: Diagnostic, origins: Origins) -> Diagnostic:
    spell = origins.spell
    if spell is None:
        return found
    # A value that the translation makes is defined where it is used.
    kept = (note for note in found.notes if note.span != found.span or not note.message.endswith(DEFINED))
    notes = tuple(note._replace(message=text) for note in kept if (text := spell(note.message)))
    help = None if found.help is None else spell(found.help)
    return found._replace(message=spell(found.message), notes=notes, help=help)


def all_shown(found: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Returns diagnostics as a person sees them; what is the same for many statements of one source line, once."""
    seen: list[Diagnostic] = []
    for one in found:
        now = shown(one)
        if now is one or now not in seen:
            seen.append(now)
    return seen


def written_source(source: SourceFile) -> SourceFile:
    """Returns the file that the user wrote: ``source``, or what it was translated from."""
    known = Origins.stated(source)
    return known.main if known is not None and known.translated and known.main is not None else source


def written_span(span: Span) -> Span | None:
    """Returns the position in :func:`written_source` that a statement comes from; ``None`` for statements of other
    files."""
    main = written_source(span.source)
    if main is span.source:
        return span
    origins = Origins.of(span.source)
    own = (frame for frame in location_of(span).frames if frame.file == main.name)
    frame = next(own, None)
    return None if frame is None else origins.span(frame)


def in_written_text(source: SourceFile, found: Sequence[Diagnostic]) -> tuple[SourceFile, Sequence[Diagnostic]]:
    """Returns the text that the user wrote, and diagnostics of ``source`` as diagnostics of it."""
    written = written_source(source)
    return (source, found) if written is source else (written, all_shown(found))


def is_translated_diagnostic(found: Diagnostic) -> bool:
    """Returns whether a diagnostic is about a text that is not the user's own."""
    return found.span is not None and is_translated(found.span.source)


def is_about_text(found: Diagnostic) -> bool:
    """Returns whether a diagnostic is about the text itself, and the text is the user's own."""
    return found.span is not None and found.rule.startswith(SYNTAX) and not is_translated(found.span.source)


def _with_shown_notes(found: Diagnostic) -> Diagnostic:
    notes = (note if note.span is None else note._replace(span=shown_span(note.span)) for note in found.notes)
    return found._replace(notes=tuple(notes))


def _chain(span: Span, seen: Span) -> list[Note]:
    """Returns the calls that lead to a position, the innermost first, and what was fused with it."""
    location = location_of(span)
    origins = Origins.of(span.source)
    outer = location.frames[origins.chosen(location.frames) + 1 :]
    notes = [Note(CALLED, origins.span(frame)) for frame in outer if not frame.file.startswith(origins.hidden or "\0")]
    notes += [Note(ALSO, origins.span(frame)) for frame in location.others]
    return [note for note in dict.fromkeys(notes) if note.span != seen]
