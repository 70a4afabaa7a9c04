"""Transpositions, gathers and scatters as vector functions. Source: docs/reference/tiles.md, "Irregular operations"."""

import numpy as np
import pytest
from cube_programs import Program, lowered, refusals
from tile_run_helpers import program
from tile_run_helpers import tile as tile_data

from pto_dialect import compile as compile_kernel
from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import make_pass
from pto_dialect.targets.mask_patterns import MASK_PATTERNS

RNG = np.random.default_rng(43)
STORAGE = {"f16": np.float16, "f32": np.float32, "i16": np.int16, "i32": np.int32}


def values(shape, element: str):
    """Small whole numbers."""
    return RNG.integers(-900, 900, shape).astype(STORAGE[element])


def tile(found: Program, name: str, array: str, shape: tuple[int, int], valid: tuple[int, int], element: str) -> None:
    """A tile with a view of an array of its valid region."""
    found.view(f"v{name}", array, valid, (valid[1], 1))
    part = {"valid": f"{valid[0]}x{valid[1]}"} if shape != valid else {}
    found.tile(name, "vec", *shape, element, **part)


@pytest.mark.parametrize(
    ("element", "rows", "cols"), [("f32", 5, 70), ("f32", 130, 9), ("f16", 150, 33), ("i32", 64, 8)]
)
def test_transposition(element, rows, cols):
    found = Program(a=element, c=element)
    wide, tall = (-(-size // 16) * 16 for size in (cols, rows))
    tile(found, "x", "a", (rows, wide), (rows, cols), element)
    tile(found, "z", "c", (cols, tall), (cols, rows), element)
    tile(found, "t", "c", (cols, tall), (cols, rows), element)
    found.op("tload", "vx", to="x")
    found.op("ttrans", "x", "t", to="z")
    found.op("tstore", "z", to="vz")
    a = values((rows, cols), element)
    module, result = lowered(found, "lower-vector", a=a, c=np.zeros((cols, rows), a.dtype))
    assert "pto.ttrans" not in print_module(module)
    assert np.array_equal(result["c"], a.T)


@pytest.mark.parametrize(
    ("element", "index", "rows", "cols"),
    [
        ("f32", "i32", 3, 64),
        ("f32", "i32", 2, 80),
        ("f16", "i32", 3, 80),
        ("f16", "i16", 2, 144),
        ("f32", "i16", 2, 80),
    ],
)
def test_gather_by_positions(element, index, rows, cols):
    found = Program(a=element, i=index, c=element)
    tile(found, "x", "a", (4, 96), (4, 96), element)
    for name, array, kind in (("k", "i", index), ("z", "c", element), ("t", "i", index)):
        tile(found, name, array, (rows, cols), (rows, cols), kind)
    found.op("tload", "vx", to="x")
    found.op("tload", "vk", to="k")
    found.op("tgather", "x", "k", "t", to="z")
    found.op("tstore", "z", to="vz")
    a, places = values((4, 96), element), RNG.integers(0, 4 * 96, (rows, cols)).astype(STORAGE[index])
    module, result = lowered(found, "lower-vector", a=a, i=places, c=np.zeros((rows, cols), a.dtype))
    assert "pto.tgather" not in print_module(module)
    assert np.array_equal(result["c"], a.reshape(-1)[places])


@pytest.mark.parametrize("pattern", MASK_PATTERNS)
@pytest.mark.parametrize("element", ["f32", "f16"])
def test_gather_by_pattern(pattern, element):
    step, first = MASK_PATTERNS[pattern]
    found = Program(a=element, c=element)
    tile(found, "x", "a", (3, 320), (3, 320), element)
    tile(found, "z", "c", (3, 320 // step), (3, 320 // step), element)
    found.op("tload", "vx", to="x")
    found.op("tgather", "x", to="z", extra=f", {{maskPattern = #pto.mask_pattern<{pattern}>}}")
    found.op("tstore", "z", to="vz")
    a = values((3, 320), element)
    module, result = lowered(found, "lower-vector", a=a, c=np.zeros((3, 320 // step), a.dtype))
    assert "pto.tgather" not in print_module(module)
    assert np.array_equal(result["c"], a[:, first::step])


def test_gather_of_blocks():
    found = Program(a="f32", i="i32", c="f32")
    tile(found, "x", "a", (4, 64), (4, 64), "f32")
    tile(found, "k", "i", (2, 16), (2, 16), "i32")
    tile(found, "z", "c", (2, 128), (2, 100), "f32")
    found.op("tload", "vx", to="x")
    found.op("tload", "vk", to="k")
    found.op("tgatherb", "x", "k", to="z")
    found.op("tstore", "z", to="vz")
    a, blocks = values((4, 64), "f32"), RNG.integers(0, 32, (2, 16)).astype(np.int32)
    module, result = lowered(found, "lower-vector", a=a, i=32 * blocks, c=np.zeros((2, 100), np.float32))
    assert "pto.tgatherb" not in print_module(module)
    assert np.array_equal(result["c"], a.reshape(32, 8)[blocks].reshape(2, 128)[:, :100])


@pytest.mark.parametrize(("element", "index"), [("f32", "i32"), ("f16", "i16")])
def test_scatter_by_positions(element, index):
    found = Program(a=element, i=index, c=element)
    tile(found, "x", "a", (3, 80), (3, 80), element)
    tile(found, "k", "i", (3, 80), (3, 80), index)
    tile(found, "z", "c", (4, 96), (4, 96), element)
    for name in "xkz":
        found.op("tload", f"v{name}", to=name)
    found.op("tscatter", "x", "k", to="z")
    found.op("tstore", "z", to="vz")
    a, c = values((3, 80), element), values((4, 96), element)
    places = RNG.integers(0, 4 * 96, (3, 80)).astype(STORAGE[index])
    module, result = lowered(found, "lower-vector", a=a, i=places, c=c)
    assert "pto.tscatter" not in print_module(module)
    expected = np.zeros_like(c).reshape(-1)
    for place, value in zip(places.reshape(-1), a.reshape(-1), strict=True):
        expected[place] = value
    assert np.array_equal(result["c"].reshape(-1), expected)


@pytest.mark.parametrize("pattern", ["P0101", "P1010", "P0100"])
def test_scatter_by_pattern(pattern):
    step, first = MASK_PATTERNS[pattern]
    found = Program(a="f32", c="f32")
    tile(found, "x", "a", (3, 72), (3, 72), "f32")
    tile(found, "z", "c", (3, 72 * step), (3, 72 * step), "f32")
    found.op("tload", "vx", to="x")
    found.op("tscatter", "x", to="z", extra=f", {{maskPattern = #pto.mask_pattern<{pattern}>}}")
    found.op("tstore", "z", to="vz")
    a, expected = values((3, 72), "f32"), np.zeros((3, 72 * step), np.float32)
    module, result = lowered(found, "lower-vector", a=a, c=np.ones_like(expected))
    assert "pto.tscatter" not in print_module(module)
    expected[:, first::step] = a
    assert np.array_equal(result["c"], expected)


@pytest.mark.parametrize(
    ("pattern", "backend", "rest"), [("P1010", "emitc", 0), ("P1010", "vpto", 7), ("P1111", "emitc", 7)]
)
def test_elements_outside_of_the_valid_region_follow_the_backend(pattern, backend, rest):
    """A pattern of all elements is a move."""
    step, first = MASK_PATTERNS[pattern]
    source = tile_data("a", "f32", values((3, 64), "f32"), (2, 40))
    dst = tile_data("d", "f32", np.full((3, 64 * step), 7), (2, 40 * step))
    statement = f"pto.tscatter ins(%a, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {{a}}) outs(%d : {{d}})"
    text = program(statement, (source, dst), {}).replace(
        "module attributes {", f'module attributes {{pto.backend = "{backend}", '
    )
    module = parse(text)
    make_pass("lower-vector", None).run(module, DiagnosticEngine())
    assert "pto.tscatter" not in print_module(module)
    found = dst.data.copy()
    compile_kernel(module, verify=False)(source.data.reshape(-1), found.reshape(-1))
    expected = np.full_like(found, rest)
    expected[:2, : 40 * step] = 0
    expected[:2, first : 40 * step : step] = source.data[:2, :40]
    assert np.array_equal(found, expected)


def test_positions_of_matches_are_refused():
    found = Program(a="f32", n="=f32")
    tile(found, "x", "a", (1, 32), (1, 32), "f32")
    for name in ("p", "n", "t"):
        found.tile(name, "vec", 1, 32, "ui8" if name == "t" else "i32")
    found.op("tload", "vx", to="x")
    types = found.types
    found.lines.append(
        f"pto.tgather ins(%x, %n_, %t : {types['x']}, f32, {types['t']}) outs(%p, %n_0 : {types['p']}, {types['n']})"
    )
    found.lines[-1] = found.lines[-1].replace("%n_0", "%counts").replace("%n_", "%number")
    found.arguments = {"a": "f32", "number": "=f32"}
    found.tiles = [line.replace("%n =", "%counts =") for line in found.tiles]
    reason = "how many positions it stores in a row only a run knows"
    assert refusals(found, "lower-vector") == [f"pto.tgather: {reason}"]


def test_a_scatter_without_positions_and_pattern_stays():
    found = Program()
    for name in ("x", "z"):
        found.tile(name, "vec", 8, 16, "f32")
    found.op("tscatter", "x", to="z")
    assert refusals(found, "lower-vector") == ["pto.tscatter: it has neither positions nor a pattern"]


@pytest.mark.parametrize("open_", ["source columns", "columns", "rows", "source rows"])
def test_a_pattern_spreads_only_as_many_elements_as_the_text_says(open_):
    found = Program(a="f32", c="f32", n="=index")
    of_source = {"source columns": "3x?", "source rows": "?x72"}.get(open_, "3x72")
    of_result = {"columns": "3x?", "rows": "?x144"}.get(open_, "3x144")
    for name, cols, valid in (("x", 72, of_source), ("z", 144, of_result)):
        sizes = {"3x?": "valid_col = %n", "?x72": "valid_row = %n", "?x144": "valid_row = %n"}.get(valid, "")
        found.tile(name, "vec", 3, cols, "f32", sizes, valid=valid)
    found.op("tscatter", "x", to="z", extra=", {maskPattern = #pto.mask_pattern<P0101>}")
    assert refusals(found, "lower-vector") == ["pto.tscatter: how many elements its pattern places only a run knows"]


def test_halves_have_positions_up_to_32768_elements():
    """Positions of 16 bits without their sign reach a whole tile of that size."""
    found = Program(a="f16", i="i16", c="f16")
    for name, array, rows, cols in (("x", "a", 16, 2048), ("k", "i", 1, 64), ("z", "c", 1, 64), ("t", "i", 1, 64)):
        found.view(f"v{name}", array, (rows, cols), (cols, 1))
        found.tile(name, "vec", rows, cols, "i16" if name in "kt" else "f16")
    found.op("tload", "vx", to="x")
    found.op("tload", "vk", to="k")
    found.op("tgather", "x", "k", "t", to="z")
    found.op("tstore", "z", to="vz")
    a = RNG.uniform(-9, 9, (16, 2048)).astype(np.float16)
    places = RNG.integers(0, 1 << 15, (1, 64)).astype(np.int16)
    places[0, :2] = [0, (1 << 15) - 1]
    module, result = lowered(found, "lower-vector", a=a, i=places, c=np.zeros((1, 64), np.float16))
    assert "pto.tgather" not in print_module(module)
    assert np.array_equal(result["c"], a.reshape(-1)[places])
