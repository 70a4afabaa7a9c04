"""Sharing that adds no order. Source: docs/reference/memory-planning.md, "Packing"."""

import re
import sys
from pathlib import Path

import pytest
from lowering_programs import TILE, add, kernel, load, part, store

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.run import run_passes

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "benchmarks"))

from generated_tiles import TileProgram

HEAD = (part("p", "a", "c0"), part("q", "b", "c0"))
CHAIN = (load("p", "x"), add("x", "x", "y"), add("y", "y", "z"), store("z", "q"))


def planned(text: str, reuse: str, *more: str) -> str:
    module, engine = parse(text, "program.pto"), DiagnosticEngine()
    assert run_passes(module, [f"assign-memory{{reuse={reuse}}}", *more], engine, None), engine.diagnostics
    return print_module(module)


def places(*lines: str, reuse: str = "safe", target: str = "a5") -> dict[str, str]:
    """The address of each tile."""
    text = re.sub(r" addr = %at\d", "", kernel(*HEAD, *lines, target=target))
    found = re.findall(r"%(\w+) = pto.alloc_tile addr = %c(\d+)_i64", planned(text, reuse))
    return {name: address for name, address in found}


def orders(text: str, reuse: str) -> list[str]:
    """Flags, barriers and tile operations with ``reuse``."""
    lines = re.findall(r"pto\.(?:set|wait)_flag.*|pto\.barrier.*|pto\.t\w+ ", planned(text, reuse, "insert-sync"))
    assert lines
    return lines


def test_what_one_load_leaves_is_not_given_to_the_next():
    lines = (load("p", "x"), store("x", "q"), load("p", "y"), store("y", "q"))
    assert places(*lines, reuse="max")["x"] == places(*lines, reuse="max")["y"]
    assert places(*lines)["x"] != places(*lines)["y"]


def test_certain_successors_may_alias():
    """The product is made of the sum, which is made of what was loaded."""
    found = places(*CHAIN)
    assert found["x"] == found["z"] or found["x"] == found["y"]


def test_a_loop_that_would_wait_for_its_store_does_not_share():
    loop = ("scf.for %i = %c0 to %n step %c1 {", *CHAIN, "}")
    assert len(set(places(*loop, reuse="max").values())) == 1
    found = places(*loop)
    # The load of the next iteration need not wait for the store of this one.
    assert found["x"] != found["z"]


def test_a_use_in_a_branch_is_no_order():
    lines = (
        load("p", "x"), add("x", "x", "y"), "%cond = arith.cmpi eq, %n, %c0 : index",
        "scf.if %cond {", store("y", "q"), "}", load("q", "z"),
    )  # fmt: skip
    found = places(*lines)
    assert found["z"] not in (found["x"], found["y"])


def test_flags_of_the_author_order_no_more_than_they_state():
    flag = "flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]"
    lines = [load("p", "x"), f"pto.set_{flag}", f"pto.wait_{flag}", store("x", "q")]
    lines += [load("p", "y"), f"pto.set_{flag}", f"pto.wait_{flag}", store("y", "q")]
    assert places(*lines, reuse="auto")["x"] != places(*lines, reuse="auto")["y"]
    assert places(*lines, reuse="max")["x"] == places(*lines, reuse="max")["y"]


@pytest.mark.parametrize("row", ["c0", "c16"])
def test_other_rows_of_an_array_are_no_order(row: str):
    """A load waits for the store to the rows that it reads, and may overtake one to other rows."""
    flag = "flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]"
    lines = [load("p", "x"), f"pto.set_{flag}", f"pto.wait_{flag}", store("x", "q"), part("r", "b", row)]
    lines += [*(["pto.barrier <PIPE_ALL>"] if row == "c0" else []), load("r", "y"), add("y", "y", "y")]
    found = places(*lines, reuse="auto")
    assert (found["x"] == found["y"]) is (row == "c0")


def test_a_scalar_store_may_be_in_flight_after_a_scalar_load():
    """What follows the load of the scalar unit need not wait for its store before."""
    flag = "flag[<PIPE_MTE2>, <PIPE_V>, <EVENT_ID0>]"
    lines = [load("p", "y"), f"pto.set_{flag}", f"pto.wait_{flag}", "%one = arith.constant 1.0 : f32"]
    lines += [f"pto.tsetval ins(%c4, %one : index, f32) outs(%x : {TILE})"]
    lines += [f"%e = pto.tgetval ins(%y, %c4 : {TILE}, index) outs : f32"]
    lines += [add("y", "y", "y"), load("p", "y"), load("p", "z")]
    found = places(*lines, reuse="auto")
    assert found["x"] != found["z"]


@pytest.mark.parametrize("index", ["c0", "c1"])
def test_another_slot_is_no_order(index: str):
    """The load into a slot waits for the store of the same slot, and may overtake that of another one."""
    flag = "flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]"
    slots = [f"%s{n} = pto.multi_tile_get %m[%c{n}] : {SLOTS} -> {TILE}" for n in (0, 1)]
    back = flag.replace("MTE2>, <PIPE_MTE3", "MTE3>, <PIPE_MTE2")
    lines = [f"%m = pto.alloc_multi_tile : {SLOTS}", *slots, load("p", "x"), load("p", "s0"), f"pto.set_{flag}"]
    lines += [f"pto.wait_{flag}", store("x", "q"), store("s0", "q")]
    lines += [f"pto.set_{back}", f"pto.wait_{back}"] if index == "c0" else []
    lines += [load("p", f"s{index[1]}"), load("p", "y")]
    found = places(*lines, reuse="auto")
    assert (found["x"] == found["y"]) is (index == "c0")


