"""States of a function put together: what answers led to them stays known, and nothing else."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import pytest
from parse_helpers import parsed
from xdsl.ir import SSAValue

from pto_dialect.analysis.numbers import unknown
from pto_dialect.analysis.world import Answer, World, joined

CHOICES = {("lt", "a", "b"): 2, ("case", "n"): 3, ("trips", "m"): 3}


@dataclass
class Nothing:
    """A machine that follows nothing."""

    copies: int = 0

    def copy(self) -> Nothing:
        return Nothing(self.copies + 1)


def world(**answers: int) -> World:
    """One whose questions are named by their first words."""
    known = {question[0]: (question, choices) for question, choices in CHOICES.items()}
    return World(Nothing(), answers={known[k][0]: Answer(which, known[k][1]) for k, which in answers.items()})  # type: ignore[arg-type]


def covered(worlds: list[World]) -> set[tuple[int, ...]]:
    """Every way of answering all questions that leads to one of the worlds."""
    found: set[tuple[int, ...]] = set()
    for one in worlds:
        ranges = [[one.answers[q].which] if q in one.answers else range(n) for q, n in CHOICES.items()]
        found |= set(product(*ranges))
    return found


def all_worlds() -> Iterator[tuple[int, ...]]:
    return product(*map(range, CHOICES.values()))


def of(answers: tuple[int, ...]) -> World:
    return world(**{question[0]: which for question, which in zip(CHOICES, answers, strict=True)})


def test_all_answers_are_no_answer() -> None:
    (one,) = joined([of(answers) for answers in all_worlds()])
    assert one.answers == {}
    (one,) = joined([world(lt=0, case=1), world(lt=1, case=1)])
    assert one.answers == world(case=1).answers
    (one,) = joined([world(lt=1, case=n) for n in (2, 0, 1)])
    assert one.answers == world(lt=1).answers


def test_some_answers_stay() -> None:
    for answers in ([{"lt": 1}], [{"case": 0}, {"case": 2}], [{"lt": 0, "case": 1}, {"lt": 1, "case": 2}]):
        worlds = [world(**one) for one in answers]
        assert [one.answers for one in joined(worlds)] == [world(**one).answers for one in answers]


def test_each_combination_of_answers_stays_once() -> None:
    first, other = world(case=1), world(case=2)
    assert joined([first, world(case=1), other, world(case=1)]) == [first, other]


def test_a_world_that_was_never_asked_is_not_one_of_the_answers() -> None:
    """It stands for all answers, but it need not have come the same way."""
    worlds = joined([world(lt=0), world(lt=1), world()])
    assert [one.answers for one in worlds] == [{}]
    worlds = joined([world(case=0), world(case=1), world()])
    assert [len(one.answers) for one in worlds] == [1, 1, 0]


@pytest.mark.parametrize("seed", range(20))
def test_no_way_is_lost_or_added(seed: int) -> None:
    """Against all ways one by one; what is left holds no question whose answers are all there otherwise alike."""
    rng = random.Random(seed)
    chosen = rng.sample(list(all_worlds()), rng.randrange(1, 19))
    worlds = [of(answers) for answers in chosen]
    for one in rng.sample(worlds, len(worlds) // 4):
        one.answers.pop(rng.choice(list(one.answers)))
    before = covered(worlds)
    after = joined(worlds)
    assert covered(after) == before
    for question, choices in CHOICES.items():
        alike: dict[object, set[int]] = {}
        for one in after:
            if question in one.answers:
                rest = frozenset(item for item in one.answers.items() if item[0] != question)
                alike.setdefault(rest, set()).add(one.answers[question].which)
        assert all(len(found) < choices for found in alike.values())
    assert len({frozenset(one.answers.items()) for one in after}) == len(after)


# ------------------------------------------------------------ one world


def values(count: int) -> list[SSAValue]:
    arguments = ", ".join(f"%a{number}: index" for number in range(count))
    module, errors = parsed(f"func.func @f({arguments}) {{\n  return\n}}\n")
    assert module is not None and not errors
    return list(next(op for op in module.walk() if op.name == "func.func").regions[0].block.args)


def test_what_is_known_of_values() -> None:
    a, b, c = values(3)
    one = World(Nothing())  # type: ignore[arg-type]
    assert one.number(a) == one.of(id(a)) == (id(a),)
    one.values[id(a)] = 0
    one.vary([b, c], [7, ("lt", 1, 2)])
    assert (one.number(a), one.number(b), one.of(id(c))) == (0, 7, ("lt", 1, 2))
    assert one.differing == {id(b): 7, id(c): ("lt", 1, 2)}


def test_what_a_block_passes_on_is_given_once() -> None:
    a, b, c = values(3)
    one = World(Nothing(), given=[4, 5])  # type: ignore[arg-type]
    one.give([a, b, c])
    assert one.values == one.differing == {id(a): 4, id(b): 5}
    assert one.given == []


def test_a_fork_goes_on_by_itself() -> None:
    a, b = values(2)
    one = World(Nothing(), {id(a): 1}, dict(world(lt=1).answers), {id(a): 1}, [3])  # type: ignore[arg-type]
    other = one.fork()
    assert other.machine.copies == 1
    assert (other.values, other.answers, other.differing, other.given) == (
        one.values, one.answers, one.differing, one.given,
    )  # fmt: skip
    other.vary([b], [2])
    other.answers.clear()
    assert one.values == one.differing == {id(a): 1} and one.answers == world(lt=1).answers


def test_answers_about_values_that_are_gone_are_forgotten() -> None:
    """Those of earlier operations stay, and those about what is passed on."""
    op = parsed("func.func @f() {\n  return\n}\n")[0]
    assert op is not None
    early, late, passed = (("lt", unknown(op, order), 3) for order in (4, 5, 6))
    known = ("lt", ("a", 3), 9)
    answers = {question: Answer(1, 2) for question in (early, late, passed, known)}
    one = World(Nothing(), answers=dict(answers), given=[1, ("sum", unknown(op, 6))])  # type: ignore[arg-type]
    one.forget(4)
    assert set(one.answers) == {early, passed, known}
    one.forget(3)
    assert set(one.answers) == {passed, known}
    one.given = []
    one.forget(6)
    assert set(one.answers) == {passed, known}
    one.forget(5)
    assert set(one.answers) == {known}
