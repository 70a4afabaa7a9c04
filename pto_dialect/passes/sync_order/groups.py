"""Signals that can only go together, and which of them a program can do without.

Source: docs/reference/synchronisation.md, "Judging a program".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pto_dialect.passes.accesses.items import SCALAR, Choice, Loop, Sequence, Signal
from pto_dialect.passes.accesses.program import Reader

from .course import Course, Finding
from .known import Known

_ORDER = {"join": 0, "barrier": 1, "set": 2, "wait": 2}


@dataclass(eq=False)
class Group:
    """A barrier, or sets and waits of one flag of which none can go without the others. ``first`` and ``last`` are the
    items of the whole sequence in which they stand."""

    signals: tuple[Signal, ...]
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


class Judge:
    """Follows ``sequence`` and tries what happens without each of its groups of signals.

    ``found`` is what is not in order with all of them. Raises :class:`UnsupportedError` where the sequence cannot be
    followed.
    """

    def __init__(self, reader: Reader, sequence: Sequence) -> None:
        self.reader = reader
        self.sequence = sequence
        self.course = Course(reader)
        self.states = [Known()]
        for item in sequence.items:
            self.states.append(self.course.item(item, self.states[-1].copy()))
        self.found = self.course.found
        self.left = [signal for tokens in self.states[-1].queues.values() for token in tokens for signal in token.sets]
        self.gone: frozenset[Signal] = frozenset()

    def groups(self) -> list[Group]:
        """All groups: first full barriers, then others, then flags, each in the order of the text.

        Not those for which the scalar unit waits at the end: whoever started the function may count on them.
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
        for signal in signals(self.sequence):
            if signal.kind in ("join", "barrier"):
                together[signal] = {signal}
            members = together.get(signal)
            if members is not None and id(members) not in found and not members.intersection(ending):
                places = [one.path[0][1] for one in members]
                ordered = sorted(members, key=lambda one: [index for _, index in one.path])
                found[id(members)] = Group(tuple(ordered), min(places), max(places))
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
        trial = _Trial(self.reader, without, self.found)
        states: dict[int, Known] = {}
        state = self.states[group.first].copy()
        try:
            for index in range(group.first, len(self.sequence.items)):
                state = trial.item(self.sequence.items[index], state)
                if index >= group.last and state.order() == self.states[index + 1].order():
                    break
                states[index + 1] = state.copy()
        except _NeededError:
            return False
        for index, known in states.items():
            self.states[index] = known
        self.gone = without
        return True

    def lost(self, group: Group) -> list[Finding]:
        """What is not in order any more without ``group``."""
        trial = Course(self.reader, self.gone | set(group.signals))
        state = self.states[group.first].copy()
        for index in range(group.first, len(self.sequence.items)):
            state = trial.item(self.sequence.items[index], state)
            if index >= group.last and state.order() == self.states[index + 1].order():
                break
        return [finding for finding in trial.found if finding not in self.found]


def signals(sequence: Sequence) -> Iterator[Signal]:
    """The signals of a sequence, those in its regions included, in the order of the text."""
    for item in sequence.items:
        if isinstance(item, Signal):
            yield item
        elif isinstance(item, Loop):
            yield from signals(item.body)
        elif isinstance(item, Choice):
            for branch in item.branches:
                yield from signals(branch)
