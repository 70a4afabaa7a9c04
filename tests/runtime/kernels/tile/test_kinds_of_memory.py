"""Loads and stores between kinds of memory that go together in several ways: views, parts in a loop, memrefs of several
ranks, packed numbers, scales. Source: docs/reference/layouts.md, "Views of global memory", "MX scales".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from function_programs import run
from run_time_tiles import value

import pto_dialect
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.kernels.tile.memory import Store
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import GmTensor
from pto_dialect.runtime.numerics.formats import format_of

TILE, VIEW, PART = "!pto.tile_buf<vec, 4x8xf32>", "!pto.tensor_view<16x8xf32>", "!pto.partition_tensor_view<4x8xf32>"
MADE = f"%v = pto.make_tensor_view %p, shape = [%c16, %c8], strides = [%c8, %c1] : {VIEW}"


def unverified(text: str, values: dict[str, Any]) -> dict[str, Any]:
    return pto_dialect.run(pto_dialect.parse(text), values, verify=False)


@pytest.mark.parametrize("operand", ["pad_value = %x : f32", "left_padding_num = %i : index",
                                     "right_padding_num = %i : index", "init_condition = %b : i1"])  # fmt: skip
def test_what_a_load_says_of_padding_is_not_executed(operand: str) -> None:
    """Each of these operands alone."""
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%v: memref<4x8xf32, #pto.address_space<gm>>, %x: f32, %i: index, %b: i1) {{
    %t = pto.alloc_tile : {TILE}
    pto.tload ins(%v : memref<4x8xf32, #pto.address_space<gm>>) outs(%t : {TILE}) {operand}
    return
    }}
    }}"""
    with pytest.raises(ProgramError) as caught:
        unverified(text, {"v": np.zeros((4, 8), np.float32), "x": 1.0, "i": 1, "b": True})
    name = operand.partition(" ")[0]
    assert (caught.value.rule, caught.value.message) == ("unmodelled", f"tload with {name} cannot be executed")


@pytest.mark.parametrize(("shape", "strides"), [
    ("4x8", (8, 1)), ("4x8", (20, 1)), ("2x2x8", (16, 8, 1)), ("2x2x8", (40, 20, 1)), ("1x4x8", (99, 8, 1)),
])  # fmt: skip
def test_memrefs_are_matrices(shape: str, strides: tuple[int, ...]) -> None:
    """The last extent is the columns, the others together the rows."""
    layout = f", strided<[{', '.join(map(str, strides))}]>"
    memref = f"memref<{shape}xf32{layout}, #pto.address_space<gm>>"
    extents = [int(n) for n in shape.split("x")]
    places = np.zeros(extents, int)
    for axis, (extent, stride) in enumerate(zip(extents, strides, strict=True)):
        places += (np.arange(extent) * stride).reshape([-1 if axis == a else 1 for a in range(len(extents))])
    places = places.reshape(4, 8)
    given, out = np.arange(100, dtype=np.float32), np.zeros(100, np.float32)
    tile = np.zeros((4, 8), np.float32)
    sizes, steps = (", ".join(map(str, numbers)) for numbers in (extents, strides))
    flat = "memref<100xf32, #pto.address_space<gm>>"
    views = "\n".join(
        f"%{new} = memref.reinterpret_cast %{old} to offset: [0], sizes: [{sizes}], strides: [{steps}] : {flat} "
        f"to {memref}" for new, old in (("v", "p"), ("w", "q"))
    )  # fmt: skip
    body = f"""{views}
    pto.tload ins(%v : {memref}) outs(%t : {TILE})
    pto.tadds ins(%t, %x : {TILE}, f32) outs(%u : {TILE})
    pto.tstore ins(%u : {TILE}) outs(%w : {memref})"""
    run(body, {"p": (flat, given), "q": (flat, out), "t": (TILE, tile), "u": (TILE, tile.copy()), "x": ("f32", 1.0)})
    assert (tile == given[places]).all()
    wanted = np.zeros(100, np.float32)
    wanted[places] = given[places] + 1
    assert (out == wanted).all()


def test_parts_in_a_loop_into_a_memref() -> None:
    memref = "memref<4x8xf32, #pto.address_space<vec>>"
    body = f"""{MADE}
    %m = memref.alloc() : {memref}
    scf.for %i = %c0 to %c16 step %c4 {{
      %w = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c4, %c8] : {VIEW} -> {PART}
      pto.tload ins(%w : {PART}) outs(%m : {memref})
      pto.tadd ins(%m, %s : {memref}, {TILE}) outs(%s : {TILE})
    }}"""
    p, s = np.arange(128, dtype=np.float32), np.zeros((4, 8), np.float32)
    run(body, {"p": ("!pto.ptr<f32>", p), "s": (TILE, s)})
    assert (s == p.reshape(4, 4, 8).sum(axis=0)).all()


