"""Handles of tiles and views: which bytes they stand for, and what they know of themselves."""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run_on_each
from parse_helpers import parsed

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

TILE = "!pto.tile_buf<vec, 8x16xf32>"
OPEN = "!pto.tile_buf<vec, 8x16xf32, valid=?x?>"


def run(body: str, arguments: str, values: list, results: str = "") -> list:
    """What the function returns."""
    back = f" -> ({results})" if results else ""
    text = f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @k({arguments}){back} {{\n{body}\n}}\n}}'
    return run_on_each(text, values)


def test_sizes_of_a_valid_region() -> None:
    body = f"""%t = pto.alloc_tile valid_row = %n valid_col = %m : {OPEN}
    %r0 = pto.tile_valid_rows %t : {OPEN} -> index
    %c0 = pto.tile_valid_cols %t : {OPEN} -> index
    pto.set_validshape %t, %m, %n : {OPEN}
    %r1, %c1 = pto.get_validshape %t : {OPEN}
    return %r0, %c0, %r1, %c1 : index, index, index, index"""
    assert run(body, "%n: index, %m: index", [5, 3], "index, index, index, index") == [5, 3, 3, 5]


def test_sizes_of_a_view() -> None:
    view = "!pto.tensor_view<?x?x?xf32>"
    body = f"""%c1 = arith.constant 1 : index
    %v = pto.make_tensor_view %g, shape = [%n, %m, %n], strides = [%s, %n, %c1] : {view}
    %d = pto.get_tensor_view_dim %v, %i : {view} -> index
    %e = pto.get_tensor_view_stride %v, %i : {view} -> index
    return %d, %e : index, index"""
    arguments = "%g: !pto.ptr<f32, gm>, %n: index, %m: index, %s: index, %i: index"
    for axis, wanted in enumerate(([5, 20], [3, 5], [5, 1])):
        assert run(body, arguments, [np.zeros(100, np.float32), 5, 3, 20, axis], "index, index") == wanted


@pytest.mark.parametrize("axis", [-1, 2, 7])
@pytest.mark.parametrize("query", ["dim", "stride", "memref"])
def test_a_dimension_that_does_not_exist_is_refused_at_its_location(query: str, axis: int) -> None:
    view = "!pto.tensor_view<?x?xf32>"
    asks = f"pto.get_tensor_view_{query} %v, %i : {view} -> index"
    if query == "memref":
        asks = "memref.dim %m, %i : memref<4x5xf32>"
    body = f"""%c1 = arith.constant 1 : index
    %v = pto.make_tensor_view %g, shape = [%c1, %c1], strides = [%c1, %c1] : {view}
    %d = {asks}
    return %d : index"""
    arguments = "%g: !pto.ptr<f32, gm>, %m: memref<4x5xf32>, %i: index"
    with pytest.raises(ProgramError) as found:
        run(body, arguments, [np.zeros(4, np.float32), np.zeros(20, np.float32), axis], "index")
    diagnostic = found.value
    assert (diagnostic.rule, diagnostic.message) == ("view-dim", f"there is no dimension {axis}, only 0 to 1")
    assert diagnostic.span is not None and diagnostic.span.line == 5


@pytest.mark.parametrize("slot", [0, 1, 2])
@pytest.mark.parametrize("constant", [True, False])
def test_slots_of_several_tiles_are_consecutive(slot: int, constant: bool) -> None:
    several = f"!pto.multi_tile_buf<{TILE}, count=3>"
    index = "%k" if constant else "%i"
    body = f"""%base = arith.constant 4096 : i64
    %k = arith.constant {slot} : index
    %many = pto.alloc_multi_tile addr = %base : {several}
    %one = pto.multi_tile_get %many[{index}] : {several} -> {TILE}
    %at = arith.constant {4096 + 512 * slot} : i64
    %same = pto.alloc_tile addr = %at : {TILE}
    pto.texpands ins(%x : f32) outs(%one : {TILE})
    pto.tadds ins(%same, %x : {TILE}, f32) outs(%d : {TILE})
    return"""
    d = np.zeros((8, 16), np.float32)
    run(body, f"%d: {TILE}, %x: f32, %i: index", [d, 3.0, slot])
    assert (d == 6).all()


