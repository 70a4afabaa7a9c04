"""Assigns one of the eight ids of a pair of pipes to each flag.

Two flags may have the same id when the first must be waited for before the second is set. Where ids run out, program
order is sufficient; after that adjacent flags are merged. Source: docs/reference/synchronisation.md, "Event ids".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Self

from pto_dialect.passes.accesses.items import SCALAR, Choice, Flag, Loop, Sequence, UnsupportedError, Users
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.accesses.state import COUNT, State

from .ahead import hand_over, hold_back
from .follow import Runner
from .rings import EVENTS, TOO_MANY, use_single_id

Pair = tuple[Flag, Flag]
Pipes = tuple[int, int]
"""The source and the target of flags."""
_NONE: Mapping[Pipes, set[int]] = MappingProxyType({})


class _TokenState(State):
    """A state that knows which flags are set, and, for each pair of pipes, when the last wait for each of its flags
    began that the source of the pair may not know to be over."""

    __slots__ = ("pending", "waited")
    WIDTH = 2 * COUNT

    def __init__(self, users: Users | None) -> None:
        super().__init__(users)
        self.pending: dict[Flag, None] = {}
        self.waited: dict[Pipes, dict[Flag, int]] = {}

    def copy(self) -> Self:
        """An independent copy of the state."""
        other = super().copy()
        other.pending = dict(self.pending)
        other.waited = {pair: dict(waits) for pair, waits in self.waited.items()}
        return other


class _Rivals(Runner):
    """Finds flags of one pair of pipes that are under way together: ``text`` in the order of the text, ``run`` perhaps
    when the pipes run by themselves. ``again`` are the flags that the scalar unit, which may be many iterations ahead
    of the other pipes, may set again before a wait is over, and whether that happens in the loop that carries one."""

    def __init__(self, reader: Reader) -> None:
        super().__init__(reader)
        self.text: set[Pair] = set()
        self.run: set[Pair] = set()
        self.again: dict[Flag, bool] = {}
        self.inside: list[Sequence] = []
        """The bodies of the loops that run."""

    def set(self, flag: Flag, state: State) -> None:
        """A flag is set: who is under way?"""
        assert isinstance(state, _TokenState)
        known = state.issue(flag.source)[COUNT + flag.target]
        for other in state.pending:
            self._rival(self.text, other, flag)
        waited = state.waited.get((flag.source, flag.target), {})
        for other, number in list(waited.items()):
            if number > known:
                self._rival(self.run, other, flag)
                if other is flag and flag.source == SCALAR and flag.slot is None:
                    self.again[flag] = self.again.get(flag, False) or (flag.carried and flag.sequence in self.inside)
            else:
                # Only the source sets flags of this pair, and forgets nothing.
                del waited[other]
        state.pending[flag] = None
        super().set(flag, state)

    def wait(self, flag: Flag, state: State) -> None:
        """A flag is waited for, which takes a number of its own."""
        assert isinstance(state, _TokenState)
        super().wait(flag, state)
        state.pending.pop(flag, None)
        state.waited.setdefault((flag.source, flag.target), {})[flag] = state.waits(flag.target)

    def iterations(self, loop: Loop, state: State) -> State:
        """Returns two iterations, so that each flag meets those of the iteration before."""
        self.inside.append(loop.body)
        state = self.once(loop, self.once(loop, state))
        self.inside.pop()
        return state

    def together(self, state: State, ways: list[State]) -> State:
        """Returns the join of several paths from ``state``."""
        joined = super().together(state, ways)
        assert isinstance(joined, _TokenState)
        joined.pending, joined.waited = {}, {}
        for way in ways:
            assert isinstance(way, _TokenState)
            joined.pending |= way.pending
            for pair, waits in way.waited.items():
                waited = joined.waited.get(pair)
                if waited is None:
                    joined.waited[pair] = dict(waits)
                elif waited != waits:
                    # Most often nothing has been waited for on either path.
                    for flag, number in waits.items():
                        if number > waited.get(flag, 0):
                            waited[flag] = number
        return joined

    @staticmethod
    def _rival(pairs: set[Pair], one: Flag, other: Flag) -> None:
        if one is not other and (one.source, one.target) == (other.source, other.target):
            pairs.add((one, other))
            pairs.add((other, one))


def assign_event_ids(
    sequence: Sequence,
    reader: Reader,
    used: Mapping[Pipes, set[int]] = _NONE,
    left_out: Callable[[Flag], bool] = lambda flag: False,
) -> int:
    """Gives every flag its number, and makes flags one where there are too many. Returns how many went. ``used`` are
    the numbers between two pipes that functions use which are called. Flags that are ``left_out`` get none."""
    gone, held = 0, set[Flag]()
    while True:
        rivals = _Rivals(reader)
        rivals.items(sequence, _TokenState(reader.users))
        ahead = {flag: own for flag, own in rivals.again.items() if flag not in held and not left_out(flag)}
        if any([hand_over(flag, sequence) if own else hold_back(flag, sequence, held) for flag, own in ahead.items()]):
            continue
        flags = [flag for flag in all_flags(sequence) if not left_out(flag)]
        crowded = _colour(flags, rivals, used)
        if not crowded:
            return gone
        for pair in crowded:
            # Flags of both directions may lose their slots at once: the other one is counted again.
            if pair[::-1] not in crowded[: crowded.index(pair)]:
                gone += _relieve(pair, flags, sequence)


def _relieve(pair: Pipes, flags: list[Flag], sequence: Sequence) -> int:
    """Has two pipes, to which some of ``flags`` belong, need fewer numbers. Returns how many flags went."""
    handed = {flag for loop in _loops(sequence) for over in loop.handed for flag in over}
    between = [flag for flag in flags if (flag.source, flag.target) == pair and flag not in handed]
    if not between:
        raise UnsupportedError(sequence.items[0].op, "more loops hand over to one pipe than it has flags")
    if _unite_slots(between, sequence):
        return 1
    if _without_slots(flags, pair, sequence):
        return 0
    _unite(between, sequence)
    return 1


def _without_slots(flags: list[Flag], pair: Pipes, sequence: Sequence) -> bool:
    """Makes those of ``flags`` that have a number for each slot, between these two pipes, flags of one number; whether
    there were any."""
    both = (pair, pair[::-1])
    candidates = [flag for flag in flags if flag.slot is not None and (flag.source, flag.target) in both]
    around = {loop.body: loop for loop in _loops(sequence)} if candidates else {}
    for flag in candidates:
        use_single_id(flag, around[flag.sequence], TOO_MANY)
    return bool(candidates)


def _colour(flags: list[Flag], rivals: _Rivals, used: Mapping[Pipes, set[int]]) -> list[Pipes]:
    """Numbers the flags. Returns the pairs of pipes that have too few numbers."""
    pairs: dict[Pipes, list[Flag]] = defaultdict(list)
    for flag in flags:
        pairs[flag.source, flag.target].append(flag)
    ways = [_neighbours(apart) for apart in (rivals.text | rivals.run, rivals.text)]
    return [
        pair
        for pair, members in pairs.items()
        if not any(_numbered(members, neighbours, used.get(pair, set())) for neighbours in ways)
    ]


def _neighbours(apart: set[Pair]) -> dict[Flag, set[Flag]]:
    """Returns the rivals of each flag."""
    neighbours: dict[Flag, set[Flag]] = defaultdict(set)
    for one, other in apart:
        neighbours[one].add(other)
    return neighbours


def _numbered(flags: list[Flag], neighbours: dict[Flag, set[Flag]], used: set[int]) -> bool:
    """Numbers the flags of two pipes, without those ``used`` already; whether that goes."""
    for flag in flags:
        flag.event = -1
    # Which of its numbers are set when only a run knows.
    with_slots = [flag for flag in flags if flag.slot is not None]
    for flag in flags:
        others = neighbours[flag].union(flags if flag.slot is not None else with_slots) - {flag}
        taken = used.union(*(other.numbers for other in others))
        starts = range(EVENTS - flag.count + 1)
        free = next((start for start in starts if not taken.intersection(range(start, start + flag.count))), None)
        if free is None:
            return False
        flag.event = free
    return True


def _unite_slots(flags: list[Flag], sequence: Sequence) -> bool:
    """Makes two flags one that have a number for each of the same slots; whether there were two, and few enough are
    left where all of a sequence become one."""
    rotating = [flag for flag in flags if flag.slot is not None]
    least = {(flag.sequence, flag.carried, *_slots_of(flag)): flag.count for flag in rotating}
    if sum(least.values()) + (len(rotating) < len(flags)) > EVENTS:
        return False
    pair = _nearest(rotating, lambda one, other: _slots_of(one) == _slots_of(other))
    if pair is None:
        return False
    one, other = pair
    new = united(one, other, TOO_MANY)
    new.chosen, new.slot, new.count = one.chosen, one.slot, one.count
    new.ring, new.about = one.ring, one.about
    replace_flags(sequence, pair, (new,))
    return True


def _slots_of(flag: Flag) -> tuple[object, ...]:
    """Which number a flag has when; two with the same are set and waited for as often as each other."""
    index = flag.chosen[1] if isinstance(flag.chosen, tuple) else None
    return flag.slot, flag.count, flag.ring, flag.about, index


def _unite(flags: list[Flag], sequence: Sequence) -> None:
    """Makes two flags one, or, where they lie in different regions, the last one a barrier of all pipes."""
    pair = _nearest(flags, lambda one, other: True)
    if pair is not None:
        replace_flags(sequence, pair, (united(*pair, TOO_MANY),))
        return
    last = next((flag for flag in reversed(flags) if not flag.carried), flags[-1])
    last.sequence.full.add(last.before)
    replace_flags(sequence, (last,), ())


def _nearest(flags: list[Flag], match: Callable[[Flag, Flag], bool]) -> Pair | None:
    """Returns the two flags that cost least to wait for as one: of one sequence, and nearest to each other."""
    best: tuple[int, Flag, Flag] | None = None
    for one in flags:
        for other in flags:
            if one is other or one.sequence is not other.sequence or one.carried != other.carried:
                continue
            after, before = max(one.after, other.after), min(one.before, other.before)
            if (not one.carried and after >= before) or not match(one, other):
                continue
            cost = abs(one.after - other.after) + abs(one.before - other.before)
            if best is None or cost < best[0]:
                best = cost, one, other
    return best[1:] if best is not None else None


def united(one: Flag, other: Flag, reason: str = "") -> Flag:
    """Returns a flag that is set after what both are set after, and waited for before what both are waited for before;
    ``reason`` states why, where neither says it already."""
    return Flag(
        one.source,
        one.target,
        max(one.after, other.after),
        min(one.before, other.before),
        one.sequence,
        one.carried,
        shared=one.shared or other.shared or reason,
        about_slots=one.about_slots and other.about_slots,
    )


def replace_flags(sequence: Sequence, old: tuple[Flag, ...], new: tuple[Flag, ...]) -> None:
    """Replaces ``old`` by ``new``, all of them flags of one sequence, which ``sequence`` has or is."""
    for loop in _loops(sequence):
        if any(flag in loop.carried for flag in old):
            loop.carried = [flag for flag in loop.carried if flag not in old] + [*new]
    for flag in old:
        flag.sequence.remove(flag)
    for flag in new:
        flag.sequence.add(flag)


def _loops(sequence: Sequence) -> list[Loop]:
    loops: list[Loop] = []
    for item in sequence.items:
        if isinstance(item, Loop):
            loops += [item, *_loops(item.body)]
        elif isinstance(item, Choice):
            for branch in item.branches:
                loops += _loops(branch)
    return loops


def all_sequences(sequence: Sequence) -> list[Sequence]:
    """Returns a sequence and all in it."""
    sequences = [sequence]
    for item in sequence.items:
        if isinstance(item, Loop):
            sequences += all_sequences(item.body)
        elif isinstance(item, Choice):
            sequences += [one for branch in item.branches for one in all_sequences(branch)]
    return sequences


def all_flags(sequence: Sequence) -> list[Flag]:
    """Returns the flags of a sequence and of all in it, in the order of the text of their sets."""
    flags: list[Flag] = []
    for index, item in enumerate(sequence.items):
        if isinstance(item, Loop):
            flags += all_flags(item.body)
            flags += [flag for over in item.handed for flag in over]
        elif isinstance(item, Choice):
            for branch in item.branches:
                flags += all_flags(branch)
        flags += sequence.sets.get(index, ())
    return flags
