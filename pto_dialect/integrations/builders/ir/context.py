"""Contexts and locations, and the stack of what `with` has entered in a thread."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Any, NamedTuple, TypeVar

from pto_dialect.diagnostics.source import SourceFile

from .places import Place, stated_place
from .texts import plain_text

S = TypeVar("S", bound="Entered")


class Top(NamedTuple):
    """What is current after an object has been entered."""

    entered: object
    context: Context
    location: Location | None
    point: object


class _Stack(threading.local):
    def __init__(self) -> None:
        self.entries: list[Top] = []


stack = _Stack()
"""What has been entered in this thread, the last one last."""


class Entered:
    """Base of what `with` makes current."""

    def _top(self) -> Top:
        raise NotImplementedError

    def __enter__(self: S) -> S:
        entries = stack.entries
        top = self._top()
        if entries:
            before = entries[-1]
            if before.context is top.context:
                top = top._replace(location=top.location or before.location, point=top.point or before.point)
        entries.append(top)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        entries = stack.entries
        if not entries or entries[-1].entered is not self:
            raise RuntimeError(f"unbalanced exit: this {type(self).__name__} is not the one that was entered last")
        entries.pop()


class Current:
    """The class attribute ``current``."""

    def __init__(self, field: str) -> None:
        self.field = field

    def __get__(self, instance: object, owner: type[Any]) -> Any:
        found = getattr(stack.entries[-1], self.field) if stack.entries else None
        if found is None:
            raise ValueError(f"No current {owner.__name__}")
        return found


class Context(Entered):
    """The scope of a program's types and attributes. All contexts share them, so it only has settings."""

    current = Current("context")

    def __init__(self) -> None:
        self.allow_unregistered_dialects = False
        self.emit_error_diagnostics = False

    def _top(self) -> Top:
        return Top(self, self, None, None)

    @property
    def d(self) -> Dialects:
        """The dialects by name."""
        return Dialects(self)

    dialects = d

    def get_dialect_descriptor(self, name: str) -> Dialect:
        """Returns a dialect."""
        return Dialect(self, name)

    def append_dialect_registry(self, registry: object) -> None:
        """Does nothing: all dialects are known."""

    def load_all_available_dialects(self) -> None:
        """Does nothing: all dialects are known."""

    def enable_multithreading(self, enable: bool) -> None:
        """Does nothing."""

    def attach_diagnostic_handler(self, handler: object) -> object:
        """Returns the handler; errors are exceptions."""
        return handler

    def is_registered_operation(self, name: str) -> bool:
        """Returns whether an operation is known."""
        from .names import is_known  # deferred: start-up

        return isinstance(name, str) and is_known(name)


class Dialect:
    """A dialect of a context."""

    def __init__(self, context: Context, namespace: str) -> None:
        self.context = context
        self.namespace = namespace


class Dialects:
    """The dialects of a context by name."""

    def __init__(self, context: Context) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Dialect:
        return Dialect(self._context, name)

    def __getitem__(self, name: str) -> Dialect:
        return Dialect(self._context, name)


class DialectRegistry:
    """A set of dialects; all are known without it."""


class Location(Entered):
    """A source location. Where it is unknown, an operation has that of the Python call that makes it."""

    current = Current("location")

    def __init__(self, context: Context, text: str = "unknown", place: Place | None = None) -> None:
        self.context = context
        self.text = text
        self.place = place

    def _top(self) -> Top:
        return Top(self, self.context, self, None)

    @classmethod
    def unknown(cls, context: Context | None = None) -> Location:
        """Returns the location that says nothing."""
        return cls(need_context(context))

    @classmethod
    def file(cls, filename: str, line: int, col: int, context: Context | None = None) -> Location:
        """Returns a position in a file; lines and columns count from 1."""
        if not isinstance(line, int) or not isinstance(col, int):
            raise TypeError("Location.file takes the name of a file, a line and a column")
        plain_text(filename, "the file of Location.file")
        return cls(need_context(context), f'"{filename}":{line}:{col}', stated_place(filename, line, col))

    @classmethod
    def name(cls, name: str, childLoc: Location | None = None, context: Context | None = None) -> Location:
        """Returns a location with a name, at ``childLoc``."""
        plain_text(name, "the name of Location.name")
        _check_locations([] if childLoc is None else [childLoc])
        inner = "" if childLoc is None or childLoc.text == "unknown" else f"({childLoc.text})"
        return cls(need_context(context), f'"{name}"{inner}', None if childLoc is None else childLoc.place)

    @classmethod
    def callsite(cls, callee: Location, frames: Sequence[Location], context: Context | None = None) -> Location:
        """Returns the location of ``callee`` as it is called from ``frames``, the innermost first."""
        _check_locations([callee, *frames])
        text = callee.text
        for frame in frames:
            text = f"callsite({text} at {frame.text})"
        return cls(need_context(context), text, callee.place)

    @classmethod
    def fused(cls, locations: Sequence[Location], metadata: object = None, context: Context | None = None) -> Location:
        """Returns several locations as one."""
        _check_locations(locations)
        place = next((one.place for one in locations if one.place is not None), None)
        text = f"fused[{', '.join(one.text for one in locations)}]"
        return cls(need_context(context), text, place)

    @classmethod
    def from_attr(cls, attribute: object, context: Context | None = None) -> Location:
        """Returns a location that says nothing."""
        return cls(need_context(context))

    @classmethod
    def at_place(cls, context: Context, source: SourceFile, start: int, end: int) -> Location:
        """Returns the location of characters of a text."""
        line, column = source.line_col(start)
        return cls(context, f'"{source.name}":{line}:{column}', Place(source, start, end))

    def emit_error(self, message: str) -> None:
        """Raises ``MLIRError`` with the message at this location."""
        from .errors import MLIRError  # deferred: start-up

        raise MLIRError(f"{self.text}: {message}")

    def __str__(self) -> str:
        return f"loc({self.text})"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Location) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def _check_locations(locations: Sequence[object]) -> None:
    """Raises ``TypeError`` where one is no location."""
    if not isinstance(locations, Iterable):
        raise TypeError(f"locations are a list, found {type(locations).__name__}")
    for one in locations:
        if not isinstance(one, Location):
            raise TypeError(f"a location is a Location, found {type(one).__name__}")


_last_context: list[Context] = []
"""The context of objects that were made outside of `with`."""


def need_context(context: Context | None = None) -> Context:
    """Returns ``context``, or the current one. Raises ``RuntimeError`` where there is none."""
    if context is not None:
        if not isinstance(context, Context):
            raise TypeError(f"context is a Context, found {type(context).__name__}")
        _last_context[:] = [context]
        return context
    if not stack.entries:
        raise RuntimeError("this requires a Context: write `with Context():` around it, or pass `context=`")
    return stack.entries[-1].context


def any_context() -> Context:
    """Returns the current context, else the one used last."""
    if stack.entries:
        return stack.entries[-1].context
    if not _last_context:
        _last_context.append(Context())
    return _last_context[0]


def need_location(location: Location | None) -> Location:
    """Returns ``location``, or the current one. Raises ``ValueError`` where there is none."""
    if location is not None:
        if not isinstance(location, Location):
            raise TypeError(f"loc is a Location, found {type(location).__name__}")
        return location
    found = stack.entries[-1].location if stack.entries else None
    if found is None:
        raise ValueError("this requires a Location: write `with Location.unknown():` around it, or pass `loc=`")
    return found
