"""How long a solved function takes with the flags that it has, by the cycle model, without a run.

Every operation takes what the model says of its types; of a loop a few iterations are followed, and the others take as
long as the last of these. Source: docs/reference/synchronisation.md, "Fewer flags".
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from math import inf

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.moves import extract_lanes, lane_of
from pto_dialect.analysis.cycles.operations import pipe_work_of
from pto_dialect.analysis.cycles.static import table_for
from pto_dialect.analysis.cycles.work import Work
from pto_dialect.ir.buffers.views import AllocTileOp
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.passes.accesses.items import NUMBER, SCALAR, Call, Choice, Flag, Item, Leaf, Loop, Sequence
from pto_dialect.passes.accesses.state import COUNT

ASSUMED_TRIPS = 16
"""Iterations of a loop whose number the text does not say."""
_FOLLOWED = 4
"""Iterations of a loop that are followed."""
_MTE1 = NUMBER[Pipe.MTE1]
_LANE = COUNT
"""The second lane of MTE1, after the pipes."""
_START = COUNT + 1
"""When the next transfer of MTE1 may start, in either lane."""
_SIGNAL = 1.0


class Costs:
    """The cycles of operations on a chip; transfers from and to global memory take ``shared`` times as long."""

    def __init__(self, arch: str, shared: float) -> None:
        self.arch = arch
        self.shared = shared
        self.table = table_for(arch, None)
        self.lanes = extract_lanes(self.table)
        self._works: dict[Work, float] = {}
        self._leaves: dict[Leaf, tuple[int, float]] = {}

    def of(self, leaf: Leaf) -> tuple[int, float]:
        """Returns the pipe or lane of an operation, and its cycles."""
        known = self._leaves.get(leaf)
        if known is None:
            known = self._leaves[leaf] = self._cost(leaf)
        return known

    def _cost(self, leaf: Leaf) -> tuple[int, float]:
        found = pipe_work_of(leaf.op, self.arch, {})
        if found is None or leaf.pipe == SCALAR:
            return leaf.pipe, 0.0
        work = found.work if found.work.is_static or found.work.k else _stated(leaf, found.work)
        cycles = self._works.get(work)
        if cycles is None:
            factor = self.shared if "gm" in work.path.split(":") else 1.0
            cycles = self._works[work] = factor * estimate(work, self.table).cycles
        second = leaf.pipe == _MTE1 and lane_of(work.path) % self.lanes
        return (_LANE if second else leaf.pipe), cycles


def _stated(leaf: Leaf, work: Work) -> Work:
    """Returns the work with the valid size of its last tile, as far as the allocation of the tile states it."""
    tile = next((value for value in reversed(leaf.op.operands) if isinstance(value.type, TileBufType)), None)
    if tile is None or not isinstance(tile.owner, AllocTileOp):
        return work
    extents = [tile.owner.valid_row, tile.owner.valid_col]
    rows, cols = (constant_of(extent) if extent is not None else None for extent in extents)
    if work.by_columns:
        rows, cols = cols, rows
    if isinstance(rows, int) and 0 < rows <= work.rows:
        work = replace(work, valid_rows=rows)
    if isinstance(cols, int) and 0 < cols <= work.cols:
        work = replace(work, valid_cols=cols)
    return work


class Timeline:
    """Runs a sequence: ``free`` says when each pipe has done what it was given. ``steps`` counts operations."""

    def __init__(self, costs: Costs) -> None:
        self.costs = costs
        self.steps = 0
        self.free: list[float] = []
        self.tokens: dict[Flag, deque[float]] = {}

    def time(self, sequence: Sequence) -> float:
        """Returns the cycles of a function."""
        self.free = [0.0] * (COUNT + 2)
        self.tokens = {}
        self._items(sequence)
        return max(self.free)

    def _items(self, sequence: Sequence) -> None:
        for index, item in enumerate(sequence.items):
            self._before(sequence, index)
            if isinstance(item, Leaf):
                self._leaf(item)
            else:
                self._region(item)
            for flag in sequence.sets.get(index, ()):
                self._set(flag)
        self._before(sequence, len(sequence.items))

    def _before(self, sequence: Sequence, index: int) -> None:
        if index in sequence.full:
            self.free = [max(self.free) + _SIGNAL] * len(self.free)
        for flag in sequence.waits.get(index, ()):
            self._wait(flag)
        for pipe in sequence.barriers.get(index, ()):
            self.free[pipe] += _SIGNAL

    def _leaf(self, leaf: Leaf) -> None:
        self.steps += 1
        lane, cycles = self.costs.of(leaf)
        free = self.free
        if leaf.joins:
            free[:] = [max(free)] * len(free)
        if leaf.pipe == _MTE1:
            free[_START] = start = max(free[_START], free[lane], free[SCALAR])
            free[lane] = start + cycles
        else:
            free[lane] = max(free[lane], free[SCALAR]) + cycles

    def _region(self, item: Item) -> None:
        if isinstance(item, Loop):
            self._loop(item)
        elif isinstance(item, Choice):
            self._choice(item)
        elif isinstance(item, Call):
            self._items(item.body)

    def _set(self, flag: Flag) -> None:
        free, source = self.free, flag.source
        done = max(free[source], free[SCALAR])
        if source == _MTE1:
            # It is sent when both lanes are done, and takes none of their time.
            done = max(done, free[_LANE], free[_START])
        else:
            free[source] = done + _SIGNAL
        self.tokens.setdefault(flag, deque()).append(done + _SIGNAL)

    def _wait(self, flag: Flag) -> None:
        times = self.tokens[flag]
        arrival = times.popleft()
        if not times:
            del self.tokens[flag]
        free, target = self.free, flag.target
        if target == _MTE1:
            free[_START] = max(free[_START], free[SCALAR], arrival)
        else:
            free[target] = max(free[target], free[SCALAR], arrival) + _SIGNAL

    def _choice(self, choice: Choice) -> None:
        """The longest region of each pipe."""
        free, tokens = self.free, self.tokens
        ways: list[tuple[list[float], dict[Flag, deque[float]]]] = [(free, tokens)] if choice.open else []
        for branch in choice.branches:
            self.free, self.tokens = list(free), {flag: deque(times) for flag, times in tokens.items()}
            self._items(branch)
            ways.append((self.free, self.tokens))
        self.free = [max(times) for times in zip(*(way for way, _ in ways), strict=True)]
        self.tokens = {flag: deque(map(max, zip(*(way[flag] for _, way in ways), strict=True))) for flag in ways[0][1]}

    def _loop(self, loop: Loop) -> None:
        for flag in loop.carried:
            for _ in range(flag.ring.ahead if flag.ring is not None else flag.count):
                self._set(flag)
        trips = ASSUMED_TRIPS if loop.trips == inf else int(loop.trips)
        longer = 0.0
        for _ in range(min(trips, _FOLLOWED)):
            before = max(self.free)
            self._items(loop.body)
            longer = max(self.free) - before
        if trips > _FOLLOWED:
            rest = longer * (trips - _FOLLOWED)
            self.free = [time + rest for time in self.free]
            self.tokens = {flag: deque(time + rest for time in times) for flag, times in self.tokens.items()}
        for flag in loop.carried:
            while flag in self.tokens:
                self._wait(flag)
