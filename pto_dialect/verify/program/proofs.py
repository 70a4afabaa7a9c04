"""Rules of ``pto-opt --prove`` about the passes that it compares. Source: docs/reference/proving.md, "Reports"."""

from __future__ import annotations

from ..engine.rule import ERROR, INFO, PROVE, rule
from ..examples.types import PART, TILE

_COMPARED = 'docs/reference/proving.md, "What is compared"'
_SAID = 'docs/reference/proving.md, "Reports"'


_TEXT = f"""module attributes {{pto.target_arch = "a5"}} {{
func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.entry}} {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %v = pto.make_tensor_view %x, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %w = pto.make_tensor_view %y, shape = [%c16, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
  %p = pto.partition_view %v, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> {PART}
  %q = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c16, %c16] : !pto.tensor_view<?x?xf32> -> {PART}
  %a = pto.alloc_tile : {TILE}
  %b = pto.alloc_tile : {TILE}
  pto.tload ins(%p : {PART}) outs(%a : {TILE})
  pto.tmul ins(%a, %a : {TILE}, {TILE}) outs(%a : {TILE})
  pto.tstore ins(%a : {TILE}) outs(%p : {PART})
  pto.tload ins(%q : {PART}) outs(%b : {TILE})
  pto.tmul ins(%b, %b : {TILE}, {TILE}) outs(%b : {TILE})
  pto.tstore ins(%b : {TILE}) outs(%q : {PART})
  return
}}
}}
"""
_UNWRITTEN = _TEXT.replace(f"  pto.tload ins(%p : {PART}) outs(%a : {TILE})\n", "")

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
    "prove-open", ERROR, PROVE, "every function is proven; where one stays open, the reason is given", source=_SAID,
    bad=_UNWRITTEN, good=_TEXT,
)  # fmt: skip
DONE = rule(
    "prove-done", INFO, PROVE, "functions that are proven are named, with what was run", source=_SAID,
    bad=_TEXT, good=_TEXT,
)  # fmt: skip
