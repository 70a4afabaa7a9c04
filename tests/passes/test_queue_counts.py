"""Entries that one end of a queue moves and the other does not. Runs of the same program say which end waits."""

from __future__ import annotations

import numpy as np
import pytest
from faulty_kernels import HAZARDS, correct
from sanitize_programs import diagnostics, found

from pto_dialect.diagnostics.diagnostic import Diagnostic, Severity

(KERNEL,) = (one for one in correct(HAZARDS) if one.id == "queue_a2a3_two_slots")
LOOP = "scf.for %i = %c0 to %c3 step %c1 {"
CONSTANTS = "    %c3 = arith.constant 3 : index\n"


def with_trips(pushed: int, popped: int) -> str:
    """The kernel whose cube core pushes and whose vector cores pop so many entries."""
    assert KERNEL.text.count(LOOP) == 2
    ends = "".join(f"    %{name} = arith.constant {n} : index\n" for name, n in (("in", pushed), ("out", popped)))
    text = KERNEL.text.replace(CONSTANTS, CONSTANTS + ends)
    return text.replace(LOOP, LOOP.replace("%c3", "%in"), 1).replace(LOOP, LOOP.replace("%c3", "%out"), 1)


def told(text: str) -> list[Diagnostic]:
    return [one for one in found(text) if "popped" in one.message]


@pytest.mark.parametrize("pushed", range(1, 5))
@pytest.mark.parametrize("popped", range(1, 5))
def test_both_ends_move_as_many_entries(pushed: int, popped: int) -> None:
    text = with_trips(pushed, popped)
    reported = [(one.rule, one.severity, one.message.partition(":")[0]) for one in told(text)]
    counts = f"{pushed} {'entry is' if pushed == 1 else 'entries are'} pushed and {popped} popped"
    if pushed == popped:
        assert reported == []
    elif pushed > popped:
        assert reported == [("sync-flag-unconsumed", Severity.WARNING, counts)]
    else:
        assert reported == [("sync-static-deadlock", Severity.ERROR, counts)]


@pytest.mark.parametrize(("pushed", "popped"), [(2, 2), (2, 3), (3, 4)])
def test_a_run_waits_where_more_is_popped(pushed: int, popped: int) -> None:
    values = [np.zeros(1024, np.float16), np.zeros(2048, np.float32), np.zeros(1024, np.float32)]
    stuck = any(one.rule == "sync-deadlock" for one in diagnostics(with_trips(pushed, popped), values))
    assert stuck is (pushed < popped)


def test_counts_that_only_a_run_knows_are_not_compared() -> None:
    text = with_trips(3, 2)
    assert told(text)
    open_count = text.replace("%z: !pto.ptr<f32>)", "%z: !pto.ptr<f32>, %n: index)").replace("%c0 to %out", "%c0 to %n")
    assert told(open_count) == []
    pop = next(line for line in text.splitlines() if "pto.tpop(" in line)
    last = "%last = arith.cmpi eq, %i, %c1 : index"
    assert told(text.replace(pop, f"{last}\nscf.if %last {{\n{pop}\n}}")) == []


def test_queues_of_other_flags_are_no_pair() -> None:
    text = with_trips(3, 2)
    head, _, tail = text.partition("pto.section.vector")
    assert told(head + "pto.section.vector" + tail.replace("flag_base = 0", "flag_base = 4")) == []


def test_the_other_end_is_named() -> None:
    (one,) = told(with_trips(1, 2))
    assert [note.message for note in one.notes] == ["the other end"]
    assert one.span is not None and one.notes[0].span is not None and one.span.line > one.notes[0].span.line
