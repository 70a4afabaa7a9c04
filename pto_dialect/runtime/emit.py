"""Writes Python source: indentation, fresh names, objects the source refers to, and which line stems from which op."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xdsl.ir import Operation

_WORD = re.compile(r"\W")


class Emitter:
    """Source text under construction."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.origin: list[Operation | None] = []
        self.constants: dict[str, Any] = {}
        self.current: Operation | None = None
        self._depth = 0
        self._names: set[str] = set(keyword.kwlist) | {"core", "items", "mask", "np"}
        self._constant_names: dict[int, str] = {}

    def line(self, text: str) -> None:
        """Appends one line at the current depth, attributed to the current operation."""
        self.lines.append("    " * self._depth + text)
        self.origin.append(self.current)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """An indented block under ``header``; an empty body becomes ``pass``."""
        self.line(header)
        self._depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self._depth -= 1

    def fresh(self, hint: str = "v") -> str:
        """A name not used before, close to ``hint``."""
        base = _WORD.sub("_", hint) or "v"
        if base[0].isdigit():
            base = f"v{base}"
        name, number = base, 1
        while name in self._names:
            name = f"{base}_{number}"
            number += 1
        self._names.add(name)
        return name

    def constant(self, value: Any, hint: str = "k") -> str:
        """The name under which the source can refer to a Python object; the same object keeps its name."""
        known = self._constant_names.get(id(value))
        if known is not None:
            return known
        name = self.fresh(hint)
        self.constants[name] = value
        self._constant_names[id(value)] = name
        return name

    def source(self) -> str:
        """The text."""
        return "\n".join(self.lines) + "\n"
