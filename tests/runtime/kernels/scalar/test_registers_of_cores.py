"""What lives in registers of a core, and what completes at once: arrays, structs, scopes with captures, events."""

from __future__ import annotations

import numpy as np
import pytest
from function_programs import run_on_each


def run(body: str, arguments: str, values: list, results: str = "") -> list:
    """What the function returns."""
    back = f" -> ({results})" if results else ""
    text = f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @k({arguments}){back} {{\n{body}\n}}\n}}'
    return run_on_each(text, values)


def test_arrays_by_two_indices() -> None:
    """Each element is a location of its own."""
    array = "!pto.local_array<2x3xi32>"
    places = [(0, 0), (0, 2), (1, 0), (1, 2)]
    body = f"%a = pto.declare_local_array -> {array}\n"
    body += "".join(f"%i{n} = arith.constant {n} : index\n%v{n} = arith.constant {n + 10} : i32\n" for n in range(4))
    for n, (i, j) in enumerate(places):
        body += f"pto.local_array_set %a[%i{i}, %i{j}], %v{n} : {array}, i32\n"
    for n, (i, j) in enumerate(places):
        body += f"%r{n} = pto.local_array_get %a[%i{i}, %i{j}] : {array} -> i32\n"
    body += "return %r0, %r1, %r2, %r3 : i32, i32, i32, i32"
    assert run(body, "", [], "i32, i32, i32, i32") == [10, 11, 12, 13]


def test_fields_of_structs_in_structs() -> None:
    struct = "!pto.struct<i32, f32, !pto.struct<i64, f32>>"
    body = f"""%s = pto.declare_struct -> {struct}
    pto.struct_set %s[0], %a : {struct}, i32
    pto.struct_set %s[1], %x : {struct}, f32
    pto.struct_set %s[2, 0], %b : {struct}, i64
    pto.struct_set %s[2, 1], %y : {struct}, f32
    %p = pto.struct_get %s[0] : {struct} -> i32
    %q = pto.struct_get %s[1] : {struct} -> f32
    %r = pto.struct_get %s[2, 0] : {struct} -> i64
    %t = pto.struct_get %s[2, 1] : {struct} -> f32
    return %p, %q, %r, %t : i32, f32, i64, f32"""
    values = [3, 2.5, -7, 0.25]
    assert run(body, "%a: i32, %x: f32, %b: i64, %y: f32", values, "i32, f32, i64, f32") == values


def test_arrays_of_events() -> None:
    events = "!pto.eventid_array<3>"
    body = f"""%c0 = arith.constant 0 : index
    %c2 = arith.constant 2 : index
    %e = pto.declare_eventid_array -> {events}
    pto.eventid_array_set %e[%c2], %n : {events}
    pto.eventid_array_set %e[%c0], %m : {events}
    %a = pto.eventid_array_get %e[%c2] : {events}
    %b = pto.eventid_array_get %e[%c0] : {events}
    return %a, %b : index, index"""
    assert run(body, "%n: index, %m: index", [5, 1], "index, index") == [5, 1]


@pytest.mark.parametrize("first", [0, 64])
def test_a_scope_with_captures(first: int) -> None:
    """Its block arguments stand for what it captures."""
    p, v = "!pto.ptr<f32, ub>", "!pto.vreg<64xf32>"
    body = f"""pto.strict_vecscope(%u, %o, %i, %x) {{
    ^bb0(%s: {p}, %d: {p}, %j: index, %k: f32):
      %m = pto.pset_b32 "PAT_VL8" : !pto.mask<b32>
      %r = pto.vlds %s[%j] : {p} -> {v}
      %t = pto.vadds %r, %k, %m : {v}, f32, !pto.mask<b32> -> {v}
      pto.vsts %t, %d[%j], %m : {v}, {p}, !pto.mask<b32>
    }} : ({p}, {p}, index, f32) -> ()
    return"""
    source, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    run(body, f"%u: {p}, %o: {p}, %i: index, %x: f32", [source, out, first, 0.5])
    wanted = np.zeros(128, np.float32)
    wanted[first : first + 8] = source[first : first + 8] + np.float32(0.5)
    assert (out == wanted).all()


