"""Runs ranks in several processes that share windows and buffers while they run.

A rank that waits for a signal in memory polls it. A deadlock is detected from outside: every process has polled twice
since a wait last succeeded. Source: docs/ranks.md, "Processes".
"""

from __future__ import annotations

import mmap
import os
import pickle
import re
import select
import signal
from collections.abc import Sequence
from functools import partial
from time import sleep
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from pto_dialect.accel.collector import put_all_aside
from pto_dialect.children import process_context
from pto_dialect.deadline import TimedOut, grace, resume
from pto_dialect.diagnostics.source import Span
from pto_dialect.interrupts import can_fork, interrupts_held
from pto_dialect.ir.core.location import span_of

from ..compile.usage import updates
from ..errors import ProgramError, located
from ..memory.spaces import Array
from .arguments import hand_back
from .kernel import Started
from .launch import Kernel
from .parallel import Worker, new_worker, share, shared_copy
from .ranks import Part, bound_values, run_bound, run_ranks
from .windows import WindowArena, World

if TYPE_CHECKING:
    from multiprocessing.synchronize import Lock

_LOOK = 0.02
"""Seconds between two checks for a deadlock."""
_SHORT, _LONG = 20e-6, 2e-3
"""Seconds that a process sleeps before it polls again: at first, and after some time."""
_EAGER = 50
"""Number of polls after the short time."""

ASKED, PASSED, ENDED = range(3)
"""Counters of a process: failed polls, successful waits, whether it has ended."""


class Failure(NamedTuple):
    """The parts of a ``ProgramError``; an expired time limit has no rule."""

    rule: str
    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()

    def exception(self) -> BaseException:
        """Returns the exception that one process would have raised."""
        return ProgramError(*self) if self.rule else TimedOut(self.span)


class WorkerReport(NamedTuple):
    """The report of one process: results by rank, or how it failed; ``waits`` are those of ranks that stopped."""

    results: dict[int, list[Any]]
    failure: Failure | None = None
    stopped: bool = False


class Board:
    """Shared counters: a row for each process, and whether all must stop."""

    def __init__(self, processes: int) -> None:
        memory = mmap.mmap(-1, 8 * (3 * processes + 1))
        numbers = np.frombuffer(memory, np.int64)
        self.rows: Array = numbers[:-1].reshape(processes, 3)
        self.over: Array = numbers[-1:]
        self.guard: Lock = process_context("fork").Lock()

    def halted(self, before: Array) -> bool:
        """Returns whether, since the rows were ``before``, every process that has not ended polled twice and none made
        progress."""
        now = self.rows
        if (now[:, PASSED] != before[:, PASSED]).any() or now[:, ENDED].all():
            return False
        return bool(((now[:, ASKED] >= before[:, ASKED] + 2) | (now[:, ENDED] > 0)).all())


class Patience:
    """How one process waits for others; its row of the board is ``mine``."""

    def __init__(self, board: Board, mine: int) -> None:
        self.board = board
        self.mine = mine
        self.times = 0

    def enter(self, started: Started) -> None:
        """Makes blocks report progress, and change signals one at a time."""
        for block in started.device:
            block.guard = self.board.guard
            block.passed = self.passed

    def passed(self) -> None:
        """Reports that a wait is over."""
        self.times = 0
        self.board.rows[self.mine, PASSED] += 1

    def relieve(self) -> bool:
        """Waits a little when nothing in this process can continue; returns False when nothing in any process can."""
        self.board.rows[self.mine, ASKED] += 1
        if self.board.over[0]:
            return False
        sleep(_SHORT if self.times < _EAGER else _LONG)
        self.times += 1
        return True


def run_ranks_apart(parts: Sequence[Part], world: World, jobs: int) -> list[list[Any]]:
    """Runs the ranks in up to ``jobs`` processes; returns the result of the entry of each.

    Raises what ``run_ranks`` raises: the error of the first process that failed.
    """
    if jobs < 2 or len(parts) < 2 or not can_fork():
        return run_ranks(parts, world)
    if any(updates(op) for part in parts for op in part.kernel.program.operations):
        # These are not atomic for other processes.
        return run_ranks(parts, world)
    bound = [bound_values(rank, part) for rank, part in enumerate(parts)]
    own = [value for values in bound for value in values if not world.holds(value)]
    shared = share(own, frozenset(range(len(own))))
    if shared is None:
        return run_ranks(parts, world)
    windows = shared_copy(world.content)
    going = RankProcesses(parts, bound, world, WindowArena(world.layout, windows), min(jobs, len(parts)))
    reports = going.run()
    failures = [report for report in reports if report.failure is not None]
    if failures:
        raise _first_failure(failures)
    world.content[...] = windows
    for original, copy in shared:
        original[...] = copy
    for values in bound:
        hand_back(values)
    results = {rank: returned for report in reports for rank, returned in report.results.items()}
    return [results[rank] for rank in range(len(parts))]


