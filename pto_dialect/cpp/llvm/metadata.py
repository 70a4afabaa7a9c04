"""Debug locations of LLVM IR: ``!dbg !12`` to a location in a C++ text."""

from __future__ import annotations

import re
from functools import cached_property

from .location import SourceLocation

_LOCATION = re.compile(r"!DILocation\((.*)\)")
_FIELD = re.compile(r'(\w+): (?:"((?:[^"\\]|\\.)*)"|([^,()]+))')
_MAX_CHAIN = 256
"""Frames of an inlining chain that are followed, and scopes up to a function."""


class Metadata:
    """The metadata of a module. Nodes are read on first use."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._fields: dict[str, dict[str, str]] = {}
        self._scopes: dict[str, tuple[str, str]] = {}
        self._locations: dict[str, SourceLocation | None] = {}

    def fields(self, reference: str) -> dict[str, str]:
        """Returns the fields of a node, without those that have brackets."""
        known = self._fields.get(reference)
        if known is None:
            text = self.texts.get(reference, "")
            known = {name: quoted or plain.strip() for name, quoted, plain in _FIELD.findall(text)}
            self._fields[reference] = known
        return known

    def location(self, reference: str) -> SourceLocation | None:
        """Returns the location of a ``!DILocation``, with its callers."""
        if not reference:
            return None
        if reference not in self._locations:
            chain: list[str] = []
            at = reference
            while at and at not in self._locations and at not in chain and len(chain) < _MAX_CHAIN:
                chain.append(at)
                at = self.fields(at).get("inlinedAt", "")
            caller = self._locations.get(at)
            for at in reversed(chain):
                caller = self._locations[at] = self._frame(at, caller)
        return self._locations[reference]

    def _frame(self, reference: str, caller: SourceLocation | None) -> SourceLocation | None:
        if not _LOCATION.search(self.texts.get(reference, "")):
            return caller
        fields = self.fields(reference)
        file, function = self._scope(fields.get("scope", ""))
        return SourceLocation(file, _number(fields.get("line")), _number(fields.get("column")), function, caller)

    def _file(self, reference: str) -> str:
        """Returns the name of a file as the compiler was given it: relative to its folder, or absolute."""
        fields = self.fields(reference)
        name, folder = fields.get("filename", ""), fields.get("directory", "")
        is_own = name.startswith("/") or not folder or folder == self._folder
        return name if is_own else f"{folder}/{name}"

    @cached_property
    def _folder(self) -> str:
        """The folder in which the compiler ran."""
        unit = re.search(r"!\d+", self.texts.get("!llvm.dbg.cu", ""))
        return self.fields(self.fields(unit[0]).get("file", "")).get("directory", "") if unit else ""

    def _scope(self, reference: str) -> tuple[str, str]:
        """Returns file and function of a scope; blocks of a file that is included in a function have their own file."""
        known = self._scopes.get(reference)
        if known is None:
            known = self._scopes[reference] = self._find_scope(reference)
        return known

    def _find_scope(self, reference: str) -> tuple[str, str]:
        file = ""
        for _ in range(_MAX_CHAIN):
            fields = self.fields(reference)
            file = file or self._file(fields.get("file", ""))
            if "DISubprogram" in self.texts.get(reference, "") or "scope" not in fields:
                return file, fields.get("name", "")
            reference = fields["scope"]
        return file, ""

    def function_location(self, reference: str) -> SourceLocation | None:
        """Returns the location of the ``!DISubprogram`` of a function."""
        fields = self.fields(reference)
        if "line" not in fields:
            return None
        file = self._file(fields.get("file", ""))
        return SourceLocation(file, _number(fields["line"]), 1, fields.get("name", ""))


def _number(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) < 10 else 0
