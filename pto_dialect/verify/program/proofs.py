"""What ``pto-opt --prove`` demands of passes. Source: docs/reference/proving.md, "What is said"."""

from __future__ import annotations

from ..engine.rule import ERROR, INFO, PROVE, rule

_COMPARED = 'docs/reference/proving.md, "What is compared"'
_SAID = 'docs/reference/proving.md, "What is said"'

_T = "!pto.tile_buf<vec, 16x16xf32>"
_P = "!pto.partition_tensor_view<16x16xf32>"


_TEXT = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.entry}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %w = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> {_P}
  %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> {_P}
  %a = pto.alloc_tile : {_T}
  %b = pto.alloc_tile : {_T}
  pto.tload ins(%p : {_P}) outs(%a : {_T})
  pto.tmul ins(%a, %a : {_T}, {_T}) outs(%a : {_T})
  pto.tstore ins(%a : {_T}) outs(%p : {_P})
  pto.tload ins(%q : {_P}) outs(%b : {_T})
  pto.tmul ins(%b, %b : {_T}, {_T}) outs(%b : {_T})
  pto.tstore ins(%b : {_T}) outs(%q : {_P})
  return
}}
}}
"""
_UNWRITTEN = _TEXT.replace(f"  pto.tload ins(%p : {_P}) outs(%a : {_T})\n", "")

DIFFERENCE = rule(
    "prove-difference",
    ERROR,
    PROVE,
    "what a pass makes computes the same bits as the program before, in any order that its flags allow",
    source=_COMPARED,
    bad=_TEXT,
    good=_TEXT,
)
FINDING = rule(
    "prove-finding",
    ERROR,
    PROVE,
    "the sanitizers find nothing in what a pass makes that they did not find before",
    source=_COMPARED,
    bad=_TEXT,
    good=_TEXT,
)
REREAD = rule(
    "prove-reread",
    ERROR,
    PROVE,
    "what a pass makes is verified, and reads back as it was printed",
    source=_COMPARED,
)
OPEN = rule(
    "prove-open", INFO, PROVE, "functions that cannot be proven are named, with the reason", source=_SAID,
    bad=_UNWRITTEN, good=_TEXT,
)  # fmt: skip
DONE = rule(
    "prove-done", INFO, PROVE, "functions that are proven are named, with what was run", source=_SAID,
    bad=_TEXT, good=_TEXT,
)  # fmt: skip
