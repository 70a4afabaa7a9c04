"""Bytes around a valid region, around a window, and at its ends: what a move leaves alone, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
from tile_run_helpers import run, tile

from pto_dialect.runtime.errors import ProgramError

A = np.arange(128, dtype=np.float32).reshape(8, 16) + 1
OLD = -np.arange(128, dtype=np.float32).reshape(8, 16) - 1


@pytest.mark.parametrize("valid", [(8, 16), (5, 16), (8, 7), (3, 4), (1, 1)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_a_move_leaves_what_is_not_valid(valid: tuple[int, int], dynamic: bool) -> None:
    whole = tile("a", "f32", A)
    found = run("pto.tmov ins(%a : {a}) outs(%d : {d})", whole, tile("d", "f32", OLD, valid, dynamic=dynamic))
    wanted = OLD.copy()
    wanted[: valid[0], : valid[1]] = A[: valid[0], : valid[1]]
    assert (found["d"] == wanted).all()
    assert (found["a"] == A).all()


@pytest.mark.parametrize("row", [0, 3, 4, 5])
@pytest.mark.parametrize("col", [0, 7, 8, 9])
def test_a_window_that_only_a_run_knows(row: int, col: int) -> None:
    """4 x 8 elements from (row, col) on: the last place inside of the tile, and the next one."""
    tiles = (tile("a", "f32", A), tile("d", "f32", np.zeros((4, 8), np.float32)))
    text = "pto.textract ins(%a, %row, %col : {a}, index, index) outs(%d : {d})"
    numbers = {"row": ("index", row), "col": ("index", col)}
    if row > 4 or col > 8:
        with pytest.raises(ProgramError) as caught:
            run(text, *tiles, scalars=numbers, target="a5")
        assert caught.value.rule == "extract-bounds"
    else:
        found = run(text, *tiles, scalars=numbers, target="a5")
        assert (found["d"] == A[row : row + 4, col : col + 8]).all()


@pytest.mark.parametrize("row", [0, 4, 5])
@pytest.mark.parametrize("col", [0, 8, 9])
def test_a_location_that_only_a_run_knows(row: int, col: int) -> None:
    part = tile("s", "f32", OLD[:4, :8])
    text = "pto.tinsert ins(%s, %row, %col : {s}, index, index) outs(%d : {d})"
    numbers = {"row": ("index", row), "col": ("index", col)}
    if row > 4 or col > 8:
        with pytest.raises(ProgramError) as caught:
            run(text, part, tile("d", "f32", A), scalars=numbers, target="a5")
        assert caught.value.rule == "extract-bounds"
    else:
        found = run(text, part, tile("d", "f32", A), scalars=numbers, target="a5")
        wanted = A.copy()
        wanted[row : row + 4, col : col + 8] = OLD[:4, :8]
        assert (found["d"] == wanted).all()


HALF = "!pto.tile_buf<vec, 4x8xf32>"


@pytest.mark.parametrize(("row", "col"), [(0, 0), (4, 0), (0, 8), (4, 8)])
@pytest.mark.parametrize("name", ["treshape", "bitcast"])
def test_only_a_window_at_the_start_gets_another_type(name: str, row: int, col: int) -> None:
    other = "!pto.tile_buf<vec, 2x16xf32>" if name == "treshape" else HALF.replace("f32", "i32")
    text = f"""%row = arith.constant {row} : index
    %col = arith.constant {col} : index
    %w = pto.subview %a[%row, %col] sizes [4, 8] : {{a}} -> {HALF}
    %b = pto.{name} %w : {HALF} -> {other}"""
    if row or col:
        with pytest.raises(ProgramError) as caught:
            run(text, tile("a", "f32", A), verify=False, target="a5")
        assert caught.value.rule == "unmodelled"
    else:
        run(text, tile("a", "f32", A), verify=False, target="a5")