def test_redundant_queries_of_a_view_in_a_loop() -> None:
    """A size that nobody uses is queried beside a part that is stored to."""
    body = f"""{MADE}
    scf.for %i = %c0 to %c16 step %c4 {{
      %n = pto.get_tensor_view_dim %v, %c0 : {VIEW} -> index
      %w = pto.partition_view %v, offsets = [%i, %c0], sizes = [%c4, %c8] : {VIEW} -> {PART}
      pto.tstore ins(%t : {TILE}) outs(%w : {PART})
    }}"""
    p, t = np.zeros(128, np.float32), np.arange(32, dtype=np.float32).reshape(4, 8)
    run(body, {"p": ("!pto.ptr<f32>", p), "t": (TILE, t)})
    assert (p.reshape(4, 4, 8) == t).all()


@pytest.mark.parametrize(("rows", "valid"), [("%c0", 0), ("%c0", 4), ("%m", 4), ("%c4", 4)])
def test_parts_without_rows_in_a_loop(rows: str, valid: int) -> None:
    """Nothing fits into them but nothing; what does not is reported where it is stored."""
    part = "!pto.partition_tensor_view<?x8xf32>"
    empty = f"!pto.tile_buf<vec, 4x8xf32, valid={valid}x8>"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%p: !pto.ptr<f32>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %m = arith.constant -1 : index
    {MADE}
    %t = pto.alloc_tile : {empty}
    scf.for %i = %c0 to %c16 step %c4 {{
      %w = pto.partition_view %v, offsets = [%i, %c0], sizes = [{rows}, %c8] : {VIEW} -> {part}
      pto.tstore ins(%t : {empty}) outs(%w : {part})
    }}
    return
    }}
    }}"""
    given = np.arange(128, dtype=np.float32)
    if (rows == "%c4") == (valid == 4):
        unverified(text, {"p": given})
        assert (given == (np.arange(128) if valid == 0 else 0)).all()
    else:
        with pytest.raises(ProgramError) as caught:
            unverified(text, {"p": given})
        assert caught.value.span is not None and caught.value.span.text.startswith("pto.tstore")
        assert (given == np.arange(128)).all()


@pytest.mark.parametrize("shape", [(2, 6), (2, 3), (1, 2, 3)])
def test_views_count_packed_numbers_or_pairs_of_them(shape: tuple[int, ...]) -> None:
    fmt = format_of("f4E2M1x2")
    memory = np.zeros(8, np.uint8)
    pairs = np.array([[0x21, 0x43, 0x65], [0x10, 0x32, 0x54]], np.uint8)
    strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
    view = GmTensor(Arena.from_array(memory).pointer(0, fmt.storage), shape, strides, fmt)
    Store(None, "atomic_none")(value(2, 3, "f4E2M1x2", pairs), view)
    assert memory.tolist() == [*pairs.reshape(-1).tolist(), 0, 0]


SCALES = "!pto.tile_buf<mat, 32x4x!pto.f8E8M0, slayout=row_major, fractal=32>"


@pytest.mark.parametrize("stated", [True, False])
def test_scales_of_five_dimensions(stated: bool) -> None:
    """With a layout they are blocks of 16 x 2, the dimensions of which the view states itself; without one, rows."""
    shape, strides = (1, 2, 2, 16, 2), (128, 64, 32, 2, 1)
    text = "x".join(map(str, shape))
    view, part = f"!pto.tensor_view<{text}x!pto.f8E8M0>", f"!pto.partition_tensor_view<{text}x!pto.f8E8M0>"
    sizes, steps = (", ".join(f"%c{n}" for n in numbers) for numbers in (shape, strides))
    zeros = ", ".join(["%c0"] * 5)
    layout = " {layout = #pto.layout<mx_a_zz>}" if stated else ""
    body = f"""%v = pto.make_tensor_view %p, shape = [{sizes}], strides = [{steps}]{layout} : {view}
    %w = pto.partition_view %v, offsets = [{zeros}], sizes = [{sizes}] : {view} -> {part}
    pto.tload ins(%w : {part}) outs(%t : {SCALES})"""
    p, t = np.arange(128, dtype=np.uint8), np.zeros((32, 4), np.uint8)
    run(body, {"p": ("!pto.ptr<!pto.f8E8M0>", p), "t": (SCALES, t)})
    blocks = p.reshape(2, 2, 16, 2).transpose(0, 2, 1, 3).reshape(32, 4)
    assert (t == (blocks if stated else p.reshape(32, 4))).all()
