"""A TOML document with the source locations of its keys, for diagnostics."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity
from pto_dialect.diagnostics.source import SourceFile, Span
from pto_dialect.diagnostics.suggest import nearest_or

from ..toml_text import NestedError, loads

_SHOWN = 60
"""Characters of a value that a message repeats."""

Key = tuple[str | int, ...]
"""Names of tables and keys from the top; a number counts the tables of an array from 0."""

_NAME = r"""(?:[A-Za-z0-9_-]+|"[^"\n]*"|'[^'\n]*')"""
_DOTTED = rf"{_NAME}(?:[ \t]*\.[ \t]*{_NAME})*"
_HEADER = re.compile(rf"[ \t]*\[(?P<array>\[)?[ \t]*(?P<name>{_DOTTED})[ \t]*\]")
_LINE = re.compile(rf"[ \t]*(?P<name>{_DOTTED})[ \t]*=")
_INLINE = re.compile(rf"[{{,][ \t]*(?P<name>{_DOTTED})[ \t]*=")
_PART = re.compile(_NAME)
_LONG_NUMBER = re.compile(r"[0-9A-Fa-fxob_]{4000,}")
_TOML_PLACE = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


class LaunchError(Exception):
    """A launch file that cannot be used; ``diagnostic`` says why and where."""

    def __init__(self, diagnostic: Diagnostic) -> None:
        super().__init__(diagnostic.message)
        self.diagnostic = diagnostic


class Document:
    """The text ``text`` of the file called ``name``; raises :class:`LaunchError` if it is no TOML."""

    def __init__(self, name: str, text: str) -> None:
        self.source = SourceFile(name, text)
        try:
            self.content: dict[str, Any] = loads(text)
        except NestedError as error:
            raise LaunchError(self._syntax_error(str(error), error.place)) from None
        except tomllib.TOMLDecodeError as error:
            raise LaunchError(self._syntax_error(str(error))) from None
        except ValueError:
            # Python reads no integers with thousands of digits.
            number = _LONG_NUMBER.search(text)
            span = Span(self.source, *number.span()) if number is not None else Span(self.source, 0, 0)
            raise LaunchError(Diagnostic("", Severity.ERROR, "a number has too many digits", span)) from None
        self._places: dict[Key, Span] | None = None

    def _syntax_error(self, message: str, offset: int | None = None) -> Diagnostic:
        place = _TOML_PLACE.search(message)
        offset = len(self.source.text) if offset is None else offset
        if place is not None and place[1] is not None:
            lines = self.source.text.splitlines(keepends=True)
            offset = sum(map(len, lines[: int(place[1]) - 1])) + int(place[2]) - 1
        told = _TOML_PLACE.sub("", message)
        text = f"this is no TOML: {told[:1].lower()}{told[1:]}"
        return Diagnostic("", Severity.ERROR, text, Span(self.source, offset, offset))

    def error(self, key: Key, message: str, help: str | None = None, rule: str = "") -> LaunchError:
        """Returns the error ``message`` about ``key``; ``rule`` where the catalogue has one for it."""
        return LaunchError(Diagnostic(rule, Severity.ERROR, message, self.span(key), help=help))

    def span(self, key: Key) -> Span:
        """Returns where ``key`` stands, or the nearest table around it."""
        if self._places is None:
            self._places = dict(self._scan())
        while key and key not in self._places:
            key = key[:-1]
        return self._places.get(key, Span(self.source, 0, 0))

    def _scan(self) -> Iterator[tuple[Key, Span]]:
        table: Key = ()
        counts: dict[Key, int] = {}
        offset = 0
        for line in self.source.text.splitlines(keepends=True):
            header = _HEADER.match(line)
            found: list[tuple[Key, re.Match[str]]] = []
            if header is not None:
                path = _numbered(_parts(header["name"]), counts)
                if header["array"]:
                    counts[path] = counts.get(path, -1) + 1
                    path = (*path, counts[path])
                if self._exists(path):
                    table = path
                    found.append((path, header))
            elif assignment := _LINE.match(line):
                path = (*table, *_parts(assignment["name"]))
                found.append((path, assignment))
                found += [((*path, *_parts(m["name"])), m) for m in _INLINE.finditer(line, assignment.end())]
            for key, match in found:
                # Lines of longer strings and arrays may look like keys; keys that do not exist are never queried.
                if self._exists(key):
                    yield key, Span(self.source, offset + match.start("name"), offset + match.end("name"))
            offset += len(line)

    def _exists(self, key: Key) -> bool:
        value: Any = self.content
        for part in key:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return False
        return True


