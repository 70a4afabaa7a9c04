"""Loops over parts of tall tiles. Source: docs/reference/tiles.md, "Elementwise", "Broadcasts and reductions"."""

from typing import Any

import numpy as np
import pytest
from cube_programs import Program, lowered, passed, run, tile_type

from pto_dialect import print_module
from pto_dialect.prove.decide import Answer
from pto_dialect.prove.functions import verdicts

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


@pytest.mark.parametrize("rows", ["4", "8", "16", "32"])
def test_rows_in_parts(rows):
    """32 rows are a loop of one iteration, and 16 rows after it."""
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


def refused(found: Program, options: str = "rows=16") -> list[str]:
    """Why a program is not split; nothing has changed then."""
    module, said = passed(str(found), f"tile-loops{{{options}}}")
    assert print_module(module) == print_module(passed(str(found))[0])
    return [message.removeprefix("tile-loops-unsupported: tile-loops cannot split ") for message in said]


def shown_as_row(found: Program, rows: int = ROWS) -> None:
    """%n shows the column %m as a row."""
    found.types["n"] = tile_type("vec", 1, rows, "f32")
    found.lines.append(f"%n = pto.treshape %m : {found.types['m']} -> {found.types['n']}")


def normalised(rows: int = ROWS) -> Program:
    """Rows divided by their norm, times a row that is loaded after them; the column of norms is computed as a row."""
    found = Program(a="f32", b="f32", c="f32", half="=f32")
    loaded(found, "x", rows=rows)
    loaded(found, "w", rows=1)
    for name in ("s", "y"):
        found.tile(name, "vec", rows, 64, "f32", valid=f"{rows}x60")
    found.tile("m", "vec", rows, 1, "f32", layout="dn")
    shown_as_row(found, rows)
    found.op("tmul", "x", "x", to="s")
    found.op("trowsum", "s", to="m")
    found.op("tadds", "n", to="n", extra=", %half", extra_types=", f32")
    found.op("trsqrt", "n", to="n")
    found.op("trowexpandmul", "x", "m", to="y")
    found.op("tcolexpandmul", "y", "w", to="y")
    stored(found, "y", "c", rows=rows)
    return found


def of_rows(rows: int = ROWS) -> dict[str, Any]:
    """Arguments of :func:`normalised`."""
    x, w = RNG.uniform(-4, 4, (rows, 60)), RNG.uniform(1, 2, (1, 60))
    return {"a": x.astype(np.float32), "b": w.astype(np.float32), "c": np.zeros((rows, 60), np.float32), "half": 0.5}


@pytest.mark.parametrize("rows", ["2", "8", "32"])
def test_a_column_that_is_shown_as_a_row(rows):
    """Each part has a column of its own, and a row that shows it."""
    arrays = of_rows()
    module, said = passed(str(normalised()), f"tile-loops{{rows={rows}}}")
    assert not said
    _, found = lowered(print_module(module), "lower-vector", **arrays)
    whole = run(passed(str(normalised()), "assign-memory", "insert-sync")[0], arrays)
    assert found["c"].tobytes() == whole["c"].tobytes()
    x = arrays["a"].astype(np.float64)
    assert np.allclose(found["c"], x / np.sqrt((x * x).sum(axis=1, keepdims=True) + 0.5) * arrays["b"], rtol=1e-5)


@pytest.mark.parametrize("blocks", [1, 2, 3, 7])
def test_parts_that_blocks_share(blocks):
    """Every block computes other rows, all blocks together all rows."""
    arrays = of_rows()
    program = str(normalised())
    module, said = passed(program, "tile-loops{rows=8 blocks=2}", "assign-memory", "insert-sync")
    assert not said
    found = run(module, arrays, blocks=blocks)
    whole = run(passed(program, "assign-memory", "insert-sync")[0], arrays)
    assert found["c"].tobytes() == whole["c"].tobytes()


def test_slots_of_parts_that_blocks_share_are_proved():
    """The prover follows the number of a slot, whatever the number of blocks."""
    pytest.importorskip("islpy")
    passes = ("tile-loops{rows=8 blocks=2}", "double-buffer", "assign-memory", "insert-sync")
    assert [one.answer for one in verdicts(passed(str(normalised()), *passes)[0], None)] == [Answer.PROVEN]


@pytest.mark.parametrize("blocks", [1, 2, 4])
def test_blocks_share_an_array_in_place(blocks):
    found = Program(a="f32")
    loaded(found, "x")
    found.op("tabs", "x", to="x")
    found.op("tstore", "x", to="vx")
    x = RNG.uniform(-4, 4, (ROWS, 60)).astype(np.float32)
    passes = ("tile-loops{rows=8 blocks=2}", "double-buffer", "assign-memory", "insert-sync")
    assert np.array_equal(run(passed(str(found), *passes)[0], {"a": x}, "newest", blocks)["a"], np.abs(x))


