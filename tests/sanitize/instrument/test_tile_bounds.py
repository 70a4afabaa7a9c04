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


def scalar(*lines: str) -> str:
    """Statements on %x, 16 floats from byte 64 on, of which another tile follows."""
    tile = "!pto.tile_buf<vec, 2x8xf32>"
    body = "".join(f"  {line.replace('TILE', tile)}\n" for line in lines)
    return f"""func.func @k(%at: index) attributes {{pto.kernel}} {{
  %at0 = arith.constant 64 : i64
  %at1 = arith.constant 128 : i64
  %one = arith.constant 1.0 : f32
  %x = pto.alloc_tile addr = %at0 : {tile}
  %y = pto.alloc_tile addr = %at1 : {tile}
  pto.texpands ins(%one : f32) outs(%x : {tile})
  pto.texpands ins(%one : f32) outs(%y : {tile})
  pto.barrier #pto.pipe<PIPE_ALL>
{body}  return
}}
"""


SET = "pto.tsetval ins(%at, %one : index, f32) outs(%x : TILE)"
GET = "%v = pto.tgetval ins(%x, %at : TILE, index) outs : f32"


@pytest.mark.parametrize("statement", [SET, GET])
@pytest.mark.parametrize(("at", "outside"), [(0, False), (15, False), (-1, True), (16, True), (31, True)])
def test_the_scalar_unit_stays_inside_as_well(statement: str, at: int, outside: bool) -> None:
    found = [one for one in diagnostics(scalar(statement), [at]) if one.rule == "mem-oob-tile"]
    first = 64 + 4 * at
    name = "pto.tsetval" if statement is SET else "pto.tgetval"
    wanted = [f"{name} accesses bytes [{first}, {first + 4}) of ub outside its tiles"] if outside else []
    assert [one.message for one in found] == wanted


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize(("index", "outside"), [(15, False), (32, True)])
def test_scatters_stay_inside_on_both_chips(target: str, index: int, outside: bool) -> None:
    """The scalar unit of a2a3 executes them."""
    lines = (
        "%n = arith.index_cast %at : index to i32",
        "%at2 = arith.constant 256 : i64",
        "%i = pto.alloc_tile addr = %at2 : ITILE",
        "pto.texpands ins(%n : i32) outs(%i : ITILE)",
        "pto.barrier #pto.pipe<PIPE_ALL>",
        "pto.tscatter ins(%y, %i : TILE, ITILE) outs(%x : TILE)",
    )
    text = scalar(*(line.replace("ITILE", "!pto.tile_buf<vec, 2x8xi32>") for line in lines))
    rules = [one.rule for one in diagnostics(text, [index], target=target)]
    assert ("mem-oob-tile" in rules) == outside
