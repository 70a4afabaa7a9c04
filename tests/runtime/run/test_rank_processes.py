"""What the processes of ranks report to each other: who waits, who has ended, and which failure counts."""

from __future__ import annotations

import os
import pickle
import signal
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.deadline import TimedOut
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.run import rank_processes
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.rank_processes import (
    Board,
    Failure,
    Patience,
    RankProcesses,
    WorkerReport,
    _failure,
    _first_failure,
)


def board(*rows: tuple[int, int, int]) -> Board:
    """A board with a row (requested, passed, ended) for each process."""
    found = Board(len(rows))
    found.rows[...] = rows
    return found


def test_a_board_begins_with_zeros() -> None:
    fresh = Board(3)
    assert fresh.rows.shape == (3, 3) and not fresh.rows.any() and fresh.over.tolist() == [0]
    fresh.rows[...] = 7
    assert fresh.over.tolist() == [0]


@pytest.mark.parametrize(
    ("before", "now", "halted"),
    [
        # Everybody has requested twice and got nothing.
        ([(0, 0, 0), (5, 1, 0)], [(2, 0, 0), (7, 1, 0)], True),
        ([(0, 0, 0), (5, 1, 0)], [(9, 0, 0), (9, 1, 0)], True),
        # One has requested once only: it may have looked before the other changed the signal.
        ([(0, 0, 0), (5, 1, 0)], [(2, 0, 0), (6, 1, 0)], False),
        ([(0, 0, 0), (5, 1, 0)], [(0, 0, 0), (5, 1, 0)], False),
        # One has continued meanwhile.
        ([(0, 0, 0), (5, 1, 0)], [(2, 1, 0), (7, 1, 0)], False),
        ([(0, 0, 0), (5, 1, 0)], [(2, 0, 0), (7, 2, 0)], False),
        # Those that have ended do not ask; all have ended is no standstill.
        ([(0, 0, 0), (5, 1, 0)], [(2, 0, 0), (5, 1, 1)], True),
        ([(0, 0, 0), (5, 1, 0)], [(1, 0, 0), (5, 1, 1)], False),
        ([(0, 0, 0), (5, 1, 0)], [(2, 0, 1), (7, 1, 1)], False),
    ],
)
def test_no_process_can_continue(before: Any, now: Any, halted: bool) -> None:
    assert board(*now).halted(np.array(before)) is halted


def test_polling_intervals_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []
    monkeypatch.setattr(rank_processes, "sleep", slept.append)
    patience = Patience(board((0, 0, 0), (0, 0, 0)), 1)
    assert all(patience.relieve() for _ in range(53))
    assert slept == [20e-6] * 50 + [2e-3] * 3
    assert patience.board.rows.tolist() == [[0, 0, 0], [53, 0, 0]]
    patience.passed()
    assert patience.board.rows.tolist() == [[0, 0, 0], [53, 1, 0]]
    assert patience.relieve() and slept[-1] == 20e-6
    patience.board.over[0] = 1
    assert not patience.relieve()
    assert len(slept) == 54 and patience.board.rows[1, 0] == 55


def test_blocks_report_when_they_continue() -> None:
    kernel = a_kernel()
    patience = Patience(board((0, 0, 0)), 0)
    started = kernel.start([0], [0], 1)
    patience.enter(started)
    (block,) = started.device
    assert block.guard is patience.board.guard
    block.passed()
    assert patience.board.rows.tolist() == [[0, 1, 0]]


def outcome(rule: str, stopped: bool, *notes: str) -> WorkerReport:
    return WorkerReport({}, Failure(rule, f"of {rule}", None, notes), stopped)


def test_the_failure_that_counts() -> None:
    """The first that has stopped the others; of ranks that wait for each other, all with their locations in order."""
    fine = WorkerReport({0: []})
    found = _first_failure([fine, outcome("deadlock", True), outcome("mem-oob", False), outcome("mem-align", False)])
    assert isinstance(found, ProgramError) and (found.rule, found.message) == ("mem-oob", "of mem-oob")
    notes = ("AIV0 of rank 10 waits", "AIV0 of rank 2 waits"), ("a hint", "AIC of rank 1 waits")
    found = _first_failure([fine, outcome("first", True, *notes[0]), outcome("second", True, *notes[1])])
    assert isinstance(found, ProgramError) and found.rule == "first"
    assert found.notes == ("a hint", "AIC of rank 1 waits", "AIV0 of rank 2 waits", "AIV0 of rank 10 waits")
    assert isinstance(_first_failure([outcome("", False)]), TimedOut)


def a_kernel() -> Kernel:
    module, found = parsed("func.func @k(%n: i32) {\n  return\n}")
    assert found == []
    return Kernel(module, None, "a5", RunOptions())


