"""Writes Python source: indentation, identifiers, objects the source refers to, and the operation of each line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from xdsl.ir import Operation

from .names import Identifiers, Kind


class Expr(str):
    """Text of a Python expression, as opposed to a string constant."""

    __slots__ = ()


class Emitter:
    """Source text under construction.

    Text that it receives is code. Names of the program are passed through ``fresh``, other texts of it as the ``repr``
    of a string, everything else through ``constant``.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.origin: list[Operation | None] = []
        self.constants: dict[str, Any] = {}
        self.identifiers = Identifiers()
        self.current: Operation | None = None
        self._depth = 0
        self._constant_names: dict[int, str] = {}

    def line(self, text: str) -> None:
        """Appends one line at the current depth, attributed to the current operation."""
        self.lines.append("    " * self._depth + text)
        self.origin.append(self.current)

    @contextmanager
    def block(self, header: str) -> Iterator[None]:
        """Context of an indented block under ``header``; an empty body becomes ``pass``."""
        self.line(header)
        self._depth += 1
        start = len(self.lines)
        yield
        if len(self.lines) == start:
            self.line("pass")
        self._depth -= 1

    def fresh(self, name: str, kind: Kind = Kind.LOCAL) -> str:
        """Returns an identifier not used before, close to ``name``."""
        return self.identifiers.fresh(kind, name)

    def known(self, value: Any) -> str | None:
        """Returns the identifier of a Python object that the source refers to already."""
        return self._constant_names.get(id(value))

    def constant(self, value: Any, hint: str = "") -> str:
        """Returns the identifier by which the source refers to a Python object; the same object keeps its own."""
        known = self.known(value)
        if known is not None:
            return known
        name = self.fresh(hint, Kind.CONSTANT)
        self.constants[name] = value
        self._constant_names[id(value)] = name
        return name

    def source(self) -> str:
        """Returns the text."""
        return "\n".join(self.lines) + "\n"
