"""The files that a kernel includes, as far as they are its user's: read before the compiler reads them.

Included files have launches too: the compiler sees copies without them. For headers of the device's library that add
nothing to the headers of this package it sees replacements.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pto_dialect.cpp.launches import blank_launches, has_own_syntax
from pto_dialect.cpp.lookups import lookups

INCLUDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "include")
"""The headers of this package."""

MOST_FILES = 400
MOST_BYTES = 1 << 23

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_LIBRARY = re.compile(r"pto/[\w/-]+\.(?:hpp|h)\Z")
_STANDING_IN = "#pragma once\n#include <pto/pto-inst.hpp>\n"


@dataclass(slots=True)
class IncludedFiles:
    """A kernel's text and those that it includes, by path."""

    text: str
    folder: str
    folders: Sequence[str]
    headers: str
    files: dict[str, str] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    """Headers of the device's library that are not among those of this package."""
    has_interface: bool = False
    """Whether a header of the interface is among them."""

    def read(self) -> IncludedFiles:
        """Follows all includes that can be found."""
        waiting = [(self.text, self.folder)]
        while waiting and len(self.files) < MOST_FILES:
            text, folder = waiting.pop()
            for match in _INCLUDE.finditer(text):
                path = self._find(match[1] or match[2], folder if match[1] else None)
                if path is not None and path not in self.files:
                    self.files[path] = content(path)
                    waiting.append((self.files[path], os.path.dirname(path)))
        return self

    def _find(self, name: str, folder: str | None) -> str | None:
        """Returns the user's file of that name; ``None`` for others."""
        beside = [] if folder is None else [folder]
        for directory in beside:
            if os.path.isfile(os.path.join(directory, name)):
                return os.path.normpath(os.path.join(directory, name))
        if os.path.isfile(os.path.join(self.headers, name)):
            self.has_interface |= name.startswith("pto/")
            return None
        for directory in ([self.folder] if beside else []) + list(self.folders):
            path = os.path.normpath(os.path.join(directory, name))
            if os.path.isfile(path):
                return path
        if _LIBRARY.match(name):
            self.missing.add(name)
            self.has_interface = True
        return None

    @property
    def whole(self) -> str:
        """All texts, one after the other."""
        return "\n".join([self.text, *self.files.values()])

    def lookups(self, given: Sequence[str]) -> list[str] | None:
        """Returns where the compiler could look for a name in the texts; ``None`` where that cannot be determined, or
        the time has a say. ``given`` is what the options say: definitions, and an entry."""
        if len(self.files) >= MOST_FILES:
            return None
        folders = {self.folder, *self.folders, *(os.path.dirname(path) for path in self.files)}
        return lookups([self.text, *self.files.values()], given, sorted(folders))

    def options(self, folder: str) -> list[str]:
        """Returns the options that the compiler needs beyond the folders; writes the files that it needs into
        ``folder``."""
        options: list[str] = []
        entries = list(self._blanked(folder))
        if entries:
            path = os.path.join(folder, "overlay.json")
            roots = [{"name": name, "type": "file", "external-contents": content} for name, content in entries]
            settings = {"version": 0, "case-sensitive": "true", "use-external-names": False, "roots": roots}
            _write(path, json.dumps(settings))
            options += ["-ivfsoverlay", path]
        for name in self.missing:
            path = os.path.join(folder, "library", *name.split("/"))
            os.makedirs(os.path.dirname(path), exist_ok=True)
            _write(path, _STANDING_IN)
        return options + (["-idirafter", os.path.join(folder, "library")] if self.missing else [])

    def _blanked(self, folder: str) -> Iterator[tuple[str, str]]:
        """Included files with launches, each with a copy of it without."""
        for number, (path, text) in enumerate(self.files.items()):
            if has_own_syntax(text):
                copy = os.path.join(folder, f"included-{number}")
                _write(copy, blank_launches(text)[0])
                yield path, copy


def included_files(text: str, name: str, includes: Sequence[str]) -> IncludedFiles:
    """Returns the files that a kernel called ``name`` includes; ``includes`` are the folders of headers that its user
    names."""
    folders = [os.path.abspath(folder) for folder in includes]
    return IncludedFiles(text, os.path.dirname(os.path.abspath(name)), folders, INCLUDE).read()


def _write(path: str, text: str) -> None:
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
        stream.write(text)


def content(path: str) -> str:
    """Returns the beginning of a file, at most ``MOST_BYTES``; empty where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read(MOST_BYTES)
    except OSError:
        return ""
