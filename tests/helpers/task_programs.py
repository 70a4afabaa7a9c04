"""Texts of kernels that tasks run."""

from __future__ import annotations

FILL = """func.func @fill(%out: !pto.ptr<f32>, %v: f32, %i: index) attributes {pto.kernel} {
  pto.store_scalar %v, %out[%i] : !pto.ptr<f32>, f32
  return
}
"""
"""out[i] = v"""

ADD = """func.func @add(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %out: !pto.ptr<f32>) attributes {pto.kernel} {
  %c0 = arith.constant 0 : index
  %x = pto.load_scalar %a[%c0] : !pto.ptr<f32> -> f32
  %y = pto.load_scalar %b[%c0] : !pto.ptr<f32> -> f32
  %s = arith.addf %x, %y : f32
  pto.store_scalar %s, %out[%c0] : !pto.ptr<f32>, f32
  return
}
"""
"""out[0] = a[0] + b[0]"""
