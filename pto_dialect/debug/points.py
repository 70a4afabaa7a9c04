"""Breakpoints: what a recording is searched for. Source: docs/debugger.md, "Breakpoints"."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase

import numpy as np

from pto_dialect.recording import Handle, Recording
from pto_dialect.recording.tiles import numbers_of
from pto_dialect.runtime.memory.spaces import Array

from .expressions import Expression

Holds = Callable[[int, Expression], bool]
"""Whether an expression holds before a step."""


class Point:
    """A breakpoint: positions of the run are numbers of steps that are done there.

    ``number`` is how commands call it, ``text`` what it says; it is passed over while it is not ``enabled``, and counts
    its ``hits``.
    """

    def __init__(self, text: str, condition: Expression | None = None) -> None:
        self.number = 0
        self.text = text
        self.condition = condition
        self.enabled = True
        self.hits = 0

    def positions(self, recording: Recording) -> Array:
        """Returns where it may stop, ascending."""
        raise NotImplementedError

    def accepts(self, recording: Recording, position: int) -> bool:
        """Returns whether it stops at one of these."""
        return True

    def stops(self, recording: Recording, first: int, step: int, holds: Holds) -> Iterator[int]:
        """Yields the positions from ``first`` on where it stops, forwards or backwards."""
        found = self.positions(recording)
        chosen = found[found >= first] if step > 0 else found[found <= first][::-1]
        for position in chosen.tolist():
            if (self.condition is None or holds(position, self.condition)) and self.accepts(recording, position):
                yield position


class StatementPoint(Point):
    """Stops before steps of some statements."""

    def __init__(self, text: str, statements: list[int], condition: Expression | None) -> None:
        super().__init__(text, condition)
        self.statements = statements

    def positions(self, recording: Recording) -> Array:
        """Before the steps."""
        # Work that a queue does for one statement in several steps stops once.
        steps = np.flatnonzero(np.isin(recording.steps.statement, self.statements))
        issues = recording.steps.issue[steps]
        return steps[np.concatenate(([True], issues[1:] != issues[:-1]))] if steps.size else steps


class WritePoint(Point):
    """Stops after steps that wrote one of some bytes."""

    def __init__(self, text: str, memory: int, first: int, stop: int, condition: Expression | None = None) -> None:
        super().__init__(text, condition)
        self.memory, self.first, self.stop = memory, first, stop

    def positions(self, recording: Recording) -> Array:
        """Returns the positions after the steps."""
        history = recording.history(self.memory)
        chosen = (history.first < self.stop) & (history.stop > self.first)
        return np.unique(history.steps[chosen]) + 1

    def accepts(self, recording: Recording, position: int) -> bool:
        """Accesses with holes may have left out the bytes."""
        history = recording.history(self.memory)
        for access in recording.accesses_of(position - 1):
            if access.writes and access.memory == self.memory:
                offsets = history.offsets(access.number)
                if ((offsets >= self.first) & (offsets < self.stop)).any():
                    return True
        return False


class NanPoint(Point):
    """Stops after steps that wrote a NaN, in the format of the handles of their statement."""

    def __init__(self, text: str, name: str | None, condition: Expression | None = None) -> None:
        super().__init__(text, condition)
        self.name = name

    def positions(self, recording: Recording) -> Array:
        """Returns the positions after all steps that write."""
        accesses = recording.accesses
        return np.unique(accesses.step[accesses.writes != 0]) + 1

    def accepts(self, recording: Recording, position: int) -> bool:
        """Returns whether a NaN is among what was written."""
        step = position - 1
        handles = {
            name: handle
            for name, handle in recording.handles_of(step).items()
            if self.name in (None, name) and handle.form.element in FLOATING
        }
        return any(
            access.writes
            and handle.memory == access.memory
            and access.first < handle.address + _extent(handle)
            and access.stop > handle.address
            and _has_nan(recording, access.number, handle)
            for access in recording.accesses_of(step)
            for handle in handles.values()
        )


class FindingPoint(Point):
    """Stops before steps that have shown a finding."""

    def positions(self, recording: Recording) -> Array:
        """Before the steps of findings."""
        return np.unique(np.array([step for one in recording.findings for step in one.steps], np.int64))


FLOATING = frozenset(("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2"))


def _extent(handle: Handle) -> int:
    form = handle.form
    if form.kind == "pointer":
        return 1 << 62
    if form.kind == "tile":
        return form.layout[0] * form.layout[1] * form.item_bytes
    return (1 + sum((size - 1) * step for size, step in zip(form.shape, form.strides, strict=True))) * form.item_bytes


def _has_nan(recording: Recording, number: int, handle: Handle) -> bool:
    history = recording.history(handle.memory)
    content = history.written(number)
    size = handle.form.item_bytes
    return bool(np.isnan(numbers_of(content[: content.size // size * size], handle.form.element)).any())


def statements_named(recording: Recording, name: str) -> list[int]:
    """Returns the statements of an operation, by its name or the begin of it, also without ``pto.`` and with ``*``."""
    patterns = (name, f"{name}.*")
    return [
        one.number
        for one in recording.statements
        for known in (one.name, one.name.partition(".")[2])
        if any(fnmatchcase(known, pattern) for pattern in patterns)
    ]
