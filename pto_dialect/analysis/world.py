"""One state that a function can be in, and states that no longer differ put together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

from xdsl.ir import Operation, SSAValue

from .numbers import Number, Unknown, unknowns
from .questions import FOREVER


class Step(NamedTuple):
    """One operation where it runs: the numbers of its operands, its place in the order of the text, and which
    iterations of the loops around it these are, counted from 1."""

    op: Operation
    numbers: tuple[Number, ...]
    order: int
    turns: tuple[tuple[Operation, int], ...] = ()


class Machine(Protocol):
    """What is followed along the ways of a function."""

    def concerns(self, op: Operation) -> bool:
        """Whether an operation without regions may change the state; the same wherever it runs."""
        ...

    def uses(self, op: Operation) -> Iterable[SSAValue]:
        """The operands of an operation that it is concerned with whose numbers it looks at."""
        ...

    def copy(self) -> Self:
        """A machine in the same state that goes on by itself."""
        ...

    def key(self) -> Hashable:
        """Equal for states that make no difference to anything that comes."""
        ...

    def take(self, step: Step, certain: bool) -> bool:
        """Carries out an operation; False when nothing can follow it. ``certain``: every run comes here."""
        ...

    def finish(self, certain: bool) -> None:
        """The function has ended."""
        ...


M = TypeVar("M", bound=Machine)


class Answer(NamedTuple):
    """One of ``choices`` answers to a question that only a run knows; nobody asks it again behind ``expiry``."""

    which: int
    choices: int
    expiry: int = FOREVER


@dataclass
class World(Generic[M]):
    """One state: what values are, which answers led here, and the machine. ``differing`` are the values that depend on
    the way, ``given`` what the last block has passed on. Values are known by their ``id``: the module keeps them."""

    machine: M
    values: dict[int, Number] = field(default_factory=dict)
    answers: dict[Unknown, Answer] = field(default_factory=dict)
    differing: dict[int, Number] = field(default_factory=dict)
    given: list[Number] = field(default_factory=list)

    def fork(self) -> World[M]:
        """Another world that has seen the same so far."""
        return World(self.machine.copy(), dict(self.values), dict(self.answers), dict(self.differing), self.given)

    def number(self, value: SSAValue) -> Number:
        """What is known about a value."""
        return self.of(id(value))

    def of(self, value: int) -> Number:
        """What is known about the value with this ``id``."""
        known = self.values.get(value)
        return (value,) if known is None else known

    def forget(self, begin: int) -> None:
        """Leaves out answers about values that came up since ``begin`` and are gone now: nobody can ask again."""
        gone = [question for question in self.answers if any(order > begin for _, order in unknowns(question))]
        if gone:
            passed = {unknown for number in self.given for unknown in unknowns(number)}
            for question in gone:
                if passed.isdisjoint(unknowns(question)):
                    del self.answers[question]

    def give(self, results: Iterable[SSAValue]) -> None:
        """What the last block has passed on as the results of the operation around it."""
        self.vary(results, self.given)
        self.given = []

    def vary(self, values: Iterable[SSAValue], numbers: Iterable[Number]) -> None:
        """Values of which other ways may give others."""
        for value, number in zip(values, numbers, strict=False):
            self.values[id(value)] = self.differing[id(value)] = number


def joined(group: list[World[M]]) -> list[World[M]]:
    """Worlds in one state, without the answers that no longer matter: questions to which all answers led here."""
    worlds = list(group)
    again = len(worlds) > 1
    while again:
        again = False
        for question in _answered_all_ways(worlds):
            rest: dict[Hashable, list[World[M]]] = {}
            for world in worlds:
                others = frozenset(item for item in world.answers.items() if item[0] != question)
                rest.setdefault(others if question in world.answers else (others, "unasked"), []).append(world)
            kept: list[World[M]] = []
            for same in rest.values():
                answer = same[0].answers.get(question)
                which = {world.answers[question].which for world in same if question in world.answers}
                if answer is not None and len(which) == answer.choices:
                    del same[0].answers[question]
                    kept.append(same[0])
                    again = True
                else:
                    kept += same
            worlds = kept
    return _different(worlds)


def _answered_all_ways(worlds: list[World[M]]) -> list[Unknown]:
    """The questions to which the worlds have all answers, each some of them."""
    found: dict[Unknown, set[int]] = {}
    for world in worlds:
        for question, answer in world.answers.items():
            found.setdefault(question, set()).add(answer.which)
    choices = {question: answer.choices for world in worlds for question, answer in world.answers.items()}
    return [question for question, which in found.items() if len(which) == choices[question]]


def _different(worlds: list[World[M]]) -> list[World[M]]:
    """Each combination of answers once."""
    found: dict[Hashable, World[M]] = {}
    for world in worlds:
        found.setdefault(frozenset(world.answers.items()), world)
    return list(found.values())
