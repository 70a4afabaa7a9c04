"""Views whose shape is not that of the tile, and views of packed numbers counted in pairs or singly."""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import diagnostics

from pto_dialect.api import check, parse
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.memory.fractal_load import mx_scale_address, read_mx_scales_left
from pto_dialect.runtime.memory.layout import native_layout
from pto_dialect.runtime.memory.spaces import Arena


def test_three_dims_in_layout_dn_keep_the_order_of_memory() -> None:
    text = """module attributes {pto.target_arch = "a5"} {
    func.func @k(%a: !pto.ptr<f32>, %d: !pto.ptr<f32>) attributes {pto.kernel} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c8 = arith.constant 8 : index
      %c64 = arith.constant 64 : index
      %v = pto.make_tensor_view %a, shape = [%c8, %c8, %c1], strides = [%c8, %c1, %c1] {layout = #pto.layout<dn>}
        : !pto.tensor_view<8x8x1xf32>
      %p = pto.partition_view %v, offsets = [%c0, %c0, %c0], sizes = [%c8, %c8, %c1]
        : !pto.tensor_view<8x8x1xf32> -> !pto.partition_tensor_view<8x8x1xf32>
      %w = pto.make_tensor_view %d, shape = [%c64, %c1], strides = [%c1, %c64] {layout = #pto.layout<dn>}
        : !pto.tensor_view<64x1xf32>
      %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c64, %c1]
        : !pto.tensor_view<64x1xf32> -> !pto.partition_tensor_view<64x1xf32>
      %t = pto.alloc_tile : !pto.tile_buf<vec, 64x1xf32, blayout=col_major>
      pto.tload ins(%p : !pto.partition_tensor_view<8x8x1xf32>)
        outs(%t : !pto.tile_buf<vec, 64x1xf32, blayout=col_major>)
      pto.tstore ins(%t : !pto.tile_buf<vec, 64x1xf32, blayout=col_major>)
        outs(%q : !pto.partition_tensor_view<64x1xf32>)
      return
    }
    }"""
    a, d = np.arange(64, dtype=np.float32), np.zeros(64, np.float32)
    compile_kernel(parse(text))(a, d)
    assert (d == a).all()


VEC = "!pto.tile_buf<vec, 16x64x!pto.f4E2M1x2>"


