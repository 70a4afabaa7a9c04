"""Pipes that may set a flag again before the wait for it is over. Source: docs/reference/order-proof.md, "Verdicts"."""

from __future__ import annotations

import pytest

from pto_dialect.api import parse
from pto_dialect.prove.functions import verdicts

pytest.importorskip("islpy", reason="the prover needs islpy (extra prove)")


def program(source: str, count: str, ids: str = "%s", back: bool = False) -> str:
    """A loop that runs ``count`` times, in which V waits for ``source``, and perhaps says so."""
    pair = f'"PIPE_{source}", "PIPE_V", {ids}'
    again = f'"PIPE_V", "PIPE_{source}", "EVENT_ID0"'
    held = f"pto.set_flag[{again}]\npto.wait_flag[{again}]" if back else ""
    return f"""
func.func @f(%n: index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c9 = arith.constant 9 : index
  scf.for %i = %c0 to {count} step %c1 {{
    %s = arith.remui %i, %c4 : index
    pto.set_flag_dyn[{pair}]
    pto.wait_flag_dyn[{pair}]
    {held}
  }}
  return
}}
"""


@pytest.mark.parametrize("ids", ["%s", "%c0"])
@pytest.mark.parametrize("count", ["%n", "%c9"])
@pytest.mark.parametrize("source", ["S", "MTE2"])
def test_pipe_that_is_held_back_by_each_wait_is_proven_without_assumptions(source: str, count: str, ids: str) -> None:
    (found,) = verdicts(parse(program(source, count, ids, back=True), "k.pto"))
    assert (found.answer, found.assumptions) == ("proven", ())


@pytest.mark.parametrize("ids", ["%s", "%c0"])
@pytest.mark.parametrize("count", ["%n", "%c9"])
def test_scalar_unit_that_may_be_ahead_is_refuted(count: str, ids: str) -> None:
    (found,) = verdicts(parse(program("S", count, ids), "k.pto"))
    assert found.witness is not None and found.witness.fault.kind == "flag-ahead"
    assert found.witness.arguments == ({"n": 5 if ids == "%s" else 2} if count == "%n" else {})


@pytest.mark.parametrize("ids", ["%s", "%c0"])
@pytest.mark.parametrize("count", ["%n", "%c9"])
def test_other_pipe_that_may_be_ahead_is_proven_on_an_assumption(count: str, ids: str) -> None:
    (found,) = verdicts(parse(program("MTE2", count, ids), "k.pto"))
    assert (found.answer, found.assumptions) == ("proven", ("two flags from MTE2 to V with one id count as two",))


def test_assumption_keeps_a_program_with_four_iterations_free_of_faults() -> None:
    (found,) = verdicts(parse(program("S", "%n"), "k.pto"), assumptions=("n <= 4",))
    assert found.answer == "proven"
