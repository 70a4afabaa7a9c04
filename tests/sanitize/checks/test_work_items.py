"""Work-items in instrumented runs: races between them, unwritten memory, bounds. Source:
docs/reference/instrumentation.md, "No findings"."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from sanitize_programs import instrumented
from simt_programs import source

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity

ARGUMENTS = "%in: !pto.ptr<i32, gm>, %out: !pto.ptr<i32, gm>, %zero: i64"
UB = "%ub = pto.castptr %zero : i64 -> !pto.ptr<i32, ub>\n"


def found(body: str, count: int = 64, **options: Any) -> list[Diagnostic]:
    kernel = instrumented(source(UB + body, ARGUMENTS, (count, 1, 1)), **options)
    buffers = [np.arange(count, dtype=np.int32), np.zeros(4 * count, np.int32)]
    kernel.run([*buffers, 0])
    return [finding.diagnostic() for finding in kernel.observer.findings.all]


def rules(body: str, **options: Any) -> Counter[str]:
    return Counter(diagnostic.rule for diagnostic in found(body, **options))


NEIGHBOUR = """
  pto.store %tid, %ub[%at] : !pto.ptr<i32, ub>, i32
  {between}
  %other = arith.xori %tid, %i1 : i32
  %j = arith.index_cast %other : i32 to index
  %v = pto.load %ub[%j] : !pto.ptr<i32, ub> -> i32
  pto.stg %v, %out[%at] : !pto.ptr<i32, gm>, i32
"""


def test_a_read_of_what_a_neighbour_stores() -> None:
    (race,) = found(NEIGHBOUR.format(between=""))
    assert race.rule == "race-simt" and race.severity is Severity.WARNING
    assert "work-item (1, 0, 0) reads bytes [0, 4) of ub (through %ub) that work-item (0, 0, 0) writes" in race.message
    assert race.span is not None and race.span.text.startswith("%v = pto.load")
    assert race.notes[0].span is not None and race.notes[0].span.text.startswith("pto.store")
    assert race.help is not None and "pto.syncthreads" in race.help


def test_a_barrier_orders_them() -> None:
    assert not rules(NEIGHBOUR.format(between="pto.syncthreads"))


def test_a_fence_does_not() -> None:
    assert rules(NEIGHBOUR.format(between="pto.threadfence")) == {"race-simt": 1}


def test_the_check_can_be_left_out() -> None:
    assert not rules(NEIGHBOUR.format(between=""), checks={"init", "bounds"})


def test_a_store_over_what_others_have_read() -> None:
    body = """
      %v = pto.ldg %out[%c5] : !pto.ptr<i32, gm> -> i32
      %few = arith.cmpi eq, %tid, %i3 : i32
      scf.if %few { pto.stg %v, %out[%c5] : !pto.ptr<i32, gm>, i32 }
    """
    (race,) = found(body)
    assert race.rule == "race-simt"
    assert "work-item (3, 0, 0) writes bytes [20, 24)" in race.message
    assert "work-item (0, 0, 0) reads in pto.ldg" in race.message


@pytest.mark.parametrize(("value", "wanted"), [("%tid", {"race-simt": 1}), ("%i7", {})])
def test_stores_of_all_to_one_location(value: str, wanted: dict[str, int]) -> None:
    """Equal values do no harm."""
    assert rules(f"pto.stg {value}, %out[%c5] : !pto.ptr<i32, gm>, i32") == wanted


def test_what_all_have_stored_may_be_read() -> None:
    body = """
      pto.store %i7, %ub[%c0] : !pto.ptr<i32, ub>, i32
      %v = pto.load %ub[%c0] : !pto.ptr<i32, ub> -> i32
      pto.stg %v, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    assert not rules(body)


def test_reading_and_changing_one_location() -> None:
    body = """
      %v = pto.ldg %out[%c0] : !pto.ptr<i32, gm> -> i32
      %w = arith.addi %v, %i1 : i32
      pto.stg %w, %out[%c0] : !pto.ptr<i32, gm>, i32
    """
    assert rules(body) == {"race-simt": 1}


