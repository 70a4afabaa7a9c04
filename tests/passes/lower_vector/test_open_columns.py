"""Tiles whose number of columns only a run knows: whole registers and what is left of a row. Source:
docs/reference/vectors.md, "Loads and stores", "Predicates".
"""

import numpy as np
import pytest
from cube_programs import Program, lowered
from groups import in_groups

from pto_dialect import print_module

RNG = np.random.default_rng(17)
COLS = 160


def tile(found: Program, name: str, array: str, rows: int, element: str) -> None:
    """A tile of ``rows`` x %n elements, and a view %vNAME of as many of an array."""
    found.numbers |= {rows, COLS}
    found.tile(name, "vec", rows, COLS, element, "valid_col = %n", valid=f"{rows}x?")
    found.types[f"v{name}"] = part = f"!pto.partition_tensor_view<{rows}x?x{element}>"
    view = f"!pto.tensor_view<?x?x{element}>"
    found.lines += [
        f"%v{name}_all = pto.make_tensor_view %{array}, shape = [%c{rows}, %n], strides = [%c{COLS}, %c1] : {view}",
        f"%v{name} = pto.partition_view %v{name}_all, offsets = [%c0, %c0], sizes = [%c{rows}, %n] : {view} -> {part}",
    ]


@pytest.mark.parametrize("cols", [1, 63, 64, 65, 128, 160])
@pytest.mark.parametrize(("name", "combine"), [("tcolmax", np.max), ("tcolmin", np.min), ("tcolsum", np.sum)])
def test_reduction_along_columns(name, combine, cols):
    found = Program(a="f32", c="f32", n="=index")
    tile(found, "x", "a", 5, "f32")
    tile(found, "z", "c", 1, "f32")
    found.op("tload", "vx", to="x")
    found.op(name, "x", to="z")
    found.op("tstore", "z", to="vz")
    a = RNG.integers(-99, 99, (5, COLS)).astype(np.float32)
    module, result = lowered(found, "lower-vector", a=a, c=np.full((1, COLS), 7, np.float32), n=cols)
    assert f"pto.{name}" not in print_module(module)
    expected = np.full((1, COLS), 7, np.float32)
    expected[0, :cols] = combine(a[:, :cols], axis=0)
    assert np.array_equal(result["c"], expected)


@pytest.mark.parametrize("cols", [1, 63, 64, 65, 128, 160])
def test_gather_by_positions(cols):
    found = Program(a="f32", i="i32", c="f32", n="=index")
    found.view("vx", "a", (4, COLS), (COLS, 1))
    found.tile("x", "vec", 4, COLS, "f32")
    for name, array, element in (("k", "i", "i32"), ("z", "c", "f32"), ("t", "i", "i32")):
        tile(found, name, array, 3, element)
    found.op("tload", "vx", to="x")
    found.op("tload", "vk", to="k")
    found.op("tgather", "x", "k", "t", to="z")
    found.op("tstore", "z", to="vz")
    a, places = RNG.uniform(-9, 9, (4, COLS)).astype(np.float32), RNG.integers(0, 4 * COLS, (3, COLS))
    module, result = lowered(
        found, "lower-vector", a=a, i=places.astype(np.int32), c=np.zeros((3, COLS), np.float32), n=cols
    )
    assert "pto.tgather" not in print_module(module)
    expected = np.zeros((3, COLS), np.float32)
    expected[:, :cols] = a.reshape(-1)[places[:, :cols]]
    assert np.array_equal(result["c"], expected)


@pytest.mark.parametrize("cols", [1, 127, 128, 129, 160])
@in_groups("element", ["i16", "i32", "f16", "f32"])
def test_sums_along_rows(element, cols):
    """Numbers so small that no order of additions rounds."""
    kind = {"i16": np.int16, "i32": np.int32, "f16": np.float16, "f32": np.float32}[element]
    found = Program(a=element, c=element, n="=index")
    tile(found, "x", "a", 5, element)
    found.view("vz", "c", (5, 1), (1, 1))
    found.tile("z", "vec", 16, 1, element, layout="dn", valid="5x1")
    found.tile("t", "vec", 5, COLS, element)
    found.op("tload", "vx", to="x")
    found.op("trowsum", "x", "t", to="z")
    found.op("tstore", "z", to="vz")
    a = RNG.integers(-3, 4, (5, COLS)).astype(kind)
    module, result = lowered(found, "lower-vector", a=a, c=np.zeros((5, 1), kind), n=cols)
    assert "pto.trowsum" not in print_module(module)
    assert np.array_equal(result["c"], a[:, :cols].sum(axis=1, keepdims=True, dtype=kind))


def test_a_pattern_into_rows_that_a_run_counts():
    found = Program(a="f32", c="f32", n="=index")
    found.view("vx", "a", (4, 64), (64, 1))
    found.tile("x", "vec", 4, 64, "f32")
    found.tile("z", "vec", 4, 32, "f32", "valid_row = %n", valid="?x32")
    found.tile("out", "vec", 4, 32, "f32")
    found.view("vz", "c", (4, 32), (32, 1))
    found.op("tload", "vx", to="x")
    found.lines.append(
        f"pto.tgather ins(%x, {{maskPattern = #pto.mask_pattern<P0101>}} : {found.types['x']}) "
        f"outs(%z : {found.types['z']})"
    )
    found.op("tadd", "z", "z", to="z")
    found.types["part"] = "!pto.partition_tensor_view<?x32xf32>"
    found.lines.append(
        "%part = pto.partition_view %vz_all, offsets = [%c0, %c0], sizes = [%n, %c32] "
        f": !pto.tensor_view<?x?xf32> -> {found.types['part']}"
    )
    found.op("tstore", "z", to="part")
    a = RNG.uniform(-9, 9, (4, 64)).astype(np.float32)
    module, result = lowered(found, "lower-vector", a=a, c=np.zeros((4, 32), np.float32), n=4)
    assert "pto.tgather" not in print_module(module)
    assert np.array_equal(result["c"], 2 * a[:, ::2])
