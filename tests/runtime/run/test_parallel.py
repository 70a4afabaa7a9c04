"""Processes for one launch: what they share, which blocks they take, what they report, and how they end."""

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
from pto_dialect.runtime.memory.spaces import Arena, Pointer
from pto_dialect.runtime.run import parallel
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.parallel import (
    Failure,
    Worker,
    WorkerReport,
    _taken,
    _tickets,
    _work,
    failure_of,
    run_taken,
    share,
    shared_copy,
    tickets_for,
)
from pto_dialect.runtime.run.profiling import ProfileLog


def pointer(array: np.ndarray) -> Pointer:
    """The bound form of an argument."""
    return Arena.from_array(array).pointer(0, array.dtype)


# ------------------------------------------------------------ memory


def test_what_is_written_moves_into_shared_memory() -> None:
    arrays = [np.arange(8, dtype=np.float32) + 10 * n for n in range(4)]
    bound: list[Any] = [pointer(arrays[0]), 5, pointer(arrays[1]), pointer(arrays[2]), pointer(arrays[3][:0])]
    shared = share(bound, frozenset((0, 3, 4)))
    assert shared is not None and len(shared) == 2
    for (original, copy), position, array in zip(shared, (0, 3), (arrays[0], arrays[2]), strict=True):
        assert np.may_share_memory(original, array) and not np.may_share_memory(copy, array)
        assert bound[position].arena.bytes is copy and copy.tobytes() == array.tobytes()
    assert np.may_share_memory(bound[2].arena.bytes, arrays[1])
    assert share([5, 7.0], frozenset((0,))) == []


def test_names_of_one_memory_move_together() -> None:
    """An argument that only reads what another one writes must see it; overlaps in part cannot be moved."""
    array = np.arange(8, dtype=np.float32)
    bound: list[Any] = [pointer(array), pointer(array), pointer(array + 1)]
    shared = share(bound, frozenset((1,)))
    assert shared is not None and len(shared) == 1
    assert bound[0].arena.bytes is bound[1].arena.bytes is shared[0][1]
    for part in (array[:4], array[4:], array[2:6]):
        assert share([pointer(array), pointer(part)], frozenset((0,))) is None
        assert share([pointer(part), pointer(array)], frozenset((0,))) is None
    halves = share([pointer(array[:4]), pointer(array[4:])], frozenset((0, 1)))
    assert halves is not None and len(halves) == 2
    assert share([pointer(array[:4]), pointer(array[2:])], frozenset(())) == []


@pytest.mark.parametrize("shape", [(5,), (2, 3), (1, 1, 4)])
@pytest.mark.parametrize("dtype", [np.uint8, np.float32, np.int16])
def test_shared_copies(shape: tuple[int, ...], dtype: type) -> None:
    content = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    copy = shared_copy(content)
    assert (copy.shape, copy.dtype) == (content.shape, content.dtype) and (copy == content).all()
    pid = os.fork()
    if not pid:
        copy[...] = 7
        os._exit(0)
    os.waitpid(pid, 0)
    assert (copy == 7).all() and not (content == 7).all()


# ------------------------------------------------------------ tickets


@pytest.mark.parametrize(("first", "blocks"), [(0, 1), (0, 5), (3, 5), (2, 4098), (0, 4096), (0, 4097), (1, 10000)])
def test_tickets_are_all_blocks_once_in_order(first: int, blocks: int) -> None:
    text = tickets_for(first, blocks)
    # They fit into a pipe at once, each being read by one process.
    assert len(text) % 8 == 0 and len(text) <= 4096 * 8
    if blocks - first <= 4096:
        assert len(text) == 8 * (blocks - first)
    tickets = _tickets(first, blocks)
    assert list(_taken(tickets)) == list(range(first, blocks))
    assert list(_taken(tickets)) == []
    os.close(tickets)


def test_a_pipe_that_stays_has_no_ticket_for_now() -> None:
    source, sink = os.pipe()
    os.set_blocking(source, False)
    assert list(_taken(source)) == []
    os.write(sink, tickets_for(2, 4))
    assert list(_taken(source)) == [2, 3]
    os.close(source)
    os.close(sink)


# ------------------------------------------------------------ what is run and reported


class Blocks:
    """Blocks of a kernel that do as requested."""

    def __init__(self, fails: dict[int, BaseException] | None = None, log: ProfileLog | None = None) -> None:
        self.kernel = a_kernel()
        self.fails = fails or {}
        self.profile_log = log
        self.ran: list[int] = []

    def run_block(self, bound: list[Any], index: int, blocks: int) -> list[Any]:
        self.ran.append(index)
        if self.profile_log is not None:
            self.profile_log.add(0, 0.5)
        if index in self.fails:
            raise self.fails[index]
        return [bound, index, blocks]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.kernel, name)


def a_kernel() -> Kernel:
    module, found = parsed("func.func @k(%n: i32) {\n  return\n}")
    assert found == []
    return Kernel(module, None, "a5", RunOptions())


