"""Counts of shifts that the instruction takes modulo 32 are warned of, once for each statement."""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import diagnostics

from pto_dialect.diagnostics.diagnostic import Severity

TILE, VIEW = "!pto.tile_buf<vec, 4x16xi16>", "!pto.tensor_view<4x16xi16>"
PART = VIEW.replace("tensor_view", "partition_tensor_view")
LOADS = "\n".join(
    f"""%{n}v = pto.make_tensor_view %{n}, shape = [%c4, %c16], strides = [%c16, %c1] : {VIEW}
    %{n}p = pto.partition_view %{n}v, offsets = [%c0, %c0], sizes = [%c4, %c16] : {VIEW} -> {PART}
    %{n}t = pto.alloc_tile : {TILE}
    pto.tload ins(%{n}p : {PART}) outs(%{n}t : {TILE})"""
    for n in "ab"
)


def program(op: str) -> str:
    return f"""module attributes {{pto.target_arch = "a5"}} {{
    func.func @k(%a: !pto.ptr<i16>, %b: !pto.ptr<i16>) attributes {{pto.kernel}} {{
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %c16 = arith.constant 16 : index
      {LOADS}
      scf.for %i = %c0 to %c4 step %c1 {{
        pto.{op} ins(%at, %bt : {TILE}, {TILE}) outs(%at : {TILE})
      }}
      pto.tstore ins(%at : {TILE}) outs(%ap : {PART})
      return
    }}
    }}"""


@pytest.mark.parametrize("op", ["tshl", "tshr", "tand"])
@pytest.mark.parametrize(("count", "wrong"), [(0, False), (15, False), (31, False), (32, True), (-1, True)])
def test_counts(op: str, count: int, wrong: bool) -> None:
    a, b = np.ones((4, 16), np.int16), np.zeros((4, 16), np.int16)
    b[2, 7] = count
    found = diagnostics(program(op), [a, b])
    if not wrong or op == "tand":
        assert not found
        return
    (one,) = found
    assert (one.rule, one.severity) == ("shift-count", Severity.WARNING)
    assert one.message == f"pto.{op} takes the count {count} at (2, 7) modulo 32"
    assert one.span is not None
