"""Handles that one maker gives for one location: each has the valid region that was requested. Source:
docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from function_programs import run

import pto_dialect
from pto_dialect.ir.core import types as t
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.buffers.tile_maker import TileMaker
from pto_dialect.runtime.run.machine import Block, RunOptions
from pto_dialect.syntax.types.parser import parse_type
from pto_dialect.targets.choice import get_profile

ROWS, COLS = 8, 16
ASKED = [(None, None), (3, None), (None, 5), (3, 5), (8, 16), (0, 0)]


def valid(stated: int, asked: int | None) -> int:
    return stated if asked is None else asked


@pytest.mark.parametrize("stated", [(8, 16), (6, 9), (-1, 9), (6, -1), (-1, -1)])
@pytest.mark.parametrize("before", ASKED)
@pytest.mark.parametrize("asked", ASKED)
def test_a_handle_has_the_requested_valid_region(
    stated: tuple[int, int], before: tuple[Any, Any], asked: tuple[Any, Any]
) -> None:
    """Whatever was requested at that location before. What neither the type nor the caller says is refused."""
    text = f"valid={'x'.join('?' if n < 0 else str(n) for n in stated)}"
    type_ = parse_type(f"!pto.tile_buf<vec, {ROWS}x{COLS}xf32, {text}>")
    assert isinstance(type_, t.TileBufType)
    maker = TileMaker(type_, get_profile("a5"))
    (core,) = Block(0, 1, get_profile("a5"), RunOptions(), False, ("all",)).cores
    for sizes in (before, asked, before):
        wanted = tuple(map(valid, stated, sizes))
        if -1 in wanted:
            with pytest.raises(Fault) as caught:
                maker(core, 64, *sizes)
            assert caught.value.rule == "tile-valid-le-shape"
        else:
            tile = maker(core, 64, *sizes)
            assert (tile.valid_rows, tile.valid_cols) == wanted
            assert tile.read().shape == wanted


CONFIG = "{config = #pto.tile_buf_config<blayout=row_major, slayout=none_box, s_fractal_size=512, pad=null>}"


@pytest.mark.parametrize("memref", ["?x16xf32, #pto.address_space<vec>", "8x?xf32, #pto.address_space<vec>",
                                    "8x16xf32, #pto.address_space<gm>", "8x16xf32"])  # fmt: skip
def test_memrefs_that_are_no_tiles(memref: str) -> None:
    """Extents that only a run knows, and memory that has no tiles."""
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%a: i32) {{
    %at = arith.constant 1024 : i64
    %t = pto.pointer_cast(%at) {CONFIG} : memref<{memref}>
    return
    }}
    }}"""
    with pytest.raises(ProgramError) as caught:
        pto_dialect.run(pto_dialect.parse(text), {"a": 1}, verify=False)
    assert caught.value.rule == "unmodelled"
    assert f"memref<{memref}> is no tile" in caught.value.message


def test_extents_of_a_memref_before_the_last_are_rows() -> None:
    """2 x 4 x 16 elements are a tile of 8 rows, after which nothing is written."""
    memref, tile = "memref<2x4x16xf32, #pto.address_space<vec>>", f"!pto.tile_buf<vec, {3 * ROWS}x{COLS}xf32>"
    found = np.arange(3 * 128, dtype=np.float32).reshape(3 * ROWS, COLS)
    wanted = found + np.where(np.arange(3 * ROWS) < ROWS, 2, 0).reshape(-1, 1)
    body = f"""%whole = pto.alloc_tile addr = %n1024 : {tile}
    pto.tmov ins(%d : {tile}) outs(%whole : {tile})
    %t = pto.pointer_cast(%n1024) {CONFIG} : {memref}
    pto.tadds ins(%t, %x : {memref}, f32) outs(%t : {memref})
    pto.tmov ins(%whole : {tile}) outs(%d : {tile})"""
    run(body, {"d": (tile, found), "x": ("f32", 2.0)})
    assert (found == wanted).all()


def test_a_memref_at_an_address_of_its_memory() -> None:
    memref, tile = "memref<4xf32, #pto.address_space<vec>>", "!pto.tile_buf<vec, 1x8xf32>"
    found = np.zeros((1, 8), np.float32)
    body = f"""%m = pto.pointer_cast(%n1024) : {memref}
    %t = pto.alloc_tile addr = %n1024 : {tile}
    pto.tmov ins(%d : {tile}) outs(%t : {tile})
    memref.store %x, %m[%c2] : {memref}
    pto.tmov ins(%t : {tile}) outs(%d : {tile})"""
    run(body, {"d": (tile, found), "x": ("f32", 3.0)})
    assert found.tolist() == [[0, 0, 3, 0, 0, 0, 0, 0]]


@pytest.mark.parametrize("known", [True, False])
def test_a_memref_without_a_memory_lies_in_global_memory(known: bool) -> None:
    """The address is that of a buffer of the host; a small one is that of none."""
    out = np.zeros(4, np.float32)
    address = "pto.castptr %p : !pto.ptr<f32, gm> -> i64" if known else "arith.constant 1024 : i64"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%p: !pto.ptr<f32, gm>, %x: f32) {{
    %c2 = arith.constant 2 : index
    %at = {address}
    %m = pto.pointer_cast(%at) : memref<4xf32>
    memref.store %x, %m[%c2] : memref<4xf32>
    return
    }}
    }}"""
    if known:
        pto_dialect.run(pto_dialect.parse(text), {"p": out, "x": 3.0}, verify=False)
        assert out.tolist() == [0, 0, 3, 0]
    else:
        with pytest.raises(ProgramError) as caught:
            pto_dialect.run(pto_dialect.parse(text), {"p": out, "x": 3.0}, verify=False)
        assert (caught.value.rule, caught.value.message) == ("mem-oob", "address 0x400 is in no global-memory buffer")
