"""One state that a function can be in, and states that no longer differ put together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

from xdsl.ir import Operation, SSAValue

from .abstract_values import AbstractValue, Symbolic, unknown_leaves
from .path_conditions import NEVER


class Step(NamedTuple):
    """One operation where it runs: the numbers of its operands, its place in the order of the text, and which
    iterations of the loops around it these are, counted from 1."""

    op: Operation
    values: tuple[AbstractValue, ...]
    position: int
    iterations: tuple[tuple[Operation, int], ...] = ()


class Domain(Protocol):
    """What is followed along the ways of a function."""

    def is_relevant(self, op: Operation) -> bool:
        """Whether an operation without regions may change the state; the same wherever it runs."""
        ...

    def relevant_operands(self, op: Operation) -> Iterable[SSAValue]:
        """The operands of an operation that it is concerned with whose numbers it looks at."""
        ...

    def copy(self) -> Self:
        """A machine in the same state that goes on by itself."""
        ...

    def key(self) -> Hashable:
        """Equal for states that make no difference to anything that comes."""
        ...

    def transfer(self, step: Step, is_must: bool) -> bool:
        """Carries out an operation; False when nothing can follow it. ``certain``: every run comes here."""
        ...

    def finish(self, is_must: bool) -> None:
        """The function has ended."""
        ...


M = TypeVar("M", bound=Domain)


class Decision(NamedTuple):
    """One of ``choices`` answers to a question that only a run knows; nobody asks it again behind ``expiry``."""

    choice: int
    choices: int
    last_use: int = NEVER


@dataclass
class AbstractState(Generic[M]):
    """One state: what values are, which answers led here, and the machine. ``differing`` are the values that depend on
    the way, ``given`` what the last block has passed on. Values are known by their ``id``: the module keeps them."""

    domain: M
    values: dict[int, AbstractValue] = field(default_factory=dict)
    decisions: dict[Symbolic, Decision] = field(default_factory=dict)
    path_dependent: dict[int, AbstractValue] = field(default_factory=dict)
    passed: list[AbstractValue] = field(default_factory=list)

    def fork(self) -> AbstractState[M]:
        """Another world that has seen the same so far."""
        return AbstractState(
            self.domain.copy(), dict(self.values), dict(self.decisions), dict(self.path_dependent), self.passed
        )

    def value_of(self, value: SSAValue) -> AbstractValue:
        """What is known about a value."""
        return self.value_by_id(id(value))

    def value_by_id(self, value: int) -> AbstractValue:
        """What is known about the value with this ``id``."""
        known = self.values.get(value)
        return (value,) if known is None else known

    def drop_stale_decisions(self, begin: int) -> None:
        """Leaves out answers about values that came up since ``begin`` and are gone now: nobody can ask again."""
        gone = [question for question in self.decisions if any(order > begin for _, order in unknown_leaves(question))]
        if gone:
            passed = {unknown for number in self.passed for unknown in unknown_leaves(number)}
            for question in gone:
                if passed.isdisjoint(unknown_leaves(question)):
                    del self.decisions[question]

    def bind_results(self, results: Iterable[SSAValue]) -> None:
        """What the last block has passed on as the results of the operation around it."""
        self.bind(results, self.passed)
        self.passed = []

    def bind(self, values: Iterable[SSAValue], numbers: Iterable[AbstractValue]) -> None:
        """Values of which other ways may give others."""
        for value, number in zip(values, numbers, strict=False):
            self.values[id(value)] = self.path_dependent[id(value)] = number


def join_states(group: list[AbstractState[M]]) -> list[AbstractState[M]]:
    """Worlds in one state, without the answers that no longer matter: questions to which all answers led here."""
    worlds = list(group)
    again = len(worlds) > 1
    while again:
        again = False
        for question in _fully_decided(worlds):
            rest: dict[Hashable, list[AbstractState[M]]] = {}
            for world in worlds:
                others = frozenset(item for item in world.decisions.items() if item[0] != question)
                rest.setdefault(others if question in world.decisions else (others, "unasked"), []).append(world)
            kept: list[AbstractState[M]] = []
            for same in rest.values():
                answer = same[0].decisions.get(question)
                which = {world.decisions[question].choice for world in same if question in world.decisions}
                if answer is not None and len(which) == answer.choices:
                    del same[0].decisions[question]
                    kept.append(same[0])
                    again = True
                else:
                    kept += same
            worlds = kept
    return _distinct(worlds)


def _fully_decided(worlds: list[AbstractState[M]]) -> list[Symbolic]:
    """The questions to which the worlds have all answers, each some of them."""
    found: dict[Symbolic, set[int]] = {}
    for world in worlds:
        for question, answer in world.decisions.items():
            found.setdefault(question, set()).add(answer.choice)
    choices = {question: answer.choices for world in worlds for question, answer in world.decisions.items()}
    return [question for question, which in found.items() if len(which) == choices[question]]


def _distinct(worlds: list[AbstractState[M]]) -> list[AbstractState[M]]:
    """Each combination of answers once."""
    found: dict[Hashable, AbstractState[M]] = {}
    for world in worlds:
        found.setdefault(frozenset(world.decisions.items()), world)
    return list(found.values())
