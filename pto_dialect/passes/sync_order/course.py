"""Runs a function with the signals that it has, through all its loops and branches, and says what they leave open.

Each loop is run until its signals come back to where they were, at least two times: what the second iteration knows of
the first, every later one knows of the one before. Source: docs/reference/synchronisation.md, "Judging a program".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.passes.accesses.dependences import Levels, V, must_synchronize
from pto_dialect.passes.accesses.items import Call, Choice, Item, Leaf, Loop, Sequence, Signal, UnsupportedError
from pto_dialect.passes.accesses.overlap import may_overlap
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.accesses.setting import ANY, Setting
from pto_dialect.passes.accesses.state import COUNT, Access, branch_states

from .known import Key, Known, UnevenError, together

_MOST_TURNS = 6
_MOST_STEPS = 200_000
_UNEVEN = "its ways set and wait for flags unequally often"


class Open(NamedTuple):
    """Two accesses that may touch the same bytes and that nothing orders; ``loop`` carries them from one iteration to
    the next."""

    first: Leaf
    second: Leaf
    loop: Loop | None


class Reused(NamedTuple):
    """A flag that may be set while it still is (``early``), or before its last wait is known to have ended."""

    signal: Signal
    early: bool


Finding = Open | Reused


class Course:
    """One run of a sequence; ``without`` are signals that do nothing."""

    def __init__(self, reader: Reader, without: frozenset[Signal] = frozenset()) -> None:
        self.reader = reader
        self.arch = reader.arch
        self.without = without
        self.found: dict[Finding, None] = {}
        self.partners: dict[Signal, set[Signal]] = {}
        """The sets that a wait may take."""
        self.steps = 0
        self._levels: dict[Sequence, Levels] = {}
        self._settings: dict[tuple[Sequence, bool], Setting] = {}

    def note(self, finding: Finding) -> None:
        """Something that is not in order."""
        self.found[finding] = None

    def items(self, sequence: Sequence, state: Known) -> Known:
        """The state after a sequence. Raises :class:`UnsupportedError` where flags cannot be analysed."""
        for item in sequence.items:
            state = self.item(item, state)
        return state

    def item(self, item: Item, state: Known) -> Known:
        """The state after an item."""
        if isinstance(item, Leaf):
            self.leaf(item, state)
        elif isinstance(item, Signal):
            self.signal(item, state)
        elif isinstance(item, Call):
            return self.items(item.body, state)
        else:
            try:
                return self.loop(item, state) if isinstance(item, Loop) else self.choice(item, state)
            except UnevenError:
                raise UnsupportedError(item.op, _UNEVEN) from None
        return state

    # ------------------------------------------------------------ signals

    def signal(self, signal: Signal, state: Known) -> None:
        """A flag, a lock or a barrier."""
        kind, key = signal.kind, (signal.source, signal.target, signal.number)
        if signal in self.without:
            if kind == "wait":
                state.waits(signal.target)
        elif kind == "set":
            self._set(signal, key, state)
        elif kind == "wait":
            self._wait(signal, key, state)
        elif kind == "release":
            state.release(signal.number, state.sent(signal))
        elif kind == "get":
            if signal.number in state.released:
                state.learn(signal, state.released[signal.number])
        elif kind == "barrier":
            state.fence(signal)
        else:
            state.join_by(signal)

    def _set(self, signal: Signal, key: Key, state: Known) -> None:
        pending = state.queues.get(key, ())
        token = state.sent(signal)
        if pending:
            self.note(Reused(signal, True))
        elif state.waited.get(key, 0) > token.clock[COUNT + signal.target]:
            self.note(Reused(signal, False))
        state.queues[key] = (*pending, token)

    def _wait(self, signal: Signal, key: Key, state: Known) -> None:
        pending = state.queues.get(key)
        if not pending:
            raise UnsupportedError(signal.op, "no set comes before it in the order of the text")
        token, *rest = pending
        if rest:
            state.queues[key] = tuple(rest)
        else:
            del state.queues[key]
        self.partners.setdefault(signal, set()).update(token.sets)
        state.learn(signal, token)
        state.waited[key] = state.waits(signal.target)

    # ------------------------------------------------------------ control flow

    def loop(self, loop: Loop, state: Known) -> Known:
        """Returns a loop, as often as it takes to know all about it."""
        outside = state.iteration
        assert isinstance(outside, tuple)
        way = state.copy()
        deepest = max((len(tokens) for tokens in state.queues.values()), default=1)
        least = min(loop.trips, 1 + max(1, deepest))
        count = 0
        while count < loop.trips:
            shape = _shape(way)
            way.iteration = (*outside, (loop, count))
            way = self.items(loop.body, way)
            count += 1
            if count >= least and _shape(way) == shape:
                break
            if count > _MOST_TURNS:
                raise UnsupportedError(loop.op, "each iteration sets flags that none takes, or takes too many")
        way.iteration = outside
        _forget_iterations(way, len(outside))
        ways = [way]
        if loop.open:
            ways.append(state.copy())
            ways[1].now = way.now
        return self._together(state, ways)

    def choice(self, choice: Choice, state: Known) -> Known:
        """Returns one of several regions."""
        return self._together(state, branch_states(choice, state, self.items))

    def _together(self, state: Known, ways: list[Known]) -> Known:
        joined = together(state, ways)
        joined.iteration = state.iteration
        return joined

    # ------------------------------------------------------------ accesses

    def leaf(self, leaf: Leaf, state: Known) -> None:
        """One operation runs."""
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise UnsupportedError(leaf.op, "there is too much before it")
        if not (leaf.joins or leaf.learns):
            for access in self.waiting(leaf, state):
                self.note(Open(access.leaf, leaf, self._between(access, state)))
        number = state.step(leaf)
        keep = self.arch == "a2a3" and leaf.pipe == V
        for writes, locations in ((False, leaf.reads), (True, leaf.writes)):
            if not leaf.shows:
                for location in locations:
                    state.record(Access(leaf, number, writes, location, state.iteration), keep)

    def waiting(self, leaf: Leaf, state: Known) -> Iterator[Access]:
        """Yields the accesses that ``leaf`` depends on and that may not be done when it runs next."""
        row = state.issue(leaf.pipe)
        for access, _ in self.dependences(leaf, state, row):
            yield access

    def dependences(self, leaf: Leaf, state: Known, row: list[int] | None) -> Iterator[tuple[Access, bool]]:
        """Yields the accesses that ``leaf`` depends on, those known to be done by ``row`` aside, and whether it
        writes."""
        for writes, locations in ((False, leaf.reads), (True, leaf.writes)):
            for location in locations:
                for access in state.earlier(location):
                    if not (writes or access.writes) or (row is not None and access.number <= row[access.leaf.pipe]):
                        continue
                    if access.leaf is leaf and access.iteration == state.iteration:
                        continue
                    if must_synchronize(access, leaf, location, writes, state, self.arch) and may_overlap(
                        access.location, location, self._setting(access, leaf, state)
                    ):
                        yield access, writes

    def _between(self, access: Access, state: Known) -> Loop | None:
        """Returns the loop from one iteration of which to another an access reaches."""
        assert isinstance(access.iteration, tuple) and isinstance(state.iteration, tuple)
        for (one, first), (other, second) in zip(access.iteration, state.iteration, strict=False):
            if one is not other:
                return None
            if first != second:
                return one
        return None

    def _setting(self, access: Access, leaf: Leaf, state: Known) -> Setting:
        loop = self._between(access, state)
        if loop is not None:
            return self._in(loop.body, loop)
        common = None
        for (one, _), (other, _) in zip(access.leaf.path, leaf.path, strict=False):
            if one is not other:
                break
            common = one
        assert common is not None
        return self._in(common, None)

    def _in(self, sequence: Sequence, loop: Loop | None) -> Setting:
        key = (sequence, loop is not None)
        known = self._settings.get(key)
        if known is None:
            levels = self._levels.setdefault(sequence, Levels(sequence.block))
            fixed = levels.is_invariant_inside if loop is None else levels.is_invariant
            iteration = None if loop is None else loop.iteration
            known = self._settings[key] = Setting(fixed, iteration, self._range, self._sums)
        return known

    @property
    def _sums(self) -> AffineAnalysis:
        return self.reader.places.sums

    def _range(self, value: object) -> tuple[float, float]:
        return self.reader.ranges.get(value, ANY)  # pyright: ignore[reportArgumentType, reportCallIssue]


def _shape(state: Known) -> dict[Key, int]:
    return {key: len(tokens) for key, tokens in state.queues.items()}


def _forget_iterations(state: Known, depth: int) -> None:
    """After a loop the last access of each operation represents those of earlier iterations."""
    for area, accesses in list(state.accesses.items()):
        if all(len(access.iteration) <= depth for access in accesses):  # pyright: ignore[reportArgumentType]
            continue
        latest: dict[object, Access] = {}
        for access in accesses:
            assert isinstance(access.iteration, tuple)
            signature = (access.leaf, access.writes, access.location, access.iteration[:depth])
            if signature not in latest or latest[signature].number < access.number:
                latest[signature] = access
        if len(latest) < len(accesses):
            state.keep(area, tuple(latest.values()))
