"""Numbers under an assumption about others. Independent formulas: Python's own arithmetic."""

from __future__ import annotations

from time import process_time

import pytest
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block

from pto_dialect.analysis.abstract_values import AbstractValue
from pto_dialect.analysis.assumptions import MAX_ASSUMPTIONS, evaluate_under, zero_trip_assumptions

ARGUMENTS = Block(arg_types=[IndexType()] * 8).args
N, M = ((id(argument),) for argument in ARGUMENTS[:2])


@pytest.mark.parametrize("n", [0, 1, 5])
def test_numbers_follow_from_the_assumption(n: int) -> None:
    given = {N[0]: n}
    product: AbstractValue = ("arith.muli", ("arith.addi", N, 3), 4)
    assert evaluate_under(N, given) == evaluate_under(("new", N[0], 17), given) == n
    assert evaluate_under(product, given) == (n + 3) * 4
    assert evaluate_under(("lt", N, product), given) == int(n < (n + 3) * 4)
    assert evaluate_under(("not", ("eq", N, 1)), given) == int(n != 1)
    for other in (M, ("arith.addi", N, M), ("not", ("lt", M, N)), ("turn", N, 1, 2)):
        assert evaluate_under(other, given) == other


def test_numbers_from_long_texts_stay_open() -> None:
    number: AbstractValue = N
    for _ in range(100_000):
        number = ("arith.addi", number, 1)
    assert evaluate_under(number, {N[0]: 0}) is number
    assert list(zero_trip_assumptions(ARGUMENTS, [(0, number, 1)])) == []


@pytest.mark.parametrize(
    ("bounds", "wanted"),
    [
        ((0, N, 1), 0),
        ((2, N, 1), 2),
        ((0, ("arith.subi", N, 1), 1), 1),
        ((0, ("arith.addi", N, 1), 1), None),
        ((0, ("arith.maxsi", N, 1), 1), None),
        ((0, ("new", 1, 2), 1), None),
        ((N, 4, 1), None),
        ((0, N, -1), None),
        ((0, N, M), None),
    ],
)
def test_loops_that_can_be_empty(bounds: tuple[AbstractValue, ...], wanted: int | None) -> None:
    assert list(zero_trip_assumptions(ARGUMENTS, [bounds])) == ([] if wanted is None else [{N[0]: wanted}])


def test_all_loops_at_once_come_last_and_their_number_is_bounded() -> None:
    values = [id(argument) for argument in ARGUMENTS]
    loops: list[tuple[AbstractValue, ...]] = [(0, (value,), 1) for value in values]
    assert list(zero_trip_assumptions(ARGUMENTS, [loops[0], loops[0]])) == [{values[0]: 0}]
    found = list(zero_trip_assumptions(ARGUMENTS, loops))
    assert found[:-1] == [{value: 0} for value in values[:MAX_ASSUMPTIONS]]
    assert found[-1] == dict.fromkeys(values, 0)


def test_numbers_with_shared_parts_take_linear_time() -> None:
    number: AbstractValue = (7,)
    for _ in range(30):
        number = ("arith.addi", number, number)
    began = process_time()
    assert evaluate_under(number, {7: 1}) == 2**30
    assert list(zero_trip_assumptions([], [(0, number, 1)])) == []
    assert process_time() - began < 1
