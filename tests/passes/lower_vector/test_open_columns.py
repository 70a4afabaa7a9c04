"""Tiles whose number of columns only a run knows: whole registers and what is left of a row. Source:
docs/reference/vectors.md, "Loads and stores", "Predicates".
"""

import numpy as np
import pytest
from cube_programs import Program, lowered

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
