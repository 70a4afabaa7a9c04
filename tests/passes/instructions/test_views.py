"""Views of global memory as rows and columns. Source: docs/reference/layouts.md, "Views of global memory",
"Transfers".
"""

import numpy as np
import pytest
from cube_programs import Program, lowered, passed, refusals

from pto_dialect import print_module

RNG = np.random.default_rng(71)
LAST = "lower-transfers"


def numbers(*shape: int):
    return RNG.uniform(-9, 9, shape).astype(np.float32)


def copied(tile: tuple[int, int], source: tuple[int, ...], strides: tuple[int, ...]) -> Program:
    """Array ``a`` through a tile to array ``c``, both seen in the same way."""
    found = Program(a="f32", c="f32")
    found.tile("x", "vec", *tile, "f32")
    found.view("va", "a", source, strides)
    found.view("vc", "c", source, strides)
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    return found


def test_all_elements_of_a_view_in_one_row():
    a = numbers(4, 20)
    _, result = lowered(copied((1, 64), (4, 16), (20, 1)), LAST, a=a, c=np.zeros_like(a))
    expected = np.zeros_like(a)
    expected[:, :16] = a[:, :16]
    assert np.array_equal(result["c"], expected)


@pytest.mark.parametrize(("tile", "view"), [((6, 8), (4, 12)), ((3, 16), (4, 12))])
def test_lines_that_end_within_one_another(tile, view):
    reason = "lines of its view end in the midst of lines of its tile"
    found = copied(tile, view, (20, 1))
    assert refusals(found, LAST) == [f"{name}: {reason}" for name in ("pto.tload", "pto.tstore")]


def test_a_part_of_a_part():
    """All of its elements go to one row of a tile."""
    found = Program(a="f32", c="f32")
    found.numbers |= {3, 4, 8}
    found.tile("x", "vec", 1, 32, "f32")
    found.view("va", "a", (8, 20), (20, 1))
    found.types["vb"] = part = "!pto.partition_tensor_view<4x8xf32>"
    found.lines.append(
        f"%vb = pto.partition_view %va, offsets = [%c3, %c4], sizes = [%c4, %c8] : {found.types['va']} -> {part}"
    )
    found.view("vc", "c", (4, 8), (8, 1))
    found.op("tload", "vb", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers(8, 20)
    _, result = lowered(found, LAST, a=a, c=np.zeros((4, 8), np.float32))
    assert np.array_equal(result["c"], a[3:7, 4:12])


def test_a_store_takes_the_rows_of_a_tile_whatever_the_layout_of_its_view():
    """A row of 256 elements goes to 16 rows; a load through such a view would take columns."""
    found = Program(a="f32", c="f32")
    found.tile("x", "vec", 1, 256, "f32")
    found.view("va", "a", (1, 256), (256, 1))
    found.view("vc", "c", (16, 16), (16, 1), layout="dn")
    found.op("tload", "va", to="x")
    found.op("tstore", "x", to="vc")
    a = numbers(1, 256)
    _, result = lowered(found, LAST, a=a, c=np.zeros((16, 16), np.float32))
    assert np.array_equal(result["c"], a.reshape(16, 16))


def test_what_runs_stays_when_nobody_needs_its_number_any_more():
    """A number that is loaded only for a sum that is written again."""
    found = Program(a="f32", c="f32")
    for name in "xz":
        found.tile(name, "vec", 4, 64, "f32")
        found.view(f"v{name}", "a" if name == "x" else "c", (4, 64), (64, 1))
    found.op("tload", "vx", to="x")
    found.lines.append("%number = pto.load_scalar %a[%c0] : !pto.ptr<f32> -> f32")
    found.op("tadds", "x", to="z", extra=", %number", extra_types=", f32")
    found.op("tadd", "x", "x", to="z")
    found.op("tstore", "z", to="vz")
    module, said = passed(str(found), "assign-memory", "lower-vector")
    assert not said
    text = print_module(module)
    assert "pto.vadds" not in text
    assert "pto.load_scalar" in text