def _parts(dotted: str) -> Key:
    return tuple(part.strip("\"'") for part in _PART.findall(dotted))


def _numbered(path: Key, counts: dict[Key, int]) -> Key:
    """Returns ``path`` with the index of the last table after each array of tables on it."""
    result: Key = ()
    for part in path[:-1]:
        result = (*result, part)
        if result in counts:
            result = (*result, counts[result])
    return (*result, path[-1])


def key_text(key: Key) -> str:
    """Returns ``launch[1].arguments.x``, tables of an array counted from 1."""
    text = ""
    for part in key:
        text += f"[{part + 1}]" if isinstance(part, int) else f"{'.' if text else ''}{part}"
    return text


class Table:
    """One table of a document; its methods check what they fetch."""

    def __init__(self, document: Document, key: Key, content: dict[str, Any]) -> None:
        self.document = document
        self.key = key
        self.content = content

    def fail(self, name: str, message: str, help: str | None = None) -> NoReturn:
        """Raises the error about key ``name`` of this table."""
        key = (*self.key, name) if name else self.key
        raise self.document.error(key, f"{key_text(key)}: {message}" if key else message, help)

    def only(self, known: Iterable[str]) -> None:
        """Complains about the first key that is not in ``known``."""
        names = list(known)
        for name in self.content:
            if name not in names:
                listed = f"there are: {', '.join(names)}"
                self.fail(name, f"unknown key; {nearest_or(name, names, listed)}")

    def text(self, name: str, choices: Iterable[str] = ()) -> str | None:
        """Returns a string, one of ``choices`` if there are some; ``None`` when it is not given."""
        value = self.content.get(name)
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            self.fail(name, f"expected a string, found {_shown(value)}")
        options = list(choices)
        if options and value not in options:
            self.fail(name, f"unknown {name} '{value}'; {nearest_or(value, options, _one_of(options))}")
        return value

    def count(self, name: str, most: int) -> int | None:
        """Returns an integer from 1 to ``most``; ``None`` when it is not given."""
        value = self.content.get(name)
        if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < 1):
            self.fail(name, f"expected a positive number, found {_shown(value)}")
        if value is not None and value > most:
            self.fail(name, f"expected at most {most}, found {_shown(value)}")
        return value

    def tolerance(self, name: str) -> float | None:
        """Returns a number from 0; ``None`` when it is not given."""
        value = self.content.get(name)
        if value is None:
            return None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 <= value <= sys.float_info.max:
            self.fail(name, f"expected a finite number from 0, found {_shown(value)}")
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        """Returns a boolean."""
        value = self.content.get(name, default)
        if not isinstance(value, bool):
            self.fail(name, f"expected true or false, found {_shown(value)}")
        return value

    def extents(self, name: str) -> tuple[int, ...] | None:
        """Returns an array of positive integers; ``None`` when it is not given."""
        value = self.content.get(name)
        if value is None:
            return None
        if not isinstance(value, list) or not value or any(type(one) is not int or one < 1 for one in value):
            self.fail(name, f"expected an array of positive numbers such as [3, 8], found {_shown(value)}")
        return tuple(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """Returns an array of strings, empty when it is not given."""
        value = self.content.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, str) and one for one in value):
            self.fail(name, f"expected an array of strings, found {_shown(value)}")
        return tuple(value)

    def table(self, name: str) -> Table:
        """Returns a table, empty when it is not given."""
        value = self.content.get(name, {})
        if not isinstance(value, dict):
            self.fail(name, f"expected a table, found {_shown(value)}")
        return Table(self.document, (*self.key, name), value)

    def tables(self, name: str) -> list[Table]:
        """Returns an array of tables, empty when it is not given."""
        value = self.content.get(name, [])
        if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
            self.fail(name, f"expected tables, each under a line [[{_header((*self.key, name))}]]")
        return [Table(self.document, (*self.key, name, index), one) for index, one in enumerate(value)]


def _header(key: Key) -> str:
    return ".".join(part for part in key if isinstance(part, str))


def _shown(value: object) -> str:
    if isinstance(value, (dict, list)):
        return "a table" if isinstance(value, dict) else "an array"
    if isinstance(value, str):
        return f"'{value if len(value) <= _SHOWN else value[:_SHOWN] + '…'}'"
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _one_of(options: list[str]) -> str:
    return f"expected one of: {', '.join(options)}"
