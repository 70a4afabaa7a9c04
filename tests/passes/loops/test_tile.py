"""Loops over parts of tall tiles. Source: docs/reference/tiles.md, "Elementwise", "Broadcasts and reductions"."""

import numpy as np
import pytest
from cube_programs import Program, lowered, passed, run

from pto_dialect import print_module

RNG = np.random.default_rng(59)
ROWS = 48
ARRAYS = {"x": "a", "w": "b"}


def loaded(found: Program, *tiles: str, rows: int = ROWS, cols: int = 64, valid: int = 60) -> None:
    """Tiles that are loaded from their arrays."""
    for name in tiles:
        found.view(f"v{name}", ARRAYS[name], (rows, valid), (valid, 1))
        part = {"valid": f"{rows}x{valid}"} if valid != cols else {}
        found.tile(name, "vec", rows, cols, "f32", **part)
        found.op("tload", f"v{name}", to=name)


def stored(found: Program, tile: str, array: str, rows: int = ROWS, valid: int = 60) -> None:
    """Stores a tile."""
    found.view(f"w{tile}", array, (rows, valid), (valid, 1))
    found.op("tstore", tile, to=f"w{tile}")


def softmax() -> Program:
    """Tall tiles, columns beside them, a row for all rows."""
    found = Program(a="f32", b="f32", c="f32")
    loaded(found, "w", rows=1)
    loaded(found, "x")
    for name in ("y", "s"):
        found.tile(name, "vec", ROWS, 64, "f32", valid=f"{ROWS}x60")
    found.tile("m", "vec", ROWS, 1, "f32", layout="dn")
    found.op("trowmax", "x", "s", to="m")
    found.op("trowexpandsub", "x", "m", to="y")
    found.op("texp", "y", to="y")
    found.op("trowsum", "y", "s", to="m")
    found.op("trowexpanddiv", "y", "m", to="y")
    found.op("tcolexpandmul", "y", "w", to="y")
    stored(found, "y", "c")
    return found


@pytest.mark.parametrize("rows", ["4", "8", "16"])
def test_rows_in_parts(rows):
    x, w = RNG.uniform(-4, 4, (ROWS, 60)).astype(np.float32), RNG.uniform(1, 2, (1, 60)).astype(np.float32)
    arrays = {"a": x, "b": w, "c": np.zeros_like(x)}
    program = softmax()
    module, said = passed(str(program), f"tile-loops{{rows={rows}}}")
    assert not said
    text = print_module(module)
    assert text.count("scf.for") == 1
    assert f"{ROWS}x64xf32" not in text
    _, found = lowered(text, "lower-vector", **arrays)
    whole = run(passed(str(program), "assign-memory", "insert-sync")[0], arrays)
    assert found["c"].tobytes() == whole["c"].tobytes()
    weights = np.exp(x.astype(np.float64) - x.max(axis=1, keepdims=True))
    assert np.allclose(found["c"], weights / weights.sum(axis=1, keepdims=True) * w, rtol=1e-5)


def test_an_array_in_place():
    found = Program(a="f32")
    loaded(found, "x")
    found.op("tabs", "x", to="x")
    found.op("tstore", "x", to="vx")
    x = RNG.uniform(-4, 4, (ROWS, 60)).astype(np.float32)
    text = print_module(passed(str(found), "tile-loops")[0])
    _, result = lowered(text, "lower-vector", a=x)
    assert np.array_equal(result["a"], np.abs(x))


def test_flat_tiles_stay():
    found = Program(a="f32")
    loaded(found, "x", rows=16)
    found.op("tstore", "x", to="vx")
    before = print_module(passed(str(found))[0])
    assert print_module(passed(str(found), "tile-loops")[0]) == before


def refused(found: Program, rows: str = "16") -> list[str]:
    """Why a program is not split; nothing has changed then."""
    module, said = passed(str(found), f"tile-loops{{rows={rows}}}")
    assert print_module(module) == print_module(passed(str(found))[0])
    return [message.removeprefix("tile-loops-unsupported: tile-loops cannot split ") for message in said]


def test_heights_that_are_no_multiple():
    assert refused(softmax(), "32") == ["pto.tload: 48 rows are no multiple of 32"]


def test_rows_that_depend_on_each_other():
    found = Program(a="f32", c="f32")
    loaded(found, "x")
    found.tile("y", "vec", 1, 64, "f32", valid="1x60")
    found.op("tcolmax", "x", to="y")
    stored(found, "y", "c", rows=1)
    reason = "its rows depend on each other, or nobody knows that they do not"
    assert refused(found) == [f"pto.tcolmax: {reason}"]


def test_tiles_that_are_used_elsewhere():
    found = Program(a="f32", c="f32")
    loaded(found, "x")
    stored(found, "x", "c")
    found.lines.append("pto.barrier <PIPE_ALL>")
    found.op("tstore", "x", to="vx")
    assert refused(found)[0] == "pto.tload: %x is used elsewhere"


def test_tiles_that_come_from_somewhere_else():
    found = Program(c="f32")
    found.tile("x", "vec", ROWS, 64, "f32", valid=f"{ROWS}x60")
    stored(found, "x", "c")
    assert refused(found) == ["pto.tstore: %x comes from somewhere else"]


def test_another_place_of_an_array_is_stored():
    found = Program(a="f32")
    loaded(found, "x")
    found.view("later", "a", (ROWS, 60), (60, 1), offsets=(1, 0))
    found.op("tstore", "x", to="later")
    assert refused(found) == ["pto.tload: another part of its array is stored to"]


@pytest.mark.parametrize("same", [True, False])
def test_the_place_that_is_loaded_is_stored(same):
    """Through another part of the same view each iteration stores what it has loaded; of another view nobody knows."""
    found = Program(a="f32")
    loaded(found, "x")
    found.view("again", "a", (ROWS, 60), (60, 1))
    if same:
        found.lines[-1] = found.lines[-1].replace("%again_all", "%vx_all")
    found.op("tstore", "x", to="again")
    if same:
        module, said = passed(str(found), "tile-loops")
        assert not said and "scf.for" in print_module(module)
    else:
        assert refused(found)[0] == "pto.tload: another part of its array is stored to"


@pytest.mark.parametrize(
    ("sizes", "strides"),
    [
        ((ROWS * 60,), (1,)),
        ((ROWS // 2, 120), (120, 1)),
        ((2, ROWS // 2, 60), (ROWS * 30, 60, 1)),
        ((2, ROWS, 30), (30, 60, 1)),
    ],
)
def test_views_with_other_rows(sizes, strides):
    """As many elements as the tile, in other rows."""
    found = Program(a="f32", c="f32")
    found.view("vx", "a", sizes, strides)
    found.tile("x", "vec", ROWS, 64, "f32", valid=f"{ROWS}x60")
    found.op("tload", "vx", to="x")
    stored(found, "x", "c")
    assert refused(found) == ["pto.tload: the rows of its tile are not those of its view"]
