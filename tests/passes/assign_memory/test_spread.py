"""Memories that are too small for tiles side by side: tiles share bytes where that costs least.

Source: docs/reference/memory-planning.md, "Packing".
"""

from __future__ import annotations

from itertools import combinations

import pytest
from cube_programs import passed

from pto_dialect import parse, print_module
from pto_dialect.api import check
from pto_dialect.passes.assign_memory.live_ranges import Buffer
from pto_dialect.passes.assign_memory.pack import always, never
from pto_dialect.passes.assign_memory.plan import memory_plans
from pto_dialect.passes.assign_memory.spread import MOST, cost_of, spread

TILE = "!pto.tile_buf<vec, 160x64xf32>"
"""40 KiB: four of them fit the unified buffer of a2a3."""
PART = "!pto.partition_tensor_view<160x64xf32>"


def loop(number: int) -> str:
    """A loop over three tiles, of which the first and the last one are never needed at the same time."""
    x, y, z = (f"%{name}{number}" for name in "xyz")
    return f"""
    scf.for %i{number} = %c0 to %c4 step %c1 {{
      pto.tload ins(%p : {PART}) outs({x} : {TILE})
      pto.tadd ins({x}, {x} : {TILE}, {TILE}) outs({y} : {TILE})
      pto.tmul ins({y}, {y} : {TILE}, {TILE}) outs({z} : {TILE})
      pto.tstore ins({z} : {TILE}) outs(%q : {PART})
    }}"""


def program(loops: int) -> str:
    """A program of some loops, one after the other."""
    tiles = "\n".join(f"%{name}{number} = pto.alloc_tile : {TILE}" for number in range(loops) for name in "xyz")
    return f"""
    module attributes {{pto.target_arch = "a2a3"}} {{
    func.func @f(%p: {PART}, %q: {PART}) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    {tiles}
    {"".join(map(loop, range(loops)))}
    return
    }}
    }}"""


def places(text: str, reuse: str) -> dict[str, int]:
    """The address of each tile."""
    module = parse(text, "program.pto")
    (function,) = (op for op in module.walk() if op.name == "func.func")
    (plan,) = memory_plans(function, None, reuse)
    assert plan.peak <= (plan.capacity or 0)
    return {buffer.op.results[0].name_hint or "": at for buffer, at in plan.addresses.items()}


def test_tiles_of_different_loops_share_before_those_of_one():
    found = places(program(2), "auto")
    for number in range(2):
        own = [found[f"{name}{number}"] for name in "xyz"]
        assert all(abs(one - other) >= 160 * 64 * 4 for one, other in combinations(own, 2)), found
    packed = places(program(2), "max")
    assert any(packed[f"x{number}"] == packed[f"z{number}"] for number in range(2)), packed


def test_no_iteration_waits_for_the_store_of_the_one_before():
    waits = {}
    for reuse in ("auto", "max"):
        module, said = passed(program(2), f"assign-memory{{reuse={reuse}}}", "insert-sync")
        assert not said
        text = print_module(module)
        assert not check(text).diagnostics
        waits[reuse] = text.count("      pto.wait_flag[<PIPE_MTE3>, <PIPE_MTE2>")
    assert waits == {"auto": 0, "max": 2}


def buffers(sizes: list[int], lives: list[tuple[int, int]]) -> list[Buffer]:
    """Buffers of those sizes and live ranges, in the first operation of a program."""
    op = next(parse("func.func @f() {\nreturn\n}", "p.pto").walk())
    return [Buffer(op, "ub", size, 32, None, *life) for size, life in zip(sizes, lives, strict=True)]


def test_buffers_that_are_needed_together_never_share():
    some = buffers([64, 64, 64], [(0, 2), (1, 3), (4, 5)])
    found = spread(some, cost_of(never), 128)
    assert found is not None
    assert abs(found[some[0]] - found[some[1]]) >= 64
    assert max(found.values()) + 64 <= 128


def test_nothing_is_shared_where_all_fit():
    some = buffers([64, 64, 64], [(0, 0), (1, 1), (2, 2)])
    found = spread(some, cost_of(never), 192)
    assert found is not None
    assert sorted(found.values()) == [0, 64, 128]


@pytest.mark.parametrize(("limit", "count"), [(64, 2), (10_000, MOST + 1)])
def test_no_location_is_none(limit: int, count: int):
    assert spread(buffers([64] * count, [(0, 1)] * count), cost_of(always), limit) is None
