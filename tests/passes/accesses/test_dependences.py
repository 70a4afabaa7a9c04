"""Who has to wait for whom, condition by condition. Source: docs/reference/synchronisation.md, "Dependences", "Order
inside one pipe".
"""

from __future__ import annotations

from itertools import product
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest

from pto_dialect import parse
from pto_dialect.ir.core.base import Pipe
from pto_dialect.passes.accesses import dependences
from pto_dialect.passes.accesses.dependences import Levels
from pto_dialect.passes.accesses.items import NUMBER, Loop
from pto_dialect.passes.accesses.locations import GLOBAL, REGISTERS

PIPES = {name: NUMBER[getattr(Pipe, name)] for name in ("V", "MTE1", "MTE2", "MTE3", "M", "FIX")}
YES = (False, True)
must_wait: Any = dependences.must_synchronize


class Ground:
    """Bytes by name; ``holds`` says which others lie in them."""

    def __init__(self, space: str, name: str, inside: tuple[str, ...] = ()) -> None:
        self.space, self.name, self.inside = space, name, inside

    def holds(self, other: Ground) -> bool:
        return other.name == self.name or other.name in self.inside


class Lines:
    """A sequence of items."""

    def __init__(self, *items: Any) -> None:
        self.items = items


def access(pipe: int, writes: bool, place: Ground, number: int = 3, turn: int = 0, op: str = "", path: Any = ()) -> Any:
    leaf = SimpleNamespace(pipe=pipe, op=op, path=path)
    return SimpleNamespace(leaf=leaf, number=number, writes=writes, location=place, iteration=turn)


def leaf(pipe: int, op: str = "", path: Any = ()) -> Any:
    return SimpleNamespace(pipe=pipe, op=op, path=path)


def state(turn: int = 0, *earlier: Any) -> Any:
    return SimpleNamespace(iteration=turn, now=9, earlier=lambda place: list(earlier))


