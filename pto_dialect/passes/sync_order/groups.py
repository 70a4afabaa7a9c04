"""Signals that can only go together, and which of them a program can do without.

Source: docs/reference/synchronisation.md, "Judging a program".
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from typing import NamedTuple

from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import SCALAR, Sequence, Signal, innermost
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.accesses.signals import signals_others

from .course import Course, Finding
from .known import Known

_ORDER = {"join": 0, "barrier": 1, "set": 2, "wait": 2}


@dataclass(eq=False)
class Group:
    """A barrier, or the sets and waits of one flag that must be removed together.

    ``sequence`` is the innermost one that has all of them, ``first`` and ``last`` the items of it that contain them.
    """

    signals: tuple[Signal, ...]
    sequence: Sequence
    first: int
    last: int


class _NeededError(Exception):
    """Without the group something is not in order any more."""


@dataclass(eq=False)
class Visit:
    """One pass over ``sequence``: the states before each of its items and after the last, and for each item the visits
    of its nested sequences, in the order of execution."""

    sequence: Sequence
    states: list[Known]
    parts: list[list[Visit]] = field(default_factory=list)


class _Recorder(Course):
    """A run that keeps its visits; ``visits`` are those of the sequence that runs, item by item."""

    def __init__(self, reader: Reader, without: frozenset[Signal]) -> None:
        super().__init__(reader, without)
        self.visits: list[Visit] = []

    def items(self, sequence: Sequence, state: Known) -> Known:
        visit = Visit(sequence, [state.copy()])
        outside, inside = self.visits, visit.parts
        for item in sequence.items:
            self.visits = []
            inside.append(self.visits)
            state = self.item(item, state)
            visit.states.append(state.copy())
        self.visits = outside
        outside.append(visit)
        return state


class _Trial(Course):
    """A run that ends at the first finding that is not known; it keeps nothing, since most runs end so."""

    def __init__(self, reader: Reader, without: frozenset[Signal], known: dict[Finding, None]) -> None:
        super().__init__(reader, without)
        self.known = known

    def note(self, finding: Finding) -> None:
        if finding not in self.known:
            raise _NeededError


class _Changed(NamedTuple):
    """A position in a visit after which the state differs without a group."""

    visit: Visit
    item: int
    state: Known
    parts: list[Visit]


class Judge:
    """Follows ``sequence`` and tries what happens without each of its groups of signals.

    ``found`` is what is not in order with all of them. Raises :class:`UnsupportedError` where the sequence cannot be
    followed.
    """

    def __init__(self, reader: Reader, sequence: Sequence) -> None:
        self.reader = reader
        self.sequence = sequence
        self.gone: frozenset[Signal] = frozenset()
        self.course = _Recorder(reader, self.gone)
        end = self.course.items(sequence, Known(reader.users))
        self.found = self.course.found
        (self.visit,) = self.course.visits
        self.left = [signal for tokens in end.queues.values() for token in tokens for signal in token.sets]

    def signals(self) -> list[Signal]:
        """Returns all signals, in the order of the text."""
        return [part for part in innermost(self.sequence) if isinstance(part, Signal)]

    def groups(self) -> list[Group]:
        """Returns all groups: first full barriers, then others, then flags, each in the order of the text.

        Not those for which the scalar unit waits at the end, since whoever started the function may count on them, nor
        barriers of a pipe before a signal to others, who may count on its work.
        """
        together: dict[Signal, set[Signal]] = {}
        for wait, sets in self.course.partners.items():
            members = {wait, *sets}
            for one in list(members):
                members |= together.get(one, set())
            for one in members:
                together[one] = members
        by_number: dict[int, Group] = {}
        ending = self._ending()
        telling: dict[Sequence, int] = {}
        for signal in innermost(self.sequence):
            if not isinstance(signal, Signal):
                continue
            if signal.kind in ("join", "barrier"):
                together[signal] = {signal}
            if signal.kind == "barrier":
                sequence, index = signal.path[-1]
                if sequence not in telling:
                    telling[sequence] = _last_telling(sequence)
                if index < telling[sequence]:
                    continue
            members = together.get(signal)
            if members is not None and id(members) not in by_number and not members.intersection(ending):
                by_number[id(members)] = group_of(members)
        return sorted(by_number.values(), key=lambda group: _ORDER[group.signals[0].kind])

    def _ending(self) -> set[Signal]:
        """Flags without a wait, and what the scalar unit waits for after all work."""
        ending = set(self.left)
        for item in reversed(self.sequence.items):
            if not isinstance(item, Signal):
                break
            if item.kind == "join" or (item.kind == "wait" and item.target == SCALAR):
                ending.add(item)
        return ending

    def dispensable(self, group: Group) -> bool:
        """Returns whether all ordered accesses stay ordered without ``group``, which is then removed for later
        queries."""
        without = self.gone | set(group.signals)
        try:
            self._without(_Trial(self.reader, without, self.found), group)
        except _NeededError:
            return False
        self.gone = without
        for one in self._without(_Recorder(self.reader, without), group):
            one.visit.states[one.item + 1] = one.state
            one.visit.parts[one.item] = one.parts
        return True

    def lost(self, group: Group) -> list[Finding]:
        """Returns what is not in order any more without ``group``."""
        trial = Course(self.reader, self.gone | set(group.signals))
        self._without(trial, group)
        return [finding for finding in trial.found if finding not in self.found]

    def _without(self, trial: Course, group: Group) -> list[_Changed]:
        """Runs what may change without ``group``: its sequence from its first signal until all is known again that was
        before, else what is around that. What has changed, if ``trial`` records."""
        path = group.signals[0].path
        depth = next(level for level, (sequence, _) in enumerate(path) if sequence is group.sequence)
        first, last = group.first, group.last
        while True:
            changed, closed = self._run(trial, path[:depth], path[depth][0], first, last)
            if closed or not depth:
                return changed
            depth -= 1
            first = last = path[depth][1]

    def _run(
        self, trial: Course, path: Many[tuple[Sequence, int]], sequence: Sequence, first: int, last: int
    ) -> tuple[list[_Changed], bool]:
        """Repeats every visit of ``sequence``, which is the end of ``path``, from ``first`` until the state after
        ``last`` is the same as before. Returns what has changed, and whether each visit converged."""
        visits = [self.visit]
        for level, (_, index) in enumerate(path):
            inner = path[level + 1][0] if level + 1 < len(path) else sequence
            visits = [part for visit in visits for part in visit.parts[index] if part.sequence is inner]
        changed: list[_Changed] = []
        closed = True
        for visit in visits:
            state = visit.states[first].copy()
            for index in range(first, len(sequence.items)):
                parts: list[Visit] = []
                if isinstance(trial, _Recorder):
                    trial.visits = parts
                state = trial.item(sequence.items[index], state)
                same = index >= last and state.order() == visit.states[index + 1].order()
                if isinstance(trial, _Recorder):
                    changed.append(_Changed(visit, index, state.copy(), parts))
                if same:
                    break
            else:
                closed = False
        return changed, closed


def _last_telling(sequence: Sequence) -> int:
    """Returns the last item of a sequence that signals completed work; -1 if there is none."""
    items = enumerate(sequence.items)
    return max((index for index, item in items if any(signals_others(op) for op in walk(item.op))), default=-1)


def group_of(members: set[Signal]) -> Group:
    """Returns the group of these signals, in the order of the text."""
    ordered = sorted(members, key=lambda one: [index for _, index in one.path])
    paths = [one.path for one in ordered]
    steps = list(zip(*paths, strict=False))
    depth = max(level for level, step in enumerate(steps) if all(one is step[0][0] for one, _ in step))
    indices = [path[depth][1] for path in paths]
    return Group(tuple(ordered), paths[0][depth][0], min(indices), max(indices))