def _first_failure(failures: Sequence[WorkerReport]) -> BaseException:
    """Returns the first failure that has stopped the others, otherwise the deadlock."""
    causes = [report.failure for report in failures if report.failure is not None and not report.stopped]
    if causes:
        return causes[0].exception()
    stopped = [report.failure for report in failures if report.failure is not None]
    notes = tuple(sorted((note for one in stopped for note in one.notes), key=_rank_first))
    return stopped[0]._replace(notes=notes).exception()


def _rank_first(note: str) -> int:
    match = re.search(r" of rank (\d+)", note)
    return int(match[1]) if match else 0


class RankProcesses:
    """Ranks in processes: rank i runs in process i modulo their number."""

    def __init__(
        self, parts: Sequence[Part], bound: Sequence[list[Any]], world: World, arena: WindowArena, processes: int
    ) -> None:
        self.parts = parts
        self.bound = bound
        self.world = world
        self.arena = arena
        self.board = Board(processes)
        self.processes = processes

    def run(self) -> list[WorkerReport]:
        """Returns the reports of the processes."""
        for part in self.parts:
            part.kernel.prepare_queues()
        alive, life = os.pipe()
        workers: list[Worker] = []
        try:
            with interrupts_held():
                for number in range(self.processes):
                    workers.append(new_worker(alive, life, partial(self._work, number)))
            return self._reports(workers)
        finally:
            for end in (alive, life):
                os.close(end)
            for worker in workers:
                worker.stop()

    def _reports(self, workers: Sequence[Worker]) -> list[WorkerReport]:
        """Waits for all processes, and stops them when one fails or none can continue."""
        heard: dict[int, bytearray] = {worker.reports.fileno(): bytearray() for worker in workers}
        reports: dict[int, WorkerReport] = {}
        try:
            self._listen(heard, reports)
        except TimedOut:
            # Every process has the same limit, and reports its position.
            with grace():
                self._listen(heard, reports)
        return [reports[worker.reports.fileno()] for worker in workers]

    def _listen(self, heard: dict[int, bytearray], reports: dict[int, WorkerReport]) -> None:
        before = self.board.rows.copy()
        while len(reports) < len(heard):
            for pipe in select.select([pipe for pipe in heard if pipe not in reports], [], [], _LOOK)[0]:
                if chunk := os.read(pipe, 1 << 16):
                    heard[pipe] += chunk
                    continue
                report = pickle.loads(heard[pipe]) if heard[pipe] else _LOST
                reports[pipe] = report
                if report.failure is not None:
                    self.board.over[0] = 1
            if self.board.halted(before):
                self.board.over[0] = 1
            elif (self.board.rows[:, PASSED] != before[:, PASSED]).any():
                before = self.board.rows.copy()

    def _work(self, number: int, sink: int) -> NoReturn:
        """Runs the ranks of a worker process, reports, and ends without cleaning up for others."""
        code = 1
        try:
            # Ctrl-C reaches every process of a terminal; the first one ends the others.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            put_all_aside()
            resume()
            report = pickle.dumps(self._report(number))
            self.board.rows[number, ENDED] = 1
            with os.fdopen(sink, "wb") as out:
                out.write(report)
            code = 0
        finally:
            os._exit(code)

    def _report(self, number: int) -> WorkerReport:
        ranks = range(number, len(self.parts), self.processes)
        patience = Patience(self.board, number)
        kernel = self.parts[number].kernel
        try:
            returned = run_bound(
                self.parts, self.bound, ranks, self.world, self.arena, patience.enter, patience.relieve
            )
        except TimedOut as over:
            return WorkerReport({}, Failure("", "", span_of(kernel.stopped_at(over))))
        except Exception as error:
            return WorkerReport({}, _failure(error, kernel), bool(self.board.over[0]))
        return WorkerReport(dict(zip(ranks, returned, strict=True)))


_LOST = WorkerReport({}, Failure("internal", "a process that ran ranks has ended early"))


def _failure(error: Exception, kernel: Kernel) -> Failure:
    """Returns the error in a form that can be sent to another process."""
    if isinstance(error, MemoryError):
        error = kernel.out_of_memory(error)
    if isinstance(error, ProgramError):
        error = located(error, kernel.module)
        return Failure(error.rule, error.message, error.span, error.notes)
    op = kernel.locate(error.__traceback__) or kernel.function
    text = f"@{kernel.entry} cannot be executed: {type(error).__name__}: {error}"
    return Failure("internal", text, span_of(op))
