"""Memrefs: scratch memory, elements, views, on-chip memrefs as tiles, and conversions to and from pointers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from parse_helpers import parsed

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def kernel(body: str, arguments: str = "", **options) -> Kernel:
    text = f'module attributes {{pto.target_arch = "a5"}} {{\nfunc.func @k({arguments}) {{\n{body}\nreturn\n}}\n}}'
    module, found = parsed(text)
    assert {entry[0] for entry in found} <= {"op-deprecated"}
    return Kernel(module, None, None, RunOptions(**options))


def run(body: str, arguments: str = "", *values: object, **options) -> None:
    kernel(body, arguments, **options).run(list(values))


INDICES = "\n".join(f"%c{i} = arith.constant {i} : index" for i in range(17)) + "\n"


def fault(body: str, arguments: str, *values: object) -> ProgramError:
    with pytest.raises(ProgramError) as caught:
        run(body, arguments, *values)
    return caught.value


# ------------------------------------------------------------ elements


@pytest.mark.parametrize("alloc", ["alloc", "alloca"])
def test_scratch_of_the_scalar_unit(alloc: str) -> None:
    """A 3 x 4 table i * 10 + j is filled and read back column after column."""
    body = (
        INDICES
        + f"""
    %m = memref.{alloc}() : memref<3x4xi32>
    scf.for %i = %c0 to %c3 step %c1 {{
      scf.for %j = %c0 to %c4 step %c1 {{
        %t = arith.muli %i, %c10 : index
        %u = arith.addi %t, %j : index
        %v = arith.index_cast %u : index to i32
        memref.store %v, %m[%i, %j] : memref<3x4xi32>
      }}
    }}
    scf.for %j = %c0 to %c4 step %c1 {{
      scf.for %i = %c0 to %c3 step %c1 {{
        %v = memref.load %m[%i, %j] : memref<3x4xi32>
        %t = arith.muli %j, %c3 : index
        %p = arith.addi %t, %i : index
        pto.store_scalar %v, %out[%p] : !pto.ptr<i32>, i32
      }}
    }}"""
    )
    out = np.zeros(12, np.int32)
    run(body, "%out: !pto.ptr<i32>", out)
    assert out.tolist() == [i * 10 + j for j in range(4) for i in range(3)]


def test_scratch_is_new_each_time() -> None:
    """What one round leaves in its scratch memory the next one does not see."""
    body = (
        INDICES
        + """
    %one = arith.constant 1 : i32
    scf.for %i = %c0 to %c3 step %c1 {
      %m = memref.alloc(%c4) : memref<?xi32>
      %old = memref.load %m[%c2] : memref<?xi32>
      pto.store_scalar %old, %out[%i] : !pto.ptr<i32>, i32
      memref.store %one, %m[%c2] : memref<?xi32>
      memref.dealloc %m : memref<?xi32>
    }"""
    )
    out = np.full(3, 9, np.int32)
    run(body, "%out: !pto.ptr<i32>", out)
    assert out.tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("element", "dtype", "values"),
    [
        ("f32", np.float32, [1.5, -0.0, np.inf, np.nan, 1e-45]),
        ("f16", np.float16, [65504.0, -0.0, np.nan, 6e-8]),
        ("f64", np.float64, [1e300, -0.0, np.nan, 0.1]),
        ("i8", np.int8, [-128, 127, -1]),
        ("ui16", np.uint16, [0, 65535]),
        ("i64", np.int64, [-(2**63), 2**63 - 1]),
    ],
)
def test_elements_of_arguments(element: str, dtype: type, values: list[float]) -> None:
    source, target = np.array(values, dtype), np.zeros(len(values), dtype)
    type_ = f"memref<{len(values)}x{element}>"
    body = (
        INDICES
        + f"""
    %n = memref.dim %a, %c0 : {type_}
    scf.for %i = %c0 to %n step %c1 {{
      %v = memref.load %a[%i] : {type_}
      memref.store %v, %b[%i] : {type_}
    }}"""
    )
    run(body, f"%a: {type_}, %b: {type_}", source, target)
    assert target.tobytes() == source.tobytes()


@pytest.mark.parametrize(("i", "j"), [(3, 0), (0, 4), (-1, 0)])
def test_outside_the_extents(i: int, j: int) -> None:
    """Element (0, 4) would be inside the memory, but not inside the memref."""
    error = fault(
        f"""%i = arith.constant {i} : index
        %j = arith.constant {j} : index
        %v = memref.load %a[%i, %j] : memref<3x4xf32>""",
        "%a: memref<3x4xf32>",
        np.zeros((3, 4), np.float32),
    )
    assert error.rule == "mem-oob"
    assert error.message == f"element [{i}, {j}] of a memref of shape 3x4"
    assert error.span is not None and error.span.text.startswith("%v = memref.load")


# ------------------------------------------------------------ views


@settings(max_examples=20)
@given(st.data())
def test_subviews(data: st.DataObject) -> None:
    """Offsets, sizes and strides select what a numpy slice selects; half of them are known at run time only."""
    offsets, sizes, steps = [], [], []
    for extent in (6, 7):
        step = data.draw(st.integers(1, 3))
        offset = data.draw(st.integers(0, extent - 1))
        sizes.append(data.draw(st.integers(1, (extent - 1 - offset) // step + 1)))
        offsets.append(offset)
        steps.append(step)
    rows = f"memref<{sizes[0]}x{sizes[1]}xi32, strided<[?, {steps[1]}], offset: ?>>"
    body = (
        INDICES
        + f"""
    %v = memref.subview %a[%c{offsets[0]}, {offsets[1]}] [{sizes[0]}, {sizes[1]}] [%c{steps[0]}, {steps[1]}]
      : memref<6x7xi32> to {rows}
    scf.for %i = %c0 to %c{sizes[0]} step %c1 {{
      scf.for %j = %c0 to %c{sizes[1]} step %c1 {{
        %e = memref.load %v[%i, %j] : {rows}
        memref.store %e, %out[%i, %j] : memref<6x7xi32>
      }}
    }}"""
    )
    a, out = np.arange(42, dtype=np.int32).reshape(6, 7), np.zeros((6, 7), np.int32)
    run(body, "%a: memref<6x7xi32>, %out: memref<6x7xi32>", a, out)
    (o0, o1), (s0, s1), (t0, t1) = offsets, sizes, steps
    np.testing.assert_array_equal(out[:s0, :s1], a[o0::t0, o1::t1][:s0, :s1])


def test_extents_of_the_run() -> None:
    """A 2 x n table: its rows have the length that the run says."""
    body = (
        INDICES
        + """
    %n = memref.dim %out, %c0 : memref<?xi32>
    %m = memref.alloc(%n) : memref<2x?xi32>
    %v = arith.constant 7 : i32
    memref.store %v, %m[%c1, %c0] : memref<2x?xi32>
    %flat = memref.reinterpret_cast %m to offset: [0], sizes: [%n], strides: [1]
      : memref<2x?xi32> to memref<?xi32, strided<[1]>>
    scf.for %i = %c0 to %n step %c1 {
      %e = memref.load %m[%c1, %i] : memref<2x?xi32>
      memref.store %e, %out[%i] : memref<?xi32>
    }"""
    )
    out = np.ones(5, np.int32)
    run(body, "%out: memref<?xi32>", out)
    assert out.tolist() == [7, 0, 0, 0, 0]


def test_subview_drops_unit_dimensions() -> None:
    row = "memref<4xi32, strided<[1], offset: 8>>"
    body = (
        INDICES
        + f"""
    %v = memref.subview %a[2, 0] [1, 4] [1, 1] : memref<3x4xi32> to {row}
    %e = memref.load %v[%c3] : {row}
    memref.store %e, %a[%c0, %c0] : memref<3x4xi32>"""
    )
    a = np.arange(12, dtype=np.int32).reshape(3, 4)
    run(body, "%a: memref<3x4xi32>", a)
    assert a[0, 0] == 11


def test_subview_outside() -> None:
    type_ = "memref<2x4xi32, strided<[4, 1], offset: ?>>"
    error = fault(
        f"%two = arith.constant 2 : index\n%v = memref.subview %a[%two, 0] [2, 4] [1, 1] : memref<3x4xi32> to {type_}",
        "%a: memref<3x4xi32>",
        np.zeros((3, 4), np.int32),
    )
    assert error.rule == "mem-oob"


def test_reinterpret_cast_counts_from_the_allocation() -> None:
    """The offset of a cast is that in the buffer, whatever view it is taken from."""
    shifted, cast = "memref<4xi32, strided<[1], offset: 8>>", "memref<2x2xi32, strided<[4, 2], offset: 1>>"
    body = (
        INDICES
        + f"""
    %v = memref.subview %a[8] [4] [1] : memref<12xi32> to {shifted}
    %r = memref.reinterpret_cast %v to offset: [1], sizes: [2, 2], strides: [4, 2] : {shifted} to {cast}
    %e = memref.load %r[%c1, %c1] : {cast}
    memref.store %e, %a[%c0] : memref<12xi32>
    %d = memref.cast %a : memref<12xi32> to memref<?xi32>
    %n = memref.dim %d, %c0 : memref<?xi32>
    %w = arith.index_cast %n : index to i32
    memref.store %w, %d[%c1] : memref<?xi32>"""
    )
    a = np.arange(100, 112, dtype=np.int32)
    run(body, "%a: memref<12xi32>", a)
    assert a[:3].tolist() == [107, 12, 102]


def test_copy() -> None:
    view = "memref<2x3xf32, strided<[6, 2]>>"
    body = f"""
    %v = memref.subview %a[0, 0] [2, 3] [1, 2] : memref<2x6xf32> to {view}
    "memref.copy"(%v, %b) : ({view}, memref<2x3xf32>) -> ()"""
    a, b = np.arange(12, dtype=np.float32).reshape(2, 6), np.zeros((2, 3), np.float32)
    run(body, "%a: memref<2x6xf32>, %b: memref<2x3xf32>", a, b)
    np.testing.assert_array_equal(b, a[:, ::2])


# ------------------------------------------------------------ on-chip memory


VEC = "memref<8x16xf32, #pto.address_space<vec>>"
GM = "memref<8x16xf32, #pto.address_space<gm>>"


def test_transfers_through_an_on_chip_memref() -> None:
    body = f"""
    %a = memref.alloc() : {VEC}
    %b = memref.alloc() : {VEC}
    pto.tload ins(%x : {GM}) outs(%a : {VEC})
    pto.tload ins(%y : {GM}) outs(%b : {VEC})
    pto.tstore ins(%a : {VEC}) outs(%y : {GM})
    pto.tstore ins(%b : {VEC}) outs(%x : {GM})"""
    x, y = np.arange(128, dtype=np.float32).reshape(8, 16), np.ones((8, 16), np.float32)
    old = x.copy()
    run(body, f"%x: {GM}, %y: {GM}", x, y)
    np.testing.assert_array_equal(y, old)
    assert (x == 1).all()


def test_memory_that_does_not_fit_is_shared_or_refused() -> None:
    """Three buffers of 128 KiB fit into 256 KiB of ub only if their lives do not overlap."""
    big = "memref<256x128xf32, #pto.address_space<vec>>"
    gm = "memref<256x128xf32>"
    lines = [f"%m{i} = memref.alloc() : {big}\n pto.tload ins(%x : {gm}) outs(%m{i} : {big})" for i in range(3)]
    stores = [f"pto.tstore ins(%m{i} : {big}) outs(%y{i} : {gm})" for i in range(3)]
    arguments = ", ".join([f"%x: {gm}", *(f"%y{i}: {gm}" for i in range(3))])
    x = np.arange(256 * 128, dtype=np.float32).reshape(256, 128)
    outs = [np.zeros_like(x) for _ in range(3)]
    run("\n".join(a + "\n" + b for a, b in zip(lines, stores, strict=True)), arguments, x, *outs)
    for out in outs:
        np.testing.assert_array_equal(out, x)
    with pytest.raises(ProgramError) as caught:
        kernel("\n".join(lines + stores), arguments)
    assert caught.value.rule == "capacity-dynamic"


def test_a_tile_layout_over_a_memref() -> None:
    """In blocks of 16 x 8 elements, the second block of columns starts 16 x 8 elements after the first."""
    mat = "memref<16x16xf32, #pto.address_space<mat>>"
    config = "{config = #pto.tile_buf_config<blayout=1 : i32, slayout=1 : i32, s_fractal_size=512, pad=0 : i32>}"
    body = (
        INDICES
        + f"""
    %a = memref.alloc() : {mat}
    %tile = pto.bind_tile %a, %c16, %c16 {config} : {mat} -> {mat}
    pto.tload ins(%x : memref<16x16xf32>) outs(%tile : {mat})
    %p = pto.castptr %a : {mat} -> !pto.ptr<f32, l1>
    %at = arith.constant 128 : index
    %v = pto.load %p[%at] : !pto.ptr<f32, l1> -> f32
    memref.store %v, %x[%c0, %c0] : memref<16x16xf32>"""
    )
    x = np.arange(256, dtype=np.float32).reshape(16, 16)
    run(body, "%x: memref<16x16xf32>", x)
    assert x[0, 0] == 8


def test_memrefs_at_addresses_and_over_tiles() -> None:
    tile = "!pto.tile_buf<vec, 8x16xf32>"
    body = (
        INDICES
        + f"""
    %place = arith.constant 4096 : i64
    %t = pto.alloc_tile addr = %place : {tile}
    pto.tload ins(%x : {GM}) outs(%t : {tile})
    %m = "pto.pointer_cast"(%place) {{operandSegmentSizes = array<i32: 1, 0, 0>}} : (i64) -> {VEC}
    %n = pto.tile_buf_addr %t : {tile} -> {VEC}
    %a = memref.load %m[%c1, %c2] : {VEC}
    %b = memref.load %n[%c7, %c15] : {VEC}
    memref.store %a, %x[%c0, %c0] : {GM}
    memref.store %b, %x[%c0, %c1] : {GM}"""
    )
    x = np.arange(128, dtype=np.float32).reshape(8, 16)
    run(body, f"%x: {GM}", x)
    assert x[0, :2].tolist() == [18, 127]


def test_on_chip_memory_starts_with_the_fill() -> None:
    body = (
        INDICES
        + f"""
    %m = memref.alloc() : {VEC}
    %s = memref.alloc() : memref<2xf32>
    %a = memref.load %m[%c0, %c0] : {VEC}
    %b = memref.load %s[%c0] : memref<2xf32>
    pto.store %a, %x[%c0] : !pto.ptr<f32>, f32
    pto.store %b, %x[%c1] : !pto.ptr<f32>, f32"""
    )
    for fill, expected in (("zero", [0, 0]), ("poison", [np.nan, np.nan])):
        x = np.ones(2, np.float32)
        run(body, "%x: !pto.ptr<f32>", x, fill=fill)
        np.testing.assert_array_equal(x, expected)


def test_an_on_chip_memref_of_open_size_is_refused() -> None:
    with pytest.raises(ProgramError) as caught:
        kernel("%n = arith.constant 4 : index\n%m = memref.alloc(%n) : memref<?xf32, #pto.address_space<vec>>")
    assert caught.value.rule == "unmodelled"
