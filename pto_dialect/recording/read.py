"""Reads recordings. Source: docs/recording.md, "Reading one"."""

from __future__ import annotations

import json
import math
import os
import re
import struct
import zipfile
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array

from . import header as checked
from .columns import Accesses, Columns, Steps, check
from .format import (
    DATA,
    FLOATS,
    HEADER,
    INITIAL,
    KINDS,
    LAST_WITH_ACTORS,
    MAGIC,
    MEMBER_EACH,
    NO_PATTERN,
    PACKED,
    VERSION,
)
from .history import History
from .members import Members
from .model import (
    Access,
    Argument,
    Finding,
    Form,
    Handle,
    Memory,
    Outcome,
    Program,
    RecordingError,
    Signal,
    Statement,
    Step,
    Thread,
    Waiting,
)
from .packing import parts_of, sizes_of, unpacked
from .tiles import tile_of, view_of


def open(path: str | os.PathLike[str], max_memory: int | None = None) -> Recording:
    """Returns the recording in ``path``, which may take ``max_memory`` bytes of memory; by default 4 GB, or 80 % of
    what is free where that is less.

    Raises ``RecordingError`` for a file that cannot be read, is no recording, is damaged, was written by a newer
    version, or would take more memory.
    """
    name = os.fspath(path)
    try:
        archive = zipfile.ZipFile(name)
    except OSError as error:
        raise RecordingError(f"cannot read '{name}': {error.strerror or error}") from None
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, EOFError):
        raise RecordingError(f"'{name}' is no recording, or its end is missing") from None
    try:
        return Recording(Members(name, archive, max_memory))
    except RecordingError:
        archive.close()
        raise
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, RecursionError) as error:
        archive.close()
        raise RecordingError(f"'{name}' is damaged: {error}") from None


