"""Collects a recording during a run, in chunks of which the oldest are dropped at the limit.

Source: docs/reference/recording.md, "Limits".
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from time import monotonic
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.runtime.memory.spaces import POISON, Arena, Array
from pto_dialect.runtime.run.machine import core_of_rank
from pto_dialect.sanitize.state.arena import InstrumentedArena
from pto_dialect.sanitize.state.clocks import Thread as PipeOfCore
from pto_dialect.sanitize.state.regions import Bytes, Elements, Region

from .format import COLUMNS, NO_PATTERN
from .handles import Handles
from .issues import Issues, OpenIssues
from .model import Change, Memory, Statement, Thread

CHUNK_BYTES = 8 << 20
CHUNK_STEPS = 1 << 15
"""Bytes written, and steps, that fill a chunk."""

_FILLS = {"zero": 0, "poison": POISON}
_LOOK = 256
"""Steps after which somebody looks at the clock."""

_PATIENCE = 9
"""The listener is called again after this multiple of its own duration."""

_RECENT = 4096
"""Issues at the end of a chunk that steps of later chunks may belong to as well."""

_Write = tuple[InstrumentedArena, Bytes]


class Chunk(NamedTuple):
    """Consecutive steps: their columns, the bytes that they have written, and how these are applied to memories."""

    first_step: int
    first_issue: int
    issues: Issues
    columns: dict[str, Array]
    data: list[bytes]
    """What one write after the other has written."""
    size: int
    """Bytes of it."""
    writes: list[tuple[int, Bytes]]
    nbytes: int


class Log:
    """The recording of a run in progress; retains at most ``limit`` bytes (0: all)."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.statements: list[Statement] = []
        self.memories: list[Memory] = []
        self.initial: dict[int, Array] = {}
        self.threads: list[Thread] = []
        self.patterns: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        self.keys: dict[str, int] = {}
        self.handles = Handles(self.memory)
        self.event_steps: dict[int, int] = {}
        self.chunks: deque[Chunk] = deque()
        self.kept = 0
        self.steps = 0
        self.issues = 0
        self.late = (np.zeros(0, np.int64), Issues.joined(()))
        """Issues of dropped chunks that steps may still belong to, with their numbers."""
        self._memory_numbers: dict[int, tuple[int, Arena]] = {}
        self._owners: dict[int, tuple[int, Arena]] = {}
        self._pending: list[_Write] = []
        self.changes: list[Change] = []
        self._listener: Callable[[], None] | None = None
        self._seconds = self._next = 0.0
        self._start_chunk()

    def notify_every(self, seconds: float, listener: Callable[[], None]) -> None:
        """Calls ``listener`` about every ``seconds`` during the run, between two steps; less often where the listener
        is slow."""
        self._listener, self._seconds = listener, seconds
        self._next = monotonic() + seconds
        self._plan()

    def _notify(self) -> None:
        """Calls the listener where it is time to."""
        now = monotonic()
        if self._listener is None or now < self._next:
            return
        self._end_chunk()
        self._listener()
        spent = monotonic() - now
        self._next = now + spent + max(self._seconds, _PATIENCE * spent)

    def change(self, changes: Iterable[Change]) -> None:
        """Memories are to have other content from these steps on."""
        self.changes = list(changes)
        self._plan()

    def _start_chunk(self) -> None:
        self._first_step, self._first_issue = self.steps, self.issues
        self._issues = OpenIssues()
        self._step_numbers: list[int] = []
        """Issue, thread and kind of one step after the other."""
        self._times: dict[int, tuple[float, float]] = {}
        self._accesses: list[Any] = []
        """Step, memory, region and whether it is written, of one access after the other. Objects for each of them would
        keep the garbage collector busy."""
        self._signals: list[tuple[int, bool, int, int]] = []
        self._data: list[bytes] = []
        self._data_bytes = 0
        self._last = 0
        """The step before which there is something to do."""
        self._plan()

    # ------------------------------------------------------------ what there is

    def statement(self, statement: Statement) -> int:
        """Takes a statement, which has the next number; that number."""
        assert statement.number == len(self.statements)
        self.statements.append(statement)
        return statement.number

    def add_thread(self, thread: PipeOfCore) -> None:
        """Takes a pipe of a core."""
        core = thread.core
        self.threads.append(Thread(thread.number, core.block.index, core.name, thread.pipe.removeprefix("PIPE_")))

    def belongs(self, arena: Arena, rank: int) -> None:
        """A memory that comes is that of one of several ranks."""
        self._owners[id(arena)] = (rank, arena)

    def memory(self, arena: Arena) -> int:
        """Returns the number of a memory; its content is that of the start when it is met first."""
        known = self._memory_numbers.get(id(arena))
        if known is not None:
            return known[0]
        number = len(self.memories)
        self._memory_numbers[id(arena)] = (number, arena)
        rank = self._owners[id(arena)][0] if id(arena) in self._owners else None
        prefix, _, owner = arena.name.partition(".")
        on_chip = arena.space != "gm" and prefix.startswith("block") and prefix[5:].isdigit()
        block = int(prefix[5:]) if on_chip else -1
        fill = _FILLS.get(arena.fill) if on_chip else None
        if fill is None:
            content = arena.memory if isinstance(arena, InstrumentedArena) else arena.bytes
            self.initial[number] = content.copy()
        name, cores = arena.name, _cores(owner)
        if rank is not None:
            name, cores = of_rank(rank, name), tuple(core_of_rank(core, rank) for core in cores)
        self.memories.append(Memory(number, name, arena.space, block, cores, arena.capacity, fill))
        return number

    # ------------------------------------------------------------ what happens

    def issue(self, statement: int, order: int, loops: tuple[int, ...], numbers: Any, handles: Any) -> int:
        """Returns the scalar unit reaches a statement; the number of the issue."""
        issues = self._issues
        issues.heads += (statement, order)
        if loops:
            issues.loops += loops
        if numbers:
            issues.numbers += numbers
        if handles:
            issues.handles += map(self.handles.number, handles)
        number = self.issues
        self.issues = number + 1
        return number

    def step(self, issue: int, thread: int, kind: int) -> int:
        """A statement is executed; the number of the step. What the step before has written is kept."""
        if self._pending:
            self.settle()
        number = self.steps
        if number >= self._last:
            self._pause()
        self._step_numbers += (issue, thread, kind)
        self.steps = number + 1
        return number

    def _pause(self) -> None:
        """Something is to be done before the next step."""
        if self.changes and self.changes[0].position <= self.steps:
            self._change()
        if self._data_bytes >= CHUNK_BYTES or self.steps - self._first_step >= CHUNK_STEPS:
            self._end_chunk()
        self._notify()
        self._plan()

    def _plan(self) -> None:
        """Finds the step before which there is something to do next."""
        self._last = self._first_step + CHUNK_STEPS
        if self.changes:
            self._last = min(self._last, self.changes[0].position)
        if self._listener is not None:
            self._last = min(self._last, self.steps + _LOOK)

    def _change(self) -> None:
        """Memories get the content that somebody wants from here on."""
        while self.changes and self.changes[0].position <= self.steps:
            change = self.changes.pop(0)
            found = [(number, arena) for number, arena in self._memory_numbers.values() if arena.name == change.memory]
            for number, arena in found:
                if not isinstance(arena, InstrumentedArena):
                    continue
                region = Region(change.first, len(change.content))
                if self.steps == 0:
                    content = self.initial.setdefault(number, arena.memory.copy())
                    self.memories[number] = self.memories[number]._replace(fill=None)
                    region.cells(content, 1)[...] = np.frombuffer(change.content, np.uint8)
                else:
                    # It belongs to what the step before has written.
                    self.access(self.steps - 1, arena, region, True)
                region.cells(arena.memory, 1)[...] = np.frombuffer(change.content, np.uint8)
            self.settle()

    def time(self, step: int, start: float, end: float) -> None:
        """The step takes this time."""
        self._times[step] = (start, end)

    def access(self, step: int, arena: InstrumentedArena, region: Bytes, writes: bool) -> None:
        """The step is about to read or write bytes."""
        known = self._memory_numbers.get(id(arena))
        self._accesses += (step, self.memory(arena) if known is None else known[0], region, writes)
        if writes:
            self._pending.append((arena, region))

    def signal(self, step: int, waits: bool, text: str, peer: int) -> None:
        """The step sets a signal, or has waited for one that the step ``peer`` has set."""
        key = self.keys.setdefault(text, len(self.keys))
        self._signals.append((step, waits, key, peer))

    def settle(self) -> None:
        """Keeps the bytes that were written since the last step."""
        for arena, region in self._pending:
            content = region.content(arena.memory).tobytes()
            self._data.append(content)
            self._data_bytes += len(content)
        self._pending.clear()
        if self._data_bytes >= CHUNK_BYTES:
            self._last = 0

    def issued(self, number: int) -> tuple[int, tuple[int, ...]] | None:
        """Statement and loop indices of an issue, after the run; ``None`` where it was dropped."""
        numbers, issues = self.all_issues()
        rows = np.flatnonzero(numbers == number)
        if not rows.size:
            return None
        found = issues.chosen(rows[:1], self.statements)
        return int(found.statement[0]), tuple(found.loops.tolist())

    def all_issues(self) -> tuple[Array, Issues]:
        """Returns the numbers of all issues that are kept, and these, after the run."""
        numbers = [self.late[0]]
        numbers += [np.arange(len(one.issues.statement)) + one.first_issue for one in self.chunks]
        return np.concatenate(numbers), Issues.joined([self.late[1], *(one.issues for one in self.chunks)])

    # ------------------------------------------------------------ chunks

    def finish(self) -> None:
        """The run is over."""
        self.settle()
        self._end_chunk()

    def _end_chunk(self) -> None:
        if not self._step_numbers and not len(self._issues):
            return
        columns = self._columns()
        writes: list[tuple[int, Bytes]] = []
        if self.limit:
            for memory, region, is_write in zip(*(self._accesses[place::4] for place in (1, 2, 3)), strict=True):
                if is_write:
                    writes.append((memory, region))
        issues = self._issues.packed(self.statements)
        nbytes = self._data_bytes + sum(column.nbytes for column in (*columns.values(), *issues))
        places = (self._first_step, self._first_issue, issues, columns)
        chunk = Chunk(*places, self._data, self._data_bytes, writes, nbytes)
        self.chunks.append(chunk)
        self.kept += nbytes
        self._start_chunk()
        while self.limit and self.kept > self.limit and len(self.chunks) > 1:
            self._drop(self.chunks.popleft())

    def _drop(self, chunk: Chunk) -> None:
        """What the chunk has written becomes the content at the start; issues that wait in a queue stay."""
        self.kept -= chunk.nbytes
        executed = chunk.columns["step.issue"]
        count = len(chunk.issues.statement)
        late, issues = self.late
        numbers = np.arange(count) + chunk.first_issue
        before = np.flatnonzero(np.isin(late, executed, invert=True))
        new = np.flatnonzero(np.isin(numbers, executed, invert=True) | (np.arange(count) >= count - _RECENT))
        kept = [issues.chosen(before, self.statements), chunk.issues.chosen(new, self.statements)]
        self.late = (np.concatenate((late[before], numbers[new])), Issues.joined(kept))
        for (memory, region), data in zip(chunk.writes, chunk.data, strict=True):
            content = self.initial.get(memory)
            if content is None:
                known = self.memories[memory]
                content = self.initial[memory] = np.full(known.size, known.fill, np.uint8)
                self.memories[memory] = known._replace(fill=None)
            store(content, region, np.frombuffer(data, np.uint8))

    def _columns(self) -> dict[str, Array]:
        found: dict[str, Any] = {}
        steps = np.array(self._step_numbers, np.int64).reshape(-1, 3)
        found["step.issue"], found["step.thread"], found["step.kind"] = steps.T
        times = np.full((len(steps), 2), np.nan)
        for step, pair in self._times.items():
            times[step - self._first_step] = pair
        found["step.start"], found["step.end"] = times.T
        found |= self._access_columns()
        signals = np.array(self._signals, np.int64).reshape(-1, 4)
        found["signal.step"], found["signal.waits"], found["signal.key"], found["signal.peer"] = signals.T
        return {name: np.ascontiguousarray(column, COLUMNS[name]) for name, column in found.items()}

    def _access_columns(self) -> dict[str, Any]:
        steps, memories, regions, writes = (self._accesses[place::4] for place in range(4))
        # Few regions are accessed again and again.
        keys = list(map(id, regions))
        different = dict(zip(keys, regions, strict=True))
        rows = np.array([self._region(each) for each in different.values()], np.int64).reshape(-1, 3)
        places = {key: place for place, key in enumerate(different)}
        columns = rows[np.fromiter(map(places.__getitem__, keys), np.intp, len(keys))]
        found: dict[str, Any] = {"access.step": steps, "access.memory": memories, "access.writes": writes}
        found["access.first"], found["access.pattern"], found["access.size"] = columns.T
        gathers: list[Elements] = []
        if any(isinstance(each, Elements) for each in different.values()):
            gathers = [each for each in regions if isinstance(each, Elements)]
        found["gather.count"] = [each.starts.size for each in gathers]
        found["gather.item"] = [each.item for each in gathers]
        starts = [each.starts.astype(np.int64) for each in gathers]
        found["gather.starts"] = np.concatenate(starts) if starts else np.zeros(0, np.int64)
        return found

    def _region(self, region: Bytes) -> tuple[int, int, int]:
        """Returns the first byte, the pattern and the size of a region."""
        if isinstance(region, Elements):
            return region.offset, NO_PATTERN, region.size
        pattern = self.patterns.setdefault((region.run, region.dims), len(self.patterns))
        return region.offset, pattern, region.size


def store(content: Array, region: Bytes, values: Array) -> None:
    """Puts the bytes that ``region.content`` has given into another memory."""
    if isinstance(region, Elements):
        content[region.offsets()] = values
    else:
        view = region.cells(content, 1)
        view[...] = values.reshape(view.shape)


def of_rank(rank: int, name: str) -> str:
    """Returns what a memory or an argument of one of several ranks is called."""
    return f"rank{rank}.{name}"


def _cores(owner: str) -> tuple[str, ...]:
    """Returns the cores that address the memory ``aic.l1`` or ``aiv0.ub``."""
    name = owner.partition(".")[0]
    return {"aic": ("AIC", "core"), "aiv0": ("AIV0", "core"), "aiv1": ("AIV1",)}.get(name, ())
