"""The columns of a recording, and what follows from them. Source: docs/reference/recording.md, "Columns"."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from pto_dialect.runtime.memory.spaces import Array

from .format import COLUMNS, KINDS, NO_PATTERN
from .issues import counts_of
from .model import RecordingError, Statement, Thread


class Starts(NamedTuple):
    """By issue: where its values begin in columns that have any number of values for each; one more at the end."""

    loops: Array
    integers: Array
    floats: Array
    handles: Array


class Columns:
    """Columns by name."""

    names = tuple(COLUMNS)

    def __init__(self, columns: dict[str, Array]) -> None:
        self._columns = columns

    def __getitem__(self, name: str) -> Array:
        return self._columns[name]

    def part(self, name: str, starts: Array, row: int) -> Array:
        """Returns the values of one row of a column with any number of them."""
        return self._columns[name][int(starts[row]) : int(starts[row + 1])]

    def starts(self, statements: Sequence[Statement]) -> Starts:
        """Returns where the values of issues begin."""
        counts = np.array([counts_of(one) for one in statements], np.int64).reshape(-1, 4)
        sums = np.cumsum(counts[self._columns["issue.statement"]], axis=0)
        return Starts(*np.concatenate((np.zeros((1, 4), np.int64), sums)).T)


class Steps:
    """All steps as columns, each an array with one element per step.

    ``statement``: index of the statement; ``thread``: index of the pipe; ``kind``: index into ``format.KINDS``;
    ``order``: position in program order on the core; ``start``, ``end``: modelled cycles, NaN where the run was not
    timed; ``block``, ``core``, ``pipe``: those of the thread.
    """

    def __init__(self, columns: Columns, threads: Sequence[Thread]) -> None:
        issue = columns["step.issue"]
        self._threads = threads
        self.issue = issue
        self.statement = columns["issue.statement"][issue]
        self.order = columns["issue.order"][issue]
        self.thread = columns["step.thread"]
        self.kind = columns["step.kind"]
        self.start = columns["step.start"]
        self.end = columns["step.end"]

    @cached_property
    def block(self) -> Array:
        """Number of the block, int64."""
        return np.array([one.block for one in self._threads], np.int64)[self.thread]

    @cached_property
    def core(self) -> Array:
        """Name of the core, text."""
        return np.array([one.core for one in self._threads], "U")[self.thread]

    @cached_property
    def pipe(self) -> Array:
        """Name of the pipe, text."""
        return np.array([one.pipe for one in self._threads], "U")[self.thread]


class Accesses:
    """All accesses as columns, in the order of their steps.

    ``step``, ``memory``: indices; ``writes``: 1 for writes; ``first``, ``stop``: the first byte and the end, exclusive;
    ``size``: number of bytes; ``data``: offset of the written bytes among those of all accesses.
    """

    def __init__(self, columns: Columns, patterns: Sequence[tuple[int, tuple[tuple[int, int], ...]]]) -> None:
        self._columns = columns
        self.step = columns["access.step"]
        self.memory = columns["access.memory"]
        self.writes = columns["access.writes"]
        self.first = columns["access.first"]
        self.pattern = columns["access.pattern"]
        self.size = columns["access.size"]
        self.patterns = patterns

    @cached_property
    def stop(self) -> Array:
        """The exclusive end of the bytes, int64."""
        spans = [run + sum((count - 1) * stride for count, stride in dims) for run, dims in self.patterns]
        # One more for single elements, whose pattern is -1.
        found = self.first + np.array([*spans, 0], np.int64)[self.pattern]
        for number in np.flatnonzero(self.pattern == NO_PATTERN).tolist():
            starts, item = self.gathered(number)
            found[number] = int(starts.max()) + item
        return found

    @cached_property
    def data(self) -> Array:
        """Where the bytes of a write lie, int64."""
        sizes = np.where(self.writes != 0, self.size, 0)
        return np.cumsum(sizes) - sizes

    @cached_property
    def _gathers(self) -> tuple[Array, Array, Array]:
        counts = self._columns["gather.count"]
        ends = np.cumsum(counts)
        return np.cumsum(self.pattern == NO_PATTERN) - 1, ends - counts, ends

    def gathered(self, number: int) -> tuple[Array, int]:
        """Returns the offsets of single elements that an access has touched, and the bytes of each."""
        rows, starts, ends = self._gathers
        row = int(rows[number])
        found = self._columns["gather.starts"][int(starts[row]) : int(ends[row])]
        return found, int(self._columns["gather.item"][row])


def check(
    columns: Columns,
    statements: Sequence[Statement],
    threads: int,
    memories: int,
    patterns: Sequence[tuple[int, tuple[tuple[int, int], ...]]],
    forms: int,
    signals: int,
    data: int,
) -> None:
    """Raises ``RecordingError`` where columns do not fit each other."""
    for name, type_ in COLUMNS.items():
        if columns[name].dtype != np.dtype(type_) or columns[name].ndim != 1:
            raise RecordingError(f"the recording is damaged: column {name} has another type than it should")
    for group in ("step", "access", "signal", "handle"):
        if len({len(columns[name]) for name in COLUMNS if name.startswith(f"{group}.")}) > 1:
            raise RecordingError(f"the recording is damaged: columns of {group} have different lengths")
    steps = len(columns["step.issue"])
    limits = {
        "issue.statement": len(statements),
        "issue.handles": len(columns["handle.form"]),
        "step.issue": len(columns["issue.statement"]),
        "step.thread": threads,
        "step.kind": len(KINDS),
        "access.step": steps,
        "access.memory": memories,
        "signal.step": steps,
        "signal.key": signals,
        "handle.form": forms,
    }
    least = {"access.pattern": NO_PATTERN, "signal.peer": -1, "handle.memory": -1, "access.first": 0, "access.size": 0}
    limits |= {"access.pattern": len(patterns), "signal.peer": steps, "handle.memory": memories}
    for name in {**limits, **least}:
        column = columns[name]
        if column.size and (column.min() < least.get(name, 0) or column.max() >= limits.get(name, 1 << 62)):
            raise RecordingError(f"the recording is damaged: column {name} leaves its range")
    written = int(columns["access.size"][columns["access.writes"] != 0].sum())
    starts = columns.starts(statements)
    ends = {"loops": starts.loops, "integers": starts.integers, "floats": starts.floats, "handles": starts.handles}
    wrong = [name for name, each in ends.items() if int(each[-1]) != len(columns[f"issue.{name}"])]
    check_sizes(columns, patterns)
    gathers = int((columns["access.pattern"] == NO_PATTERN).sum())
    if wrong or written != data or not _ascending(columns["access.step"]) or not _ascending(columns["signal.step"]):
        raise RecordingError("the recording is damaged: its columns do not fit each other")
    if gathers != len(columns["gather.count"]) or int(columns["gather.count"].sum()) != len(columns["gather.starts"]):
        raise RecordingError("the recording is damaged: columns of gather do not fit each other")


def check_sizes(columns: Columns, patterns: Sequence[tuple[int, tuple[tuple[int, int], ...]]]) -> None:
    """Raises ``RecordingError`` for accesses of other sizes than their patterns, which say what is accessed."""
    sizes = [run * prod(count for count, _ in dims) for run, dims in patterns]
    regular = columns["access.pattern"] != NO_PATTERN
    stated = np.array([*sizes, 0], np.int64)[columns["access.pattern"]]
    if (columns["access.size"] != stated)[regular].any():
        raise RecordingError("the recording is damaged: accesses have other sizes than their patterns")


def _ascending(column: Array) -> bool:
    return bool((np.diff(column) >= 0).all())
