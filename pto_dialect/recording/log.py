"""Collects a recording while a run goes on, in chunks of which the oldest are dropped where there is no room.

Source: docs/reference/recording.md, "What is kept".
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np

from pto_dialect.runtime.memory.spaces import POISON, Arena, Array
from pto_dialect.sanitize.state.arena import WatchedArena
from pto_dialect.sanitize.state.clocks import Actor as PipeOfCore
from pto_dialect.sanitize.state.regions import Bytes, Elements, Region

from .format import COLUMNS, NO_PATTERN
from .handles import Handles
from .model import Actor, Change, Memory, Statement

CHUNK_BYTES = 8 << 20
CHUNK_STEPS = 1 << 15
"""Bytes written, and steps, that fill a chunk."""

_FILLS = {"zero": 0, "poison": POISON}
_ISSUE_BYTES = 256
"""Bytes that an issue takes while the run goes on."""

_RECENT = 4096
"""Issues at the end of a chunk that steps of later chunks may belong to as well."""

_Write = tuple[WatchedArena, Bytes]

Issue = tuple[int, int, tuple[int, ...], tuple[Any, ...], tuple[int, ...]]
"""Statement, place in the text's order, loop indices, numbers, rows of handles."""


class Chunk(NamedTuple):
    """Consecutive steps: their columns, the bytes that they have written, and how these are applied to memories."""

    first_step: int
    first_issue: int
    issues: list[Issue]
    columns: dict[str, Array]
    data: bytes
    writes: list[tuple[int, Bytes, int]]
    nbytes: int


