"""Tiles over memrefs and at addresses whose valid region is a number of the run, and fills and insertions whose clause
says what their tiles say too. Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run

MEMREF = "memref<8x16xf32, #pto.address_space<vec>>"
WHOLE, OPEN = "!pto.tile_buf<vec, 8x16xf32>", "!pto.tile_buf<vec, 8x16xf32, valid=?x?>"
CONFIG = "{config = #pto.tile_buf_config<blayout=row_major, slayout=none_box, s_fractal_size=512, pad=null>}"


@pytest.mark.parametrize(
    "made",
    [
        f"%m = pto.pointer_cast(%n1024) : {MEMREF}\n"
        f"%t = pto.materialize_tile %m, %rows, %cols {CONFIG} : {MEMREF} -> {OPEN}\n"
        f"pto.tadds ins(%t, %x : {OPEN}, f32) outs(%t : {OPEN})",
        f"%t = pto.pointer_cast(%n1024) %rows, %cols {CONFIG} : {MEMREF}\n"
        f"pto.tadds ins(%t, %x : {MEMREF}, f32) outs(%t : {MEMREF})",
    ],
)
@pytest.mark.parametrize("valid", [(8, 16), (3, 5), (8, 1)])
def test_only_the_valid_region_is_written(made: str, valid: tuple[int, int]) -> None:
    """A tile at the same address shows all of the memory."""
    found = np.arange(128, dtype=np.float32).reshape(8, 16)
    wanted = found.copy()
    wanted[: valid[0], : valid[1]] += 2
    body = f"""%whole = pto.alloc_tile addr = %n1024 : {WHOLE}
    pto.tmov ins(%d : {WHOLE}) outs(%whole : {WHOLE})
    {made}
    pto.tmov ins(%whole : {WHOLE}) outs(%d : {WHOLE})"""
    given = {"d": (WHOLE, found), "rows": ("index", valid[0]), "cols": ("index", valid[1]), "x": ("f32", 2.0)}
    run(body, given)
    assert (found == wanted).all()


@pytest.mark.parametrize(("word", "kind", "value"), [("zero", 1, 0.0), ("max", 2, np.inf), ("min", 3, -np.inf)])
def test_a_fill_may_state_the_value_of_its_tile(word: str, kind: int, value: float) -> None:
    tile = f"!pto.tile_buf<mat, 32x64xf16, valid=30x60, blayout=col_major, slayout=row_major, pad={kind}>"
    found = np.random.default_rng(3).random((32, 64)).astype(np.float16)
    wanted = np.full((32, 64), value, np.float16)
    wanted[:30, :60] = found[:30, :60]
    run(f"pto.tfillpad ins(%m : {tile}) outs(%m : {tile}) {{padValue = #pto.pad_value<{word}>}}", {"m": (tile, found)})
    assert (found == wanted).all()


@pytest.mark.parametrize("mode", ["split2", "split4"])
def test_the_form_of_an_insertion_changes_no_number(mode: str) -> None:
    layout = "blayout=col_major, slayout=row_major"
    source, target = f"!pto.tile_buf<vec, 32x32xf16, {layout}>", f"!pto.tile_buf<mat, 64x64xf16, {layout}>"
    a, found = (
        np.random.default_rng(seed).random((size, size)).astype(np.float16) for seed, size in ((1, 32), (2, 64))
    )
    wanted = found.copy()
    wanted[16:48, 32:] = a
    body = (
        f"pto.tinsert ins(%a, %c16, %c32 : {source}, index, index) outs(%m : {target}) "
        f"{{tinsertMode = #pto.tinsert_mode<{mode}>}}"
    )
    run(body, {"a": (source, a), "m": (target, found)})
    assert (found == wanted).all()