class Recording:
    """A run: its ``program``, ``statements``, ``threads`` (pipes of cores), ``memories``, ``arguments``, ``findings``
    and ``outcome``, and what pipes were ``waiting`` for when it failed.

    ``steps`` and ``accesses`` are columns; :meth:`step` and :meth:`accesses_of` tell about single ones.
    Steps are numbered from 0 in the order in which they were executed; ``last`` is the last one, -1 where nothing was
    executed. ``dropped`` steps before the first one were not kept, because the recording had reached its ``limit`` in
    bytes. Memory at a step is memory after it; at step -1 it is as it was before the first one. ``limits`` is what
    limits a timed run, as ``--cycles=json`` states it.
    """

    def __init__(self, members: Members) -> None:
        self.path = path = members.path
        self._members = members
        self._parts: dict[str, Array] = {}
        header = self._header()
        self.version: int = header["version"]
        self.program = checked.row(Program, {"release": "", **header["program"]})
        self.statements = checked.rows(Statement, header["statements"])
        self.threads = checked.rows(Thread, header["actors" if self.version <= LAST_WITH_ACTORS else "threads"])
        self.memories = checked.rows(Memory, header["memories"])
        if any(one.number != place for place, one in enumerate(self.memories)):
            raise RecordingError(f"'{path}' is damaged: its memories are not numbered from 0")
        self.arguments = checked.rows(Argument, header["arguments"])
        self.findings = checked.rows(Finding, header["findings"])
        self.outcome = checked.row(Outcome, header["outcome"])
        self.waiting = checked.rows(Waiting, header["waiting"])
        self.limits = checked.limits(header.get("limits"))
        self.dropped = checked.number(header["dropped"])
        self.limit = checked.number(header["limit"])
        self._forms = checked.rows(Form, header["forms"])
        self._patterns = checked.patterns(header["patterns"])
        self._signal_texts = checked.texts(header["signals"])
        self._data_sizes = checked.numbers(header["data"])
        self._columns = Columns(self._all_columns(header))
        check(self._columns, self.statements, len(self.threads), len(self.memories), self._patterns,
              len(self._forms), len(self._signal_texts), sum(self._data_sizes))  # fmt: skip
        self.steps = Steps(self._columns, self.threads)
        self.accesses = Accesses(self._columns, self._patterns)
        sizes = np.array([one.size for one in self.memories], np.int64)
        if len(self.accesses.step) and (self.accesses.stop > sizes[self.accesses.memory]).any():
            raise RecordingError(f"'{path}' is damaged: an access leaves its memory")
        self._histories: dict[int, History] = {}
        self._chunks: dict[int, Array] = {}

    # ------------------------------------------------------------ file

    def _header(self) -> dict[str, Any]:
        try:
            header = json.loads(self._members.text(HEADER))
        except (KeyError, ValueError, RecursionError):
            raise RecordingError(f"'{self.path}' is no recording") from None
        if not isinstance(header, dict) or header.get("format") != MAGIC:
            raise RecordingError(f"'{self.path}' is no recording")
        version = header.get("version")
        if not isinstance(version, int) or not 0 < version <= VERSION:
            message = f"'{self.path}' has version {version}, this package reads recordings up to version {VERSION}"
            raise RecordingError(f"{message}; a newer package reads it")
        return header

    def _all_columns(self, header: dict[str, Any]) -> dict[str, Array]:
        older = {"step.thread": "step.actor"} if self.version <= LAST_WITH_ACTORS else {}
        names = {older.get(name, name): name for name in Columns.names}
        if self.version <= MEMBER_EACH:
            return {name: self._array(f"{stored}.npy") for stored, name in names.items()}
        columns: dict[str, Any] = header["columns"]
        described = {names.get(name, name): each for name, each in columns.items()}
        stored, needed = sizes_of(described)
        together = sum(checked.number(size) for _, size in (header["together"] if self.version > 2 else ()))
        content = self._array(PACKED, stored + together)
        self._members.take(needed, "columns")
        unpacked_columns, rest = unpacked(described, content)
        # Version 2 has a member for each part.
        self._parts.update(parts_of(header.get("together", ()) if self.version == 2 else header["together"], rest))
        return unpacked_columns

    def _array(self, name: str, size: int | None = None) -> Array:
        if name in self._parts:
            return self._parts[name]
        try:
            return self._members.array(name, size)
        except KeyError:
            raise RecordingError(f"'{self.path}' is damaged: it has no {name}") from None

    def close(self) -> None:
        """Closes the file; what was not read yet is not available any more."""
        self._members.archive.close()

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # ------------------------------------------------------------ steps

    def __len__(self) -> int:
        return len(self.steps.statement)

    @property
    def last(self) -> int:
        """The last step."""
        return len(self) - 1

    @property
    def timed(self) -> bool:
        """True when steps have modelled cycles."""
        return bool(len(self)) and not bool(np.isnan(self.steps.start).all())

    def step(self, number: int) -> Step:
        """Returns one step. Raises ``IndexError`` for a number that there is none of."""
        if not 0 <= number < len(self):
            raise IndexError(f"there is no step {number}; steps are 0 to {self.last}")
        steps = self.steps
        statement = self.statements[int(steps.statement[number])]
        return Step(
            number,
            statement,
            self.threads[int(steps.thread[number])],
            KINDS[int(steps.kind[number])],
            int(steps.order[number]),
            self.loops_of(number),
            float(steps.start[number]),
            float(steps.end[number]),
        )

    def loops_of(self, step: int) -> tuple[int, ...]:
        """Returns the indices of the loops around a step, outermost first."""
        issue = int(self._columns["step.issue"][step])
        return tuple(self._columns.part("issue.loops", self._starts.loops, issue).tolist())

    def scalars_of(self, step: int) -> dict[str, int | float]:
        """Returns the numbers that a step states, by name: those computed since the statement before it in its block,
        and its operands."""
        issue = int(self._columns["step.issue"][step])
        statement = self.statements[int(self._columns["issue.statement"][issue])]
        integers = iter(self._columns.part("issue.integers", self._starts.integers, issue).tolist())
        floats = iter(self._columns.part("issue.floats", self._starts.floats, issue).tolist())
        return {name: next(floats if type_ in FLOATS else integers) for name, type_ in statement.scalars}

    def handles_of(self, step: int) -> dict[str, Handle]:
        """Returns the tiles, views and pointers among the operands of a step, by name."""
        issue = int(self._columns["step.issue"][step])
        statement = self.statements[int(self._columns["issue.statement"][issue])]
        rows = self._columns.part("issue.handles", self._starts.handles, issue).tolist()
        return {name: self._handle(row, type_) for (name, type_), row in zip(statement.handles, rows, strict=True)}

    def _handle(self, row: int, type_: str) -> Handle:
        columns = self._columns
        form = self._forms[int(columns["handle.form"][row])]
        if form.kind == "pointer":
            # At run time a pointer knows numpy's type, its type in the program the format.
            found = _POINTER.match(type_)
            form = form if found is None else form._replace(element=found[1])
        return Handle(int(columns["handle.memory"][row]), int(columns["handle.address"][row]), form, type_)

    @cached_property
    def _starts(self) -> Any:
        return self._columns.starts(self.statements)

    # ------------------------------------------------------------ accesses, signals

    def accesses_of(self, step: int) -> list[Access]:
        """Returns what a step has read and written, in order."""
        first, stop = np.searchsorted(self.accesses.step, (step, step + 1))
        return [self.access(number) for number in range(int(first), int(stop))]

    def access(self, number: int) -> Access:
        """Returns one access by its index in the columns."""
        columns = self._columns
        first, pattern = int(columns["access.first"][number]), int(columns["access.pattern"][number])
        common = (number, int(columns["access.step"][number]), int(columns["access.memory"][number]))
        writes = bool(columns["access.writes"][number])
        if pattern != NO_PATTERN:
            run, dims = self._patterns[pattern]
            return Access(*common, writes, first, int(self.accesses.stop[number]), run, dims, None)
        starts, item = self.accesses.gathered(number)
        return Access(*common, writes, first, int(self.accesses.stop[number]), item, (), starts)

    def signals_of(self, step: int) -> list[Signal]:
        """Returns the signals that a step sets or has waited for."""
        columns = self._columns
        first, stop = np.searchsorted(columns["signal.step"], (step, step + 1))
        return [self._signal(number) for number in range(int(first), int(stop))]

    @property
    def signals(self) -> Iterator[Signal]:
        """All signals in order."""
        return (self._signal(number) for number in range(len(self._columns["signal.step"])))

    def _signal(self, number: int) -> Signal:
        columns = self._columns
        step, waits = int(columns["signal.step"][number]), bool(columns["signal.waits"][number])
        peer = int(columns["signal.peer"][number]) if waits else self._takers.get(number, -1)
        return Signal(step, waits, self._signal_texts[int(columns["signal.key"][number])], peer)

    @cached_property
    def _takers(self) -> dict[int, int]:
        """By number of a signal that is set: the first step that has waited for it."""
        columns = self._columns
        setters: dict[int, list[int]] = {}
        for number in np.flatnonzero(columns["signal.waits"] == 0).tolist():
            setters.setdefault(int(columns["signal.step"][number]), []).append(number)
        found: dict[int, int] = {}
        for number in np.flatnonzero(columns["signal.peer"] >= 0).tolist():
            given = setters.get(int(columns["signal.peer"][number]), [])
            free = [one for one in given if one not in found]
            if free:
                found[free[0]] = int(columns["signal.step"][number])
        return found

    # ------------------------------------------------------------ memory

    def memory(self, memory: int | str, block: int | None = None, core: str | None = None) -> Memory:
        """Returns a memory by number, full name (``block0.aiv0.ub``, or an argument), or by name of the space with the
        number of the block and the name of the core where there are several.

        Raises ``KeyError`` where there is none or more than one.
        """
        if isinstance(memory, int):
            if 0 <= memory < len(self.memories):
                return self.memories[memory]
            raise KeyError(f"there is no memory {memory}")
        found = [one for one in self.memories if one.name == memory]
        if not found:
            found = [
                one
                for one in self.memories
                if one.space == memory
                and (block is None or one.block == block)
                and (core is None or core.upper() in (name.upper() for name in one.cores))
            ]
        if len(found) != 1:
            names = ", ".join(one.name for one in found or self.memories)
            raise KeyError(f"{'several memories are' if found else 'no memory is'} called {memory}: {names}")
        return found[0]

    def memory_at(
        self,
        step: int,
        memory: int | str,
        block: int | None = None,
        core: str | None = None,
        first: int = 0,
        stop: int | None = None,
    ) -> bytes:
        """Returns the bytes [``first``, ``stop``) of a memory (see :meth:`memory`), by default all, after ``step``;
        before the first step for -1.

        Raises ``KeyError`` for a memory that there is none of, ``IndexError`` for other steps and bytes.
        """
        found = self.memory(memory, block, core)
        stop = found.size if stop is None else stop
        if not -1 <= step <= self.last:
            raise IndexError(f"there is no step {step}; steps are -1 (before the first one) to {self.last}")
        if not 0 <= first <= stop <= found.size:
            raise IndexError(f"bytes [{first}, {stop}) are outside of {found.name}, which has {found.size} bytes")
        return self.history(found.number).at(step, first, stop).tobytes()

    def history(self, memory: int) -> History:
        """Returns what was written to a memory, by its number."""
        history = self._histories.get(memory)
        if history is None:
            known = self.memories[memory]
            # An image of it, and which of its bytes are known.
            self._members.take(2 * known.size, known.name)
            if known.fill is None:
                initial = self._array(INITIAL.format(memory), known.size)
                if initial.shape != (known.size,) or initial.dtype != np.uint8:
                    raise RecordingError(f"'{self.path}' is damaged: {known.name} has other bytes than it should")
            else:
                initial = None
            history = self._histories[memory] = History(known, initial, self.accesses, self._written)
        return history

    def _written(self, number: int) -> Array:
        """Returns the bytes that an access has written."""
        position, size = int(self.accesses.data[number]), int(self.accesses.size[number])
        chunk = bisect_right(self._data_starts, position) - 1
        data = self._chunks.get(chunk)
        if data is None:
            data = self._array(DATA.format(chunk), self._data_sizes[chunk])
            if data.dtype != np.uint8 or data.shape != (self._data_sizes[chunk],):
                raise RecordingError(f"'{self.path}' is damaged: {DATA.format(chunk)} has another size than it should")
            self._chunks[chunk] = data
        start = position - self._data_starts[chunk]
        return data[start : start + size]

    @cached_property
    def _data_starts(self) -> list[int]:
        sizes: Sequence[int] = self._data_sizes
        # Empty chunks share their start with the next one, which is the one that has the bytes.
        return [0, *np.cumsum(sizes).tolist()][: max(len(sizes), 1)]

    def tile_at(self, step: int, value: str | Handle, valid: bool = True) -> Array:
        """Returns the numbers of a tile or view after ``step``: of a ``Handle``, or of the one called ``%value`` that
        the last statement up to that step has used. ``valid`` takes the valid region of a tile, otherwise all of it.

        Elements have numpy's type that computes with them (bf16 is ``ml_dtypes.bfloat16``); packed ones are unpacked.
        Raises ``KeyError`` for a name that no step has used, ``RecordingError`` for a handle that is no array.
        """
        handle = self.handle_at(step, value) if isinstance(value, str) else value
        if handle.memory < 0 or handle.form.kind not in ("tile", "view"):
            raise RecordingError(f"{value if isinstance(value, str) else 'the handle'} is no tile and no view")
        content = np.frombuffer(self.memory_at(step, handle.memory), np.uint8)
        try:
            return tile_of(handle, content, valid) if handle.form.kind == "tile" else view_of(handle, content)
        except (Fault, ValueError, TypeError) as error:
            raise RecordingError(f"{value if isinstance(value, str) else 'the handle'}: {error}") from None

    def handle_at(self, step: int, name: str) -> Handle:
        """Returns the tile, view or pointer ``%name`` that the last statement up to ``step`` has used. Raises
        ``KeyError``."""
        name = name if name.startswith("%") else f"%{name}"
        having = [one.number for one in self.statements if any(name == other for other, _ in one.handles)]
        places = np.flatnonzero(np.isin(self.steps.statement[: step + 1], having))
        if not places.size:
            raise KeyError(f"no step up to {step} has used {name}")
        return self.handles_of(int(places[-1]))[name]

    def argument_at(self, step: int, name: str) -> Array | int | float:
        """Returns an argument after ``step``: an array, or its number. Raises ``KeyError``."""
        found = next((one for one in self.arguments if one.name == name.removeprefix("%")), None)
        if found is None:
            raise KeyError(f"there is no argument {name}; arguments are {', '.join(a.name for a in self.arguments)}")
        if found.value is not None:
            return found.value
        dtype = dtype_named(found.dtype)
        nbytes = math.prod(found.shape) * dtype.itemsize
        content = self.memory_at(step, found.memory, first=found.address, stop=found.address + nbytes)
        return np.frombuffer(content, dtype).reshape(found.shape)

    def begin(self, name: str) -> Array | int | float:
        """Returns an argument before the first step."""
        return self.argument_at(-1, name)

    def end(self, name: str) -> Array | int | float:
        """Returns an argument after the last step."""
        return self.argument_at(self.last, name)


_POINTER = re.compile(r"!pto\.ptr<(?:!pto\.)?(\w+)[,>]")


def dtype_named(name: str) -> np.dtype[Any]:
    """Returns a type of numpy or ml_dtypes by name."""
    import ml_dtypes  # deferred: start-up

    return np.dtype(getattr(ml_dtypes, name, name))
