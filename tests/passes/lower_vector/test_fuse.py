"""Neighbours in one vector function. Source: docs/reference/vectors.md, "Loads and stores"."""

import numpy as np
import pytest
from cube_programs import Program, lowered, refusals

from pto_dialect import print_module

RNG = np.random.default_rng(53)


def started(*tiles: str, valid: int = 70) -> Program:
    """Tiles of which ``valid`` columns count; two of them are loaded."""
    found = Program(a="f32", b="f32", c="f32", d="f32", number="=f32")
    for name, array in (("x", "a"), ("y", "b"), ("z", "c"), ("w", "d")):
        found.view(f"v{name}", array, (9, valid), (valid, 1))
    for name in ("x", "y", *tiles):
        found.tile(name, "vec", 9, 96, "f32", valid=f"9x{valid}")
    for name in "xy":
        found.op("tload", f"v{name}", to=name)
    return found


def arrays(valid: int = 70):
    """Arguments of such a program."""
    a, b = (RNG.uniform(-2, 2, (9, valid)).astype(np.float32) for _ in "ab")
    return {"a": a, "b": b, "c": np.zeros_like(a), "d": np.zeros_like(a), "number": 0.5}


def counts(module):
    """How many vector functions, loads of whole registers, and stores a program has."""
    text = print_module(module)
    return tuple(text.count(word) for word in ("pto.vecscope", "pto.vlds ", "pto.vsts "))


def test_values_stay_in_registers():
    found = started("s", "t", "z")
    found.op("tmul", "x", "y", to="s")
    found.op("tadds", "s", to="t", extra=", %number", extra_types=", f32")
    found.op("tmax", "t", "x", to="z")
    found.op("tstore", "z", to="vz")
    given = arrays()
    module, result = lowered(found, "lower-vector", **given)
    assert counts(module) == (1, 2, 2)
    expected = np.maximum(given["a"] * given["b"] + np.float32(0.5), given["a"])
    assert np.array_equal(result["c"], expected)


def test_results_that_others_read_are_stored():
    found = started("s", "z")
    found.op("tmul", "x", "y", to="s")
    found.op("tadd", "s", "x", to="z")
    found.op("tstore", "z", to="vz")
    found.op("tstore", "s", to="vw")
    given = arrays()
    module, result = lowered(found, "lower-vector", **given)
    assert counts(module) == (1, 2, 4)
    assert np.array_equal(result["d"], given["a"] * given["b"])


def test_the_last_result_of_a_tile_is_stored():
    found = started()
    found.op("tmul", "x", "y", to="x")
    found.op("tadd", "x", "y", to="x")
    found.op("tstore", "x", to="vz")
    given = arrays()
    module, result = lowered(found, "lower-vector", **given)
    assert counts(module) == (1, 2, 2)
    assert np.array_equal(result["c"], given["a"] * given["b"] + given["b"])


def test_one_by_one():
    found = started("s", "z")
    found.op("tmul", "x", "y", to="s")
    found.op("tadd", "s", "x", to="z")
    found.op("tstore", "z", to="vz")
    module, _ = lowered(found, "lower-vector{fuse=false}", **arrays())
    assert counts(module) == (2, 4, 4)


def test_tiles_that_overlap_are_not_fused():
    found = started("s", "z")
    found.op("tmul", "x", "x", to="s")
    found.op("tadd", "x", "y", to="z")
    found.op("tstore", "z", to="vz")
    found.op("tstore", "s", to="vw")
    places = {"x": 0, "y": 8192, "s": 16384, "z": 16384 + 384}
    found.tiles = [line.replace("alloc_tile ", f"alloc_tile addr = %at{line[1]} ") for line in found.tiles]
    found.tiles[:0] = [f"%at{name} = arith.constant {place} : i64" for name, place in places.items()]
    module, _ = lowered(found, "lower-vector", **arrays())
    assert counts(module)[0] == 2


def test_a_result_that_tears_its_source_is_refused():
    found = started("s")
    found.op("tmul", "x", "y", to="s")
    places = {"x": 0, "y": 8192, "s": 384}
    found.tiles = [line.replace("alloc_tile ", f"alloc_tile addr = %at{line[1]} ") for line in found.tiles]
    found.tiles[:0] = [f"%at{name} = arith.constant {place} : i64" for name, place in places.items()]
    reason = "its destination takes the place of other elements, which are needed later"
    assert refusals(found, "lower-vector") == [f"pto.tmul: {reason}"]


def test_a_row_that_a_neighbour_writes():
    found = started("s", "z")
    found.tile("row", "vec", 1, 96, "f32", valid="1x70")
    found.view("vrow", "b", (1, 70), (70, 1))
    found.op("tload", "vrow", to="row")
    found.op("tcolexpandmul", "x", "row", to="s")
    found.op("tcolexpandsub", "s", "row", to="z")
    found.op("tstore", "z", to="vz")
    given = arrays()
    module, result = lowered(found, "lower-vector", **given)
    assert counts(module) == (1, 2, 2)
    assert np.array_equal(result["c"], given["a"] * given["b"][:1] - given["b"][:1])


@pytest.mark.parametrize("element", ["i32", "f16"])
def test_other_elements(element):
    kind = {"i32": np.int32, "f16": np.float16}[element]
    found = Program(a="f32", b=element, c="f32", d=element)
    for name, array, type_ in (("x", "a", "f32"), ("y", "b", element)):
        found.view(f"v{name}", array, (4, 128), (128, 1))
        found.tile(name, "vec", 4, 128, type_)
        found.op("tload", f"v{name}", to=name)
    for _ in range(2):
        found.op("tabs", "x", to="x")
        found.op("tabs", "y", to="y")
    found.op("tstore", "x", to="vx")
    found.op("tstore", "y", to="vy")
    a, b = RNG.uniform(-9, 9, (4, 128)).astype(np.float32), RNG.integers(-9, 9, (4, 128)).astype(kind)
    module, result = lowered(found, "lower-vector", a=a, b=b, c=a, d=b)
    assert print_module(module).count("pto.vecscope") == (3 if element == "i32" else 4)
    assert np.array_equal(result["b"], np.abs(b))


def test_a_store_that_needs_no_load_of_its_place_stands_alone():
    found = started("s")
    found.op("tmul", "x", "y", to="s")
    found.op("tadds", "y", to="x", extra=", %number", extra_types=", f32")
    found.op("tadd", "x", "s", to="x")
    found.op("tstore", "x", to="vz")
    given = arrays()
    module, result = lowered(found, "lower-vector", **given)
    assert print_module(module).count("pto.vecscope") == 2
    assert np.array_equal(result["c"], given["b"] + np.float32(0.5) + given["a"] * given["b"])


def test_results_that_nobody_needs_are_not_computed():
    found = started("s")
    found.op("tmul", "x", "y", to="s")
    found.op("tadd", "x", "y", to="s")
    found.op("tstore", "s", to="vz")
    given = arrays()
    module, result = lowered(found, "lower-vector", **given)
    assert "pto.vmul" not in print_module(module)
    assert np.array_equal(result["c"], given["a"] + given["b"])
