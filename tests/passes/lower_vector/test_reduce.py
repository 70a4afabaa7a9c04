"""Reductions as vector functions. Source: docs/reference/tiles.md, "Broadcasts and reductions"."""

import numpy as np
import pytest
from cube_programs import Program, lowered, refusals
from groups import in_groups

from pto_dialect import print_module
from pto_dialect.passes.lower_vector.reduce import COLUMNS, ROWS

RNG = np.random.default_rng(31)
STORAGE = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i16": np.int16, "i32": np.int32}
STORAGE |= {"ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32}


def values(shape, element: str):
    """Numbers whose sums depend on their order, or wrap."""
    if element[0] in "iu":
        low, top = np.iinfo(STORAGE[element]).min, np.iinfo(STORAGE[element]).max
        return RNG.integers(low, top, shape).astype(STORAGE[element])
    return (RNG.uniform(-1, 1, shape) * 10.0 ** RNG.integers(-4, 4, shape)).astype(STORAGE[element])


def program(name: str, element: str, rows: int, cols: int, valid: int, more: str = "") -> Program:
    """One reduction of a tile of which ``valid`` columns count."""
    found = Program(a=element, c=element)
    found.view("vx", "a", (rows, valid), (valid, 1))
    found.tile("x", "vec", rows, cols, element, valid=f"{rows}x{valid}")
    found.tile("t", "vec", rows, cols, element, valid=f"{rows}x{valid}")
    found.op("tload", "vx", to="x")
    if name in ROWS:
        found.view("vz", "c", (rows, 1), (1, 1), layout="dn")
        found.tile("z", "vec", 32, 1, element, layout="dn", valid=f"{rows}x1")
        found.op(name.removeprefix("pto."), "x", "t", to="z")
    else:
        found.view("vz", "c", (1, valid), (valid, 1))
        found.tile("z", "vec", 1, cols, element, valid=f"1x{valid}")
        found.op(name.removeprefix("pto."), *(("x", "t") if more else ("x",)), to="z", more=more)
    found.op("tstore", "z", to="vz")
    return found


def results(name: str, element: str, a):
    """Both forms, compared; what they compute."""
    rows, valid = a.shape
    cols = -(-valid // 32) * 32
    out = np.zeros((rows, 1) if name in ROWS else (1, valid), STORAGE[element])
    module, found = lowered(program(name, element, rows, cols, valid), "lower-vector", a=a, c=out)
    assert name not in print_module(module)
    return found["c"].reshape(-1)


WIDTHS = (64, 17, 70, 120, 121, 176, 256, 500)
CASES = [
    (name, element, (5, 1, 7)[number % 3], WIDTHS[number % 7])
    for number, (name, element) in enumerate(
        (name, element) for name, row in (ROWS | COLUMNS).items() for element in sorted(row.elements)
    )
]


@in_groups(("name", "element", "rows", "valid"), CASES)
def test_a_vector_function_reduces_to_the_same_bits(name, element, rows, valid):
    found = results(name, element, values((rows, valid), element))
    assert found.any()


@pytest.mark.parametrize("valid", WIDTHS)
def test_sums_of_rows_add_in_increasing_order(valid):
    a = values((3, valid), "f32")
    expected = []
    for row in a:
        total = row[0]
        for number in row[1:]:
            total = np.float32(total + number)
        expected.append(total)
    assert results("pto.trowsum", "f32", a).tolist() == expected


@pytest.mark.parametrize("name", ROWS)
def test_special_numbers_of_rows(name):
    a = values((6, 130), "f32")
    a[0, 3], a[1, 125], a[2, 5], a[2, 90], a[3, 129] = np.nan, np.inf, np.inf, -np.inf, -np.inf
    a[4], a[5] = -0.0, np.nan
    found = results(name, "f32", a)
    function = {"pto.trowsum": np.sum, "pto.trowmax": np.max, "pto.trowmin": np.min}[name]
    with np.errstate(invalid="ignore"):
        assert np.array_equal(np.isnan(found), np.isnan(function(a, axis=1)))
    assert np.signbit(found[4])


@pytest.mark.parametrize("name", COLUMNS)
def test_special_numbers_of_columns(name):
    a = values((6, 70), "f32")
    a[2, :5] = [np.nan, np.inf, -np.inf, 0.0, -0.0]
    a[3, 1:3] = -np.inf
    a[:, 5], a[:, 6] = -0.0, [0.0, -0.0, 0.0, -0.0, 0.0, -0.0]
    found = results(name, "f32", a)
    assert np.isnan(found[0])


def test_sums_of_halves_as_a_tree_are_refused():
    reason = "neighbouring halves are added first, then their sums"
    found = program("pto.tcolsum", "f16", 4, 64, 64, more=" {isBinary = true}")
    assert refusals(found, "lower-vector") == [f"pto.tcolsum: {reason}"]


@pytest.mark.parametrize("valid", WIDTHS)
def test_sums_of_halves_along_rows_are_rounded_once(valid):
    a = values((4, valid), "f16")
    a[3] = 60000
    expected = []
    for row in a.astype(np.float32):
        total = row[0]
        for number in row[1:]:
            total = np.float32(total + number)
        expected.append(total)
    with np.errstate(over="ignore"):
        rounded = np.array(expected).astype(np.float16)
    assert np.array_equal(results("pto.trowsum", "f16", a), rounded)
    assert np.isinf(rounded[3])


@pytest.mark.parametrize("element", ["i8", "ui8", "i16", "ui16"])
@in_groups("valid", WIDTHS)
def test_sums_of_narrow_integers_along_rows_wrap(element, valid):
    a = values((3, valid), element)
    a[2] = np.iinfo(STORAGE[element]).max
    totals = [sum(map(int, row)) for row in a]
    assert results("pto.trowsum", element, a).tolist() == np.array(totals).astype(STORAGE[element]).tolist()


def in_place(name: str, distance: int) -> Program:
    """A reduction whose result lies some bytes after the beginning of its source."""
    found = program(name, "f32", 12, 96, 70)
    at = {"x": 0, "t": 8192, "z": distance}
    found.tiles = [line.replace("alloc_tile ", f"alloc_tile addr = %at{line[1]} ") for line in found.tiles]
    found.tiles[:0] = [f"%at{tile} = arith.constant {number} : i64" for tile, number in at.items()]
    return found


@pytest.mark.parametrize("name", ["pto.trowsum", "pto.tcolmax"])
def test_results_lie_at_the_beginning_of_their_source(name):
    out = np.zeros((12, 1) if name in ROWS else (1, 70), np.float32)
    _, found = lowered(in_place(name, 0), "lower-vector", a=values((12, 70), "f32"), c=out)
    assert found["c"].all()


@pytest.mark.parametrize("name", ["pto.trowsum", "pto.tcolmax"])
def test_results_elsewhere_in_their_source_are_refused(name):
    reason = "its destination overlaps values that are reduced later"
    assert refusals(in_place(name, 384), "lower-vector") == [f"{name}: {reason}"]
