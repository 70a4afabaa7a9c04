"""What the pipes of a core know of one another while a sequence runs.

Every operation that runs has a number. ``clock[q][p]`` is the number up to which all work of pipe p is done when the
next operation of pipe q begins; what the scalar unit knows, everybody does whose work it issues later. ``clock[S][S]``
is the number up to which its stores are known to be complete: issuing an operation does not wait for them. Source:
docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Iterable, Sequence
from operator import attrgetter
from typing import NamedTuple, Self, TypeVar

from pto_dialect.analysis.scalar_cache import MEMORY as SCALAR_STORES
from pto_dialect.ir.core.base import Pipe

from . import items
from .areas import Area, Areas
from .items import NUMBER, PIPES, SCALAR, Choice, Flag, Leaf, Users
from .locations import GLOBAL, MemoryLocation

COUNT = len(PIPES)
_V = NUMBER[Pipe.V]
_MTE2 = NUMBER[Pipe.MTE2]
FEW = 24
"""Accesses to one object that are kept without asking who may still depend on them."""
Clocks = tuple[tuple[int, ...], ...]
_number = attrgetter("number")


class Access(NamedTuple):
    """An access that later ones may depend on. ``turn`` says in which iterations of the loops that are looked at."""

    leaf: Leaf
    number: int
    writes: bool
    location: MemoryLocation
    iteration: Hashable

    @property
    def asynchronous(self) -> bool:
        """Whether it is a store of the scalar unit that later operations may overtake."""
        return self.writes and self.leaf.asynchronous and self.location.space == SCALAR_STORES

    def outside(self, known: Sequence[Access]) -> Sequence[Access]:
        """Returns those of ``known``, all of the memory and root of this access, of which some byte may not belong to
        this access too."""
        location = self.location
        if location.sides:
            # One rectangle is the same for both in one iteration: what it depends on is defined around them.
            return [one for one in known if self.iteration != one.iteration or location != one.location]
        if not location.whole:
            return known
        if location.root != "bytes":
            return ()
        start, stop = location.start, location.stop
        assert stop is not None
        return [one for one in known if (at := one.location).start < start or (end := at.stop) is None or end > stop]

    def beside(self, known: Sequence[Access]) -> Sequence[Access]:
        """Returns those of ``known``, all of the memory and root of this read, that are not reads by the same pipe of
        bytes which all belong to this one too."""
        location, pipe = self.location, self.leaf.pipe
        if not (location.sides or location.whole):
            return known
        if location.sides or location.root != "bytes":
            mine = [one for one in known if not one.writes and one.leaf.pipe == pipe]
            gone = {*map(id, mine)}.difference(map(id, self.outside(mine)))
            return [one for one in known if id(one) not in gone] if gone else known
        start, stop = location.start, location.stop
        assert stop is not None
        return [
            one
            for one in known
            if one.writes
            or one.leaf.pipe != pipe
            or (at := one.location).start < start
            or (end := at.stop) is None
            or end > stop
        ]

    def besides(self, known: Sequence[Access], keep_reads: bool) -> Sequence[Access]:
        """Returns those of ``known``, all of the memory and root of this access, that it does not stand for; with
        ``keep_reads`` what its own operation reads is among them."""
        if not self.writes:
            return self.beside(known)
        own = [one for one in known if one.number == self.number and not one.writes] if keep_reads else []
        if not own:
            return self.outside(known)
        return [*(one for one in self.outside(known) if one.number != self.number or one.writes), *own]


Gone = TypeVar("Gone", bound="State")
"""A state that a function is followed with."""


class State:
    """Vector clocks, flags that are set, and relevant accesses. ``done`` counts the work of each pipe since the state
    was copied.

    ``WIDTH`` is the size of a clock: the work of each pipe and, where needed, its waits. ``users`` names the active
    pipes: an access that all users of the memory have synchronized with is dropped; without it, none is.
    """

    __slots__ = (
        *("accesses", "clock", "counts", "done", "few", "heard", "iteration", "last", "limits", "now", "areas"),
        *("tokens", "users"),
    )
    WIDTH = COUNT

    def __init__(self, users: Users | None = None) -> None:
        self.users = users
        self.areas = Areas() if users is None else users.areas
        self.few = FEW
        self.limits: dict[int, int] = {}
        self.clock = [[0] * self.WIDTH for _ in PIPES]
        self.heard: list[list[int] | None] = [None] * COUNT
        """What the scalar unit knew when each pipe learned it last."""
        self.now = 0
        self.iteration: Hashable = 0
        self.last = [0] * self.WIDTH
        self.done: list[list[int]] = [[] for _ in range(self.WIDTH)]
        self.tokens: dict[Hashable, tuple[int, ...]] = {}
        self.accesses: dict[Area, tuple[Access, ...]] = {}
        self.counts: dict[int, int] = {}
        """The number of accesses to each object that are kept, by its family."""

    def copy(self) -> Self:
        """An independent copy of the state, with no work done yet."""
        other = type(self).__new__(type(self))
        other.clock = [list(row) for row in self.clock]
        other.heard = list(self.heard)
        other.now, other.iteration, other.last = self.now, self.iteration, list(self.last)
        other.done = [[] for _ in range(self.WIDTH)]
        other.tokens = dict(self.tokens)
        other.accesses = dict(self.accesses)
        other.users, other.areas = self.users, self.areas
        other.few, other.limits, other.counts = self.few, dict(self.limits), dict(self.counts)
        return other

    def after(self, state: State) -> State:
        """This state, as one reached from ``state``, of which it was a copy."""
        for earlier, done in zip(state.done, self.done, strict=True):
            earlier += done
        self.done = state.done
        return self

    @property
    def active(self) -> Iterable[int]:
        """The pipes that do something."""
        return range(COUNT) if self.users is None else self.users.pipes

    def clocks(self) -> Clocks:
        """Returns the clocks as they are now."""
        return tuple(tuple(row) for row in self.clock)

    # ------------------------------------------------------------ order

    def issue(self, pipe: int) -> list[int]:
        """Returns the clock of ``pipe`` as its next work finds it."""
        row = self.clock[pipe]
        scalar = self.clock[SCALAR]
        if pipe != SCALAR and scalar != self.heard[pipe]:
            learn(row, scalar)
            self.heard[pipe] = scalar.copy()
        return row

    def issue_all(self, pipes: Iterable[int]) -> None:
        """The same for each of ``pipes``."""
        scalar = self.clock[SCALAR]
        heard: list[int] | None = None
        for pipe in pipes:
            if pipe != SCALAR and scalar != self.heard[pipe]:
                learn(self.clock[pipe], scalar)
                heard = self.heard[pipe] = heard or scalar.copy()

    def set(self, flag: Flag) -> None:
        """``flag`` is set: it carries what its source knows, and that its work is done."""
        self.tokens[flag] = self.token(self.issue(flag.source), flag.source)

    def token(self, row: list[int] | tuple[int, ...], pipe: int, now: int | None = None) -> tuple[int, ...]:
        """Returns what a flag of ``pipe`` with the clock ``row`` carries; all of the pipe's work up to ``now`` is
        done."""
        carried = list(row)
        carried[pipe] = self.now if now is None else now
        for part in range(COUNT, self.WIDTH, COUNT):
            carried[part + pipe] = carried[pipe]
        return tuple(carried)

    def wait(self, flag: Flag, token: tuple[int, ...] | None = None) -> None:
        """``flag`` is waited for."""
        learn(self.issue(flag.target), self.tokens.pop(flag) if token is None else token)

    def barrier(self, pipe: int) -> None:
        """``pipe`` waits for itself."""
        self.issue(pipe)[pipe] = self.now

    def join(self) -> None:
        """Everybody knows that everything is done."""
        for row in self.clock:
            row[:] = [self.now] * self.WIDTH

    def step(self, leaf: Leaf) -> int:
        """``leaf`` runs; its number."""
        if leaf.joins:
            self.join()
        self.now += 1
        self.issue(leaf.pipe)
        self.last[leaf.pipe] = self.now
        self.done[leaf.pipe].append(self.now)
        return self.now

    def waits(self, pipe: int) -> int:
        """A wait of ``pipe`` has ended; its number."""
        self.now += 1
        kind = COUNT + pipe
        self.last[kind] = self.now
        self.done[kind].append(self.now)
        if pipe == SCALAR:
            self.clock[SCALAR][kind] = self.now
        return self.now

    # ------------------------------------------------------------ accesses

    def earlier(self, location: MemoryLocation) -> Sequence[Access]:
        """Returns the accesses of areas that may overlap ``location``, the first one first."""
        groups = [group for area in self.areas.meeting(location) if (group := self.accesses.get(area))]
        if len(groups) == 1:
            return groups[0]
        return sorted([access for group in groups for access in group], key=_number)

    def record(self, access: Access, keep_reads: bool) -> None:
        """Keeps an access; earlier ones that it stands for are forgotten, reads for reads only if not
        ``keep_reads``. With it, a write does not stand for what its own operation reads: its result may be streamed
        into an operation that then overwrites other tiles at the same bytes."""
        areas = self.areas.meeting(access.location)
        mine = areas[0]
        family, accesses = mine.family, self.accesses
        if access.writes or not keep_reads:
            for area in areas:
                known = accesses.get(area)
                if known is not None and area.family == family:
                    left = access.besides(known, keep_reads)
                    if left is not known:
                        self.keep(area, left)
        counts = self.counts
        if self.users is not None and counts.get(family, 0) >= self.limits.get(family, self.few):
            self._forget_done(mine, self.users)
            self.limits[family] = counts[family] + self.few
        accesses[mine] = (*accesses.get(mine, ()), access)
        counts[family] = counts.get(family, 0) + 1

    def keep(self, area: Area, accesses: Sequence[Access]) -> None:
        """Has ``accesses`` be all those of an area."""
        family = area.family
        self.counts[family] = self.counts.get(family, 0) + len(accesses) - len(self.accesses.get(area, ()))
        if accesses:
            self.accesses[area] = tuple(accesses)
        else:
            del self.accesses[area]

    def _forget_done(self, part: Area, users: Users) -> None:
        """Forgets the accesses of the object of ``part`` that all who may depend on them know to be done."""
        reads, writes = self._done_for_all(users, part.space)
        for area, known in [item for item in self.accesses.items() if item[0].family == part.family]:
            left = [
                one
                for one in known
                if one.number > (writes if one.writes else reads)[one.leaf.pipe]
                and (one.leaf.pipe != SCALAR or one.asynchronous)
            ]
            if len(left) < len(known):
                self.keep(area, left)

    def _done_for_all(self, users: Users, space: str) -> tuple[list[int], list[int]]:
        """For each pipe, up to which number all ``users`` of a memory know its reads and its writes to be done."""
        all_ = self.clock[SCALAR]
        pipes = users.spaces[space]
        others = [min((self.clock[q][p] for q in pipes if q != p), default=self.now) for p in range(COUNT)]
        least = [max(pair) for pair in zip(others, all_, strict=False)]
        both = [min(number, max(all_[p], self.clock[p][p])) for p, number in enumerate(least)]
        # Whether a pipe may depend on its own accesses: :func:`.dependences.must_synchronize`.
        writes = [both[p] if space == GLOBAL or p == _MTE2 else number for p, number in enumerate(least)]
        reads = least
        if users.streams:
            reads = [both[p] if p == _V else number for p, number in enumerate(reads)]
            writes = [both[p] if p == _V else number for p, number in enumerate(writes)]
        return reads, writes


class SlotState(State):
    """A state whose clocks have one more part for each channel between iterations: what is known of the work of the
    iteration that the channel leads from, and of all before it. Every part knows what the first one does."""

    __slots__ = ()

    def step(self, leaf: Leaf) -> int:
        """``leaf`` runs; its number."""
        number = super().step(leaf)
        for kind in range(COUNT + leaf.pipe, self.WIDTH, COUNT):
            self.last[kind] = number
            self.done[kind].append(number)
        return number

    def barrier(self, pipe: int) -> None:
        """``pipe`` waits for itself."""
        super().barrier(pipe)
        for kind in range(COUNT + pipe, self.WIDTH, COUNT):
            self.clock[pipe][kind] = self.now


class _OneChannel(SlotState):
    __slots__ = ()
    WIDTH = 2 * COUNT


class _TwoChannels(SlotState):
    __slots__ = ()
    WIDTH = 3 * COUNT


class _ThreeChannels(SlotState):
    __slots__ = ()
    WIDTH = 4 * COUNT


class _FourChannels(SlotState):
    __slots__ = ()
    WIDTH = 5 * COUNT


_STATES: tuple[type[State], ...] = (State, _OneChannel, _TwoChannels, _ThreeChannels, _FourChannels)


def state_of(channels: int) -> type[State]:
    """A state with parts for so many channels, as far as there are; each costs time."""
    return _STATES[min(channels, len(_STATES) - 1)]


def learn(row: list[int], other: tuple[int, ...] | list[int]) -> None:
    """``row`` knows what ``other`` does."""
    for pipe, number in enumerate(other):
        if number > row[pipe]:
            row[pipe] = number


def branch_states(choice: Choice, state: Gone, follow: Callable[[items.Sequence, Gone], Gone]) -> list[Gone]:
    """The states after each region of a branch, and after none of them where it may run none, as computed by
    ``follow``. They are all copies of ``state``, with consecutive ids."""
    ways: list[Gone] = []
    for branch in [*choice.branches, *([None] if choice.open else [])]:
        way = state.copy()
        way.now = ways[-1].now if ways else state.now
        ways.append(way if branch is None else follow(branch, way))
    return ways


def after_one(before: State, way: State) -> State:
    """Returns ``way`` as the state after ``before``, of which it was a copy and from which no other path leads."""
    way.issue_all(before.active)
    way.limits = before.limits
    return way.after(before)


def merged(before: State, ways: list[State]) -> State:
    """The join of states on alternative paths, all of them copies of ``before`` with different ids."""
    state = before.copy()
    pipes = before.active
    for way in ways:
        # The scalar unit issues all later operations, with its knowledge from this path.
        way.issue_all(pipes)
    state.now = max(way.now for way in ways)
    state.heard = [None] * COUNT
    _join_clocks(state, before.last, ways, pipes)
    for pipe in range(state.WIDTH):
        state.last[pipe] = max(way.last[pipe] for way in ways)
        # The state before is not used again: its list is reused.
        state.done[pipe] = before.done[pipe]
        done = [way.done[pipe] for way in ways if way.done[pipe]]
        if done:
            state.done[pipe] += _ascending(done)
    _join_accesses(state, ways)
    return state


def _join_clocks(state: State, before: list[int], ways: list[State], pipes: Iterable[int]) -> None:
    """The clocks of ``state`` are what is known on all paths; work that a path has not done is not missing there.
    ``before`` has the last work before them."""
    now = state.now
    clocks = [way.clock for way in ways]
    for source, last in enumerate(before):
        work = [way.done[source] for way in ways]
        if not any(work):
            # Of a pipe that has done nothing yet, nothing can be missing.
            for target in pipes if last else ():
                least = min([clock[target][source] for clock in clocks])
                state.clock[target][source] = least if least < last else now
            continue
        paths = list(zip(clocks, work, strict=True))
        for target in pipes:
            least = now
            for clock, done in paths:
                number = clock[target][source]
                if number >= last and (not done or number >= done[-1]):
                    continue
                if number >= last:
                    number = done[bisect_right(done, number)] - 1
                if number < least:
                    least = number
            state.clock[target][source] = least


def _ascending(lists: list[list[int]]) -> list[int]:
    """Returns the numbers of all lists, each of which ascends, in ascending order."""
    return lists[0] if len(lists) == 1 else sorted(set[int]().union(*lists))


def _join_accesses(state: State, ways: list[State]) -> None:
    """The accesses of all paths, each once: those before the branch are the same objects in all."""
    first, *others = ways
    state.accesses, state.counts = dict(first.accesses), dict(first.counts)
    for way in others:
        for area, accesses in way.accesses.items():
            known = state.accesses.get(area)
            if known is None:
                state.keep(area, accesses)
            elif known is not accesses:
                state.keep(area, tuple({id(access): access for access in (*known, *accesses)}.values()))


def common(before: State, way: State, number: int, source: int, now: int) -> int:
    """Returns ``number`` as an id valid on all paths: work that this path has not done is not missing."""
    return _common(before.last[source], way.done[source], number, now)


def _common(last: int, done: list[int], number: int, now: int) -> int:
    """Returns the same for one pipe, whose work was ``last`` before the branch and ``done`` on this path."""
    if number < last:
        return number
    index = bisect_right(done, number)
    return done[index] - 1 if index < len(done) else now