class PartOf:
    """A rank's part of a launch, as far as its failures are concerned."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel


def apart(count: int, processes: int) -> Any:
    """Ranks of one small kernel in several processes."""
    kernel = a_kernel()
    parts: Any = [PartOf(kernel) for _ in range(count)]
    return RankProcesses(parts, [[0]] * count, None, None, processes)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("number", "ranks"), [(0, [0, 3, 6]), (1, [1, 4]), (2, [2, 5])])
def test_each_process_has_its_ranks(number: int, ranks: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    going = apart(7, 3)
    asked: list[list[int]] = []

    def run_bound(parts: Any, bound: Any, ranks: Any, world: Any, arena: Any, enter: Any, relieve: Any) -> list[Any]:
        asked.append(list(ranks))
        assert enter.__self__ is relieve.__self__ and enter.__self__.mine == number
        return [[rank * 10] for rank in ranks]

    monkeypatch.setattr(rank_processes, "run_bound", run_bound)
    assert going._report(number) == WorkerReport({rank: [rank * 10] for rank in ranks})
    assert asked == [ranks]


@pytest.mark.parametrize(
    ("error", "rule", "text"),
    [
        (ProgramError("mem-oob", "too far", None, ("a note",)), "mem-oob", "too far"),
        (KeyError("x"), "internal", "@k cannot be executed: KeyError: 'x'"),
        (MemoryError(), "run-memory", "@k takes more memory than there is"),
        (TimedOut(), "", ""),
    ],
)
@pytest.mark.parametrize("over", [False, True])
def test_failures_of_a_process(
    error: BaseException, rule: str, text: str, over: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_bound(*_: Any) -> None:
        raise error

    monkeypatch.setattr(rank_processes, "run_bound", run_bound)
    going = apart(2, 2)
    going.board.over[0] = over
    found = going._report(1)
    assert found.failure is not None and (found.failure.rule, found.failure.message) == (rule, text)
    assert found.results == {} and found.stopped is (over and rule != "")
    assert found.failure.span is not None or rule == "mem-oob"
    assert found.failure.notes == (("a note",) if rule == "mem-oob" else ())


def test_an_error_with_an_operation_gets_its_location() -> None:
    kernel = a_kernel()
    op = next(iter(kernel.program.operations))
    assert _failure(ProgramError("mem-oob", "too far", None, (), op), kernel).span is not None


@pytest.mark.parametrize("fails", [False, True])
def test_life_of_a_process(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It leaves interrupts to the first one, reports, states that it has ended, and goes at once."""
    going = apart(2, 2)
    codes: list[int] = []
    monkeypatch.setattr(rank_processes.os, "_exit", codes.append)
    monkeypatch.setattr(rank_processes, "put_all_aside", lambda: None)
    monkeypatch.setattr(rank_processes, "resume", lambda: codes.append(-1))
    before = signal.getsignal(signal.SIGINT)

    def result(number: int) -> WorkerReport:
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        if fails:
            raise RuntimeError
        return WorkerReport({number: [5]})

    monkeypatch.setattr(going, "_report", result)
    source, sink = os.pipe()
    try:
        with pytest.raises(RuntimeError) if fails else nullcontext():
            going._work(1, sink)
        if fails:
            os.close(sink)
        with os.fdopen(source, "rb") as reports:
            text = reports.read()
    finally:
        signal.signal(signal.SIGINT, before)
    assert codes == [-1, 1 if fails else 0]
    assert going.board.rows[:, 2].tolist() == [0, int(not fails)]
    assert text == b"" if fails else pickle.loads(text) == WorkerReport({1: [5]})


def test_a_standstill_stops_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first process listens until everybody has reported something; what ends without a message is lost."""
    monkeypatch.setattr(rank_processes, "_LOOK", 0.0)
    going = apart(2, 2)
    ends = [os.pipe() for _ in range(2)]
    going.board.rows[:, 0] = 9
    heard, found = {source: bytearray() for source, _ in ends}, dict[int, WorkerReport]()
    halted: list[int] = []

    def looks(_: Any) -> bool:
        halted.append(going.board.over[0])
        if len(halted) == 2:
            os.write(ends[0][1], pickle.dumps(WorkerReport({0: [1]})))
            os.close(ends[0][1])
        if len(halted) == 9:
            os.close(ends[1][1])
        return len(halted) == 5

    monkeypatch.setattr(going.board, "halted", looks)
    going._listen(heard, found)
    assert found[ends[0][0]] == WorkerReport({0: [1]})
    lost = found[ends[1][0]].failure
    assert lost is not None and (lost.rule, lost.message) == ("internal", "a process that ran ranks has ended early")
    assert halted[:6] == [0, 0, 0, 0, 0, 1] and going.board.over[0] == 1
    for source, _ in ends:
        os.close(source)