def test_slots_with_a_valid_region() -> None:
    several = f"!pto.multi_tile_buf<{OPEN}, count=2>"
    body = f"""%many = pto.alloc_multi_tile valid_row = %n valid_col = %m : {several}
    %one = pto.multi_tile_get %many[%n] : {several} -> {OPEN}
    %r, %c = pto.get_validshape %one : {OPEN}
    return %r, %c : index, index"""
    assert run(body, "%n: index, %m: index", [1, 7], "index, index") == [1, 7]


def test_a_tile_at_another_address() -> None:
    body = f"""%at = arith.constant 8192 : i64
    %t = pto.alloc_tile : {TILE}
    %moved = pto.tassign %t, %at : {TILE} -> {TILE}
    %there = pto.alloc_tile addr = %at : {TILE}
    pto.texpands ins(%x : f32) outs(%t : {TILE})
    pto.texpands ins(%y : f32) outs(%moved : {TILE})
    pto.tadd ins(%t, %there : {TILE}, {TILE}) outs(%d : {TILE})
    return"""
    d = np.zeros((8, 16), np.float32)
    run(body, f"%d: {TILE}, %x: f32, %y: f32", [d, 3.0, 20.0])
    assert (d == 23).all()


def test_a_window_of_a_window() -> None:
    """Offsets add up, in rows and in columns."""
    whole, part, inner = (f"!pto.tile_buf<vec, {shape}xf32>" for shape in ("32x64", "16x32", "4x8"))
    body = f"""%c2 = arith.constant 2 : index
    %c5 = arith.constant 5 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %a = pto.subview %t[%c5, %c16] sizes [16, 32] : {whole} -> {part}
    %b = pto.subview %a[%c2, %c8] sizes [4, 8] : {part} -> {inner}
    pto.tadds ins(%b, %x : {inner}, f32) outs(%d : {inner})
    return"""
    t, d = np.arange(2048, dtype=np.float32).reshape(32, 64), np.zeros((4, 8), np.float32)
    run(body, f"%t: {whole}, %d: {inner}, %x: f32", [t, d, 0.0])
    assert (d == t[7:11, 24:32]).all()


@pytest.mark.parametrize(("rows", "cols"), [(3, 5), (99, 99), (4, 8)])
def test_a_window_is_valid_as_far_as_it_says(rows: int, cols: int) -> None:
    """Not beyond its size."""
    whole, part = "!pto.tile_buf<vec, 32x64xf32>", "!pto.tile_buf<vec, 4x8xf32, valid=?x?>"
    body = f"""%c0 = arith.constant 0 : index
    %w = pto.subview %t[%c0, %c0] sizes [4, 8] valid [%n, %m] : {whole} -> {part}
    %r, %c = pto.get_validshape %w : {part}
    return %r, %c : index, index"""
    t = np.zeros((32, 64), np.float32)
    assert run(body, f"%t: {whole}, %n: index, %m: index", [t, rows, cols], "index, index") == [
        min(rows, 4), min(cols, 8)
    ]  # fmt: skip


def test_a_window_of_an_open_tile_ends_where_that_does() -> None:
    whole, part = "!pto.tile_buf<vec, 32x64xf32, valid=?x?>", "!pto.tile_buf<vec, 8x16xf32, valid=?x?>"
    body = f"""%t = pto.alloc_tile valid_row = %n valid_col = %m : {whole}
    %i = arith.constant 8 : index
    %w = pto.subview %t[%i, %i] sizes [8, 16] : {whole} -> {part}
    %r, %c = pto.get_validshape %w : {part}
    return %r, %c : index, index"""
    for (rows, cols), wanted in {(11, 20): [3, 12], (5, 64): [0, 16], (32, 8): [8, 0]}.items():
        assert run(body, "%n: index, %m: index", [rows, cols], "index, index") == wanted


