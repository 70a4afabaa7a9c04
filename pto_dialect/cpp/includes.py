"""The files that a kernel includes, as far as they are its user's: read before the compiler reads them.

Launches stand in included files too, and some kernels include headers of the device's library that say nothing that the
headers of this package would not. The compiler sees both through an overlay of its file system.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from pto_dialect.cpp.launches import Launch, blank_launches

MOST_FILES = 400
MOST_BYTES = 1 << 23

_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"\n]+)"|<([^>\n]+)>)', re.MULTILINE)
_LIBRARY = re.compile(r"pto/[\w/-]+\.(?:hpp|h)\Z")
_STANDING_IN = os.path.join("pto", "pto-inst.hpp")


@dataclass(slots=True)
class Sources:
    """A kernel's text and those that it includes, by path."""

    text: str
    folder: str
    folders: Sequence[str]
    headers: str
    files: dict[str, str] = field(default_factory=dict)
    missing: set[str] = field(default_factory=set)
    """Headers of the device's library that are not among those of this package."""

    def read(self) -> Sources:
        """Follows all includes that can be found."""
        waiting = [(self.text, self.folder)]
        while waiting and len(self.files) < MOST_FILES:
            text, folder = waiting.pop()
            for match in _INCLUDE.finditer(text):
                path = self._find(match[1] or match[2], folder if match[1] else None)
                if path is not None and path not in self.files:
                    self.files[path] = _content(path)
                    waiting.append((self.files[path], os.path.dirname(path)))
        return self

    def _find(self, name: str, folder: str | None) -> str | None:
        """The user's file of that name; ``None`` for others."""
        beside = [] if folder is None else [folder]
        for place in beside:
            if os.path.isfile(os.path.join(place, name)):
                return os.path.normpath(os.path.join(place, name))
        if os.path.isfile(os.path.join(self.headers, name)):
            return None
        for place in ([self.folder] if beside else []) + list(self.folders):
            path = os.path.normpath(os.path.join(place, name))
            if os.path.isfile(path):
                return path
        if _LIBRARY.match(name):
            self.missing.add(name)
        return None

    @property
    def whole(self) -> str:
        """All texts, one after the other."""
        return "\n".join([self.text, *self.files.values()])

    def overlay(self, folder: str) -> tuple[str, list[Launch]] | None:
        """Writes what the compiler has to see otherwise into ``folder``: the path of the overlay, and the launches."""
        entries: list[tuple[str, str]] = []
        launches: list[Launch] = []
        for number, (path, text) in enumerate(self.files.items()):
            if "<<<" not in text:
                continue
            blanked, found = blank_launches(text)
            launches += found
            entries.append((path, os.path.join(folder, f"included-{number}")))
            with open(entries[-1][1], "w", encoding="utf-8", errors="surrogateescape") as stream:
                stream.write(blanked)
        general = os.path.join(self.headers, _STANDING_IN)
        entries += [(os.path.join(self.headers, *name.split("/")), general) for name in sorted(self.missing)]
        if not entries:
            return None
        roots = [{"name": name, "type": "file", "external-contents": content} for name, content in entries]
        path = os.path.join(folder, "overlay.json")
        with open(path, "w", encoding="utf-8", errors="surrogateescape") as stream:
            json.dump({"version": 0, "case-sensitive": "true", "use-external-names": False, "roots": roots}, stream)
        return path, launches


def _content(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as stream:
            return stream.read(MOST_BYTES)
    except OSError:
        return ""
