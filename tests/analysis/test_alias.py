"""The lattice of alias facts, and facts about handles against runs. Source: docs/reference/memory-planning.md, "Alias
facts"."""

from __future__ import annotations

import sys
from itertools import product
from pathlib import Path
from random import Random

import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.arith import SelectOp
from xdsl.dialects.scf import ForOp, IfOp, WhileOp
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect import parse
from pto_dialect.analysis.alias import Alias, Must, Pointees, joined
from pto_dialect.ir.buffers.views import AllocTileOp, SubviewOp
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.locations import HandleLocations
from pto_dialect.targets.choice import get_profile

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from carried_programs import CarriedProgram

FACTS = tuple(Alias)
POINTEES = st.builds(Pointees[int], st.frozensets(st.integers(0, 4), max_size=4), st.booleans())
TRUTHS = {Alias.NO: {False}, Alias.MUST: {True}, Alias.MAY: {False, True}, Alias.UNKNOWN: {False, True}}
"""Whether two names share memory, by what a fact allows."""


@in_groups(("one", "other", "third"), list(product(FACTS, repeat=3)))
def test_join_is_idempotent_commutative_and_associative(one: Alias, other: Alias, third: Alias) -> None:
    assert one.join(one) is one
    assert one.join(other) is other.join(one)
    assert one.join(other).join(third) is one.join(other.join(third))


@pytest.mark.parametrize(("one", "other"), list(product(FACTS, repeat=2)))
def test_join_is_the_least_upper_bound(one: Alias, other: Alias) -> None:
    above = [fact for fact in FACTS if fact.covers(one) and fact.covers(other)]
    assert one.join(other) in above
    assert all(fact.covers(one.join(other)) for fact in above)
    assert TRUTHS[one.join(other)] == TRUTHS[one] | TRUTHS[other]


@in_groups(("one", "other", "third"), list(product(FACTS, repeat=3)))
def test_covers_is_a_partial_order_that_join_respects(one: Alias, other: Alias, third: Alias) -> None:
    assert one.covers(one)
    assert not (one.covers(other) and other.covers(one)) or one is other
    assert not (one.covers(other) and other.covers(third)) or one.covers(third)
    assert not one.covers(other) or one.join(third).covers(other.join(third))


@pytest.mark.parametrize(("one", "other"), list(product(FACTS, repeat=2)))
def test_meet_keeps_what_both_allow(one: Alias, other: Alias) -> None:
    met = one.meet(other)
    assert met is other.meet(one)
    both = TRUTHS[one] & TRUTHS[other]
    assert (met is None) == (not both)
    if met is not None:
        assert TRUTHS[met] == both
        assert one.covers(met)
        assert other.covers(met)
        assert one.join(met) is one


@pytest.mark.parametrize("fact", FACTS)
def test_a_fact_is_certain_or_impossible_only_where_every_run_is_so(fact: Alias) -> None:
    assert fact.is_certain == (TRUTHS[fact] == {True})
    assert fact.is_possible == (True in TRUTHS[fact])


@given(POINTEES, POINTEES, st.integers(0, 4))
def test_pointees_join_as_their_facts_do(one: Pointees[int], other: Pointees[int], target: int) -> None:
    both = one.join(other)
    assert both == other.join(one)
    assert both.join(one) == both
    if (one.objects or one.is_open) and (other.objects or other.is_open):
        assert both.alias(target) is one.alias(target).join(other.alias(target))
        assert joined([one, other]) == both


@given(POINTEES, POINTEES)
def test_the_fact_of_two_handles_covers_all_pairs_of_objects(one: Pointees[int], other: Pointees[int]) -> None:
    fact = one.alias_with(other)
    assert fact is other.alias_with(one)
    objects = [handle.objects | ({9, 10} if handle.is_open else set()) for handle in (one, other)]
    assert {a == b for a, b in product(*objects)} <= TRUTHS[fact]


@given(POINTEES)
def test_a_must_is_the_only_object(one: Pointees[int]) -> None:
    found = one.must()
    assert (found is not None) == (not one.is_open and len(one.objects) == 1)
    if found is not None:
        assert one == Pointees.of(found.object)
        assert found == Must(*one.objects)
        assert one.alias(found.object) is Alias.MUST


def test_nothing_known_is_anything() -> None:
    assert joined([]) == Pointees.unknown()
    assert Pointees.unknown().alias(1) is Alias.UNKNOWN
    assert Pointees.unknown().must() is None


class Interpreter:
    """Runs the handles of a function: conditions and numbers of iterations are drawn. ``meant`` has for each handle the
    allocations that it has stood for."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.now: dict[SSAValue, SSAValue] = {}
        self.meant: dict[SSAValue, set[SSAValue]] = {}

    def bind(self, value: SSAValue, allocation: SSAValue) -> None:
        self.now[value] = allocation
        self.meant.setdefault(value, set()).add(allocation)

    def pass_on(self, values: list[SSAValue], targets: list[SSAValue]) -> None:
        found = [self.now.get(value) for value in values]
        for target, allocation in zip(targets, found, strict=True):
            if allocation is not None:
                self.bind(target, allocation)

    def block(self, block: Block) -> list[SSAValue]:
        """Runs a block; what it hands on."""
        *ops, last = block.ops
        for op in ops:
            self.operation(op)
        return list(last.operands)

    def operation(self, op: Operation) -> None:
        if isinstance(op, AllocTileOp):
            self.bind(op.result, op.result)
        elif isinstance(op, SubviewOp):
            self.pass_on([op.operands[0]], [op.results[0]])
        elif isinstance(op, SelectOp) and isinstance(op.result.type, TileBufType):
            self.pass_on([self.random.choice((op.lhs, op.rhs))], [op.result])
        elif isinstance(op, IfOp):
            regions = [region for region in op.regions if region.blocks]
            if len(regions) == 2 or self.random.random() < 0.5:
                self.pass_on(self.block(self.random.choice(regions).block)[: len(op.results)], list(op.results))
        elif isinstance(op, ForOp):
            carried = list(op.iter_args)
            for _ in range(self.random.randrange(4)):
                self.pass_on(carried, list(op.body.block.args[1:]))
                carried = self.block(op.body.block)
            self.pass_on(carried, list(op.results))
        elif isinstance(op, WhileOp):
            given = list(op.arguments)
            for turn in range(4):
                self.pass_on(given, list(op.before_region.block.args))
                _, *given = self.block(op.before_region.block)
                if turn == 3 or self.random.random() < 0.3:
                    break
                self.pass_on(given, list(op.after_region.block.args))
                given = self.block(op.after_region.block)
            self.pass_on(given, list(op.results))


@in_groups("seed", range(60))
def test_facts_hold_in_every_run(seed: int) -> None:
    """What a handle always is, it is in every run; what it never is, in none."""
    function = next(op for op in walk(parse(CarriedProgram(seed, "a5", 24).text)) if op.name == "func.func")
    places, exact = HandleLocations(get_profile("a5")), 0
    runs = [Interpreter(number) for number in range(40)]
    for run in runs:
        run.block(function.regions[0].block)
    for value in {value for run in runs for value in run.meant}:
        meant = set[SSAValue]().union(*(run.meant.get(value, set()) for run in runs))
        found = places.pointees(value)
        for allocation in meant | found.objects:
            alias = found.alias(allocation)
            assert alias.is_possible or allocation not in meant
            assert not alias.is_certain or meant == {allocation}
            assert all(alias.covers(place.alias) for place in places.of(value) if place.root is allocation)
        exact += len(meant) > 1
    assert exact
