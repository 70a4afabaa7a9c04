"""Cycles of waits by their causes: sums, what is held until the operation comes, and waits of no length."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from pto_dialect.sanitize.instrument.cycle_waits import Cause, Waits

FLAG, PIPE = Cause("flag", "PIPE_MTE2"), Cause("pipe", "PIPE_V")


def thread(pipe: str = "PIPE_V", number: int = 1, core: Any = "core") -> Any:
    return SimpleNamespace(pipe=pipe, number=number, core=core)


@pytest.mark.parametrize("cycles", [0, -1.5])
def test_waits_of_no_length_are_none(cycles: float) -> None:
    waits, one, scalar = Waits(), thread(), thread("PIPE_S", 2)
    waits.hold(one, FLAG, cycles)
    waits.hold(scalar, FLAG, cycles)
    waits.settle(one, 7, PIPE, cycles)
    assert waits.cycles == {} and waits.held == {} and waits.scalar == {}
    assert waits.behind == {1: 7}


def test_what_is_held_counts_for_the_operation_that_comes() -> None:
    waits, one, other = Waits(), thread(), thread(number=2)
    waits.hold(one, FLAG, 3)
    waits.hold(one, FLAG, 4)
    waits.hold(one, PIPE, 0.5)
    assert waits.cycles == {}
    waits.settle(other, 9, None, 5)
    assert waits.cycles == {}
    waits.settle(one, 8, FLAG, 2)
    assert waits.cycles == {1: {FLAG._replace(site=8): 9, PIPE._replace(site=8): 0.5}}
    waits.settle(one, 8, FLAG, 1)
    assert waits.cycles[1][FLAG._replace(site=8)] == 10
    waits.settle(one, 6, PIPE, 1)
    assert waits.cycles[1][PIPE._replace(site=6)] == 1


def test_what_the_scalar_unit_waits_for_is_the_cause_of_late_operations() -> None:
    waits, scalar, one = Waits(), thread("PIPE_S", 2), thread()
    assert waits.issued(one, 5) == Cause("scalar", "PIPE_S", 5)
    waits.hold(scalar, FLAG, 1)
    assert waits.issued(one, 5) == FLAG._replace(site=5)
    assert waits.issued(thread(core="other"), 5) == Cause("scalar", "PIPE_S", 5)
