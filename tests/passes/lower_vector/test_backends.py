"""Vector functions compute what the backend of their module computes. Source: docs/semantics.md, "The two backends"."""

import numpy as np
import pytest
from cube_programs import Program, lowered, passed

from pto_dialect import print_module

RNG = np.random.default_rng(31)
KINDS = {"f16": np.float16, "f32": np.float32, "i8": np.int8, "i16": np.int16, "i32": np.int32}


def of(backend: str, program: Program) -> str:
    """The program for a backend."""
    return str(program).replace('"a5"}', f'"a5", pto.backend = "{backend}"}}', 1)


def whole(shape: tuple[int, ...], element: str):
    """Small whole numbers, of which every difference is exact."""
    return RNG.integers(-9, 9, shape).astype(KINDS[element])


def by_rows(name: str, element: str, values: int, swapped: bool = False) -> Program:
    """70 columns of each row, and as many values for a row as are requested."""
    found = Program(a=element, b=element, c=element)
    for tile, array, valid in (("x", "a", 70), ("y", "b", values), ("z", "c", 70)):
        found.view(f"v{tile}", array, (5, valid), (valid, 1))
        found.tile(tile, "vec", 5, 128, element, valid=f"5x{valid}")
    for tile in "xy":
        found.op("tload", f"v{tile}", to=tile)
    found.op(name, *("yx" if swapped else "xy"), to="z")
    found.op("tstore", "z", to="vz")
    return found


@pytest.mark.parametrize("backend", ["emitc", "vpto"])
@pytest.mark.parametrize("element", KINDS)
@pytest.mark.parametrize("swapped", [False, True])
def test_values_of_rows_that_fill_32_bytes(backend, element, swapped):
    count = 32 // np.dtype(KINDS[element]).itemsize
    program = of(backend, by_rows("trowexpandsub", element, count, swapped))
    a, b = whole((5, 70), element), whole((5, count), element)
    module, found = lowered(program, "lower-vector", a=a, b=b, c=np.zeros_like(a))
    spread = b[:, np.arange(70) % count] if backend == "emitc" else b[:, :1]
    assert np.array_equal(found["c"], spread - a if swapped else a - spread)
    assert "trowexpand" not in print_module(module)


@pytest.mark.parametrize("backend", ["emitc", "vpto"])
def test_fewer_values_of_rows_than_32_bytes_count_once(backend):
    a, b = whole((5, 70), "f32"), whole((5, 3), "f32")
    _, found = lowered(of(backend, by_rows("trowexpandmul", "f32", 3)), "lower-vector", a=a, b=b, c=np.zeros_like(a))
    assert np.array_equal(found["c"], a * b[:, :1])


@pytest.mark.parametrize("backend", ["emitc", "vpto"])
def test_one_tile_of_values_in_two_forms_in_one_function(backend):
    """Rows are spread from the first value, and arithmetic takes eight values one after the other with emitc."""
    found = Program(a="f32", b="f32", c="f32")
    for tile, array, valid in (("x", "a", 64), ("y", "b", 8), ("z", "c", 64)):
        found.view(f"v{tile}", array, (4, valid), (valid, 1))
        found.tile(tile, "vec", 4, 64, "f32", valid=f"4x{valid}")
    found.tile("t", "vec", 4, 64, "f32")
    for tile in "xy":
        found.op("tload", f"v{tile}", to=tile)
    found.op("trowexpand", "y", to="t")
    found.op("trowexpandadd", "x", "y", to="x")
    found.op("tsub", "x", "t", to="z")
    found.op("tstore", "z", to="vz")
    a, b = whole((4, 64), "f32"), whole((4, 8), "f32")
    module, result = lowered(of(backend, found), "lower-vector", a=a, b=b, c=np.zeros_like(a))
    spread = np.tile(b, 8) if backend == "emitc" else b[:, :1]
    assert np.array_equal(result["c"], a + spread - b[:, :1])
    assert print_module(module).count("pto.vecscope") == 1


def open_values(name: str) -> Program:
    """As ``by_rows``, with a number of values that only a run knows."""
    found = by_rows(name, "f32", 8)
    found.arguments["n"] = "=index"
    kind, other = found.types["y"], found.types["y"].replace("5x8", "5x?")
    found.tiles = [
        line.replace(kind, other).replace("alloc_tile ", "alloc_tile valid_col = %n ") if "%y " in line else line
        for line in found.tiles
    ]
    found.lines = [line.replace(kind, other) for line in found.lines]
    return found


@pytest.mark.parametrize("count", [8, 3])
def test_how_many_values_a_row_has_does_not_matter_with_vpto(count):
    a, b = whole((5, 70), "f32"), whole((5, 8), "f32")
    arrays = {"a": a, "b": b, "c": np.zeros_like(a), "n": count}
    text = of("vpto", open_values("trowexpandmax"))
    text = text.replace("sizes = [%c5, %c8]", "sizes = [%c5, %n]")
    module, found = lowered(text, "lower-vector", **arrays)
    assert np.array_equal(found["c"], np.maximum(a, b[:, :1]))
    assert "trowexpand" not in print_module(module)


def test_how_many_values_a_row_has_is_needed_with_emitc():
    text = of("emitc", open_values("trowexpandmax"))
    before = print_module(passed(text, "assign-memory")[0])
    module, said = passed(text, "assign-memory", "lower-vector")
    assert said == [
        "lower-vector-unsupported: lower-vector cannot lower pto.trowexpandmax: how many values for a row it has only "
        "a run knows, and emitc takes 32 bytes of them one after the other"
    ]
    assert print_module(module) == before


@pytest.mark.parametrize("source", ["f16", "f32"])
@pytest.mark.parametrize("target", ["i16", "i32"])
@pytest.mark.parametrize("backend", ["emitc", "vpto"])
def test_floats_become_integers_without_a_round_mode(backend, source, target):
    found = Program(a=source, c=target)
    for tile, array, element in (("x", "a", source), ("z", "c", target)):
        found.view(f"v{tile}", array, (3, 101), (101, 1))
        found.tile(tile, "vec", 3, 128, element, valid="3x101")
    found.op("tload", "vx", to="x")
    found.op("tcvt", "x", to="z", more=" {rmode = #pto<round_mode NONE>}")
    found.op("tstore", "z", to="vz")
    a = (RNG.integers(-4000, 4000, (3, 101)) / 4).astype(KINDS[source])
    module, result = lowered(of(backend, found), "lower-vector", a=a, c=np.zeros((3, 101), KINDS[target]))
    exact = a.astype(np.float64)
    expected = np.trunc(exact) if backend == "emitc" else np.rint(exact)
    assert (np.trunc(exact) != np.rint(exact)).any()
    assert np.array_equal(result["c"], expected.astype(KINDS[target]))
    assert "tcvt" not in print_module(module)