@pytest.mark.parametrize("op", ["tput_async", "tget_async"])
@pytest.mark.parametrize("ask", ["wait_async_event", "test_async_event"])
def test_asynchronous_transfers_have_ended_when_queried(op: str, ask: str) -> None:
    view, stage = "!pto.partition_tensor_view<128xf32>", "!pto.tile_buf<vec, 1x256xi8>"
    session, event = "!pto.async_session", "!pto.async_event"
    body = f"""%s = pto.comm.build_async_session(%t, %w : {stage}, !pto.ptr<i8, gm>) -> {session}
    %e = pto.comm.{op}(%d, %a, %s : {view}, {view}, {session}) -> {event}
    %done = pto.comm.{ask}(%e, %s : {event}, {session}) -> i1
    return %done : i1"""
    source, out = np.arange(128, dtype=np.float32), np.zeros(128, np.float32)
    arguments = f"%d: {view}, %a: {view}, %t: {stage}, %w: !pto.ptr<i8, gm>"
    (done,) = run(body, arguments, [out, source, np.zeros((1, 256), np.int8), np.zeros(64, np.int8)], "i1")
    assert done and (out == source).all()


def test_addresses_as_numbers() -> None:
    """A pointer counts elements, its number bytes."""
    p = "!pto.ptr<f32, gm>"
    body = f"""%c0 = arith.constant 0 : index
    %q = pto.addptr %p, %n : {p} -> {p}
    %a = pto.ptrtoint %p : {p} -> i64
    %b = pto.ptrtoint %q : {p} -> i64
    %d = arith.subi %b, %a : i64
    %r = pto.castptr %b : i64 -> {p}
    %x = pto.load_scalar %r[%c0] : {p} -> f32
    return %d, %x : i64, f32"""
    assert run(body, f"%p: {p}, %n: index", [np.arange(32, dtype=np.float32), 5], "i64, f32") == [20, 5.0]


def test_a_memref_at_an_address_is_the_tile_there() -> None:
    memref, tile = "memref<8x16xf32, #pto.address_space<vec>>", "!pto.tile_buf<vec, 8x16xf32>"
    config = "#pto.tile_buf_config<blayout=row_major, slayout=none_box, s_fractal_size=512, pad=null>"
    body = f"""%at = arith.constant 1024 : i64
    %t = pto.alloc_tile addr = %at : {tile}
    pto.texpands ins(%x : f32) outs(%t : {tile})
    %m = pto.pointer_cast(%at) : {memref}
    %c3 = arith.constant 3 : index
    memref.store %y, %m[%c3, %c3] : {memref}
    %again = pto.materialize_tile %m {{config = {config}}} : {memref} -> {tile}
    pto.tadds ins(%again, %x : {tile}, f32) outs(%d : {tile})
    return"""
    d = np.zeros((8, 16), np.float32)
    run(body, f"%d: {tile}, %x: f32, %y: f32", [d, 2.0, 7.0])
    wanted = np.full((8, 16), 4.0, np.float32)
    wanted[3, 3] = 9
    assert (d == wanted).all()


@pytest.mark.parametrize(("bit", "wanted"), [(0, 65504.0), (1, np.inf)])
def test_products_follow_the_control_register_without_a_clause(bit: int, wanted: float) -> None:
    """Bit 48 set means infinities as they are, clear that operands are limited to the largest number."""
    a, b, c = "!pto.ptr<f16, l0a>", "!pto.ptr<f16, l0b>", "!pto.ptr<f32, l0c>"
    body = f"""%c48 = arith.constant 48 : i64
    %c1 = arith.constant 16 : i64
    %zero = arith.constant 0 : i64
    %on = pto.sbitset1 %zero, %c48 : i64, i64 -> i64
    %word = arith.select %set, %on, %zero : i64
    pto.set_ctrl %word : i64
    pto.mad %a, %b, %c, %c1, %c1, %c1 : {a}, {b}, {c}, i64, i64, i64
    return"""
    left, right, out = np.zeros(256, np.float16), np.zeros(256, np.float16), np.zeros(256, np.float32)
    left[0], right[0] = np.inf, 1
    run(body, f"%a: {a}, %b: {b}, %c: {c}, %set: i1", [left, right, out, bool(bit)])
    assert out[0] == wanted
