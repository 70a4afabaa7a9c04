"""Decorators of the builder methods that may reject a statement."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..read.tokens import Tok
from .error import BuildError


def statement(method: Callable[[Any, list[Any]], Any]) -> Callable[[Any, list[Any]], Any]:
    """Marks a statement builder: a ``BuildError`` inside becomes a diagnostic and ``None``."""

    def wrapped(self: Any, items: list[Any]) -> Any:
        try:
            # An incorrect header leaves nothing to build.
            return method(self, items) if items[0] is not None else None
        except BuildError as error:
            self.fail(error)
            return None

    return wrapped


def header(method: Callable[[Any, list[Any]], Any]) -> Callable[[Any, list[Any]], Any]:
    """Marks the builder of a header: a ``BuildError`` inside becomes a diagnostic, and the names that the header would
    have defined are poison values in its region."""

    def wrapped(self: Any, items: list[Any]) -> Any:
        try:
            return method(self, items)
        except BuildError as error:
            self.fail(error)
            self.poison_region(list(tokens_of(items[1:])))
            return None

    return wrapped


def tokens_of(values: Sequence[Any]) -> Iterator[Tok]:
    """Returns the tokens among partly reduced values, in text order."""
    for value in values:
        if isinstance(value, Tok):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from tokens_of(value)
