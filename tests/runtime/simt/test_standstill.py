"""Loops of work-items that wait for what nobody will do: they end with an error, whatever else they compute."""

from __future__ import annotations

import numpy as np
import pytest
from groups import in_groups
from simt_programs import run

from pto_dialect.runtime.errors import ProgramError

ARGUMENTS = "%in: !pto.ptr<i32, gm>, %out: !pto.ptr<i32, gm>"
WAITING = """
  scf.while : () -> () {{
    {extra}
    %seen = pto.ldg %in[%at] : !pto.ptr<i32, gm> -> i32
    %held = arith.cmpi ne, %seen, %i0 : i32
    scf.condition(%held)
  }} do {{
    {inside}
    scf.yield
  }}
"""
QUIET = [
    "%e = pto.load %in[%at] : !pto.ptr<i32, gm> -> i32",
    "%e = pto.ldg %in[%c0] : !pto.ptr<i32, gm> -> i32",
    "%e = pto.atomic_cas %out, %i5, %i1 : !pto.ptr<i32, gm>, i32 -> i32",
    "%e = pto.get_tid_y : i32",
    "%b = arith.cmpi eq, %tid, %i1 : i32\n%e = pto.vote_any %b : i1 -> i1",
    "%e = pto.redux_add %tid signed : i32 -> i32",
    "pto.threadfence",
    "%e = pto.addptr %in, %at : !pto.ptr<i32, gm> -> !pto.ptr<i32, gm>",
    "%f = arith.sitofp %tid : i32 to f32\n%e = math.sqrt %f : f32",
    "%e = pto.convert %tid round(r) sat signed : i32 -> f32",
    "%f = arith.sitofp %tid : i32 to f32\n%e = pto.fma %f, %f, %f : f32, f32, f32 -> f32",
    "%b = arith.cmpi eq, %tid, %i1 : i32\nscf.if %b {\n}",
]


@pytest.mark.parametrize("place", ["extra", "inside"])
@in_groups("line", QUIET)
def test_work_items_that_wait_for_nobody(line: str, place: str) -> None:
    held = np.array([0, 1, 0, 1, 1] + [0] * 27, np.int32)
    body = WAITING.format(**{"extra": "", "inside": "", place: line})
    with pytest.raises(ProgramError, match=r"3 of 32 work-items, work-item \(1, 0, 0\) among them, wait") as caught:
        run(body, ARGUMENTS, held, np.zeros(1, np.int32))
    assert caught.value.rule == "sync-deadlock"


def test_a_loop_that_counts_comes_to_its_end() -> None:
    body = """
      %last = scf.while (%n = %i0) : (i32) -> i32 {
        %seen = pto.ldg %in[%at] : !pto.ptr<i32, gm> -> i32
        %more = arith.cmpi slt, %n, %seen : i32
        scf.condition(%more) %n : i32
      } do {
      ^bb0(%n: i32):
        %next = arith.addi %n, %i1 : i32
        scf.yield %next : i32
      }
      pto.stg %last, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    counts, out = np.arange(32, dtype=np.int32), np.zeros(32, np.int32)
    run(body, ARGUMENTS, counts, out)
    assert (out == counts).all()


def test_a_loop_that_stores_what_it_waits_for_comes_to_its_end() -> None:
    line = "%less = arith.subi %seen, %i1 : i32\npto.stg %less, %in[%at] : !pto.ptr<i32, gm>, i32"
    body = WAITING.format(extra="", inside=line.replace("%seen", "%now"))
    body = body.replace("%less =", "%now = pto.ldg %in[%at] : !pto.ptr<i32, gm> -> i32\n%less =")
    held = np.arange(32, dtype=np.int32) % 5
    run(body, ARGUMENTS, held, np.zeros(1, np.int32))
    assert not held.any()


@pytest.mark.parametrize("clock", ["pto.get_clock32 : i32", "pto.get_clock64 : i64"])
def test_a_loop_that_reads_the_clock_ends(clock: str) -> None:
    """The clock continues while they wait."""
    type_ = clock[-3:]
    body = f"""
      %start = {clock}
      %span = arith.constant 3 : {type_}
      %end = arith.addi %start, %span : {type_}
      scf.while : () -> () {{
        %now = {clock}
        %early = arith.cmpi slt, %now, %end : {type_}
        %odd = arith.andi %tid, %i1 : i32
        %mine = arith.cmpi eq, %odd, %i1 : i32
        %more = arith.andi %early, %mine : i1
        scf.condition(%more)
      }} do {{
        scf.yield
      }}
      pto.stg %i1, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    out = np.zeros(32, np.int32)
    run(body, ARGUMENTS, np.zeros(1, np.int32), out)
    assert (out == 1).all()
