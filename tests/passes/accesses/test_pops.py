"""Tiles out of queues through global memory are loaded by MTE2 into local slots."""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import NUMBER, Leaf, innermost
from pto_dialect.passes.accesses.locations import HandleLocations
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.targets.choice import get_profile

MAT = "!pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>"
RIGHT = "!pto.tile_buf<right, 64x64xf16, slayout=col_major>"


def text(gm: str, *lines: str) -> str:
    body = "\n".join(lines)
    return f"""func.func @products(%slots: !pto.ptr<f32, gm>)
      attributes {{pto.kernel_kind = #pto.kernel_kind<cube>}} {{
    %w_local = pto.reserve_buffer {{name = "w", size = 16384, location = #pto.address_space<mat>, auto = true}} -> i32
    %none = arith.constant 0 : i32
    pto.aic_initialize_pipe {{id = 3, dir_mask = 2, slot_size = 8192, slot_num = 2}}
        ({gm}c2v_consumer_buf = %none : i32, v2c_consumer_buf = %w_local : i32)
    %r = pto.alloc_tile : {RIGHT}
    {body}
    return
  }}
"""


GM = "gm_slot_buffer = %slots : !pto.ptr<f32, gm>, "


def pop(name: str) -> list[str]:
    return [
        f"%{name} = pto.tpop_from_aiv {{id = 3, split = 1}} -> {MAT}",
        f"pto.tmov ins(%{name} : {MAT}) outs(%r : {RIGHT})",
        "pto.tfree_from_aiv {id = 3, split = 1}",
    ]


def loads(program: str, arch: str) -> list[Leaf]:
    module = parse(program, "pops.pto")
    function = next(op for op in walk(module) if op.name == "func.func")
    found = Reader(HandleLocations(get_profile(arch)), None).function(function)
    return [leaf for leaf in innermost(found) if isinstance(leaf, Leaf) and leaf.pipe == NUMBER[Pipe.MTE2]]


@pytest.mark.parametrize(("gm", "arch", "count"), [(GM, "a2a3", 1), (GM, "a5", 0), ("", "a5", 0)])
def test_only_entries_in_global_memory_are_loaded(gm: str, arch: str, count: int) -> None:
    found = loads(text(gm, *pop("a")), arch)
    assert len(found) == count
    for leaf in found:
        assert leaf.op.name == "pto.tpop_from_aiv" and leaf.reads == ()
        assert [(place.space, place.root) for place in leaf.writes] == [("l1", leaf.op.results[0])]


def test_tiles_share_slots_when_there_are_more_of_them() -> None:
    two = loads(text(GM, *pop("a"), *pop("b")), "a2a3")
    three = loads(text(GM, *pop("a"), *pop("b"), *pop("c")), "a2a3")
    assert len({place.root for leaf in two for place in leaf.writes}) == 2
    assert len(three) == 3 and len({place.root for leaf in three for place in leaf.writes}) == 1


def test_another_queue_is_another_number() -> None:
    assert loads(text(GM, *(line.replace("id = 3", "id = 4") for line in pop("a"))), "a2a3") == []


@pytest.mark.parametrize(("local", "roots"), [("", 3), (", local_slot_num = 2", 1), (", local_slot_num = 3", 3)])
def test_the_slots_beside_the_consumer_count_where_they_are_stated(local: str, roots: int) -> None:
    program = text(GM, *pop("a"), *pop("b"), *pop("c")).replace("slot_num = 2}", f"slot_num = 4{local}}}")
    assert len({place.root for leaf in loads(program, "a2a3") for place in leaf.writes}) == roots
