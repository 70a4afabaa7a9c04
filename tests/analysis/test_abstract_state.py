"""Joining abstract states keeps the decisions that still distinguish them, and no others."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from groups import in_groups
from parse_helpers import parsed
from xdsl.ir import SSAValue

from pto_dialect.analysis.abstract_state import AbstractState, Decision, join_states
from pto_dialect.analysis.abstract_values import fresh_unknown

CHOICES = {("lt", "a", "b"): 2, ("case", "n"): 3, ("trips", "m"): 3}


@dataclass
class Nothing:
    """A domain that tracks nothing."""

    copies: int = 0

    def copy(self) -> Nothing:
        return Nothing(self.copies + 1)


def state(**choices: int) -> AbstractState:
    """A state with these decisions; a condition is named by its first part."""
    known = {condition[0]: (condition, count) for condition, count in CHOICES.items()}
    decisions = {known[name][0]: Decision(choice, known[name][1]) for name, choice in choices.items()}
    return AbstractState(Nothing(), decisions=decisions)  # type: ignore[arg-type]


def covered(states: list[AbstractState]) -> set[tuple[int, ...]]:
    """All combinations of choices that one of the states covers."""
    found: set[tuple[int, ...]] = set()
    for one in states:
        ranges = [[one.decisions[q].choice] if q in one.decisions else range(n) for q, n in CHOICES.items()]
        found |= set(product(*ranges))
    return found


def all_decisions() -> Iterator[tuple[int, ...]]:
    return product(*map(range, CHOICES.values()))


def of(decisions: tuple[int, ...]) -> AbstractState:
    return state(**{condition[0]: choice for condition, choice in zip(CHOICES, decisions, strict=True)})


def test_decisions_with_all_choices_are_dropped() -> None:
    (one,) = join_states([of(decisions) for decisions in all_decisions()])
    assert one.decisions == {}
    (one,) = join_states([state(lt=0, case=1), state(lt=1, case=1)])
    assert one.decisions == state(case=1).decisions
    (one,) = join_states([state(lt=1, case=n) for n in (2, 0, 1)])
    assert one.decisions == state(lt=1).decisions


def test_decisions_with_some_choices_are_retained() -> None:
    for decisions in ([{"lt": 1}], [{"case": 0}, {"case": 2}], [{"lt": 0, "case": 1}, {"lt": 1, "case": 2}]):
        states = [state(**one) for one in decisions]
        assert [one.decisions for one in join_states(states)] == [state(**one).decisions for one in decisions]


def test_equal_states_are_merged() -> None:
    first, other = state(case=1), state(case=2)
    assert join_states([first, state(case=1), other, state(case=1)]) == [first, other]


def test_state_without_a_decision_is_not_counted_as_a_choice() -> None:
    """It covers all choices, but may have been reached on another path."""
    states = join_states([state(lt=0), state(lt=1), state()])
    assert [one.decisions for one in states] == [{}]
    states = join_states([state(case=0), state(case=1), state()])
    assert [len(one.decisions) for one in states] == [1, 1, 0]


@in_groups("seed", range(20))
def test_join_covers_exactly_the_same_paths(seed: int) -> None:
    """Compares with an enumeration of all paths; no condition keeps all of its choices."""
    rng = random.Random(seed)
    chosen = rng.sample(list(all_decisions()), rng.randrange(1, 19))
    states = [of(decisions) for decisions in chosen]
    for one in rng.sample(states, len(states) // 4):
        one.decisions.pop(rng.choice(list(one.decisions)))
    before = covered(states)
    after = join_states(states)
    assert covered(after) == before
    for condition, choices in CHOICES.items():
        alike: dict[object, set[int]] = {}
        for one in after:
            if condition in one.decisions:
                rest = frozenset(item for item in one.decisions.items() if item[0] != condition)
                alike.setdefault(rest, set()).add(one.decisions[condition].choice)
        assert all(len(found) < choices for found in alike.values())
    assert len({frozenset(one.decisions.items()) for one in after}) == len(after)


# ------------------------------------------------------------ one state


def values(count: int) -> list[SSAValue]:
    arguments = ", ".join(f"%a{number}: index" for number in range(count))
    module, errors = parsed(f"func.func @f({arguments}) {{\n  return\n}}\n")
    assert module is not None and not errors
    return list(next(op for op in module.walk() if op.name == "func.func").regions[0].block.args)


def test_bound_values_are_path_dependent() -> None:
    a, b, c = values(3)
    one = AbstractState(Nothing())  # type: ignore[arg-type]
    assert one.value_of(a) == one.value_by_id(id(a)) == (id(a),)
    one.values[id(a)] = 0
    one.bind([b, c], [7, ("lt", 1, 2)])
    assert (one.value_of(a), one.value_of(b), one.value_by_id(id(c))) == (0, 7, ("lt", 1, 2))
    assert one.path_dependent == {id(b): 7, id(c): ("lt", 1, 2)}


def test_passed_values_are_bound_once() -> None:
    a, b, c = values(3)
    one = AbstractState(Nothing(), passed=[4, 5])  # type: ignore[arg-type]
    one.bind_results([a, b, c])
    assert one.values == one.path_dependent == {id(a): 4, id(b): 5}
    assert one.passed == []


def test_fork_is_independent() -> None:
    a, b = values(2)
    one = AbstractState(Nothing(), {id(a): 1}, dict(state(lt=1).decisions), {id(a): 1}, [3])  # type: ignore[arg-type]
    other = one.fork()
    assert other.domain.copies == 1
    assert (other.values, other.decisions, other.path_dependent, other.passed) == (
        one.values, one.decisions, one.path_dependent, one.passed,
    )  # fmt: skip
    other.bind([b], [2])
    other.decisions.clear()
    assert one.values == one.path_dependent == {id(a): 1} and one.decisions == state(lt=1).decisions


def test_decisions_about_dead_values_are_dropped() -> None:
    """Decisions about earlier operations and about passed values are retained."""
    op = parsed("func.func @f() {\n  return\n}\n")[0]
    assert op is not None
    early, late, passed = (("lt", fresh_unknown(op, order), 3) for order in (4, 5, 6))
    known = ("lt", ("a", 3), 9)
    decisions = {condition: Decision(1, 2) for condition in (early, late, passed, known)}
    one = AbstractState(Nothing(), decisions=dict(decisions), passed=[1, ("sum", fresh_unknown(op, 6))])  # type: ignore[arg-type]
    one.drop_stale_decisions(4)
    assert set(one.decisions) == {early, passed, known}
    one.drop_stale_decisions(3)
    assert set(one.decisions) == {passed, known}
    one.passed = []
    one.drop_stale_decisions(6)
    assert set(one.decisions) == {passed, known}
    one.drop_stale_decisions(5)
    assert set(one.decisions) == {known}
