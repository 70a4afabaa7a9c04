"""Locations of operations that are made on first access.

The parser records where it read an operation in three fields; an attribute with a named tuple takes 170 bytes more.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Operation

from pto_dialect.accel import enabled
from pto_dialect.diagnostics.source import SourceFile, Span


def record_extent(op: Operation, source: SourceFile, start: int, end: int) -> None:
    """Records that ``op``, which has no location yet, was read from ``source[start:end]``; may be repeated."""
    op._source, op._start, op._end = source, start, end  # pyright: ignore[reportAttributeAccessIssue]


def recorded_extent(op: Operation) -> tuple[SourceFile, int, int]:
    """Returns what :func:`record_extent` recorded."""
    return op._source, op._start, op._end  # pyright: ignore[reportAttributeAccessIssue]


class _RecordedLocation:
    """The descriptor of ``Operation.location`` for operations that only record their extent.

    An operation with a location of its own never uses it, because its own attributes come first.
    """

    def __init__(self, locate: Callable[[Operation, Span], None]) -> None:
        self.locate = locate

    def __get__(self, op: Operation | None, owner: type[Operation]) -> Any:
        if op is None:
            raise AttributeError(f"type object {owner.__name__!r} has no attribute 'location'")
        self.locate(op, Span(*recorded_extent(op)))
        return op.location


def defer_locations(locate: Callable[[Operation, Span], None]) -> None:
    """Lets ``locate`` set the location of an operation on first access."""
    if enabled("locations"):
        Operation.location = _RecordedLocation(locate)  # pyright: ignore[reportAttributeAccessIssue]
