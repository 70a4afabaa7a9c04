"""Scratch tiles that a chip does not touch share the bytes of others when memory is short."""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect
from pto_dialect.runtime.errors import ProgramError

ROWS, COLS = 2, 16384
DATA = f"!pto.tile_buf<vec, {ROWS}x{COLS}xf32>"
INDEX = f"!pto.tile_buf<vec, {ROWS}x8xui32, valid={ROWS}x1>"
VIEW, PART = f"!pto.tensor_view<{ROWS}x{COLS}xf32>", f"!pto.partition_tensor_view<{ROWS}x{COLS}xf32>"
OUT_VIEW, OUT_PART = f"!pto.tensor_view<{ROWS}x1xui32>", f"!pto.partition_tensor_view<{ROWS}x1xui32>"


def program(extra: str = "") -> str:
    return f"""func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<ui32>) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = arith.constant {ROWS} : index
  %n = arith.constant {COLS} : index
  %v = pto.make_tensor_view %a, shape = [%m, %n], strides = [%n, %c1] : {VIEW}
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%m, %n] : {VIEW} -> {PART}
  %w = pto.make_tensor_view %b, shape = [%m, %c1], strides = [%c1, %c1] : {OUT_VIEW}
  %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%m, %c1] : {OUT_VIEW} -> {OUT_PART}
  %src = pto.alloc_tile : {DATA}
  %tmp = pto.alloc_tile : {DATA}
  %dst = pto.alloc_tile : {INDEX}
  pto.tload ins(%p : {PART}) outs(%src : {DATA})
  {extra}
  pto.trowargmax ins(%src, %tmp : {DATA}, {DATA}) outs(%dst : {INDEX})
  pto.tstore ins(%dst : {INDEX}) outs(%q : {OUT_PART})
  return
}}
"""


def test_a5_needs_no_bytes_for_it() -> None:
    data = np.random.default_rng(1).standard_normal((ROWS, COLS)).astype(np.float32)
    out = np.zeros((ROWS, 1), np.uint32)
    pto_dialect.compile(pto_dialect.parse(program()), target="a5")(data, out)
    assert out[:, 0].tolist() == [max(range(COLS), key=lambda i, row=row: row[i]) for row in data]


@pytest.mark.parametrize(
    ("target", "extra"),
    [("a2a3", ""), ("a5", f"pto.tmov ins(%src : {DATA}) outs(%tmp : {DATA})")],
    ids=["the chip uses it", "something else uses it"],
)
def test_otherwise_it_counts(target: str, extra: str) -> None:
    with pytest.raises(ProgramError) as caught:
        pto_dialect.compile(pto_dialect.parse(program(extra)), target=target)
    assert caught.value.rule == "capacity-dynamic"


SCRATCH = {
    "pto.txor": ("i16", "%x, %y, %tmp : {t}, {t}, {t}", "{t}"),
    "pto.trowmax": ("i32", "%x, %tmp : {t}, {t}", "{c}"),
    "pto.trowexpandmax": ("i32", "%x, %column, %tmp : {t}, {c}, {t}", "{t}"),
}


@pytest.mark.parametrize("op", SCRATCH)
@pytest.mark.parametrize("target", ["a5", "a2a3"])
def test_large_tiles(op: str, target: str) -> None:
    """Two tiles of two fifths of the memory fit, three do not."""
    element, operands, dst = SCRATCH[op]
    size = 4 if element == "i32" else 2
    rows, cols = 128, (262144 if target == "a5" else 196608) * 2 // 5 // 128 // size // 16 * 16
    types = {"t": f"!pto.tile_buf<vec, {rows}x{cols}x{element}>"}
    types["c"] = f"!pto.tile_buf<vec, {rows}x1x{element}, blayout=col_major>"
    out = "%column" if dst == "{c}" else "%y"
    text = f"""func.func @f() {{
      %x = pto.alloc_tile : {types["t"]}
      %y = pto.alloc_tile : {types["t"]}
      %column = pto.alloc_tile : {types["c"]}
      %tmp = pto.alloc_tile : {types["t"]}
      pto.tmov ins(%x : {types["t"]}) outs(%y : {types["t"]})
      {op} ins({operands.format(**types)}) outs({out} : {dst.format(**types)})
      pto.tmov ins(%y : {types["t"]}) outs(%x : {types["t"]})
      return
    }}"""
    module = pto_dialect.parse(text)
    if target == "a5":
        pto_dialect.compile(module, target=target)
        return
    with pytest.raises(ProgramError) as caught:
        pto_dialect.compile(module, target=target)
    assert caught.value.rule == "capacity-dynamic"