@pytest.fixture(autouse=True)
def words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Operations are words here: what they say of unit flags and of streams is in them."""
    monkeypatch.setattr(dependences, "unit_flag", lambda op: "flag" in op)
    monkeypatch.setattr(
        dependences, "is_streamed", lambda one, other, kind: kind in one.op and one.number < other.number
    )


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_pipes_wait_for_others_unless_both_count_unit_flags(arch: str) -> None:
    place = Ground("l0c", "x")
    for (one, first), (two, second) in product(PIPES.items(), repeat=2):
        for mine, theirs, wrote, writes in product(("", "flag"), ("", "flag"), YES, YES):
            if one != two:
                found = must_wait(
                    access(first, wrote, place, op=mine), leaf(second, theirs), place, writes, state(), arch
                )
                assert found is not (mine == theirs == "flag")


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
@pytest.mark.parametrize("space", ["ub", "l1", "l0c", GLOBAL, REGISTERS])
def test_order_inside_one_pipe(arch: str, space: str) -> None:
    place = Ground(space, "x")
    for (name, pipe), wrote, writes, same, kind in product(PIPES.items(), YES, YES, YES, ("", "raw", "war", "waw")):
        mine = "waw" if wrote and writes else "raw" if wrote or not writes else "war"
        found = must_wait(access(pipe, wrote, place, op=kind), leaf(pipe), place, writes, state(0 if same else 1), arch)
        if space == REGISTERS:
            assert found is False
        elif (name, arch) == ("V", "a2a3"):
            assert found is not (same and kind == mine)
        elif not (wrote and writes):
            assert found is False
        else:
            assert found is (name in ("MTE3", "FIX") if space == GLOBAL else name == "MTE2")


@pytest.mark.parametrize("wrote", YES)
@pytest.mark.parametrize("number", [2, 3, 4])
@pytest.mark.parametrize(("place", "related"), [("x", True), ("part", True), ("all", True), ("other", False)])
def test_loads_of_bytes_that_somebody_has_used_since(wrote: bool, number: int, place: str, related: bool) -> None:
    """The use is in the sequence of both: it always happens between them."""
    grounds = {"x": Ground("ub", "x", ("part",)), "part": Ground("ub", "part"), "other": Ground("ub", "other"),
               "all": Ground("ub", "all", ("x", "part"))}  # fmt: skip
    path = ((Lines(), 0),)
    used = access(PIPES["V"], wrote, grounds[place], number, path=path)
    first = access(PIPES["MTE2"], True, grounds["x"], 3, path=path)
    found = must_wait(first, leaf(PIPES["MTE2"], path=path), grounds["x"], True, state(0, used), "a5")
    assert found is not (related and not wrote and number > 3)


def test_a_use_of_other_bytes_of_a_load_orders_nothing() -> None:
    """Who loads over the rest waits for nobody who has used the first part."""
    whole = Ground("ub", "whole", ("part", "rest"))
    part, rest = Ground("ub", "part"), Ground("ub", "rest")
    path = ((Lines(), 0),)
    used = access(PIPES["V"], False, part, 4, path=path)
    first = access(PIPES["MTE2"], True, whole, 3, path=path)
    for place, waits in ((rest, True), (part, False), (whole, False)):
        assert must_wait(first, leaf(PIPES["MTE2"], path=path), place, True, state(0, used), "a5") is waits


def loop(trips: float) -> Any:
    nothing: Any = None
    return Loop(nothing, nothing, None, trips)


CHOICE = SimpleNamespace()


@pytest.mark.parametrize(
    ("around", "certain"),
    [
        ((), True),
        ((loop(4),), True),
        ((loop(inf),), False),
        ((CHOICE,), False),
        ((loop(4), loop(2)), True),
        ((loop(4), CHOICE), False),
        ((CHOICE, loop(4)), False),
    ],
)
@pytest.mark.parametrize("shared", ["", "first", "second"])
@pytest.mark.parametrize("turns", [(0, 0, 0), (0, 1, 0), (1, 1, 0), (0, 1, 1)])
def test_a_use_counts_that_happens_on_every_path(around: Any, certain: bool, shared: str, turns: Any) -> None:
    """``turns``: those of the load before, of the use, and of the load after; one load may be beside the use."""
    sequences = [Lines(item) for item in around] + [Lines()]
    path = tuple((sequence, 0) for sequence in sequences)
    place, top = Ground("ub", "x"), path[:1]
    before, use, behind = turns
    used = access(PIPES["V"], False, place, 4, use, path=path)
    first = access(PIPES["MTE2"], True, place, 3, before, path=path if shared == "first" else top)
    second = leaf(PIPES["MTE2"], path=path if shared == "second" else top)
    beside = (shared == "first" and use == before) or (shared == "second" and use == behind)
    assert must_wait(first, second, place, True, state(behind, used), "a5") is not (certain or beside)


LEVELS = """func.func @f(%n: index) {
  %a = arith.constant 1 : index
  scf.for %i = %a to %n step %a {
    %b = arith.addi %i, %a : index
    scf.for %j = %a to %b step %a {
      %c = arith.addi %j, %b : index
      scf.for %k = %a to %c step %a {
        %d = arith.addi %k, %c : index
      }
    }
  }
  return
}"""


def test_levels_of_values() -> None:
    module = parse(LEVELS)
    values = {result.name_hint: result for op in module.walk() for result in op.results}
    loops = [op for op in module.walk() if op.name == "scf.for"]
    arguments = {f"loop {n}": op.regions[0].block.args[0] for n, op in enumerate(loops)}
    levels = Levels(loops[1].regions[0].block)
    known = {name: levels.of(value) for name, value in {**values, **arguments}.items()}
    assert known == {"a": 0, "b": 0, "c": 1, "d": 2, "loop 0": 0, "loop 1": 1, "loop 2": 2}
    assert [levels.is_invariant_inside(values[name]) for name in "abcd"] == [True, True, True, False]
    assert [levels.is_invariant(values[name]) for name in "abcd"] == [True, True, False, False]
