"""Which bytes belong to which tile, worked out by hand."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any

import pytest

from pto_dialect import parse
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.check_memory import _fills_all
from pto_dialect.passes.tile_addresses import Tile, TileAddresses, allocator
from pto_dialect.targets.choice import get_profile

T = "!pto.tile_buf<vec, 16x32xf32>"
OPS: Any = {name: SimpleNamespace(name=name) for name in "abcd"}
ENDS = (0, 32, 64, 96)
RANGES = [(start, stop) for start, stop in product(ENDS, ENDS) if start < stop]


def tile(name: str, start: int, stop: int, space: str = "ub") -> Tile:
    return Tile(OPS[name], space, start, stop)


@pytest.mark.parametrize("one", RANGES)
def test_bytes_of_two_tiles(one: tuple[int, int]) -> None:
    mine = {*range(*one)}
    for other in RANGES:
        its = {*range(*other)}
        assert tile("a", *one).shares(tile("b", *other)) == bool(mine & its)
        assert tile("a", *one).contains(tile("b", *other)) == (its <= mine)
        apart = tile("b", *other, space="l1")
        assert not tile("a", *one).shares(apart) and not tile("a", *one).contains(apart)


def test_the_first_tile_that_has_all_bytes_owns_a_view() -> None:
    places = TileAddresses({}, {})
    tiles = {name: tile(name, *ends) for name, ends in (("a", (0, 32)), ("b", (0, 64)), ("c", (32, 96)))}
    for name, one in tiles.items():
        places = places.with_((name,), OPS[name], one)
    assert places.owner(tile("d", 32, 64)) is tiles["b"]
    assert places.owner(tile("d", 32, 96)) is tiles["c"]
    assert places.owner(tile("d", 0, 96)) is None
    assert places.sharing(tile("d", 32, 64)) == {tiles["b"].made, tiles["c"].made}


def test_locations_that_others_know_do_not_change() -> None:
    one, other, moved = tile("a", 0, 32), tile("b", 32, 64), tile("a", 64, 96)
    places = TileAddresses({}, {}).with_((1,), OPS["a"], one)
    key = places.key()
    assert places.with_((1,), OPS["a"], one) is places and places.with_((1,), OPS["a"], None) is places
    places.shared = True
    assert places.with_((1,), OPS["a"], one) is places
    more = places.with_((2,), OPS["b"], other)
    assert more is not places and places.key() == key != more.key()
    assert (places.tiles, more.tiles) == ({(1,): one}, {(1,): one, (2,): other})
    again = more.with_((1,), OPS["a"], moved)
    assert again is more and again.tiles[1,] is moved


def test_facts_about_locations_are_computed_again_when_one_is_added() -> None:
    """An operation through a view of a view: its allocation, once there is one."""
    places = TileAddresses({}, {})
    number = ("view", ("slot", (1,)))
    before = places.accessed(OPS["d"], ((0,), (0,), ()), (number,))
    assert before.reads == before.writes == before.read == () and before.written == frozenset()
    assert places.sharing(tile("d", 0, 96)) == frozenset()
    one = tile("a", 0, 32)
    places = places.with_((1,), OPS["a"], one)
    found = places.accessed(OPS["d"], ((0, 0, 1), (1,), ()), (number, 7))
    assert (found.reads, found.writes, found.read, found.written) == ((one,), (), (OPS["a"],), frozenset())
    assert places.sharing(tile("d", 0, 96)) == {one.made}


ALLOCATIONS = {
    f"%x = pto.alloc_tile : {T}": (-1, "ub", 2048, False),
    f"%x = pto.alloc_tile addr = %at : {T}": (0, "ub", 2048, False),
    "%x = pto.alloc_multi_tile addr = %at : !pto.multi_tile_buf<vec, 16x32xf32, count=3>": (0, "ub", 3 * 2048, False),
    "%x = pto.alloc_tile : !pto.tile_buf<mat, 16x32xf16, blayout=col_major, slayout=row_major>": (
        -1,
        "l1",
        1024,
        False,
    ),
}


@pytest.mark.parametrize("line", ALLOCATIONS)
def test_what_an_allocation_says(line: str) -> None:
    module = parse(f"func.func @f(%at: i64) {{\n{line}\nreturn\n}}")
    op = next(op for op in walk(module) if "alloc" in op.name)
    assert tuple(allocator(op, get_profile("a5"))) == ALLOCATIONS[line]


FILLED = {
    f"pto.tadd ins(%x, %x : {T}, {T}) outs(%x : {T})": True,
    "%v = pto.load_scalar %u[%c] : !pto.ptr<f32, ub> -> f32": True,
    "pto.store_scalar %one, %g[%c] : !pto.ptr<f32, gm>, f32": True,
    "pto.store_scalar %one, %u[%c] : !pto.ptr<f32, ub>, f32": False,
    "func.call @g() : () -> ()": False,
    "pto.section.vector {\n}": False,
    f"%p = pto.tpop_from_aic {{id = 1, split = 1}} -> {T}": False,
    f"pto.tpush_to_aic(%x : {T}) {{id = 1, split = 1}}": True,
    '%r = pto.reserve_buffer {name = "w", size = 64, location = #pto.address_space<vec>, auto = true} -> i32': False,
}
"""Whether only operations on tiles of the function write these."""


@pytest.mark.parametrize("line", FILLED)
def test_who_writes_the_tiles_of_a_function(line: str) -> None:
    lines = (f"%x = pto.alloc_tile : {T}", "%one = arith.constant 1.0 : f32", "%c = arith.constant 0 : index", line)
    arguments = "%u: !pto.ptr<f32, ub>, %g: !pto.ptr<f32, gm>"
    module = parse("func.func @f(" + arguments + ") {\n" + "\n".join(lines) + "\nreturn\n}\nfunc.func private @g()")
    function = next(op for op in walk(module) if op.name == "func.func")
    assert _fills_all(function) == FILLED[line]
