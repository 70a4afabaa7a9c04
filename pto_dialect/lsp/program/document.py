"""A document that a client has open."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from lsprotocol.types import Position, Range
from pygls.uris import to_fs_path
from xdsl.ir import Attribute

from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import MARK
from pto_dialect.driver.project.settings import SettingsError, configured
from pto_dialect.driver.project.suppression import Suppressions
from pto_dialect.syntax.errors.types import TypeSyntaxError
from pto_dialect.syntax.read.lexer import is_assembly
from pto_dialect.syntax.read.pieces import Pieces, edited, split
from pto_dialect.syntax.text import expand_aliases
from pto_dialect.syntax.types.parser import parse_type

from .checked import Checked, TextRange
from .ends import common_ends
from .lines import Lines
from .names import Names
from .parts import Part

if TYPE_CHECKING:
    from typing_extensions import TypeIs

_ALIAS = re.compile(r"^[ \t]*(![A-Za-z_][\w$]*)[ \t]*=[ \t]*([^\n]*?)[ \t]*(?://[^\n]*)?$", re.MULTILINE)
_FUNCTION = re.compile(r"[ \t]*func\.func(?![\w.])")
_LONGEST = 100_000
_SOON = 0.02
"""Seconds up to which a question waits for what it is about."""
_KEPT = 16
"""Functions whose names are kept besides those of the present text."""


class Document:
    """The text of a document, and its analysis results: computed on first use, reusing results of the text before that
    are still valid."""

    def __init__(self, uri: str, text: str, version: int | None = None, target: str | None = None) -> None:
        self.uri = uri
        self.text = text
        self.version = version
        self.target = target
        self.release: str | None = None
        self._before: Checked | None = None
        self._running: Future[Checked] | None = None
        self._took = 0.0
        self._names: dict[str, Names] = {}
        self._parts: dict[str, Part] = {}
        self._before_line: Names | None = None
        self._recent: Names | None = None

    @property
    def path(self) -> str | None:
        """The file, where the document is one."""
        return to_fs_path(self.uri) if self.uri.startswith("file:") else None

    @cached_property
    def lines(self) -> Lines:
        """The lines of the text."""
        return Lines(self.text)

    @cached_property
    def options(self) -> Options:
        """What `pto-opt` does with the file, by the settings of its project, and the target and release that the client
        names."""
        options = Options(target=self.target, release=self.release)
        if self.path is None:
            return options
        try:
            named = {"target": self.target, "reference_release": self.release}
            return configured(options, self.path, tuple(name for name, value in named.items() if value is not None))
        except (SettingsError, OSError):
            return options

    @cached_property
    def suppressions(self) -> Suppressions | None:
        """The comments that allow findings, where there are any; they know what they have allowed."""
        return Suppressions(SourceFile(self.uri, self.text)) if MARK in self.text else None

    @cached_property
    def checked(self) -> Checked:
        """The analysis results of the text; waits where they are being computed."""
        self.finish()
        if self._is_present(self._before):
            return self._before
        self._before = self._inquiry()()
        self.__dict__.pop("seen", None)
        return self._before

    def _inquiry(self) -> Callable[[], Checked]:
        options = self.options
        arguments = (self.path or self.uri, self.text, self._before, options.target, self.pieces, options.release)

        def carry_out() -> Checked:
            start = time.perf_counter()
            found = Checked(*arguments)
            self._took = time.perf_counter() - start
            return found

        return carry_out

    @property
    def is_checked(self) -> bool:
        """Whether the analysis of the text is complete."""
        return "checked" in self.__dict__

    def check(self, worker: Executor) -> Future[Checked] | None:
        """Lets ``worker`` find out everything about the text; ``None`` where one is still at an earlier text."""
        if self._running is not None:
            return None
        self._running = worker.submit(self._inquiry())
        return self._running

    def finish(self, running: Future[Checked] | None = None) -> None:
        """Takes over what the worker finds, which may be about an earlier text; ``running``: only if it is at that."""
        if self._running is None or running not in (None, self._running):
            return
        running, self._running = self._running, None
        # After a fault the operations that it was made of may be in pieces.
        self._before = None if running.exception() is not None else running.result()
        self.__dict__.pop("seen", None)
        if self._is_present(self._before):
            self.__dict__["checked"] = self._before

    def _is_present(self, found: Checked | None) -> TypeIs[Checked]:
        return (
            found is not None
            and found.text == self.text
            and (found.target, found.release) == (*(self.options.target, self.options.release),)
        )

    @cached_property
    def seen(self) -> StaleCheck:
        """The analysis results of the text or, while they are being computed, of the text before."""
        before = self._before
        if self.is_checked or before is None or self._took < _SOON:
            return StaleCheck(self.checked, len(self.text), 0, 0)
        return stale_check(before, self.text)

    def names_at(self, offset: int) -> tuple[int, Names]:
        """Returns the names of the function around a character (of the whole text where there are no functions), and
        where it begins."""
        pieces = self.pieces
        number = pieces.at(offset) if pieces is not None else None
        if pieces is None or number is None:
            return 0, self._names_of(self.text if pieces is None else "", pieces is None)
        start, end = pieces.functions[number]
        return start, self._names_of(self.text[start:end], False)

    def names_before(self, offset: int) -> Names:
        """Returns the names of the function around an offset, up to its line; no other text is read."""
        start = self.text.rfind("func.func", 0, offset)
        while start > 0 and not _FUNCTION.match(self.text, self.text.rfind("\n", 0, start) + 1, start + 10):
            start = self.text.rfind("func.func", 0, start)
        start = max(start, 0)
        text = self.text[start : self.text.rfind("\n", 0, offset) + 1]
        if self._before_line is None or self._before_line.text != text:
            known = self.__dict__.get("pieces") is not None
            self._before_line = Names(text, not known and is_assembly(self.text), self._parts, self._recent)
        return self._before_line

    def _names_of(self, text: str, whole: bool) -> Names:
        known = self._names.get(text)
        if known is None:
            if len(self._names) > _KEPT + 2 * len(self.pieces.functions if self.pieces is not None else ()):
                self._names.clear()
            known = Names(text, whole and is_assembly(text), self._parts, self._recent)
            self._names[text] = self._recent = known
        return known

    @cached_property
    def pieces(self) -> Pieces | None:
        """The functions of the text, and the text around them."""
        return split(self.text)

    @cached_property
    def type_aliases(self) -> dict[str, str]:
        """What the names of types stand for, none of them in another one."""
        found: dict[str, str] = {}
        for name, text in _ALIAS.findall(self.text):
            try:
                found[name] = expand_aliases(text, found, _LONGEST)
            except OverflowError:
                continue
        return found

    def type_named(self, spelling: str) -> Attribute | None:
        """Returns the type that a spelling means here; ``None`` for one that is not understood."""
        try:
            return parse_type(expand_aliases(spelling, self.type_aliases, _LONGEST))
        except (TypeSyntaxError, OverflowError):
            return None

    def change(self, area: Range | None, new: str) -> None:
        """Replaces the text in ``area``, or all of it."""
        if area is None:
            self._replace(new)
            return
        start, end = sorted((self.lines.offset(area.start), self.lines.offset(area.end)))
        pieces = edited(self.__dict__.get("pieces"), start, end, new)
        self._replace(self.text[:start] + new + self.text[end:])
        if pieces is not None:
            self.__dict__["pieces"] = pieces

    def set_target(self, target: str | None, release: str | None = None) -> None:
        """Takes another target or release."""
        if (target, release) != (self.target, self.release):
            self.target, self.release = target, release
            self._replace(self.text)

    def _replace(self, text: str) -> None:
        self.text = text
        for kept in ("lines", "checked", "pieces", "type_aliases", "options", "suppressions", "seen"):
            self.__dict__.pop(kept, None)

    def offset(self, position: Position) -> int:
        """Returns the character at a position."""
        return self.lines.offset(position)

    def range(self, start: int, end: int) -> Range:
        """Returns the positions of two characters."""
        return self.lines.range(start, end)


class StaleCheck(NamedTuple):
    """Results of a text that is equal to the present one up to ``begin``, and from ``end`` on, where its offsets plus
    ``moved`` are those of the present text."""

    checked: Checked
    begin: int
    end: int
    moved: int

    def offset(self, offset: int) -> int | None:
        """Returns the offset in the earlier text of one in the present text; ``None`` for new text."""
        if offset <= self.begin:
            return offset
        return offset - self.moved if offset >= self.end else None

    def place(self, place: TextRange) -> TextRange:
        """Returns the range in the present text; changed text is between its ends."""
        start, end = place
        return TextRange(
            start if start <= self.begin else max(start + self.moved, self.begin),
            end if end <= self.begin else max(end + self.moved, self.begin),
        )


def stale_check(checked: Checked, text: str) -> StaleCheck:
    """Wraps ``checked`` for queries on ``text``."""
    old = checked.text
    begin, tail = common_ends(old, text)
    return StaleCheck(checked, begin, len(text) - tail, len(text) - len(old))
