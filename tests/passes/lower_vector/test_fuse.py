"""Neighbours in one vector function. Source: docs/reference/vectors.md, "Loads and stores"."""

import numpy as np
import pytest
from cube_programs import Program, lowered, passed, refusals

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
    reason = "its destination overlaps other elements, which are needed later"
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


def test_a_store_that_needs_no_load_of_its_address_stands_alone():
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


def placed(found: Program, **places: int) -> Program:
    """The program with addresses."""
    found.tiles = [line.replace("alloc_tile ", f"alloc_tile addr = %at{line[1]} ") for line in found.tiles]
    found.tiles[:0] = [f"%at{name} = arith.constant {place} : i64" for name, place in places.items()]
    return found


@pytest.mark.parametrize(("length", "functions"), [(31, 1), (32, 1), (33, 2), (65, 3)])
def test_a_function_has_32_operations_at_most(length, functions):
    found = started("s")
    for number in range(length):
        found.op("tadd", "s" if number else "x", "y", to="s")
    found.op("tstore", "s", to="vz")
    given = arrays()
    module, result = lowered(found, "lower-vector", **given)
    assert counts(module)[0] == functions
    expected = given["a"]
    for _ in range(length):
        expected = expected + given["b"]
    assert np.array_equal(result["c"], expected)


@pytest.mark.parametrize("name", ["tcolexpandmul", "trowexpandmul"])
def test_one_row_or_column_of_what_a_neighbour_writes(name):
    """Other rows need the first one, which the function before has to have written."""
    found = started("s", "z")
    found.op("tadd", "x", "y", to="s")
    found.op(name, "x", "s", to="z")
    found.op("tstore", "z", to="vz")
    given = arrays()
    text = str(found).replace('"a5"}', '"a5", pto.backend = "vpto"}', 1)
    module, result = lowered(text, "lower-vector", **given)
    assert counts(module)[0] == 2
    sums = given["a"] + given["b"]
    assert np.array_equal(result["c"], given["a"] * (sums[:1] if name == "tcolexpandmul" else sums[:, :1]))


def test_bytes_that_are_reached_by_a_number_are_stored():
    """Somebody may read what the run leaves in %s through the pointer."""
    found = placed(started("s", "z"), x=0, y=4096, s=8192, z=16384)
    found.lines.append("%p = pto.castptr %ats : i64 -> !pto.ptr<f32, ub>")
    found.op("tmul", "x", "y", to="s")
    found.op("tadd", "s", "x", to="z")
    found.lines.append("%first = pto.load_scalar %p[%c0] : !pto.ptr<f32, ub> -> f32")
    found.op("tstore", "z", to="vz")
    module, said = passed(str(found), "lower-vector")
    assert not said
    assert counts(module) == (1, 2, 4)
    again = placed(started("s", "z"), x=0, y=4096, s=8192, z=16384)
    again.op("tmul", "x", "y", to="s")
    again.op("tadd", "s", "x", to="z")
    again.op("tstore", "z", to="vz")
    assert counts(passed(str(again), "lower-vector")[0]) == (1, 2, 2)


@pytest.mark.parametrize("used", [False, True])
def test_a_tile_with_the_bytes_of_another_one(used):
    """%w begins where %s does. It is read before it is written, or nobody uses it."""
    found = placed(started("s", "z", "w"), x=0, y=4096, s=8192, z=16384, w=8192)
    found.op("tmul", "x", "y", to="s")
    found.op("tadd", "s", "x", to="z")
    found.op("tstore", "z", to="vz")
    if used:
        found.op("tadds", "w", to="w", extra=", %number", extra_types=", f32")
        found.op("tstore", "w", to="vw")
    given = arrays()
    module, result = lowered(found, "lower-vector", **given)
    assert counts(module) == ((2, 3, 6) if used else (1, 2, 2))
    products = given["a"] * given["b"]
    assert np.array_equal(result["c"], products + given["a"])
    if used:
        assert np.array_equal(result["d"], products + np.float32(0.5))


def test_a_tile_of_the_caller_is_stored():
    tile = "!pto.tile_buf<vec, 9x96xf32>"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%z: {tile}, %x: f32) {{
    pto.texpands ins(%x : f32) outs(%z : {tile})
    pto.tadd ins(%z, %z : {tile}, {tile}) outs(%z : {tile})
    return
  }}
}}
"""
    module, said = passed(text, "lower-vector")
    assert not said
    functions, _, stores = counts(module)
    assert functions == 1
    assert stores > 0


def test_tiles_whose_location_a_run_says_are_not_fused():
    found = placed(started("s", "z"), x=0, y=4096, z=16384)
    found.arguments["ats"] = "=i64"
    for name in ("s", "z"):
        found.lines.append(f"pto.texpands ins(%number : f32) outs(%{name} : {found.types[name]})")
    found.op("tstore", "z", to="vz")
    found.op("tstore", "s", to="vw")
    module, said = passed(str(found), "lower-vector")
    assert not said
    assert counts(module)[0] == 2


@pytest.mark.parametrize("down", [False, True])
def test_one_part_of_a_tile_is_written_from_another_one(down):
    """Rows 4 to 7 from rows 0 to 3 of the same tile, or the other way round: no element is in both."""
    found = Program(a="f32", c="f32", number="=f32")
    found.view("vx", "a", (8, 64), (64, 1))
    found.view("vz", "c", (8, 64), (64, 1))
    found.tile("x", "vec", 8, 64, "f32")
    found.op("tload", "vx", to="x")
    part = "!pto.tile_buf<vec, 4x64xf32>"
    found.numbers.add(4)
    for name, row in (("low", 0), ("high", 4)):
        found.lines.append(f"%{name} = pto.subview %x[%c{row}, %c0] sizes [4, 64] : {found.types['x']} -> {part}")
        found.types[name] = part
    found.op("tadds", "low" if down else "high", to="high" if down else "low", extra=", %number", extra_types=", f32")
    found.op("tstore", "x", to="vz")
    a = RNG.uniform(-2, 2, (8, 64)).astype(np.float32)
    module, result = lowered(found, "lower-vector", a=a, c=np.zeros_like(a), number=0.5)
    half = np.float32(0.5)
    assert "pto.tadds" not in print_module(module)
    assert np.array_equal(result["c"], np.concatenate((a[:4], a[:4] + half) if down else (a[4:] + half, a[4:])))


@pytest.mark.parametrize("last", ["compares", "returns"])
def test_new_contents_in_the_same_bytes(last):
    """A comparison writes some bytes of %w, whoever gets the tile reads them all: %s, which is there, is stored."""
    found = placed(started("s", "z"), x=0, y=4096, s=8192, z=16384)
    found.tile("w", "vec", 9, 384, "ui8", "addr = %ats")
    found.op("tmul", "x", "y", to="s")
    found.op("tadd", "s", "x", to="z")
    found.op("tstore", "z", to="vz")
    if last == "compares":
        found.op("tcmps", "x", to="w", more=" {cmpMode = #pto<cmp gt>}", extra=", %number", extra_types=", f32")
    text = str(found)
    if last == "returns":
        kind = found.types["w"]
        text = text.replace("attributes {pto.entry}", f"-> {kind}").replace("return", f"return %w : {kind}")
    module, said = passed(text, "lower-vector")
    assert not said
    text = print_module(module)
    assert text[: text.index("pto.tstore")].count("pto.vsts ") == 4
