"""Texts of programs that move 16 floats between two global buffers and UB, for tests."""

from __future__ import annotations


def program(body: str) -> str:
    """``body`` in a kernel with buffers %p and %q, a UB pointer %ub, and %z = 0, %one = 1, %len = 64 bytes."""
    return f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @k(%p: !pto.ptr<f32>, %q: !pto.ptr<f32>) {{
  %z = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %len = arith.constant 64 : i64
  %ub = pto.castptr %z : i64 -> !pto.ptr<f32, ub>
{body}
  return
}}
}}"""