def test_the_control_register_by_bits() -> None:
    body = """%c3 = arith.constant 3 : i64
    %c65 = arith.constant 65 : i64
    %a = pto.sbitset1 %v, %c3 : i64, i64 -> i64
    %b = pto.sbitset0 %a, %c65 : i64, i64 -> i64
    pto.set_ctrl %b : i64
    %c = pto.get_ctrl : i64
    return %a, %c : i64, i64"""
    assert run(body, "%v: i64", [0b110010], "i64, i64") == [0b111010, 0b111000]
    assert run(body, "%v: i64", [-1], "i64, i64") == [-1, -3]


@pytest.mark.parametrize("op", ["tgather", "tscatter"])
def test_members_of_a_group_follow_each_other(op: str) -> None:
    whole, part = "!pto.partition_tensor_view<384xf32>", "!pto.partition_tensor_view<128xf32>"
    stage = "!pto.tile_buf<vec, 1x128xf32>"
    types = f"{whole}, {stage}, {part}, {part}, {part}"
    body = f"pto.comm.{op}(%w, recv(%t), group(%a, %b, %c) : {types}) {{root = 1 : i32}}\nreturn"
    rng = np.random.default_rng(3)
    w = rng.random(384).astype(np.float32)
    members = [rng.random(128).astype(np.float32) for _ in range(3)]
    before = w.copy(), np.concatenate(members)
    arguments = f"%w: {whole}, %t: {stage}, %a: {part}, %b: {part}, %c: {part}"
    run(body, arguments, [w, np.zeros((1, 128), np.float32), *members])
    wanted = before[1] if op == "tgather" else before[0]
    assert (w == wanted).all() and (np.concatenate(members) == wanted).all()


@pytest.mark.parametrize(("op", "left"), [("load_cbuf_to_ca", True), ("load_cbuf_to_cb", False)])
@pytest.mark.parametrize("flag", ["", " {transpose = true}"])
def test_fractals_to_the_operand_buffers(op: str, left: bool, flag: str) -> None:
    """16 x 16 blocks of halves: block columns one after the other, in the source 5 blocks high, in the result 3."""
    space = "l0a" if left else "l0b"
    s, d = "!pto.ptr<f16, l1>", f"!pto.ptr<f16, {space}>"
    numbers = dict(zip("abcdef", (1, 2, 2, 3, 5, 3), strict=True))
    constants = "".join(f"%{name} = arith.constant {value} : i64\n" for name, value in numbers.items())
    body = f"{constants}pto.{op} %s, %d, %a, %b, %c, %d0, %e, %f{flag} : {s}, {d}, i64, i64, i64, i64, i64, i64\nreturn"
    body = body.replace("%d = arith.constant", "%d0 = arith.constant")
    source = np.random.default_rng(4).random(5 * 6 * 256).astype(np.float16)
    out = np.zeros(4096, np.float16)
    run(body, f"%s: {s}, %d: {d}", [source, out])
    blocks = source.reshape(6, 5, 16, 16)
    wanted = np.zeros((5, 3, 16, 16), np.float16)
    for m in range(2):
        for k in range(3):
            block = blocks[2 + k, 1 + m]
            if flag:
                wanted[m, k] = block.T
            else:
                wanted[k, m] = block
    assert (out[: wanted.size] == wanted.reshape(-1)).all() and not out[wanted.size :].any()


@pytest.mark.parametrize(("op", "space"), [("load_cbuf_to_ca_s4", "l0a"), ("load_cbuf_to_cb_s4", "l0b")])
def test_nibbles_to_the_operand_buffers(op: str, space: str) -> None:
    """Blocks of 16 x 64 four-bit numbers are copied as they are."""
    s, d = "!pto.ptr<!pto.f4E2M1x2, l1>", f"!pto.ptr<!pto.f4E2M1x2, {space}>"
    body = f"""%z = arith.constant 0 : i64
    %one = arith.constant 1 : i64
    %two = arith.constant 2 : i64
    pto.{op} %s, %d, %one, %z, %one, %two, %two, %one, %z : {s}, {d}, i64, i64, i64, i64, i64, i64, i64
    return"""
    source = np.random.default_rng(4).integers(0, 256, 2048).astype(np.uint8)
    out = np.zeros(2048, np.uint8)
    run(body, f"%s: {s}, %d: {d}", [source, out])
    blocks = source.reshape(2, 2, 512)
    assert (out[:1024].reshape(2, 512) == blocks[:, 1]).all() and not out[1024:].any()