@pytest.mark.parametrize("seed", [0, 3, 4, 5, 7])
def test_the_flags_are_those_of_tiles_that_share_nothing(seed: int):
    text = TileProgram(seed, ("a5", "a2a3")[seed % 2]).text
    assert orders(text, "safe") == orders(text, "none")
    assert orders(text, "max") != orders(text, "none")


HALF = "!pto.tile_buf<vec, 8x16xf32>"
ROWS = "!pto.partition_tensor_view<8x16xf32>"
SLOTS = "!pto.multi_tile_buf<vec, 16x16xf32, count=2>"
FILL = f"pto.tload ins(%h : {ROWS}) outs(%w : {HALF})"
PARTS = {
    "a part of a slot": (f"%w = pto.subview %u[%c0, %c0] sizes [8, 16] : {TILE} -> {HALF}", FILL),
    "another form of a part": (
        f"%v = pto.subview %u[%c0, %c0] sizes [8, 16] : {TILE} -> {HALF}",
        f"%w = pto.treshape %v : {HALF} -> {HALF}",
        FILL,
    ),
    "what a pointer leads to": (
        f"%w = pto.tile_buf_addr %u : {TILE} -> !pto.ptr<f32, ub>",
        "pto.mte_gm_ub %a, %w, %at0, %at1 nburst(%one, %at1, %at1) "
        ": !pto.ptr<f32>, !pto.ptr<f32, ub>, i64, i64, i64, i64, i64",
    ),
}


@pytest.mark.parametrize("way", PARTS)
def test_a_slot_that_is_filled_in_part_keeps_the_rest(way: str):
    """Each round fills a part of a slot after the use of %x, and both slots are read at the end: what one round
    leaves must outlive the use of %x in the next."""
    head = (
        "%c8 = arith.constant 8 : index",
        "%one = arith.constant 1 : i64",
        f"%m = pto.alloc_multi_tile : {SLOTS}",
        f"%h = pto.partition_view %va, offsets = [%c0, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> {ROWS}",
    )
    slots = [f"%s{n} = pto.multi_tile_get %m[%c{n}] : {SLOTS} -> {TILE}" for n in (0, 1)]
    lines = (
        *head, "scf.for %i = %c0 to %c4 step %c1 {", load("p", "x"), add("x", "x", "x"), store("x", "q"),
        "%s = arith.remui %i, %c2 : index", f"%u = pto.multi_tile_get %m[%s] : {SLOTS} -> {TILE}", *PARTS[way], "}",
        *slots, add("s0", "s1", "y"), store("y", "q"),
    )  # fmt: skip
    text = re.sub(r"(%[xyz] = .*) addr = %at\d", r"\1", kernel(*HEAD, *lines))
    found = planned(text, "max")
    place = {name: int(at) for name, at in re.findall(r"%(\w+) = pto.alloc_(?:multi_)?tile addr = %c(\d+)_i64", found)}
    assert not (place["m"] < place["x"] + 1024 and place["x"] < place["m"] + 2048), place


def test_bytes_are_shared_only_where_they_have_to_be() -> None:
    """A load that need not wait for a store does not, as long as it fits."""
    lines = (load("p", "x"), store("x", "q"), load("p", "y"), store("y", "q"))
    found = places(*lines, reuse="auto")
    assert found["x"] != found["y"]


def test_a_memory_that_is_too_small_is_packed_as_tightly_as_ever() -> None:
    rows = "!pto.tile_buf<vec, 85x256xf32>"
    lines = (load("p", "x"), store("x", "q"), load("p", "y"), store("y", "q"))
    # 2 x 85 KB and 21 KB leave 1 KB.
    more = (f"%u = pto.alloc_tile : {rows}", f"%v = pto.alloc_tile : {rows}", "%one = arith.constant 1.0 : f32")
    third = "!pto.tile_buf<vec, 21x256xf32>"
    kept = (f"%w = pto.alloc_tile : {third}", f"pto.texpands ins(%one : f32) outs(%w : {third})")
    used = tuple(f"pto.texpands ins(%one : f32) outs(%{name} : {rows})" for name in "uv")
    last = (
        f"pto.tadd ins(%u, %v : {rows}, {rows}) outs(%v : {rows})",
        f"pto.tabs ins(%w : {third}) outs(%w : {third})",
    )
    found = places(*more, *kept, *used, *lines, *last, reuse="auto", target="a2a3")
    assert found["x"] == found["y"]
    assert found == places(*more, *kept, *used, *lines, *last, reuse="max", target="a2a3")


def test_a_loop_does_not_wait_for_its_store_without_need() -> None:
    loop = ("scf.for %i = %c0 to %n step %c1 {", *CHAIN, "}")
    assert places(*loop, reuse="auto") == places(*loop, reuse="safe")
    assert len(set(places(*loop, reuse="max").values())) == 1