def test_atomic_updates_of_one_kind() -> None:
    body = "%old = pto.atomic_add %out, %i1 : !pto.ptr<i32, gm>, i32 -> i32\n"
    assert not rules(body)
    assert rules(body + "%v = pto.ldg %out[%c0] : !pto.ptr<i32, gm> -> i32") == {"race-simt": 1}
    other = "%o = pto.atomic_max %out, %i1 signed : !pto.ptr<i32, gm>, i32 -> i32"
    assert rules(body + other) == {"race-simt": 1}
    assert not rules(body + "pto.syncthreads\n" + other)


def test_parts_of_an_element() -> None:
    body = """
      %bytes = pto.castptr %zero : i64 -> !pto.ptr<i8, ub>
      %v = arith.trunci %tid : i32 to i8
      %four = arith.muli %at, %c4 : index
      %behind = arith.addi %four, %c3 : index
      pto.store %tid, %ub[%at] : !pto.ptr<i32, ub>, i32
      pto.store %v, %bytes[{0}] : !pto.ptr<i8, ub>, i8
    """
    assert not rules(body.format("%behind"))
    assert rules(body.format("%at")) == {"race-simt": 1}


def test_launches_one_after_the_other() -> None:
    text = source(UB + "pto.stg %tid, %out[%at] : !pto.ptr<i32, gm>, i32", ARGUMENTS, (32, 1, 1))
    launch = next(line for line in text.splitlines() if "pto.simt_launch" in line)
    kernel = instrumented(text.replace(launch, f"{launch}\n{launch}"))
    kernel.run([np.zeros(64, np.int32), np.zeros(64, np.int32), 0])
    assert not kernel.observer.findings.all


def test_values_from_memory_that_nobody_wrote() -> None:
    body = """
      %few = arith.cmpi slt, %tid, %i16 : i32
      scf.if %few { pto.store %tid, %ub[%at] : !pto.ptr<i32, ub>, i32 }
      pto.syncthreads
      %v = pto.load %ub[%at] : !pto.ptr<i32, ub> -> i32
      USE
    """
    store = "pto.stg %v, %out[%at] : !pto.ptr<i32, gm>, i32"
    reported = found(body.replace("USE", store))
    assert [d.rule for d in reported] == ["mem-uninit"] and reported[0].severity is Severity.ERROR
    assert "bytes [64, 256) of gm" in reported[0].message
    assert not rules(body.replace("USE", f"scf.if %few {{ {store} }}"))


def test_cached_values_are_the_same_when_a_launch_is_repeated() -> None:
    """To see what depends on unwritten memory, the launch runs again, with the slots that it found."""
    body = """
      %u = pto.load %ub[%at] : !pto.ptr<i32, ub> -> i32
      %v = pto.ldg %in[%at] : !pto.ptr<i32, gm> -> i32
      pto.stg %v, %out[%at] : !pto.ptr<i32, gm>, i32
      pto.keep %v {slot = 3 : i64} : i32
    """
    assert not rules(body)


def test_an_access_outside_of_a_buffer() -> None:
    (fault,) = found("%o = arith.muli %at, %c5 : index\npto.stg %tid, %out[%o] : !pto.ptr<i32, gm>, i32")
    assert fault.rule == "mem-oob" and fault.severity is Severity.ERROR
    assert "work-item (52, 0, 0) accesses bytes [1040, 1044)" in fault.message
    assert fault.span is not None and fault.span.text.startswith("pto.stg")


def test_results_are_those_of_a_plain_run() -> None:
    body = """
      %n = scf.for %i = %c0 to %at step %c2 iter_args(%s = %i0) -> (i32) {
        %v = pto.ldg %in[%i] : !pto.ptr<i32, gm> -> i32
        %t = arith.addi %s, %v : i32
        scf.yield %t : i32
      }
      pto.stg %n, %out[%at] : !pto.ptr<i32, gm>, i32
    """
    kernel = instrumented(source(UB + body, ARGUMENTS, (40, 1, 1)))
    values, out = np.arange(40, dtype=np.int32) * 3, np.zeros(40, np.int32)
    kernel.run([values, out, 0])
    np.testing.assert_array_equal(out, [sum(values[:t:2]) for t in range(40)])
    assert not kernel.observer.findings.all
