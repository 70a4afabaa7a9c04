"""Arguments in on-chip memory: pointers, memrefs and tile buffers. Source: docs/reference/execution.md, "Pointers,
tiles and views", "Launches".
"""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import instrumented

import pto_dialect
from pto_dialect.api import parse
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

SCALAR = """func.func @f(%x: !pto.ptr<f32, ub>, %n: index) {
  %0 = pto.load_scalar %x[%n] : !pto.ptr<f32, ub> -> f32
  %1 = arith.addf %0, %0 : f32
  pto.store_scalar %1, %x[%n] : !pto.ptr<f32, ub>, f32
  return
}
"""


def test_a_pointer_is_a_buffer_of_the_size_of_the_array() -> None:
    x = np.arange(5, dtype=np.float32)
    kernel = pto_dialect.compile(parse(SCALAR), target="a5")
    kernel(x, 4)
    assert x.tolist() == [0, 1, 2, 3, 8]
    with pytest.raises(ProgramError, match="outside ub 'x', which has 20 bytes") as error:
        kernel(x, 5)
    assert error.value.rule == "mem-oob"


def test_it_lies_apart_from_the_memory_of_the_program() -> None:
    text = """func.func @f(%x: !pto.ptr<i32, ub>) {
      %c0 = arith.constant 0 : index
      %zero = arith.constant 0 : i64
      %seven = arith.constant 7 : i32
      %own = pto.castptr %zero : i64 -> !pto.ptr<i32, ub>
      pto.store_scalar %seven, %own[%c0] : !pto.ptr<i32, ub>, i32
      %number = pto.castptr %x : !pto.ptr<i32, ub> -> i64
      %again = pto.castptr %number : i64 -> !pto.ptr<i32, ub>
      %c1 = arith.constant 1 : index
      %read = pto.load_scalar %again[%c0] : !pto.ptr<i32, ub> -> i32
      pto.store_scalar %read, %x[%c1] : !pto.ptr<i32, ub>, i32
      return
    }"""
    x = np.array([5, 6], np.int32)
    pto_dialect.compile(parse(text), target="a5")(x)
    assert x.tolist() == [5, 5]


@pytest.mark.parametrize("layout", ["", ", blayout=col_major", ", blayout=col_major, slayout=row_major"])
def test_a_tile_buffer_has_its_layout(layout: str) -> None:
    tile = f"!pto.tile_buf<vec, 32x16xf16{layout}>"
    text = f"""func.func @f(%a: {tile}, %d: {tile}) {{
      pto.tadd ins(%a, %a : {tile}, {tile}) outs(%d : {tile})
      return
    }}"""
    a = np.arange(512, dtype=np.float16).reshape(32, 16)
    d = np.zeros((32, 16), np.float16)
    Kernel(parse(text), "f", "a5", RunOptions()).run([a, d])
    assert (d == 2 * a).all()


@pytest.mark.parametrize("valid", ["", ", valid=?x?", ", valid=5x3"])
def test_the_valid_region_of_a_tile_buffer(valid: str) -> None:
    tile = f"!pto.tile_buf<vec, 8x16xf32{valid}>"
    text = f"func.func @f(%d: {tile}, %v: f32) {{\n  pto.texpands ins(%v : f32) outs(%d : {tile})\n  return\n}}\n"
    d = np.zeros((8, 16), np.float32)
    pto_dialect.compile(parse(text))(d, 3.0)
    wanted = np.zeros((8, 16), np.float32)
    wanted[: 5 if "5" in valid else 8, : 3 if "5" in valid else 16] = 3
    assert (d == wanted).all()


def test_views_of_a_tile_buffer() -> None:
    """Windows, other element types and other shapes of the same bytes."""
    tile, part = "!pto.tile_buf<vec, 8x16xf32>", "!pto.tile_buf<vec, 4x16xf32>"
    bits, flat = "!pto.tile_buf<vec, 8x16xi32>", "!pto.tile_buf<vec, 1x128xi32>"
    text = f"""func.func @f(%d: {tile}, %e: {tile}, %v: f32, %one: i32) {{
      %c0 = arith.constant 0 : index
      %c4 = arith.constant 4 : index
      %window = pto.subview %d[%c4, %c0] sizes [4, 16] : {tile} -> {part}
      pto.texpands ins(%v : f32) outs(%window : {part})
      %bits = pto.bitcast %e : {tile} -> {bits}
      %flat = pto.treshape %bits : {bits} -> {flat}
      pto.tadds ins(%flat, %one : {flat}, i32) outs(%flat : {flat})
      return
    }}"""
    d, e = np.zeros((8, 16), np.float32), np.zeros((8, 16), np.float32)
    pto_dialect.compile(parse(text))(d, e, 2.0, 0x3F800000)
    assert (d[:4] == 0).all() and (d[4:] == 2).all()
    assert (e == 1).all()


