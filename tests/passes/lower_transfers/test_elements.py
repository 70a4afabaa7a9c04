"""Single elements of tiles through pointers. Source: docs/reference/tiles.md, "Irregular operations"."""

import ml_dtypes
import numpy as np
import pytest
from cube_programs import Program, lowered, refusals

from pto_dialect import print_module

STORAGE = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "i32": np.int32, "i8": np.int8}
LAST = "lower-transfers"


def moved(element: str, source: int, target: str, **tile: str) -> Program:
    """Element ``source`` of a tile goes to place ``target``, after a load and before a store."""
    found = Program(a=element, c=element, at="=index")
    found.tile("x", "vec", 8, 32, element, **tile)
    found.view("va", "a", (8, 32), (32, 1))
    found.view("vc", "c", (8, 32), (32, 1))
    found.op("tload", "va", to="x")
    found.lines += [
        f"%one = pto.tgetval ins(%x, {found.index(source)} : {found.types['x']}, index) outs : {element}",
        f"pto.tsetval ins({target}, %one : index, {element}) outs(%x : {found.types['x']})",
    ]
    found.op("tstore", "x", to="vc")
    return found


@pytest.mark.parametrize("element", STORAGE)
def test_an_element_goes_to_another_address(element):
    a = np.arange(256).reshape(8, 32).astype(np.int8).astype(STORAGE[element])
    module, result = lowered(moved(element, 77, "%at"), LAST, a=a, c=np.zeros_like(a), at=200)
    expected = a.copy().reshape(-1)
    expected[200] = a.reshape(-1)[77]
    assert np.array_equal(result["c"].reshape(-1), expected)
    assert "tgetval" not in print_module(module)
    assert "tsetval" not in print_module(module)


def test_positions_in_a_part_count_from_its_beginning():
    found = moved("f32", 3, "%at")
    found.types["w"] = "!pto.tile_buf<vec, 8x32xf32, valid=4x16>"
    found.numbers |= {4, 16}
    window = f"%w = pto.subview %x[%c4, %c16] sizes [4, 16] : {found.types['x']} -> {found.types['w']}"
    lines = [line.replace("%x", "%w").replace(found.types["x"], found.types["w"]) for line in found.lines[-3:-1]]
    found.lines[-3:-1] = [window, *lines]
    a = np.arange(256, dtype=np.float32).reshape(8, 32)
    _, result = lowered(found, LAST, a=a, c=np.zeros_like(a), at=33)
    expected = a.copy()
    expected[5, 17] = a[4, 19]
    assert np.array_equal(result["c"], expected)


def test_numbers_of_another_type_are_refused():
    found = moved("f32", 3, "%at")
    found.tiles.append("%half = arith.constant 0.5 : f16")
    found.lines[-2] = found.lines[-2].replace("%one : index, f32", "%half : index, f16")
    assert refusals(found, LAST) == ["pto.tsetval: its number is f16, its tile holds f32"]


@pytest.mark.parametrize(
    ("element", "falls", "start"), [("i32", "false", 7), ("i16", "true", 3), ("i32", "true", -(2**31))]
)
def test_counting(element, falls, start):
    found = Program(c=element, start=f"={element}")
    found.tile("x", "vec", 2, 64, element, valid="2x50")
    found.view("vc", "c", (2, 50), (50, 1))
    found.view("va", "c", (2, 50), (50, 1))
    found.op("tload", "va", to="x")
    found.lines.append(f"pto.tci ins(%start : {element}) outs(%x : {found.types['x']}) {{descending = {falls}}}")
    found.op("tstore", "x", to="vc")
    kind = np.dtype(STORAGE.get(element, np.int16))
    c = np.full((2, 50), 9, kind)
    module, result = lowered(found, LAST, c=c, start=start)
    steps = np.arange(50) * (-1 if falls == "true" else 1)
    assert np.array_equal(result["c"][0], (start + steps).astype(kind))
    assert (result["c"][1] == 9).all()
    assert "pto.tci" not in print_module(module)
