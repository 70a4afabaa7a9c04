"""Which operations are work of a pipe, and what they read and write, worked out by hand. Source:
docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from math import inf
from typing import Any

import pytest

from pto_dialect import parse
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import PIPES, Choice, Leaf, Loop, Sequence, UnsupportedError
from pto_dialect.passes.accesses.places import Places
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.targets.profile import get_profile

T = "!pto.tile_buf<vec, 16x32xf32>"
M = "memref<64xf32, #pto.address_space<vec>>"
HEAD = [
    *(f"%c{n} = arith.constant {n} : index" for n in (0, 1, 2, 8)), "%one = arith.constant 1.0 : f32",
    *(f"%{name} = pto.alloc_tile : {T}" for name in "xyz"),
]  # fmt: skip


def sequence(*lines: str, arch: str = "a5", side: str | None = None) -> Sequence:
    body = "\n".join((*HEAD, *lines))
    text = (
        f"func.func @f(%p: !pto.ptr<f32, gm>, %m: {M}, %i: index, %n: index, %w: i1) {{\n{body}\nreturn\n}}\n"
        "func.func private @g()\n"
    )
    function = next(op for op in walk(parse(text)) if op.name == "func.func")
    return Reader(Places(get_profile(arch)), side).function(function)


def names(places: tuple[Any, ...]) -> list[str]:
    return [place.root.name_hint for place in places]


def accesses(*lines: str, arch: str = "a5") -> list[tuple[str, str, list[str], list[str]]]:
    """Operation, pipe, and the names of what is read and written."""
    return [
        (item.op.name, PIPES[item.pipe].value, names(item.reads), names(item.writes))
        for item in sequence(*lines, arch=arch).items
        if isinstance(item, Leaf)
    ]


def test_reads_and_writes_of_tiles() -> None:
    assert accesses(f"pto.tadd ins(%x, %y : {T}, {T}) outs(%z : {T})") == [("pto.tadd", "PIPE_V", ["x", "y"], ["z"])]
    assert accesses(f"pto.tadd ins(%x, %x : {T}, {T}) outs(%x : {T})") == [("pto.tadd", "PIPE_V", ["x"], ["x"])]


@pytest.mark.parametrize(("arch", "scratch"), [("a2a3", True), ("a5", False)])
def test_scratch_counts_where_the_chip_uses_it(arch: str, scratch: bool) -> None:
    """Of all operands by name, only ``tmp`` is left out, and only where it is not used."""
    row = "!pto.tile_buf<vec, 16x8xf32, valid=16x1>"
    lines = [f"%r = pto.alloc_tile : {row}", f"pto.trowsum ins(%x, %y : {T}, {T}) outs(%r : {row})"]
    ((_, _, reads, writes),) = accesses(*lines, arch=arch)
    assert ("y" in {*reads, *writes}) == scratch
    assert reads[0] == "x" and "r" in writes


def test_other_dialects_work_on_the_scalar_pipe() -> None:
    load, store = f"%v = memref.load %m[%i] : {M}", f"memref.store %one, %m[%i] : {M}"
    assert accesses(load) == [("memref.load", "PIPE_S", ["m"], [])]
    assert accesses(store) == [("memref.store", "PIPE_S", ["m"], ["m"])]
    assert accesses(f"%d = memref.dim %m, %c0 : {M}", "%s = arith.addi %i, %n : index") == []
    with pytest.raises(UnsupportedError, match=r"memref\.copy is not followed"):
        sequence(f"memref.copy %m, %m : {M} to {M}")


ADD = f"pto.tadd ins(%x, %y : {T}, {T}) outs(%z : {T})"


def loop(low: str, high: str, step: str) -> Loop | None:
    found = sequence(f"scf.for %k = %{low} to %{high} step %{step} {{", ADD, "}").items
    assert len(found) < 2 and all(isinstance(one, Loop) for one in found)
    return found[0] if found else None  # pyright: ignore[reportReturnType]


@pytest.mark.parametrize(
    ("low", "high", "step", "trips"),
    [("c0", "c8", "c1", 8), ("c1", "c8", "c2", 4), ("c2", "c8", "c2", 3), ("c0", "c1", "c8", 1), ("c0", "n", "c1", inf),
     ("n", "c8", "c1", inf), ("c0", "c8", "n", inf)],
)  # fmt: skip
def test_trips_of_loops(low: str, high: str, step: str, trips: float) -> None:
    found = loop(low, high, step)
    assert found is not None and found.trips == trips and found.open == (trips == inf)
    assert (found.turn is None) == (step == "n")
    assert found.turn is None or (found.turn.step, found.turn.trips) == (int(step[1:]), trips)


@pytest.mark.parametrize(("low", "high"), [("c8", "c8"), ("c8", "c1")])
def test_loops_that_never_run(low: str, high: str) -> None:
    assert loop(low, high, "c1") is None


@pytest.mark.parametrize(
    ("low", "high", "step", "limits"),
    [("c0", "c8", "c1", (0, 7)), ("c1", "c8", "c2", (1, 7)), ("c0", "c8", "n", (0, 7)), ("c2", "n", "c1", (2, inf)),
     ("n", "c8", "c1", None), ("c0", "c1", "c8", (0, 0))],
)  # fmt: skip
def test_ranges_of_counters(low: str, high: str, step: str, limits: tuple[float, float] | None) -> None:
    lines = "\n".join((*HEAD, f"scf.for %k = %{low} to %{high} step %{step} {{", ADD, "}"))
    function = next(
        op for op in walk(parse(f"func.func @f(%n: index) {{\n{lines}\nreturn\n}}")) if op.name == "func.func"
    )
    reader = Reader(Places(get_profile("a5")), None)
    reader.function(function)
    assert list(reader.ranges.values()) == ([] if limits is None else [limits])


def test_choices() -> None:
    (one,) = sequence("scf.if %w {", ADD, "}").items
    (two,) = sequence("scf.if %w {", ADD, "} else {", "}").items
    assert isinstance(one, Choice) and isinstance(two, Choice)
    assert (one.open, len(one.branches)) == (True, 1) and (two.open, len(two.branches)) == (False, 2)
    assert sequence("scf.if %w {", "%s = arith.addi %i, %n : index", "}").items == []


def test_paths_lead_to_where_an_operation_stands() -> None:
    whole = sequence(ADD, "scf.for %k = %c0 to %c8 step %c1 {", ADD, ADD, "}")
    repeated = whole.items[1]
    assert isinstance(repeated, Loop) and (whole.depth, repeated.body.depth) == (0, 1)
    assert [one.path for one in (whole.items[0], repeated.body.items[1]) if isinstance(one, Leaf)] == [
        ((whole, 0),), ((whole, 1), (repeated.body, 1)),
    ]  # fmt: skip


@pytest.mark.parametrize("side", ["cube", "vector"])
def test_sections(side: str) -> None:
    """A core runs its own section and passes over the other one."""
    lines = ["pto.section.vector {", ADD, "}", "pto.section.cube {", ADD, ADD, "}"]
    assert len(sequence(*lines, side=side).items) == (2 if side == "cube" else 1)


def test_barriers_and_flags() -> None:
    """A barrier of all pipes is kept; the program's own flags order nothing here."""
    lines = [ADD, "pto.barrier #pto.pipe<PIPE_ALL>", "pto.barrier #pto.pipe<PIPE_V>", ADD]
    found = [(item.op.name, item.joins) for item in sequence(*lines).items if isinstance(item, Leaf)]
    assert found == [("pto.tadd", False), ("pto.barrier", True), ("pto.tadd", False)]


def test_calls_are_not_followed() -> None:
    with pytest.raises(UnsupportedError) as refused:
        sequence("func.call @g() : () -> ()")
    assert refused.value.reason == "calls are not followed; inline the function first"


def test_loops_of_other_kinds_without_work_are_passed_over() -> None:
    assert sequence("scf.while : () -> () {\nscf.condition(%w)\n} do {\nscf.yield\n}").items == []
