"""Products that write the accumulator that they add to. Source: docs/reference/numerics.md, "Matrix products"."""

import pytest
from cube_programs import instructions, passed
from sum_programs import LOOP, NEVER, check_sums, program

from pto_dialect import parse, print_module

PASSES = ("sums-in-place", "assign-memory", "insert-sync", "lower-cube")

IN_PLACE = {
    "a chain": ("=s", "+st", "+tu", ">u"),
    "and what follows in its old place": ("=s", "+st", "=s", ">t", ">s"),
    "a sum that goes on in place": ("=s", "+st", "+tt", "+tu", ">u"),
    "to and fro in a loop": ("=s", LOOP, "+st", "+ts", "}", ">s"),
    "begun anew in each turn": ("=u", LOOP, "=s", "+su", "}", ">u"),
    "a loop without iterations": ("=s", NEVER, "=u", "+ut", "}", "+st", ">t"),
    "two sums": ("=s", "=t", "+su", "+ts", ">s", ">u"),
    "two places for one sum": ("=s", "+st", ">t", "=s", "+su", "+uu", ">u"),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_sums_stay_where_they_are(name):
    assert "mad_acc" in instructions(check_sums(IN_PLACE[name], *PASSES))


REFUSED = {
    "the old sum is needed": ("=s", "+st", ">t", ">s"),
    "the new place is needed": ("=t", "=s", LOOP, "+st", "=s", "}", ">t"),
    "a loop goes on with the old sum": ("=s", LOOP, "+st", ">t", "}"),
    "it may have been filled elsewhere": (LOOP, "=s", "}", "+st", ">t"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_sums_that_are_needed_twice_stay_apart(name):
    text = program(*REFUSED[name])
    module, said = passed(text, "sums-in-place")
    assert not said
    assert print_module(module) == print_module(parse(text, "program.pto"))
    _, said = passed(text, *PASSES)
    assert said == [
        "lower-cube-unsupported: lower-cube cannot lower pto.tmatmul.acc: "
        "it adds to another tile than the one that it writes"
    ]


ACC = "!pto.tile_buf<acc, 32x32xf32, blayout=col_major, slayout=row_major, fractal=1024>"
NARROW = ACC.replace("32x32xf32", "32x32xf32, valid=32x16")
CHAIN = program("=s", "+st", ">t")
UNSEEN = {
    "blocks behind one another": CHAIN.replace("    return", "    cf.br ^end\n  ^end:\n    return"),
    "a region of another kind": CHAIN.replace("    ret", "    scf.execute_region {\n    scf.yield\n    }\n    ret"),
    "an address of the old sum": CHAIN.replace(
        f"%s = pto.alloc_tile  : {ACC}", f"%z = arith.constant 0 : i64\n    %s = pto.alloc_tile addr = %z : {ACC}"
    ),
    "an address of the new sum": CHAIN.replace(
        f"%t = pto.alloc_tile  : {ACC}", f"%z = arith.constant 8192 : i64\n    %t = pto.alloc_tile addr = %z : {ACC}"
    ),
    "a sum with other columns": program("=s", "+st")
    .replace(f"%t = pto.alloc_tile  : {ACC}", f"%t = pto.alloc_tile  : {NARROW}")
    .replace(f"outs(%t : {ACC}", f"outs(%t : {NARROW}"),
    "a product that never runs": program("=s", NEVER, "+st", "}", ">s"),
    "sizes that a run says": CHAIN.replace(ACC, ACC.replace("32x32xf32", "32x32xf32, valid=?x32")).replace(
        "pto.alloc_tile  : !pto.tile_buf<acc", "pto.alloc_tile valid_row = %n : !pto.tile_buf<acc"
    ),
    "a tile that another function gets": CHAIN.replace("    ret", f"    func.call @g(%s) : ({ACC}) -> ()\n    ret")
    .replace("  func.func @f", f"  func.func private @g({ACC})\n  func.func @f"),
}  # fmt: skip


@pytest.mark.parametrize("call", ["sums-in-place", "repeat-sums"])
@pytest.mark.parametrize("name", UNSEEN)
def test_what_is_not_followed_stays(name, call):
    assert UNSEEN[name] != CHAIN
    module, said = passed(UNSEEN[name], call)
    assert not said
    assert print_module(module) == print_module(parse(UNSEEN[name], "program.pto"))