def test_a_row_that_is_computed_in_between():
    """What has nothing to do with the tall tiles before it comes before the loop."""
    found = Program(a="f32", b="f32", c="f32")
    loaded(found, "x")
    found.op("texp", "x", to="x")
    loaded(found, "w", rows=1)
    found.op("tabs", "w", to="w")
    found.op("tcolexpandmul", "x", "w", to="x")
    stored(found, "x", "c")
    text = print_module(passed(str(found), "tile-loops")[0])
    assert text.index("pto.tabs") < text.index("scf.for") < text.index("pto.texp")
    x, w = RNG.uniform(-4, 4, (ROWS, 60)).astype(np.float32), RNG.uniform(-2, 2, (1, 60)).astype(np.float32)
    _, result = lowered(text, "lower-vector", a=x, b=w, c=np.zeros_like(x))
    assert np.allclose(result["c"], np.exp(x) * np.abs(w), rtol=1e-5)


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


def test_another_element_of_an_array_is_stored():
    found = Program(a="f32")
    loaded(found, "x")
    found.view("later", "a", (ROWS, 60), (60, 1), offsets=(1, 0))
    found.op("tstore", "x", to="later")
    assert refused(found) == ["pto.tload: another part of its array is stored to"]


@pytest.mark.parametrize(("stride", "tall"), [(60, True), (59, False), (8, False), (0, False)])
def test_rows_that_share_elements(stride, tall):
    """All rows are loaded before the first one is stored, which may be part of the next one."""
    found = Program(a="f32")
    found.view("vx", "a", (ROWS, 60), (stride, 1))
    found.tile("x", "vec", ROWS, 64, "f32", valid=f"{ROWS}x60")
    found.op("tload", "vx", to="x")
    found.op("tabs", "x", to="x")
    found.op("tstore", "x", to="vx")
    if tall:
        assert "scf.for" in print_module(passed(str(found), "tile-loops")[0])
    else:
        assert refused(found) == ["pto.tload: rows of the array that is stored to share elements"]


@pytest.mark.parametrize("blocks", ["", " blocks=2"])
def test_an_array_that_a_run_selects(blocks):
    """It may be the one that is stored to, from its second row on."""
    found = Program(a="f32", b="f32")
    loaded(found, "x")
    found.view("later", "b", (ROWS, 60), (60, 1), offsets=(1, 0))
    found.op("tstore", "x", to="later")
    text = str(found)
    assert not passed(text, f"tile-loops{{rows=8{blocks}}}")[1]
    chosen = "%yes = arith.constant true\n%chosen = arith.select %yes, %a, %b : !pto.ptr<f32>\n"
    line = next(line for line in text.splitlines() if "make_tensor_view %b" in line)
    text = text.replace(line, chosen + line.replace("make_tensor_view %b", "make_tensor_view %chosen"))
    _, said = passed(text, f"tile-loops{{rows=8{blocks}}}")
    assert [message.split(": ")[-1] for message in said] == ["another part of its array is stored to"]


@pytest.mark.parametrize("same", [True, False])
def test_the_location_that_is_loaded_is_stored(same):
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


def test_a_column_as_a_row_beside_another_row():
    """Elements of the row would have to be split like those of the column."""
    found = Program(a="f32", b="f32", c="f32")
    found.view("vk", "b", (1, ROWS), (ROWS, 1))
    found.tile("k", "vec", 1, ROWS, "f32")
    found.op("tload", "vk", to="k")
    loaded(found, "x")
    found.tile("m", "vec", ROWS, 1, "f32", layout="dn")
    shown_as_row(found)
    found.op("trowsum", "x", to="m")
    found.op("tadd", "n", "k", to="n")
    found.op("trowexpandmul", "x", "m", to="x")
    stored(found, "x", "c")
    assert refused(found) == ["pto.tadd: a tile has 1 rows beside one of 48"]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("%block = pto.get_block_idx", "pto.get_block_idx: it lets blocks compute different rows already"),
        ("pto.barrier <PIPE_ALL>", "pto.barrier: it may use what blocks that share rows do not compute"),
    ],
)
def test_blocks_that_cannot_share(line, reason):
    found = normalised()
    found.lines.append(line)
    assert refused(found, "rows=8 blocks=2") == [reason]


def test_blocks_do_not_share_what_is_loaded_once():
    """Block 1 may store to the rows that block 0 loads for all rows."""
    found = Program(a="f32")
    loaded(found, "x")
    found.view("vw", "a", (1, 60), (60, 1))
    found.tile("w", "vec", 1, 64, "f32", valid="1x60")
    found.op("tload", "vw", to="w")
    found.op("tcolexpandmul", "x", "w", to="x")
    found.op("tstore", "x", to="vx")
    assert refused(found, "rows=8 blocks=2") == ["pto.tload: another block may have stored to its array already"]


def test_blocks_do_not_share_rows_that_are_left():
    reason = "pto.tload: 48 rows are no multiple of 32, so blocks cannot share"
    assert refused(normalised(), "rows=32 blocks=2") == [reason]
