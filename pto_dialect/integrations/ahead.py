"""Loads what every kernel needs before it is needed: processes that are forked from this one have it then."""

from __future__ import annotations

from pto_dialect.sanitize.options import SanitizeOptions

from .base import Device

PROGRAM = """
func.func @copy(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %xv = pto.make_tensor_view %x, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<1x8xf32>
  %yv = pto.make_tensor_view %y, shape = [%c1, %c8], strides = [%c8, %c1] : !pto.tensor_view<1x8xf32>
  %xp = pto.partition_view %xv, offsets = [%c0, %c0], sizes = [%c1, %c8] :
    !pto.tensor_view<1x8xf32> -> !pto.partition_tensor_view<1x8xf32>
  %yp = pto.partition_view %yv, offsets = [%c0, %c0], sizes = [%c1, %c8] :
    !pto.tensor_view<1x8xf32> -> !pto.partition_tensor_view<1x8xf32>
  %t = pto.alloc_tile : !pto.tile_buf<vec, 1x8xf32>
  pto.tload ins(%xp : !pto.partition_tensor_view<1x8xf32>) outs(%t : !pto.tile_buf<vec, 1x8xf32>)
  pto.tstore ins(%t : !pto.tile_buf<vec, 1x8xf32>) outs(%yp : !pto.partition_tensor_view<1x8xf32>)
  return
}
"""
"""A program that takes the way of most programs."""


def load_ahead(instrumented: bool) -> None:
    """Reads, checks and compiles a program; ``instrumented``: under the sanitizers."""
    program = Device("pto-dialect", target="a2a3").compile(PROGRAM, "ahead.pto")
    program.kernel(None, SanitizeOptions() if instrumented else None)
