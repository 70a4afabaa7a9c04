"""Loads that fill a part of their tile. Source: docs/reference/order-proof.md, "Memory"."""

from __future__ import annotations

import pytest

from pto_dialect.api import parse
from pto_dialect.prove.decide import Answer
from pto_dialect.prove.functions import verdicts

islpy = pytest.importorskip("islpy", reason="the order is proven with islpy")

TILE, HALF = "!pto.tile_buf<vec, 8x16xf32>", "!pto.tile_buf<vec, 4x16xf32>"


@pytest.mark.parametrize(("rows", "answer"), [(8, Answer.REFUTED), (4, Answer.UNDECIDED)])
def test_a_load_of_fewer_rows_touches_the_others_perhaps(rows: int, answer: Answer) -> None:
    """Nothing orders the load and a sum of the lower four rows, which the load of four rows leaves."""
    part = f"!pto.partition_tensor_view<{rows}x16xf32>"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
      func.func @f(%p: {part}) {{
        %a0 = arith.constant 0 : i64
        %c0 = arith.constant 0 : index
        %c4 = arith.constant 4 : index
        %x = pto.alloc_tile addr = %a0 : {TILE}
        %y = pto.subview %x[%c4, %c0] sizes [4, 16] : {TILE} -> {HALF}
        pto.tadd ins(%y, %y : {HALF}, {HALF}) outs(%y : {HALF})
        pto.tload ins(%p : {part}) outs(%x : {TILE})
        return
      }}
    }}"""
    (found,) = verdicts(parse(text, "k.pto"))
    assert found.answer is answer
