"""Conversions that become tables after many elements fill instrumented memory as they fill plain memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from sanitize_programs import errors

PROGRAM = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @convert(%a: !pto.ptr<{source}, gm>, %b: !pto.ptr<{target}, gm>) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c20 = arith.constant 20 : index
    %c64 = arith.constant 64 : index
    %from = pto.make_tensor_view %a, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?x{source}>
    %to = pto.make_tensor_view %b, shape = [%c64, %c64], strides = [%c64, %c1] : !pto.tensor_view<?x?x{target}>
    %x = pto.partition_view %from, offsets = [%c0, %c0], sizes = [%c64, %c64]
      : !pto.tensor_view<?x?x{source}> -> !pto.partition_tensor_view<64x64x{source}>
    %y = pto.partition_view %to, offsets = [%c0, %c0], sizes = [%c64, %c64]
      : !pto.tensor_view<?x?x{target}> -> !pto.partition_tensor_view<64x64x{target}>
    %s = pto.alloc_tile : !pto.tile_buf<vec, 64x64x{source}>
    %t = pto.alloc_tile : !pto.tile_buf<vec, 64x64x{target}>
    pto.tload ins(%x : !pto.partition_tensor_view<64x64x{source}>) outs(%s : !pto.tile_buf<vec, 64x64x{source}>)
    scf.for %i = %c0 to %c20 step %c1 {{
      pto.tcvt ins(%s : !pto.tile_buf<vec, 64x64x{source}>) outs(%t : !pto.tile_buf<vec, 64x64x{target}>)
    }}
    pto.tstore ins(%t : !pto.tile_buf<vec, 64x64x{target}>) outs(%y : !pto.partition_tensor_view<64x64x{target}>)
    return
  }}
}}
"""


@pytest.mark.parametrize(
    ("source", "target", "have", "want"),
    [
        ("f16", "i8", np.float16, np.int8),
        ("f16", "ui8", np.float16, np.uint8),
        ("bf16", "i32", ml_dtypes.bfloat16, np.int32),
    ],
)
def test_twenty_conversions_of_a_tile(source: str, target: str, have: type, want: type) -> None:
    values = np.random.default_rng(3).integers(0, 100, (64, 64))
    out = np.zeros((64, 64), want)
    assert errors(PROGRAM.format(source=source, target=target), values=[values.astype(have), out]) == []
    assert (out == values).all()
