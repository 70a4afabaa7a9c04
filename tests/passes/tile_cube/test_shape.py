"""Which tiles a product gets, and what the program consists of then.

Source: docs/reference/targets.md, "Memories".
"""

from __future__ import annotations

import re

import pytest
from cube_programs import passed
from plain_families import Kind
from plain_products import Plain

from pto_dialect import print_module
from pto_dialect.analysis.cycles.table import shipped
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.tile.memory import TStoreOp
from pto_dialect.passes.tile_cube.course import Sizes, Times, cycles
from pto_dialect.passes.tile_cube.find import product_of
from pto_dialect.passes.tile_cube.shape import Request, Shape, Units, choose, pieces_of, ranges
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5
from pto_dialect.targets.profile import Profile

SMALL = "rows=32 columns=64 panel=32"


def tiled(plain: Plain, sizes: str = SMALL) -> str:
    """The text after the pass, which says nothing."""
    module, said = passed(str(plain), f"tile-cube{{{sizes}}}")
    assert not said
    return print_module(module)


def test_one_loop_goes_over_blocks_and_panels():
    text = tiled(Plain(64, 128, 64, loops="ijp"))
    assert re.findall(r"scf.for .*", text) == ["scf.for %step = %c0 to %c8 step %c1 {"]
    assert text.count("= pto.alloc_multi_tile") == 2
    assert len(re.findall(r"= pto.alloc_tile : !pto.tile_buf<acc, 32x32xf32", text)) == 2


def test_edges_have_loops_of_their_own():
    text = tiled(Plain(82, 160, 32))
    assert re.findall(r"scf.for .* to %c(\d+)", text) == ["4", "2", "2"]
    assert "acc, 32x32xf32, valid=18x32" in text
    assert "acc, 32x16xf32, valid=18x16" not in text


def test_rows_whose_number_only_a_run_knows_have_a_loop_of_their_own_at_the_edge():
    module, said = passed(str(Plain(64, 128, 64, loops="ijp", open="i")), f"tile-cube{{{SMALL}}}")
    assert not said
    text = print_module(module)
    assert re.findall(r"scf.for %step = %c0 to (%?)\d+ step %c1", text) == ["%", "%"]
    assert "acc, 32x32xf32" in text
    assert "acc, 16x32xf32" in text


def test_a_batch_whose_number_only_a_run_knows_is_one_loop():
    module, said = passed(str(Kind(batch=3, by="blocks")), "tile-cube{rows=16 columns=96 panel=32}")
    assert not said
    assert re.findall(r"scf.for %\w+ = %c0 to (%?)\d+ step %c1", print_module(module)) == ["%"]


def test_a_loop_over_something_else_stays_around_blocks_of_two_sizes():
    text = str(Kind(batch=3))
    module, said = passed(text, "tile-cube{rows=16 columns=64 panel=32}")
    assert not said
    loops = re.findall(r"scf.for (%\w+)", print_module(module))
    assert loops == ["%g", "%step", "%step"]
    module, _ = passed(text, "tile-cube{rows=16 columns=48 panel=32}")
    assert re.findall(r"scf.for (%\w+)", print_module(module)) == ["%step"]


def shape(plain: Plain, profile: Profile, *sizes: int) -> Shape:
    """The tiles of a product, with some sizes that are stated."""
    module, _ = passed(str(plain))
    store = next(op for op in walk(module) if isinstance(op, TStoreOp))
    return choose(product_of(store), profile, Request(*sizes))


@pytest.mark.parametrize(
    ("plain", "profile"),
    [
        (Plain(512, 512, 512), A2A3),
        (Plain(512, 512, 512), A5),
        (Plain(6144, 6144, 6144), A2A3),
        (Plain(77, 1000, 333), A2A3),
    ],
)
def test_tiles_fit_the_memories_with_two_slots(plain, profile):
    found = shape(plain, profile)
    left, right = (profile.capacity_of(loc) // 4 for loc in ("left", "right"))
    assert found.rows * found.depth <= left
    assert max(found.parts_of(found.columns)) * found.depth <= right
    assert found.rows * found.columns * 4 <= profile.capacity_of("acc")
    assert 2 * (found.rows + found.columns) * found.panel * 2 <= profile.capacity_of("mat")


def test_large_products_use_each_loaded_byte_often():
    found = shape(Plain(6144, 6144, 6144), A2A3)
    assert 1 / found.rows + 1 / found.columns <= 1 / 128 + 1 / 256


def test_stated_sizes_are_taken():
    found = shape(Plain(512, 512, 512), A2A3, 64, 128, 64)
    assert (found.rows, found.columns, found.panel) == (64, 128, 64)


def test_pieces():
    assert [(one.first, one.count, one.size) for one in ranges(100, 32)] == [(0, 3, 32), (96, 1, 4)]
    assert [(one.first, one.count, one.size) for one in ranges(64, 32)] == [(0, 2, 32)]
    assert pieces_of(ranges(100, 64), 48) == {48, 16, 36}
    assert Shape(32, 100, 32, 32, Units(16, 16, 16, 16)).parts_of(100) == (64, 36)
    assert Shape(32, 48, 32, 32, Units(16, 16, 16, 16)).parts_of(48) == (48,)


def test_the_course_is_that_of_the_busiest_pipe():
    times = Times(shipped("a2a3"), Sizes(16, 32, "f16"))
    few, many = (cycles(times, blocks, 128, (128, 128), (256, 256), 128, 2) for blocks in (8, 80))
    load = 2 * (times.move("gm:l1", 128 * 256, 16) + times.move("gm:l1", 256 * 256, 16))
    product = 8 * times.product(128, 128, 128)
    assert (many - few) / 72 == pytest.approx(max(load, product), rel=0.02)
    assert few > 8 * product


def test_scales_are_loads_of_their_own():
    plain, scaled = (Times(shipped("a5"), Sizes(8, 32, "f8E4M3FN", more)) for more in (False, True))
    pieces = [128, 128]
    more = scaled.load(128, (64, 64), pieces) - plain.load(128, (64, 64), pieces)
    assert more == pytest.approx(2 * sum(plain.move("gm:l1", rows * 128 // 32, 8) for rows in (128, 64, 64)))


def test_one_accumulator_waits_for_its_store():
    times = Times(shipped("a2a3"), Sizes(16, 32, "f16"))
    one, two = (cycles(times, 20, 128, columns, (128,), 128, 2) for columns in ((128,), (64, 64)))
    assert two < one
