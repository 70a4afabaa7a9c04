"""Operations that write as many elements as their data say: what is after these stays as written as it was."""

import numpy as np
import pytest
from sanitize_programs import diagnostics

from pto_dialect.diagnostics.diagnostic import Severity

F32, I32, UI8 = (
    f"!pto.tile_buf<vec, 2x{cols}x{element}>" for cols, element in ((16, "f32"), (16, "i32"), (256, "ui8"))
)
PART = "!pto.partition_tensor_view<2x16x{0}>"


def loaded(name: str, buffer: str, element: str) -> str:
    tensor, part = f"!pto.tensor_view<2x16x{element}>", PART.format(element)
    tile = f"!pto.tile_buf<vec, 2x16x{element}>"
    return f"""
  %{name}w = pto.make_tensor_view {buffer}, shape = [%c2, %c16], strides = [%c16, %c1] : {tensor}
  %{name}p = pto.partition_view %{name}w, offsets = [%c0, %c0], sizes = [%c2, %c16] : {tensor} -> {part}
  %{name} = pto.alloc_tile : {tile}
  pto.tload ins(%{name}p : {part}) outs(%{name} : {tile})"""


def kernel(parameters: str, *lines: str) -> str:
    body = "\n".join(lines)
    return f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @k({parameters}) attributes {{pto.kernel}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c16 = arith.constant 16 : index
{body}
  return
}}
}}"""


def stored(tile: str, type_: str, buffer: str, element: str) -> str:
    tensor, part = f"!pto.tensor_view<2x16x{element}>", PART.format(element)
    return f"""
  %outw = pto.make_tensor_view {buffer}, shape = [%c2, %c16], strides = [%c16, %c1] : {tensor}
  %outp = pto.partition_view %outw, offsets = [%c0, %c0], sizes = [%c2, %c16] : {tensor} -> {part}
  pto.tstore ins({tile} : {type_}) outs(%outp : {part})"""


def gathered(*before: str) -> str:
    counts = "!pto.tile_buf<vec, 1x16xi32, valid=1x2>"
    return kernel(
        "%a: !pto.ptr<f32, gm>, %b: !pto.ptr<i32, gm>",
        loaded("x", "%a", "f32"),
        "%zero = arith.constant 0.0 : f32",
        "%none = arith.constant -1 : i32",
        f"%t = pto.alloc_tile : {UI8}",
        f"%d = pto.alloc_tile : {I32}",
        f"%n = pto.alloc_tile : {counts}",
        *before,
        f"pto.tgather ins(%x, %zero, %t : {F32}, f32, {UI8}) outs(%d, %n : {I32}, {counts}) {{cmpMode = #pto<cmp gt>}}",
        stored("%d", I32, "%b", "i32"),
    )


FILL = f"pto.texpands ins(%none : i32) outs(%d : {I32})"


@pytest.mark.parametrize("positive", [16, 15, 3, 0])
def test_positions_of_a_comparison(positive: int):
    """Row 1 has all its 16 positions, which a5 counts from the next multiple of 64 on, row 0 as many as there are
    positive numbers."""
    source = np.ones((2, 16), np.float32)
    source[0, positive:] = -1.0
    found = diagnostics(gathered(), [source.copy(), np.zeros((2, 16), np.int32)])
    # A store may take more than was filled.
    assert all(one.rule == "mem-uninit" and one.severity is Severity.WARNING for one in found)
    assert len(found) == (positive < 16)
    if found:
        assert f"bytes [{4 * positive}, 64) of gm 'b'" in found[0].message
        assert found[0].span is not None and found[0].span.text.startswith("pto.tstore")
    result = np.zeros((2, 16), np.int32)
    assert not diagnostics(gathered(FILL), [source, result])
    wanted = [[*range(positive), *(-1 for _ in range(positive, 16))], list(range(64, 80))]
    assert result.tolist() == wanted


@pytest.mark.parametrize(("first", "second"), [(8, 8), (8, 2), (0, 16), (3, 0)])
def test_counted_parts(first: int, second: int):
    counts = np.full((2, 16), 4, np.int32)
    text = kernel(
        "%a: !pto.ptr<f32, gm>, %i: !pto.ptr<i32, gm>, %j: !pto.ptr<i32, gm>, %b: !pto.ptr<f32, gm>",
        *(loaded(*what) for what in (("x", "%a", "f32"), ("m", "%i", "i32"), ("n", "%j", "i32"))),
        f"%d = pto.alloc_tile : {F32}",
        f"pto.tconcatidx ins(%x, %x, %m, %n : {F32}, {F32}, {I32}, {I32}) outs(%d : {F32})",
        stored("%d", F32, "%b", "f32"),
    )
    # Counts are in bytes of an index of four.
    values = [np.ones((2, 16), np.float32), counts * first, counts * second, np.zeros((2, 16), np.float32)]
    found = diagnostics(text, values)
    filled = first + second
    assert [one.severity for one in found] == ([] if filled == 16 else [Severity.WARNING])
    if found:
        assert f"bytes [{4 * filled}, 64), [{64 + 4 * filled}, 128)" in found[0].message
