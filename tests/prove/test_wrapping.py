"""Numbers beyond the range of their type: casts that cut bits, and negative numbers read as unsigned.

Source: docs/reference/order-proof.md, "Numbers".
"""

from __future__ import annotations

import pytest

from pto_dialect.api import parse
from pto_dialect.prove.decide import Verdict, coordinates
from pto_dialect.prove.functions import verdicts
from pto_dialect.prove.model import UndecidedError

islpy = pytest.importorskip("islpy", reason="the order is proven with islpy")

PROGRAM = """
module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%p: !pto.partition_tensor_view<16x16xf32>, %n: index) {{
    %a0 = arith.constant 0 : i64
    %zero = arith.constant 0 : {type}
    %c1 = arith.constant 1 : index
    %c2 = arith.constant 2 : index
    %t = pto.alloc_tile addr = %a0 : !pto.tile_buf<vec, 16x16xf32>
    {number}
    %racing = arith.cmpi {predicate}, %r, %zero : {type}
    scf.if %racing {{
      pto.tload ins(%p : !pto.partition_tensor_view<16x16xf32>) outs(%t : !pto.tile_buf<vec, 16x16xf32>)
      pto.tadd ins(%t, %t : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>)
        outs(%t : !pto.tile_buf<vec, 16x16xf32>)
    }}
    return
  }}
}}
"""
"""A race where ``%r`` compares with 0 as ``predicate`` says."""

DOUBLED_HALF = "%h = arith.divui %n, %c2 : index\n    %r = arith.muli %h, %c2 : index"
SUM_OF_HALVES = "%h = arith.divui %n, %c2 : index\n    %r = arith.addi %h, %h : index"


def verdict_of(number: str, type: str, predicate: str, *assumptions: str) -> Verdict:
    text = PROGRAM.format(number=number, type=type, predicate=predicate)
    (found,) = verdicts(parse(text, "k.pto"), assumptions=assumptions)
    return found


@pytest.mark.parametrize(
    ("number", "type", "predicate", "assumption", "smallest"),
    [
        # 128 is the least number whose low 8 bits are negative; those of -200 are 56.
        ("%r = arith.index_cast %n : index to i8", "i8", "slt", "n >= 0", 128),
        ("%r = arith.index_cast %n : index to i8", "i8", "slt", "n == -200", None),
        ("%r = arith.index_cast %n : index to i16", "i16", "slt", "n >= 0", 32768),
        ("%r = arith.index_castui %n : index to i8", "i8", "slt", "n >= 0", 128),
        # (2**64 - 1) // 2 * 2 has the bits of -2.
        (DOUBLED_HALF, "index", "slt", "n < 0", -1),
        (DOUBLED_HALF, "index", "sgt", "n < 0", None),
        (DOUBLED_HALF, "index", "sgt", "n >= 0", 2),
        (SUM_OF_HALVES, "index", "slt", "n < 0", -1),
        (SUM_OF_HALVES, "index", "sgt", "n < 0", None),
        # A half alone is a large positive number, the whole has the bits of -1.
        ("%r = arith.divui %n, %c2 : index", "index", "sgt", "n < 0", -1),
        ("%r = arith.divui %n, %c1 : index", "index", "sgt", "n < 0", None),
        ("%r = arith.ceildivui %n, %c1 : index", "index", "sgt", "n < 0", None),
    ],
)
def test_numbers_beyond_their_range(
    number: str, type: str, predicate: str, assumption: str, smallest: int | None
) -> None:
    """The smallest argument that races, ``None`` where none does."""
    found = verdict_of(number, type, predicate, assumption)
    if smallest is None:
        assert found.answer == "proven"
    else:
        assert found.witness is not None
        assert found.witness.arguments["n"] == smallest


def test_a_call_that_nothing_fits_proves_nothing() -> None:
    found = verdict_of("%r = arith.muli %n, %c1 : index", "index", "sgt", "n < 1", "n > 4")
    assert (found.answer, found.reason) == ("undecided", "no call fits what is assumed")


def test_refutations_fit_what_is_assumed() -> None:
    """The sets of this function are too large, so small calls are tried; those with ``n < 4`` leave a flag."""
    pipes = '["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]'
    signals = f"      pto.set_flag{pipes}\n      pto.wait_flag{pipes}\n"
    text = f"""
module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%n: index) {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %few = arith.cmpi slt, %n, %c4 : index
    scf.if %few {{
      pto.set_flag["PIPE_V", "PIPE_MTE3", "EVENT_ID0"]
    }}
    scf.for %i = %c0 to %n step %c1 {{
{signals * 1000}    }}
    return
  }}
}}
"""
    module = parse(text, "k.pto")
    assert [one.answer for one in verdicts(module)] == ["refuted"]
    assert [one.answer for one in verdicts(module, assumptions=("n >= 4",))] == ["undecided"]


def test_an_assumption_that_is_too_large_is_undecided() -> None:
    condition = " or ".join(f"n % {number + 2} == {number}" for number in range(1, 400))
    found = verdict_of("%r = arith.muli %n, %c1 : index", "index", "sgt", condition)
    assert found.answer in ("undecided", "refuted")


@pytest.mark.parametrize("depth", [24, 25, 400])
def test_deep_nesting_ends(depth: int) -> None:
    flag = 'pto.{}_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID{}"]\n'
    # Flags in each loop, of which the walk must not visit the inner ones again and again.
    pair = (
        flag.format("set", 1)
        + "pto.tadds ins(%x, %s : !T, f32) outs(%x : !T)\npto.barrier #pto.pipe<PIPE_ALL>\n"
        + flag.format("wait", 1)
    )
    loops = "".join(f"scf.for %i{number} = %c0 to %n step %c1 {{\n{pair}" for number in range(depth))
    text = f"""
!T = !pto.tile_buf<vec, 16x16xf32>
func.func @f(%n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %l0 = arith.constant 0 : i64
  %s = arith.constant 1.0 : f32
  %x = pto.alloc_tile addr = %l0 : !T
  {loops}
  pto.set_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
  pto.wait_flag["PIPE_V", "PIPE_MTE2", "EVENT_ID0"]
  {"}" * depth}
  return
}}
"""
    (found,) = verdicts(parse(text, "k.pto"))
    assert found.answer == ("proven" if depth == 24 else "undecided")
    assert ("inside 24 other loops" in (found.reason or "")) == (depth > 24)


@pytest.mark.parametrize("budget", range(1, 7))
def test_budget_that_ends_while_a_point_is_read_leaves_it_undecided(budget: int) -> None:
    context = islpy.Context()
    text = "[n] -> { [a, b] : a = n + 3 and b = 2 and n = 4 }"
    point = islpy.Set.read_from_str(context, text).project_out_all_params().lexmin().sample_point()
    context.set_max_operations(budget)
    context.reset_operations()
    with pytest.raises((UndecidedError, islpy.Error)):
        coordinates(point, point.get_multi_val(), 2)