@pytest.mark.parametrize("jobs", [1, 2])
def test_blocks_see_what_earlier_ones_left(jobs: int) -> None:
    tile = "!pto.tile_buf<vec, 1x8xi32>"
    text = f"""func.func @f(%d: {tile}, %p: !pto.ptr<i32, ub>, %one: i32) {{
      %b = pto.get_block_idx
      %i = arith.index_cast %b : i64 to index
      pto.store_scalar %one, %p[%i] : !pto.ptr<i32, ub>, i32
      pto.tsetval ins(%i, %one : index, i32) outs(%d : {tile})
      return
    }}"""
    d, p = np.zeros((1, 8), np.int32), np.zeros(8, np.int32)
    pto_dialect.compile(parse(text), target="a5")(d, p, 9, blocks=6, jobs=jobs)
    assert d[0].tolist() == p.tolist() == [9] * 6 + [0] * 2


def test_each_vector_core_has_its_own() -> None:
    """Both add their number plus one; the second works on a copy."""
    text = """func.func @f(%x: !pto.ptr<i32, ub>, %y: !pto.ptr<i32>)
      attributes {pto.kernel_kind = #pto.kernel_kind<vector>} {
      %s = pto.get_subblock_idx
      %i = arith.index_cast %s : i64 to index
      %n = arith.index_cast %i : index to i32
      %c1 = arith.constant 1 : i32
      %c0 = arith.constant 0 : index
      %old = pto.load_scalar %x[%c0] : !pto.ptr<i32, ub> -> i32
      %sum = arith.addi %old, %n : i32
      %new = arith.addi %sum, %c1 : i32
      pto.store_scalar %new, %x[%c0] : !pto.ptr<i32, ub>, i32
      pto.store_scalar %new, %y[%i] : !pto.ptr<i32>, i32
      return
    }"""
    x, y = np.array([10], np.int32), np.zeros(2, np.int32)
    pto_dialect.compile(parse(text), target="a5")(x, y)
    assert y.tolist() == [11, 12]
    assert x.tolist() == [11]


def test_what_an_argument_gives_counts_as_written() -> None:
    tile = "!pto.tile_buf<vec, 8x16xf32>"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
      func.func @f(%a: {tile}, %b: memref<8x16xf32, #pto.address_space<vec>>, %d: {tile}, %p: !pto.ptr<f32, ub>) {{
      %c0 = arith.constant 0 : index
      %v = memref.load %b[%c0, %c0] : memref<8x16xf32, #pto.address_space<vec>>
      %w = pto.load_scalar %p[%c0] : !pto.ptr<f32, ub> -> f32
      %s = arith.addf %v, %w : f32
      pto.tadds ins(%a, %s : {tile}, f32) outs(%d : {tile})
      return
    }} }}"""
    kernel = instrumented(text)
    arrays = [np.ones((8, 16), np.float32) for _ in range(4)]
    kernel.run(arrays)
    assert not kernel.observer.findings.all
    assert (arrays[2] == 3).all()


def test_matrix_operands_of_4_bit_numbers_are_pairs() -> None:
    """Two neighbours along k share a byte, the first one in its low half."""
    left = "!pto.tile_buf<left, 16x64x!pto.f4E2M1x2, blayout=col_major, slayout=row_major>"
    right = "!pto.tile_buf<right, 64x16x!pto.f4E2M1x2, slayout=col_major>"
    of_left = "!pto.tile_buf<scaling, 16x2x!pto.f8E8M0, slayout=row_major, fractal=32>"
    of_right = "!pto.tile_buf<scaling, 2x16x!pto.f8E8M0, blayout=col_major, slayout=col_major, fractal=32>"
    acc = "!pto.tile_buf<acc, 16x16xf32, blayout=col_major, slayout=row_major, fractal=1024>"
    text = f"""func.func @f(%a: {left}, %sa: {of_left}, %b: {right}, %sb: {of_right}, %d: {acc}) {{
      pto.tmatmul.mx ins(%a, %sa, %b, %sb : {left}, {of_left}, {right}, {of_right}) outs(%d : {acc})
      return
    }}"""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 256, (16, 32), np.uint8), rng.integers(0, 256, (32, 16), np.uint8)
    given = a.copy(), b.copy()
    d = np.zeros((16, 16), np.float32)
    ones = np.full((16, 2), 127, np.uint8), np.full((2, 16), 127, np.uint8)
    pto_dialect.compile(parse(text), target="a5")(a, ones[0], b, ones[1], d)
    magnitudes = [0, 0.5, 1, 1.5, 2, 3, 4, 6]
    numbers = np.array([*magnitudes, *(-one for one in magnitudes)])
    wide_a = np.stack((a & 15, a >> 4), 2).reshape(16, 64)
    wide_b = np.stack((b & 15, b >> 4), 1).reshape(64, 16)
    assert (d == numbers[wide_a] @ numbers[wide_b]).all()
    assert (a == given[0]).all() and (b == given[1]).all()
