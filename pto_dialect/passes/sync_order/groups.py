"""Signals that can only go together, and which of them a program can do without.

Source: docs/reference/synchronisation.md, "Judging a program".
"""

from __future__ import annotations

from dataclasses import dataclass

from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import SCALAR, Leaf, Sequence, Signal, innermost
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.accesses.signals import tells_others

from .course import Course, Finding
from .known import Known

_ORDER = {"join": 0, "barrier": 1, "set": 2, "wait": 2}


@dataclass(eq=False)
class Group:
    """A barrier, or sets and waits of one flag of which none can go without the others.

    ``sequence`` is the innermost one that has all of them, ``first`` and ``last`` the items of it in which they stand.
    """

    signals: tuple[Signal, ...]
    sequence: Sequence
    first: int
    last: int


class _NeededError(Exception):
    """Without the group something is not in order any more."""


class _Trial(Course):
    """A run that ends at the first finding that is not known."""

    def __init__(self, reader: Reader, without: frozenset[Signal], known: dict[Finding, None]) -> None:
        super().__init__(reader, without)
        self.known = known

    def note(self, finding: Finding) -> None:
        if finding not in self.known:
            raise _NeededError


class _Recorder(Course):
    """A run that keeps the state before each item, and behind the last, of every visit of a sequence."""

    def __init__(self, reader: Reader, without: frozenset[Signal]) -> None:
        super().__init__(reader, without)
        self.visits: dict[Sequence, list[list[Known]]] = {}

    def items(self, sequence: Sequence, state: Known) -> Known:
        visit = [state.copy()]
        self.visits.setdefault(sequence, []).append(visit)
        for item in sequence.items:
            state = self.item(item, state)
            visit.append(state.copy())
        return state


class Judge:
    """Follows ``sequence`` and tries what happens without each of its groups of signals.

    ``found`` is what is not in order with all of them. Raises :class:`UnsupportedError` where the sequence cannot be
    followed.
    """

    def __init__(self, reader: Reader, sequence: Sequence) -> None:
        self.reader = reader
        self.sequence = sequence
        self.gone: frozenset[Signal] = frozenset()
        self.course = self._walk()
        self.found = self.course.found
        end = self.visits[sequence][0][-1]
        self.left = [signal for tokens in end.queues.values() for token in tokens for signal in token.sets]

    def _walk(self) -> Course:
        course = _Recorder(self.reader, self.gone)
        course.items(self.sequence, Known(self.reader.users))
        self.visits = course.visits
        return course

    def groups(self) -> list[Group]:
        """All groups: first full barriers, then others, then flags, each in the order of the text.

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
        found: dict[int, Group] = {}
        ending = self._ending()
        for signal in innermost(self.sequence):
            if not isinstance(signal, Signal):
                continue
            if signal.kind in ("join", "barrier"):
                together[signal] = {signal}
            if signal.kind == "barrier" and _drains(signal):
                continue
            members = together.get(signal)
            if members is not None and id(members) not in found and not members.intersection(ending):
                found[id(members)] = _group(members)
        return sorted(found.values(), key=lambda group: _ORDER[group.signals[0].kind])

    def _ending(self) -> set[Signal]:
        """Flags that nothing takes, and what the scalar unit waits for behind all work."""
        found = set(self.left)
        for item in reversed(self.sequence.items):
            if not isinstance(item, Signal):
                break
            if item.kind == "join" or (item.kind == "wait" and item.target == SCALAR):
                found.add(item)
        return found

    def dispensable(self, group: Group) -> bool:
        """Whether all that is in order stays so without ``group``, which is then gone for what is asked later."""
        without = self.gone | set(group.signals)
        try:
            changed = self._without(_Trial(self.reader, without, self.found), group)
        except _NeededError:
            return False
        self.gone = without
        if changed is None:
            self._walk()
        else:
            for visit, index, state in changed:
                visit[index] = state
        return True

    def lost(self, group: Group) -> list[Finding]:
        """What is not in order any more without ``group``."""
        trial = Course(self.reader, self.gone | set(group.signals))
        self._without(trial, group)
        return [finding for finding in trial.found if finding not in self.found]

    def _without(self, trial: Course, group: Group) -> list[tuple[list[Known], int, Known]] | None:
        """Runs what may change without ``group``, each visit of its sequence from its first signal until all is known
        again that was before. The states that have changed, each with its place; ``None`` if more than these have."""
        changed: list[tuple[list[Known], int, Known]] = []
        simple = True
        items = group.sequence.items
        for visit in self.visits[group.sequence]:
            state = visit[group.first].copy()
            for index in range(group.first, len(items)):
                simple &= isinstance(items[index], Leaf | Signal)
                state = trial.item(items[index], state)
                if index >= group.last and state.order() == visit[index + 1].order():
                    break
                changed.append((visit, index + 1, state.copy()))
            else:
                if group.sequence is not self.sequence:
                    trial.items(self.sequence, Known(self.reader.users))
                    return None
        return changed if simple else None


def _drains(signal: Signal) -> bool:
    """Whether something behind a barrier, in its sequence, tells others that work is done."""
    sequence, index = signal.path[-1]
    return any(tells_others(op) for item in sequence.items[index + 1 :] for op in walk(item.op))


def _group(members: set[Signal]) -> Group:
    """The group of these signals, in the order of the text."""
    ordered = sorted(members, key=lambda one: [index for _, index in one.path])
    paths = [one.path for one in ordered]
    steps = list(zip(*paths, strict=False))
    depth = max(level for level, step in enumerate(steps) if all(one is step[0][0] for one, _ in step))
    places = [path[depth][1] for path in paths]
    return Group(tuple(ordered), paths[0][depth][0], min(places), max(places))