def packed_program(cols: int, stored: int = 64) -> str:
    """Loads rows 4 to 19 of a view with ``cols`` columns into a tile of 16 x 64 pairs, and stores these in a view with
    ``stored`` columns."""
    out = f"!pto.partition_tensor_view<16x{stored}x!pto.f4E2M1x2>"
    view, part = f"!pto.tensor_view<32x{cols}x!pto.f4E2M1x2>", f"!pto.partition_tensor_view<16x{cols}x!pto.f4E2M1x2>"
    return f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%a: !pto.ptr<!pto.f4E2M1x2>, %d: !pto.ptr<!pto.f4E2M1x2>) attributes {{pto.kernel}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      %c32 = arith.constant 32 : index
      %c = arith.constant {cols} : index
      %o = arith.constant {stored} : index
      %v = pto.make_tensor_view %a, shape = [%c32, %c], strides = [%c, %c1] : {view}
      %p = pto.partition_view %v, offsets = [%c4, %c0], sizes = [%c16, %c] : {view} -> {part}
      %w = pto.make_tensor_view %d, shape = [%c16, %o], strides = [%o, %c1] : {out.replace("partition_", "")}
      %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c16, %o] : {out.replace("partition_", "")} -> {out}
      %t = pto.alloc_tile : {VEC}
      pto.tload ins(%p : {part}) outs(%t : {VEC})
      pto.tstore ins(%t : {VEC}) outs(%q : {out})
      return
    }}
    }}"""


@pytest.mark.parametrize("stored", [64, 128])
@pytest.mark.parametrize("cols", [64, 128])
def test_packed_numbers_are_counted_in_pairs_or_singly(cols: int, stored: int) -> None:
    text = packed_program(cols, stored)
    assert not check(text).diagnostics
    a = np.random.default_rng(2).integers(0, 255, (32, 64)).astype(np.uint8)
    d = np.zeros((16, 64), np.uint8)
    compile_kernel(parse(text))(a.reshape(-1), d.reshape(-1))
    assert (d == a[4:20]).all()


@pytest.mark.parametrize("cols", [32, 96, 256])
def test_other_numbers_of_packed_numbers_are_refused(cols: int) -> None:
    text = packed_program(cols)
    found = check(text)
    assert not found.ok
    assert [d.rule for d in found.diagnostics] == ["tload-count"]
    with pytest.raises(ProgramError) as error:
        compile_kernel(parse(text), verify=False)(np.zeros(32 * cols, np.uint8), np.zeros(1024, np.uint8))
    assert error.value.rule == "tload-count"


def test_the_fractals_of_an_accumulator_of_one_row_have_16_rows() -> None:
    one, many = (native_layout("acc", "a5", rows, 64, 4, "col_major", "row_major", 1024) for rows in (1, 16))
    assert [one.offset(0, col) for col in (1, 15, 16, 63)] == [many.offset(0, col) for col in (1, 15, 16, 63)]
    assert one.offset(0, 16) == 256


def test_scales_of_one_row_are_a_list() -> None:
    for loc in ("mat", "scaling"):
        layout = native_layout(loc, "a5", 1, 8, 1, "row_major", "row_major", 32)
        assert [layout.offset(0, col) for col in range(8)] == list(range(8))
    ram = Arena.from_array(np.arange(256, dtype=np.uint8))
    start = mx_scale_address(512)
    assert read_mx_scales_left(ram, 512, 1, 160).tolist() == [list(range(start, start + 5))]
    assert read_mx_scales_left(ram, 512, 2, 128).tolist() == [
        [start, start + 1, start + 32, start + 33],
        [start + 2, start + 3, start + 34, start + 35],
    ]


WINDOW = """module attributes {{pto.target_arch = "a5"}} {{
func.func @k(%n: index) attributes {{pto.kernel}} {{
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %c9 = arith.constant 9 : index
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %s = pto.subview %a[%c8, %c0] sizes [16, 16]{valid}
    : !pto.tile_buf<vec, 16x16xf32> -> !pto.tile_buf<vec, 16x16xf32{type}>
  return
}}
}}"""


@pytest.mark.parametrize(
    ("valid", "type_", "legal"),
    [
        ("", ", valid=8x16", True),
        ("", ", valid=9x16", False),
        ("", "", False),
        (" valid [%c8, %c8]", ", valid=8x8", True),
        (" valid [%c9, %c8]", ", valid=9x8", False),
        (" valid [%n, %c8]", ", valid=?x8", True),
    ],
)
def test_the_valid_part_of_a_window_lies_in_its_parent(valid: str, type_: str, legal: bool) -> None:
    found = check(WINDOW.format(valid=valid, type=type_))
    assert ("subview-bounds" not in {d.rule for d in found.diagnostics}) == legal, str(found)


TWO_RUNS = """module attributes {pto.target_arch = "a5"} {
func.func @k(%src: !pto.ptr<f32>, %dst: !pto.ptr<f32>, %n: index, %m: index) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %a = pto.alloc_tile : !pto.tile_buf<vec, 16x16xf32>
  %v = pto.make_tensor_view %src, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %w = pto.make_tensor_view %dst, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %out = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c16, %c16]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<16x16xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%n, %c16]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x16xf32>
  %q = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%m, %c16]
    : !pto.tensor_view<?x?xf32> -> !pto.partition_tensor_view<?x16xf32>
  %x = pto.subview %a[%c0, %c0] sizes [16, 16] valid [%n, %c16]
    : !pto.tile_buf<vec, 16x16xf32> -> !pto.tile_buf<vec, 16x16xf32, valid=?x16>
  %y = pto.subview %a[%n, %c0] sizes [16, 16] valid [%m, %c16]
    : !pto.tile_buf<vec, 16x16xf32> -> !pto.tile_buf<vec, 16x16xf32, valid=?x16>
  pto.tload ins(%p : !pto.partition_tensor_view<?x16xf32>) outs(%x : !pto.tile_buf<vec, 16x16xf32, valid=?x16>)
  pto.tload ins(%q : !pto.partition_tensor_view<?x16xf32>) outs(%y : !pto.tile_buf<vec, 16x16xf32, valid=?x16>)
  pto.set_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.wait_flag[<PIPE_MTE2>, <PIPE_MTE3>, <EVENT_ID0>]
  pto.tstore ins(%a : !pto.tile_buf<vec, 16x16xf32>) outs(%out : !pto.partition_tensor_view<16x16xf32>)
  return
}
}"""


@pytest.mark.parametrize("first", [1, 5, 15])
def test_two_windows_of_the_size_of_their_parent_fill_it_from_both_ends(first: int) -> None:
    source = np.arange(256, dtype=np.float32).reshape(16, 16)
    target = np.zeros((16, 16), np.float32)
    expected = np.concatenate([source[:first], source[: 16 - first]])
    kernel = compile_kernel(parse(TWO_RUNS, "two.pto"))
    kernel(source, target, first, 16 - first)
    assert target.tolist() == expected.tolist()
    assert diagnostics(TWO_RUNS, [source, target, first, 16 - first]) == []
    with pytest.raises(ProgramError, match="leaves the tile 16x16"):
        kernel(source, target, first, 17 - first)