def test_the_same_bytes_as_another_element() -> None:
    words = "!pto.tile_buf<vec, 8x16xi32>"
    body = f"""%w = pto.bitcast %t : {TILE} -> {words}
    pto.tadds ins(%w, %n : {words}, i32) outs(%d : {words})
    return"""
    source, found = np.random.default_rng(3).standard_normal((8, 16)).astype(np.float32), np.zeros((8, 16), np.int32)
    run(body, f"%t: {TILE}, %d: {words}, %n: i32", [source, found, 5])
    assert (found == source.view(np.int32) + 5).all()


MEMREF = "memref<8x16xf32, #pto.address_space<vec>>"


def test_a_tile_as_a_memref() -> None:
    body = f"""%c2 = arith.constant 2 : index
    %m = pto.simd.tile_to_memref %t : {TILE} to {MEMREF}
    %x = memref.load %m[%c2, %i] : {MEMREF}
    memref.store %y, %m[%i, %c2] : {MEMREF}
    return %x : f32"""
    source = np.arange(128, dtype=np.float32).reshape(8, 16)
    wanted = source.copy()
    wanted[7, 2] = -1
    assert run(body, f"%t: {TILE}, %i: index, %y: f32", [source, 7, -1.0], "f32") == [39.0]
    assert (source == wanted).all()


def test_a_memref_that_is_only_declared_has_no_memory() -> None:
    body = f"""%c0 = arith.constant 0 : index
    %m = pto.declare_tile_memref -> {MEMREF}
    %x = memref.load %m[%c0, %c0] : {MEMREF}
    return %x : f32"""
    with pytest.raises(ProgramError) as caught:
        run(body, "", [], "f32")
    assert caught.value.span is not None and "memref.load" in caught.value.span.text


def test_prefetches_in_the_background_change_no_number() -> None:
    view = "!pto.tensor_view<128xf32>"
    work, context = "!pto.ptr<i8, gm>", "!pto.prefetch_async_context"
    body = f"""%context = pto.make_prefetch_async_context(%w : {work}) -> {context}
    %session = pto.get_prefetch_async_session %context : {context} -> !pto.async_session
    %c1 = arith.constant 1 : index
    %c128 = arith.constant 128 : index
    %v = pto.make_tensor_view %p, shape = [%c128], strides = [%c1] : {view}
    %event = pto.tprefetch_async(%v, %context : {view}, {context}) -> !pto.async_event
    %done = pto.comm.wait_async_event(%event, %session : !pto.async_event, !pto.async_session) -> i1
    %x = pto.load_scalar %p[%c1] : !pto.ptr<f32, gm> -> f32
    return %done, %x : i1, f32"""
    memory = np.arange(128, dtype=np.float32)
    found = run(body, f"%p: !pto.ptr<f32, gm>, %w: {work}", [memory, np.zeros(64, np.int8)], "i1, f32")
    assert [bool(found[0]), found[1]] == [True, 1.0]
    assert (memory == np.arange(128)).all()


def test_scales_of_tile_values_have_no_address() -> None:
    text = """func.func @f(%a: !pto.tile<16x64xf8E4M3FN>) -> !pto.tile<16x2x!pto.f8E8M0> {
  %s = pto.tget_scale_addr %a : (!pto.tile<16x64xf8E4M3FN>) -> !pto.tile<16x2x!pto.f8E8M0>
  return %s : !pto.tile<16x2x!pto.f8E8M0>
}
"""
    module, found = parsed(f'module attributes {{pto.target_arch = "a5"}} {{\n{text}}}\n')
    assert module is not None and not found
    with pytest.raises(ProgramError) as caught:
        Kernel(module, None, None, RunOptions())
    assert caught.value.message == "pto.tget_scale_addr of tile values cannot be executed: they have no address"
    assert caught.value.span is not None and caught.value.span.line == 3
