"""Transfers of parts, of packed numbers, and between sizes that only a run knows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from run_time_tiles import held, refused, table, value

from pto_dialect.api import parse
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.tile import memory
from pto_dialect.runtime.memory.gm_parts import GmParts
from pto_dialect.runtime.memory.layout import native_layout
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import GmTensor, Tile
from pto_dialect.runtime.numerics.formats import format_of


def test_parts_into_arrays() -> None:
    parts = GmParts(table(4, 8), (2, 3))
    for dtype, shape in ((np.float32, (2, 3)), (np.uint32, (2, 3)), (np.float32, (3, 2))):
        out = np.zeros(shape, dtype)
        memory.load_part(parts, 9, out)
        numbers = np.array([[9, 10, 11], [17, 18, 19]], np.float32)
        assert (out.view(np.float32) == (numbers if shape == (2, 3) else numbers.reshape(3, 2))).all()
    message = "mem-oob"
    with pytest.raises(Fault) as caught:
        memory.load_part(parts, 22, np.zeros((2, 3), np.float32))
    assert caught.value.rule == message


def test_parts_into_tiles() -> None:
    parts = GmParts(table(4, 8), (2, 3))
    load = memory.Load(format_of("f32"))
    wanted = np.zeros((4, 8), np.float32)
    wanted[:2, :3] = [[9, 10, 11], [17, 18, 19]]
    for pad, rest in ((0, 0.0), (1, 0.0), (2, np.inf), (3, -np.inf)):
        dst = held(4, 8, valid=(2, 3), pad=pad)
        load.load_part(parts, 9, dst)
        wanted[:2, 3:] = rest
        assert (dst.view.read(4, 8) == wanted).all()
    seen = held(2, 3, "ui32")
    memory.Load(format_of("ui32")).load_part(parts, 9, seen)
    assert (seen.array.view(np.float32) == wanted[:2, :3]).all()


@pytest.mark.parametrize("pad", [0, 1, 2, 3])
def test_packed_numbers_are_loaded_whole(pad: int) -> None:
    """Two of them share a byte in global memory and in the tile; the rest of their rows is 0 with any pad."""
    fmt = format_of("f4E2M1x2")
    arena = Arena("l1", 4096)
    layout = native_layout("mat", "a5", 4, 8, 1, packed=True)
    dst = Tile(arena.pointer(0, fmt.storage), layout, fmt, "mat", 4, 8, 2, 6, pad=pad)
    arena.bytes[:16] = 0xEE
    stored = np.array([[0x21, 0x43, 0x65], [0x10, 0x32, 0x54]], np.uint8)
    for shape, strides in (((2, 3), (3, 1)), ((2, 6), (6, 1))):
        source = GmTensor(Arena.from_array(stored.reshape(-1)).pointer(0, fmt.storage), shape, strides, fmt)
        memory.Load(fmt)(source, dst)
        assert dst.read().tolist() == [[1, 2, 3, 4, 5, 6], [0, 1, 2, 3, 4, 5]]
        assert dst.view.read(4, 8)[:2, 6:].tolist() == [[0, 0] if pad else [14, 14]] * 2
        assert (dst.view.read(4, 8)[2:] == 14).all()
    odd = GmTensor(Arena.from_array(stored.reshape(-1)).pointer(0, fmt.storage), (2, 2), (3, 1), fmt)
    message = "a view of 4 elements and a tile of 6 pairs of packed numbers"
    refused("tload-count", message, lambda: memory.Load(fmt)(odd, dst))


def test_stores_of_other_sizes() -> None:
    store = memory.Store(None, "atomic_none")
    mem = table(2, 4)
    store(value(4, 2, data=np.arange(8) + 50), mem)
    assert mem.matrix().read().tolist() == [[50, 51, 52, 53], [54, 55, 56, 57]]
    message = "the tile has 2x3 valid elements, the view 2x4"
    refused("tload-count", message, lambda: store(value(2, 3), mem))
    refused("tstore-elem", "elements of float16 stored to f32", lambda: store(value(2, 4, "f16"), mem))
    store(held(2, 4, valid=(0, 4)), mem)
    assert mem.matrix().read().tolist() == [[50, 51, 52, 53], [54, 55, 56, 57]]
    store(value(2, 4, "i32", np.arange(8).astype(np.float32).view(np.int32)), mem)
    assert mem.matrix().read().tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]


@pytest.mark.parametrize(
    ("word", "combine"), [("atomic_add", np.add), ("atomic_max", np.maximum), ("atomic_min", np.minimum)]
)
def test_atomic_stores(word: str, combine: Callable[..., Any]) -> None:
    mem, values = table(2, 4), np.array([[9, -9, 0, 3], [4, 5, -6, 70]], np.float32)
    memory.Store(None, word)(value(2, 4, data=values), mem)
    assert (mem.matrix().read() == combine(np.arange(8).reshape(2, 4), values)).all()


@pytest.mark.parametrize(
    ("name", "source", "target", "said"),
    [
        ("tload", "vec", "vec", "pto.tload reads global memory, found memref<16x16xf32, #pto.address_space<vec>>"),
        ("tload", "gm", "gm", "pto.tload writes on-chip memory, found memref<16x16xf32, #pto.address_space<gm>>"),
        ("tstore", "vec", "vec", "pto.tstore writes global memory, found memref<16x16xf32, #pto.address_space<vec>>"),
        ("tstore", "gm", "gm", "pto.tstore reads on-chip memory, found memref<16x16xf32, #pto.address_space<gm>>"),
        ("tload", "gm", "vec", None),
        ("tstore", "vec", "gm", None),
    ],
)
def test_transfers_of_memrefs_pass_between_global_and_on_chip_memory(
    name: str, source: str, target: str, said: str | None
) -> None:
    def memref(space: str) -> str:
        return f"memref<16x16xf32, #pto.address_space<{space}>>"

    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @f(%gm: {memref("gm")}) {{
      %vec = memref.alloc() : {memref("vec")}
      pto.{name} ins(%{source} : {memref(source)}) outs(%{target} : {memref(target)})
      return
    }}
    }}"""
    module = parse(text, "transfer.pto")
    if said is None:
        compile_kernel(module)(np.zeros((16, 16), np.float32))
    else:
        with pytest.raises(ProgramError, match=re.escape(f"transfer.pto:4:7: error: {said}")):
            compile_kernel(module, verify=False)
