"""Abstract state of a function at one point, and the join of equal states."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Generic, NamedTuple, Protocol, Self, TypeVar

from xdsl.ir import Operation, SSAValue

from .abstract_values import AbstractValue, Symbolic, unknown_leaves
from .path_conditions import NEVER

Assumed = Mapping[int, int]
"""Values that arguments are assumed to have in conditions and loop bounds."""
NO_ASSUMPTION: Assumed = MappingProxyType({})


class AnalysisLimitExceeded(Exception):
    """The function exceeds a limit of this analysis."""


class Step(NamedTuple):
    """One execution of an operation: the abstract values of its operands, its position in the order of execution, and
    the iteration of each enclosing loop, counted from 1."""

    op: Operation
    values: tuple[AbstractValue, ...]
    position: int
    iterations: tuple[tuple[Operation, int], ...] = ()


class Domain(Protocol):
    """What a client of the abstract interpreter tracks along control-flow paths: its part of the abstract state and its
    transfer function."""

    def is_relevant(self, op: Operation) -> bool:
        """Returns whether an operation without regions may change the state; independent of where it is executed."""
        ...

    def relevant_operands(self, op: Operation) -> Iterable[SSAValue]:
        """Returns the operands of a relevant operation whose values the transfer function reads."""
        ...

    def copy(self) -> Self:
        """An independent copy of this state."""
        ...

    def key(self) -> Hashable:
        """Returns a key that is equal for states with the same future."""
        ...

    def transfer(self, step: Step, is_must: bool) -> bool:
        """Returns the transfer function: applies an operation. Returns False where execution cannot continue.
        ``is_must``: every execution reaches this step."""
        ...

    def finish(self, is_must: bool) -> None:
        """The end of the function is reached."""
        ...


M = TypeVar("M", bound=Domain)


class Decision(NamedTuple):
    """The choice, out of ``choices``, on an unknown condition; no operation after ``last_use`` reads the condition
    again."""

    choice: int
    choices: int
    last_use: int = NEVER


@dataclass
class AbstractState(Generic[M]):
    """One abstract state: values, decisions on unknown conditions, and the state of the domain. ``path_dependent``
    holds the values that differ between control-flow paths, ``passed`` the operands of the last terminator. Values are
    keyed by ``id``; the module keeps them alive."""

    domain: M
    values: dict[int, AbstractValue] = field(default_factory=dict)
    decisions: dict[Symbolic, Decision] = field(default_factory=dict)
    path_dependent: dict[int, AbstractValue] = field(default_factory=dict)
    passed: list[AbstractValue] = field(default_factory=list)

    def fork(self) -> AbstractState[M]:
        """Returns a copy with the same history."""
        return AbstractState(
            self.domain.copy(), dict(self.values), dict(self.decisions), dict(self.path_dependent), self.passed
        )

    def value_of(self, value: SSAValue) -> AbstractValue:
        """Returns the abstract value of an SSA value."""
        return self.value_by_id(id(value))

    def value_by_id(self, value: int) -> AbstractValue:
        """Returns the abstract value of the SSA value with this ``id``."""
        known = self.values.get(value)
        return (value,) if known is None else known

    def drop_stale_decisions(self, start: int) -> None:
        """Drops decisions about values that were defined after ``begin`` and are dead: no condition can read them
        again."""
        stale = [
            condition for condition in self.decisions if any(order > start for _, order in unknown_leaves(condition))
        ]
        if stale:
            passed = {unknown for number in self.passed for unknown in unknown_leaves(number)}
            for condition in stale:
                if passed.isdisjoint(unknown_leaves(condition)):
                    del self.decisions[condition]

    def bind_results(self, results: Iterable[SSAValue]) -> None:
        """Binds the results of an operation to the operands of the terminator of its region."""
        self.bind(results, self.passed)
        self.passed = []

    def bind(self, values: Iterable[SSAValue], numbers: Iterable[AbstractValue]) -> None:
        """Binds values that may differ between paths."""
        for value, number in zip(values, numbers, strict=False):
            self.values[id(value)] = self.path_dependent[id(value)] = number


def join_states(group: list[AbstractState[M]]) -> list[AbstractState[M]]:
    """Joins states with equal domains: drops the decisions on conditions all of whose choices lead here."""
    states = list(group)
    again = len(states) > 1
    while again:
        again = False
        for condition in _fully_decided(states):
            rest: dict[Hashable, list[AbstractState[M]]] = {}
            for state in states:
                others = frozenset(item for item in state.decisions.items() if item[0] != condition)
                rest.setdefault(others if condition in state.decisions else (others, "undecided"), []).append(state)
            retained: list[AbstractState[M]] = []
            for equal in rest.values():
                decision = equal[0].decisions.get(condition)
                choices = {state.decisions[condition].choice for state in equal if condition in state.decisions}
                if decision is not None and len(choices) == decision.choices:
                    del equal[0].decisions[condition]
                    retained.append(equal[0])
                    again = True
                else:
                    retained += equal
            states = retained
    return _distinct(states)


def _fully_decided(states: list[AbstractState[M]]) -> list[Symbolic]:
    """Returns the conditions all of whose choices occur in the states."""
    result: dict[Symbolic, set[int]] = {}
    for state in states:
        for condition, decision in state.decisions.items():
            result.setdefault(condition, set()).add(decision.choice)
    choices = {condition: decision.choices for state in states for condition, decision in state.decisions.items()}
    return [condition for condition, taken in result.items() if len(taken) == choices[condition]]


def _distinct(states: list[AbstractState[M]]) -> list[AbstractState[M]]:
    """One state for each combination of decisions."""
    result: dict[Hashable, AbstractState[M]] = {}
    for state in states:
        result.setdefault(frozenset(state.decisions.items()), state)
    return list(result.values())
