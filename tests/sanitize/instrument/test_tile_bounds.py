"""Instructions on tiles that reach beyond these, and where exactly."""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import diagnostics

from pto_dialect.diagnostics.diagnostic import Severity

T, I = "!pto.tile_buf<vec, 16x16xf32>", "!pto.tile_buf<vec, 16x16xi32>"  # noqa: E741


def gather(index: int, twice: bool = False) -> str:
    """All elements of %d = element ``index`` of %a, whose bytes are [0, 1024); [1024, 2048) belongs to %b."""
    line = f"  pto.tgather ins(%a, %i, %t : {T}, {I}, {I}) outs(%d : {T})\n"
    return f"""func.func @k(%out: !pto.ptr<f32, gm>) attributes {{pto.kernel}} {{
  %at0 = arith.constant 0 : i64
  %at1 = arith.constant 1024 : i64
  %at2 = arith.constant 2048 : i64
  %at3 = arith.constant 8192 : i64
  %at4 = arith.constant 16384 : i64
  %one = arith.constant 1.0 : f32
  %n = arith.constant {index} : i32
  %a = pto.alloc_tile addr = %at0 : {T}
  %b = pto.alloc_tile addr = %at1 : {T}
  %i = pto.alloc_tile addr = %at2 : {I}
  %t = pto.alloc_tile addr = %at3 : {I}
  %d = pto.alloc_tile addr = %at4 : {T}
  pto.texpands ins(%one : f32) outs(%a : {T})
  pto.texpands ins(%one : f32) outs(%b : {T})
  pto.texpands ins(%n : i32) outs(%i : {I})
{line * (2 if twice else 1)}  return
}}
"""


@pytest.mark.parametrize("index", [0, 255])
def test_the_last_element_is_inside(index: int) -> None:
    assert not diagnostics(gather(index), [np.zeros(4, np.float32)])


@pytest.mark.parametrize("index", [256, 300, 511])
def test_the_first_element_after_the_end_is_outside(index: int) -> None:
    """Although another tile has it."""
    (found,) = diagnostics(gather(index), [np.zeros(4, np.float32)])
    assert (found.rule, found.severity) == ("mem-oob-tile", Severity.WARNING)
    assert found.message == f"pto.tgather accesses bytes [{4 * index}, {4 * index + 4}) of ub outside its tiles"
    assert [note.message for note in found.notes] == ["pto.tgather on V of core, block 0"]
    assert found.span is not None and found.span.line == 17 and found.span.text.startswith("pto.tgather ins(%a")


def test_each_statement_is_reported_once() -> None:
    found = diagnostics(gather(300, twice=True), [np.zeros(4, np.float32)])
    assert [(one.rule, one.span.line if one.span else 0) for one in found] == [
        ("mem-oob-tile", 17), ("mem-oob-tile", 18),
    ]  # fmt: skip


def test_elements_of_the_other_operands_are_inside() -> None:
    """The locations of the indices and of the destination are the instruction's own."""
    for index in (512, 767, 4096, 4351):
        assert "mem-oob-tile" not in [one.rule for one in diagnostics(gather(index), [np.zeros(4, np.float32)])]
    for index in (768, 4095, 4352):
        assert "mem-oob-tile" in [one.rule for one in diagnostics(gather(index), [np.zeros(4, np.float32)])]
