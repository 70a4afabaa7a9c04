"""Cube and vector sections that access the same bytes, where the text shows it.

Source: docs/reference/execution.md, "Synchronisation".
"""

from __future__ import annotations

import pytest

from pto_dialect import parse
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.passes.registry import make_pass

VIEW, PART = "!pto.tensor_view<?x?xf32>", "!pto.partition_tensor_view<16x16xf32>"
VEC = "!pto.tile_buf<vec, 16x16xf32>"
MAT = "!pto.tile_buf<mat, 16x16xf32, blayout=col_major, slayout=row_major>"
TEXT = f"""module attributes {{{{pto.target_arch = "a5"}}}} {{{{
  func.func @k(%p: !pto.ptr<f32>, %n: index, %m: index) {{{{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %block = pto.get_block_idx
    %i = arith.index_cast %block : i64 to index
    %mine = arith.muli %i, %c16 : index
    %behind = arith.addi %n, %c8 : index
    %next = arith.addi %n, %c16 : index
    %v = pto.make_tensor_view %p, shape = [%n, %m], strides = [%m, %c1] : {VIEW}
    pto.section.vector {{{{
      %who = pto.get_subblock_idx
      %half = arith.index_cast %who : i64 to index
      %t = pto.alloc_tile : {VEC}
      %a = pto.partition_view %v, offsets = [%{{vector}}, %c0], sizes = [%c16, %c16] : {VIEW} -> {PART}
      pto.tstore ins(%t : {VEC}) outs(%a : {PART})
    }}}}
    pto.section.cube {{{{
      %u = pto.alloc_tile : {MAT}
      %b = pto.partition_view %v, offsets = [%{{cube}}, %c0], sizes = [%c16, %c16] : {VIEW} -> {PART}
      pto.tload ins(%b : {PART}) outs(%u : {MAT})
    }}}}
    return
  }}}}
}}}}
"""


@pytest.mark.parametrize(
    ("vector", "cube", "found"),
    [
        ("c0", "c8", True),
        ("c0", "c16", False),
        ("n", "n", True),
        ("n", "behind", True),
        ("behind", "n", True),
        ("n", "next", False),
        ("mine", "mine", True),
        ("n", "m", False),
        ("n", "c0", False),
        # Each vector core has its own.
        ("half", "c0", False),
    ],
)
def test_parts_that_must_alias(vector: str, cube: str, found: bool) -> None:
    engine = DiagnosticEngine()
    make_pass("check-sync", None).run(parse(TEXT.format(vector=vector, cube=cube)), engine)
    assert [one.rule for one in engine.diagnostics] == ["race-cross-core"] * found