def taken(blocks: Any, first: int, count: int) -> tuple[WorkerReport, list[int]]:
    """What a process reports of the blocks from ``first`` on, and those that are left to others."""
    tickets = _tickets(first, count)
    outcome = run_taken(blocks, ["bound"], count, tickets)
    left = list(_taken(tickets))
    os.close(tickets)
    return outcome, left


def test_results_are_those_of_block_0() -> None:
    assert taken(Blocks(), 0, 3) == (WorkerReport([["bound"], 0, 3]), [])
    assert taken(Blocks(), 1, 3) == (WorkerReport(None), [])


def test_times_are_those_of_these_blocks() -> None:
    log = ProfileLog()
    log.add(log.slot(None), 4.0)
    assert taken(Blocks(log=log), 0, 3)[0].times == ([3], [1.5])
    assert (log.calls, log.seconds) == ([4], [5.5])


@pytest.mark.parametrize(
    ("error", "rule", "message", "late"),
    [
        (ProgramError("mem-oob", "too far", None, ("a note",)), "mem-oob", "too far", False),
        (KeyError("x"), "internal", "@k cannot be executed: KeyError: 'x'", False),
        (MemoryError(), "run-memory", "@k takes more memory than there is", False),
        (TimedOut(), "", "", True),
    ],
)
def test_a_block_that_fails_ends_the_launch(error: BaseException, rule: str, message: str, late: bool) -> None:
    blocks = Blocks({2: error})
    outcome, left = taken(blocks, 0, 9)
    failure = outcome.failure
    assert failure is not None and outcome.results is None
    assert (failure.block, failure.rule, failure.message, failure.late) == (2, rule, message, late)
    assert failure.notes == (("a note",) if rule == "mem-oob" else ())
    assert blocks.ran == [0, 1, 2]
    # No process begins with another block; one whose time is over leaves that to the others' clocks.
    assert left == ([] if not late else list(range(3, 9)))
    raised = failure.exception()
    assert isinstance(raised, TimedOut if late else ProgramError)
    if isinstance(raised, ProgramError):
        assert (raised.rule, raised.message, raised.span, raised.notes) == (rule, message, failure.span, failure.notes)


def test_unforeseen_errors_name_the_operation_they_left() -> None:
    kernel = a_kernel()
    *_, op = kernel.program.operations
    kernel.locate = lambda trace: op
    assert failure_of(4, ValueError("v"), kernel).message == f"{op.name} cannot be executed: ValueError: v"
    placed = failure_of(4, ProgramError("mem-oob", "too far", None, (), op), kernel)
    assert placed.span is not None and placed.block == 4


@pytest.mark.parametrize("fails", [False, True])
def test_life_of_a_process(fails: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(parallel.os, "_exit", codes.append)
    monkeypatch.setattr(parallel, "put_all_aside", lambda: None)
    monkeypatch.setattr(parallel, "resume", lambda: codes.append(-1))
    before = signal.getsignal(signal.SIGINT)

    def result(*given: Any) -> WorkerReport:
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN and given[1:] == ([5], 8, 77)
        if fails:
            raise RuntimeError
        return WorkerReport([3])

    monkeypatch.setattr(parallel, "run_taken", result)
    source, sink = os.pipe()
    try:
        with pytest.raises(RuntimeError) if fails else nullcontext():
            _work(a_kernel(), [5], 8, 77, sink)
        if fails:
            os.close(sink)
        with os.fdopen(source, "rb") as reports:
            text = reports.read()
    finally:
        signal.signal(signal.SIGINT, before)
    assert codes == [-1, 1 if fails else 0]
    assert text == b"" if fails else pickle.loads(text) == WorkerReport([3])


# ------------------------------------------------------------ processes


def started(report: bytes, code: int, waits: bool = False) -> Worker:
    """A process that reports something and ends, or waits for ever."""
    source, sink = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(sink, report)
        if waits:
            signal.pause()
        os._exit(code)
    os.close(sink)
    return Worker(pid, source)


def test_what_a_process_reports() -> None:
    worker = started(pickle.dumps(WorkerReport([4])), 0)
    assert worker.running and worker.report() == WorkerReport([4]) and not worker.running
    worker.stop()


@pytest.mark.parametrize("code", [0, 3])
def test_a_process_that_ends_without_a_message(code: int) -> None:
    worker = started(b"", code)
    text = f"a process that ran blocks has ended early ({code})"
    assert worker.report() == WorkerReport(failure=Failure(0, "internal", text))
    worker.stop()


def test_a_process_that_nobody_needs_is_ended() -> None:
    worker = started(b"x", 0, waits=True)
    worker.stop()
    assert worker.reports.closed
    with pytest.raises(ChildProcessError):
        os.waitpid(worker.pid, 0)


def test_a_process_ends_with_the_first_one(monkeypatch: pytest.MonkeyPatch) -> None:
    codes: list[int] = []
    monkeypatch.setattr(parallel.os, "_exit", codes.append)
    alive, life = os.pipe()
    os.close(life)
    parallel.end_with(alive)
    os.close(alive)
    assert codes == [1]
