"""What no transfer copies, and why. Source: docs/reference/layouts.md, "Transfers"."""

import pytest
from cube_programs import Program, passed, refusals

from pto_dialect import print_module

ROWS = "a transfer fills up whole rows of a tile and nothing else"
PLACE = "several elements go to one address of global memory"


def load(element: str, cols: int, valid: int, sizes: tuple[int, ...], strides: tuple[int, ...], **tile: str) -> Program:
    """A load of a view into 8 rows of a tile."""
    found = Program(a=element)
    found.view("v", "a", sizes, strides)
    found.tile("x", "vec", 8, cols, element, valid=f"8x{valid}", **tile)
    found.op("tload", "v", to="x")
    return found


def part(element: str) -> Program:
    """A load into columns 0 to 31 of a tile with 64, which is filled up."""
    found = Program(a=element)
    found.numbers.add(8)
    found.view("v", "a", (8, 20), (20, 1))
    found.tile("w", "vec", 8, 64, element)
    found.types["x"] = f"!pto.tile_buf<vec, 8x32x{element}, valid=8x20, pad=1>"
    found.lines.append(f"%x = pto.subview %w[%c0, %c0] sizes [8, 32] : {found.types['w']} -> {found.types['x']}")
    found.op("tload", "v", to="x")
    return found


def store(strides: tuple[int, int], valid: str = "") -> Program:
    """A store of a tile of 8 x 32 elements."""
    found = Program(c="f32")
    rows, cols = map(int, valid.split("x")) if valid else (8, 32)
    found.tile("x", "vec", 8, 32, "f32", valid=valid)
    found.view("v", "c", (rows, cols), strides)
    found.op("tstore", "x", to="v")
    return found


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        (part("f32"), f"pto.tload: {ROWS}"),
        (load("f32", 64, 60, (8, 60), (1, 8), more=", pad=1", layout="dn"), f"pto.tload: {ROWS}"),
        (load("i64", 64, 60, (8, 60), (60, 1), more=", pad=1"),
         "pto.tload: a transfer does not fill up rows of i64"),
        (store((0, 1)), f"pto.tstore: {PLACE}"),
    ],
)  # fmt: skip
def test_refusals(program, reason):
    assert refusals(program, "lower-transfers") == [reason]


@pytest.mark.parametrize(("valid", "strides"), [("1x32", (0, 1)), ("8x1", (1, 0))])
def test_a_single_element_may_have_any_distance(valid, strides):
    """Nothing follows it."""
    module, said = passed(str(store(strides, valid)), "assign-memory", "lower-transfers")
    assert not said
    assert "pto.tstore" not in print_module(module)


@pytest.mark.parametrize(("distance", "fits"), [((1 << 38) - 1, True), (1 << 38, False)])
def test_distances_in_global_memory_have_40_bits_of_bytes(distance, fits):
    program = store((distance, 1))
    if fits:
        assert not passed(str(program), "assign-memory", "lower-transfers")[1]
    else:
        reason = f"a count or a distance of {distance} does not fit into its field"
        assert refusals(program, "lower-transfers") == [f"pto.tstore: {reason}"]