class Log:
    """The recording of a run that goes on; at most ``limit`` bytes of it are kept (0: all)."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.statements: list[Statement] = []
        self.memories: list[Memory] = []
        self.initial: dict[int, Array] = {}
        self.actors: list[Actor] = []
        self.patterns: dict[tuple[int, tuple[tuple[int, int], ...]], int] = {}
        self.keys: dict[str, int] = {}
        self.handles = Handles(self.memory)
        self.event_steps: dict[int, int] = {}
        self.chunks: deque[Chunk] = deque()
        self.kept = 0
        self.steps = 0
        self.issues = 0
        self.late: dict[int, Issue] = {}
        """Issues of dropped chunks that steps may still belong to."""
        self._memory_numbers: dict[int, tuple[int, Arena]] = {}
        self._pattern_of: dict[int, tuple[Region, int]] = {}
        self._pending: list[_Write] = []
        self.changes: list[Change] = []
        self._start_chunk()

    def _start_chunk(self) -> None:
        self._first_step, self._first_issue = self.steps, self.issues
        self._issue_rows: list[Issue] = []
        self._step_rows: list[tuple[int, int, int]] = []
        self._times: dict[int, tuple[float, float]] = {}
        self._accesses: list[tuple[int, int, Bytes, bool]] = []
        self._signals: list[tuple[int, bool, int, int]] = []
        self._data: list[bytes] = []
        self._data_bytes = 0

    # ------------------------------------------------------------ what there is

    def statement(self, statement: Statement) -> int:
        """Takes a statement; its number."""
        self.statements.append(statement._replace(number=len(self.statements)))
        return len(self.statements) - 1

    def actor(self, actor: PipeOfCore) -> None:
        """Takes a pipe of a core."""
        core = actor.core
        self.actors.append(Actor(actor.number, core.block.index, core.name, actor.pipe.removeprefix("PIPE_")))

    def memory(self, arena: Arena) -> int:
        """The number of a memory; its content is that of the start when it is met first."""
        known = self._memory_numbers.get(id(arena))
        if known is not None:
            return known[0]
        number = len(self.memories)
        self._memory_numbers[id(arena)] = (number, arena)
        prefix, _, owner = arena.name.partition(".")
        on_chip = arena.space != "gm" and prefix.startswith("block") and prefix[5:].isdigit()
        block = int(prefix[5:]) if on_chip else -1
        fill = _FILLS.get(arena.fill) if on_chip else None
        if fill is None:
            content = arena.memory if isinstance(arena, WatchedArena) else arena.bytes
            self.initial[number] = content.copy()
        self.memories.append(Memory(number, arena.name, arena.space, block, _cores(owner), arena.capacity, fill))
        return number

    # ------------------------------------------------------------ what happens

    def issue(self, statement: int, order: int, loops: tuple[int, ...], numbers: Any, handles: Any) -> int:
        """The scalar unit reaches a statement; the number of the issue."""
        row = self.handles.number
        self._issue_rows.append((statement, order, loops, numbers, tuple([row(each) for each in handles])))
        self.issues += 1
        return self.issues - 1

    def step(self, issue: int, actor: int, kind: int) -> int:
        """A statement is executed; the number of the step. What the step before has written is kept."""
        if self._pending:
            self.settle()
        if self.changes and self.changes[0].position <= self.steps:
            self._change()
        if self._data_bytes >= CHUNK_BYTES or len(self._step_rows) >= CHUNK_STEPS:
            self._end_chunk()
        self._step_rows.append((issue, actor, kind))
        self.steps += 1
        return self.steps - 1

    def _change(self) -> None:
        """Memories get the content that somebody wants from here on."""
        while self.changes and self.changes[0].position <= self.steps:
            change = self.changes.pop(0)
            found = [(number, arena) for number, arena in self._memory_numbers.values() if arena.name == change.memory]
            for number, arena in found:
                if not isinstance(arena, WatchedArena):
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

    def access(self, step: int, arena: WatchedArena, region: Bytes, writes: bool) -> None:
        """The step is about to read or write bytes."""
        self._accesses.append((step, self.memory(arena), region, writes))
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

    def issued(self, number: int) -> Issue | None:
        """An issue by its number; ``None`` where it was dropped."""
        if number >= self._first_issue:
            return self._issue_rows[number - self._first_issue]
        for chunk in self.chunks:
            if chunk.first_issue <= number < chunk.first_issue + len(chunk.issues):
                return chunk.issues[number - chunk.first_issue]
        return self.late.get(number)

    # ------------------------------------------------------------ chunks

    def finish(self) -> None:
        """The run is over."""
        self.settle()
        self._end_chunk()

    def _end_chunk(self) -> None:
        if not self._step_rows and not self._issue_rows:
            return
        columns = self._columns()
        data = b"".join(self._data)
        writes: list[tuple[int, Bytes, int]] = []
        position = 0
        for _, memory, region, is_write in self._accesses:
            if is_write and self.limit:
                writes.append((memory, region, position))
                position += region.size
        nbytes = len(data) + sum(column.nbytes for column in columns.values()) + _ISSUE_BYTES * len(self._issue_rows)
        chunk = Chunk(self._first_step, self._first_issue, self._issue_rows, columns, data, writes, nbytes)
        self.chunks.append(chunk)
        self.kept += nbytes
        self._start_chunk()
        while self.limit and self.kept > self.limit and len(self.chunks) > 1:
            self._drop(self.chunks.popleft())

    def _drop(self, chunk: Chunk) -> None:
        """What the chunk has written becomes the content at the start; issues that wait in a queue stay."""
        self.kept -= chunk.nbytes
        executed = set(chunk.columns["step.issue"].tolist())
        last = chunk.first_issue + len(chunk.issues)
        self.late = {number: issue for number, issue in self.late.items() if number not in executed}
        for number, issue in enumerate(chunk.issues, chunk.first_issue):
            if number not in executed or last - number <= _RECENT:
                self.late[number] = issue
        for memory, region, position in chunk.writes:
            content = self.initial.get(memory)
            if content is None:
                known = self.memories[memory]
                content = self.initial[memory] = np.full(known.size, known.fill, np.uint8)
                self.memories[memory] = known._replace(fill=None)
            values = np.frombuffer(chunk.data, np.uint8, region.size, position)
            store(content, region, values)

    def _columns(self) -> dict[str, Array]:
        found: dict[str, Any] = {}
        steps = np.array(self._step_rows, np.int64).reshape(-1, 3)
        found["step.issue"], found["step.actor"], found["step.kind"] = steps.T
        times = np.full((len(steps), 2), np.nan)
        for step, pair in self._times.items():
            times[step - self._first_step] = pair
        found["step.start"], found["step.end"] = times.T
        found |= self._access_columns()
        signals = np.array(self._signals, np.int64).reshape(-1, 4)
        found["signal.step"], found["signal.waits"], found["signal.key"], found["signal.peer"] = signals.T
        return {name: np.ascontiguousarray(column, COLUMNS[name]) for name, column in found.items()}

    def _access_columns(self) -> dict[str, Any]:
        rows: list[tuple[int, int, bool, int, int, int]] = []
        gathers: list[tuple[int, int]] = []
        starts: list[Array] = []
        for step, memory, region, writes in self._accesses:
            if isinstance(region, Elements):
                rows.append((step, memory, writes, region.offset, NO_PATTERN, region.size))
                gathers.append((region.starts.size, region.item))
                starts.append(region.starts.astype(np.int64))
            else:
                rows.append((step, memory, writes, region.offset, self._pattern(region), region.size))
        columns = np.array(rows, np.int64).reshape(-1, 6)
        gathered = np.array(gathers, np.int64).reshape(-1, 2)
        names = ("step", "memory", "writes", "first", "pattern", "size")
        found: dict[str, Any] = {f"access.{name}": column for name, column in zip(names, columns.T, strict=True)}
        found["gather.count"], found["gather.item"] = gathered.T
        found["gather.starts"] = np.concatenate(starts) if starts else np.zeros(0, np.int64)
        return found

    def _pattern(self, region: Region) -> int:
        known = self._pattern_of.get(id(region))
        if known is not None and known[0] is region:
            return known[1]
        number = self.patterns.setdefault((region.run, region.dims), len(self.patterns))
        if len(self._pattern_of) > 1 << 15:
            self._pattern_of.clear()
        self._pattern_of[id(region)] = (region, number)
        return number


def store(content: Array, region: Bytes, values: Array) -> None:
    """Puts the bytes that ``region.content`` has given into another memory."""
    if isinstance(region, Elements):
        content[region.offsets()] = values
    else:
        view = region.cells(content, 1)
        view[...] = values.reshape(view.shape)


def _cores(owner: str) -> tuple[str, ...]:
    """The cores that address the memory ``aic.l1`` or ``aiv0.ub``."""
    name = owner.partition(".")[0]
    return {"aic": ("AIC", "core"), "aiv0": ("AIV0", "core"), "aiv1": ("AIV1",)}.get(name, ())
