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
from pto_dialect.passes.accesses.locations import HandleLocations
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.targets.choice import get_profile

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
    return Reader(HandleLocations(get_profile(arch)), side).function(function)


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
    assert (found.iteration is None) == (step == "n")
    assert found.iteration is None or (found.iteration.step, found.iteration.trips) == (int(step[1:]), trips)


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
    reader = Reader(HandleLocations(get_profile("a5")), None)
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


def test_launches_of_work_items_are_not_followed() -> None:
    with pytest.raises(UnsupportedError) as refused:
        sequence("%d = arith.constant 8 : i32", "pto.simt_launch @g<<<%d, %d, %d>>>() : () -> ()")
    assert refused.value.reason.startswith("what work-items access is not followed; order the launch with set_flag")


def test_loops_of_other_kinds_without_work_are_passed_over() -> None:
    assert sequence("scf.while : () -> () {\nscf.condition(%w)\n} do {\nscf.yield\n}").items == []


@pytest.mark.parametrize(("inner", "followed"), [("%q = pto.get_block_num", True), (ADD, False)])
def test_loops_of_other_kinds_with_work_are_not_followed(inner: str, followed: bool) -> None:
    """Numbers alone need no order."""
    loop = (
        '"affine.for"() <{lowerBoundMap = affine_map<() -> (0)>, upperBoundMap = affine_map<() -> (8)>, '
        f"step = 1 : index, operandSegmentSizes = array<i32: 0, 0, 0>}}> ({{\n^bb0(%k: index):\n{inner}\n"
        '"affine.yield"() : () -> ()\n}) : () -> ()'
    )
    if followed:
        assert sequence(loop).items == []
    else:
        with pytest.raises(UnsupportedError, match=r"affine\.for is not followed"):
            sequence(loop)


U = "!pto.ptr<f32, ub>"
SCOPE = ("%u = pto.castptr %a512 : i64 -> !pto.ptr<f32, ub>", "%w8 = pto.castptr %a0 : i64 -> !pto.ptr<f32, ub>",
         "pto.vecscope {", "%mask = pto.pset_b32 \"PAT_ALL\" : !pto.mask<b32>",
         f"%r = pto.vlds %u[%c0] : {U} -> !pto.vreg<64xf32>",
         f"pto.vsts %r, %w8[%c0], %mask : !pto.vreg<64xf32>, {U}, !pto.mask<b32>", "}")  # fmt: skip


@pytest.mark.parametrize("side", [None, "vector"])
def test_a_scope_is_one_operation_of_the_vector_unit(side: str | None) -> None:
    numbers = [f"%a{n} = arith.constant {n} : i64" for n in (0, 512)]
    (leaf,) = sequence(*numbers, *SCOPE, side=side).items
    assert isinstance(leaf, Leaf) and (leaf.op.name, PIPES[leaf.pipe].value) == ("pto.vecscope", "PIPE_V")
    assert [[place.start for place in places] for places in (leaf.reads, leaf.writes)] == [[512], [0]]


def test_work_items_beside_sections_are_not_followed() -> None:
    """They are no section of another core that could be passed over."""
    items = ("pto.section.simt<<<1, 1, 1>>> {", "}")
    for side in (None, "vector"):
        with pytest.raises(UnsupportedError, match=r"pto\.section\.simt is not followed"):
            sequence("pto.section.vector {", *items, "}", side=side) if side else sequence(*items)


@pytest.mark.parametrize("beside", [(), ("pto.section.simt<<<1, 1, 1>>> {", "}")])
def test_statements_beside_sections_of_both_kinds_run_on_no_core(beside: tuple[str, ...]) -> None:
    lines = [ADD, "pto.section.vector {", ADD, "}"]
    assert len(sequence(*lines, side="vector").items) == 2
    assert len(sequence(*lines, "pto.section.cube {", ADD, "}", side="vector").items) == 1


def test_the_sections_of_a_function_need_a_side() -> None:
    with pytest.raises(UnsupportedError, match=r"pto\.section\.vector is not followed"):
        sequence("pto.section.vector {", ADD, "}")


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_gathers_from_global_memory_order_themselves_on_a2a3(arch: str) -> None:
    places = "!pto.tile_buf<vec, 16x32xi32>"
    view = "!pto.partition_tensor_view<16x32xf32>"
    lines = [
        "%v = pto.make_tensor_view %p, shape = [%c8, %c8], strides = [%c8, %c1] : !pto.tensor_view<?x?xf32>",
        f"%w1 = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c8, %c8] : !pto.tensor_view<?x?xf32> -> {view}",
        f"%at = pto.alloc_tile : {places}",
        f"pto.mgather ins(%w1, %at : {view}, {places}) outs(%x : {T})",
    ]
    (leaf,) = sequence(*lines, arch=arch).items
    assert isinstance(leaf, Leaf) and leaf.joins == (arch == "a2a3")
    assert PIPES[leaf.pipe].value == ("PIPE_S" if arch == "a2a3" else "PIPE_V")


@pytest.mark.parametrize(
    ("line", "shows", "learns"),
    [
        ("pto.sync.set #pto.pipe<PIPE_MTE3>, 3", True, False),
        ("pto.sync.wait #pto.pipe<PIPE_MTE3>, 3", False, True),
    ],
)
def test_signals_between_cores_are_about_all_shared_memory(line: str, shows: bool, learns: bool) -> None:
    (leaf,) = sequence(line).items
    assert isinstance(leaf, Leaf) and (leaf.shows, leaf.learns, leaf.joins) == (shows, learns, False)
    assert PIPES[leaf.pipe].value == "PIPE_MTE3"
    shared = {("gm", None), ("ub", None), ("l1", None)}
    assert [{(place.space, place.root) for place in places} for places in (leaf.reads, leaf.writes)] == [
        shared if shows else set(), shared if learns else set(),
    ]  # fmt: skip
