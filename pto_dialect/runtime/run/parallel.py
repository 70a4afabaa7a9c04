"""Runs independent blocks in several processes that share the buffers of the launch.

This process takes part; each other one is a copy of it with the compiled program. The buffers that the program may
write are in shared memory while they run. Source: docs/reference/execution.md, "Cores and memories", "Launches".
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import struct
from collections.abc import Callable, Iterator, Sequence
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from pto_dialect.accel.collector import put_all_aside
from pto_dialect.deadline import TimedOut, grace, quiet_fork, resume
from pto_dialect.diagnostics.source import Span
from pto_dialect.interrupts import interrupts_held
from pto_dialect.ir.core.location import span_of

from ..errors import ProgramError, located
from ..memory.spaces import Array
from ..memory.values import content_of, move_content

if TYPE_CHECKING:
    from .kernel import CompiledKernel

TICKET = struct.Struct("<II")
TICKETS = 4096
"""Maximum number of tickets, each a range of blocks; all of them fit into a pipe at once."""


class Failure(NamedTuple):
    """A block that failed, and the parts of its ``ProgramError``; an expired time limit has no rule."""

    block: int
    rule: str
    message: str
    span: Span | None = None
    notes: tuple[str, ...] = ()
    late: bool = False

    def exception(self) -> BaseException:
        """Returns the exception that one process would have raised."""
        if self.late:
            return TimedOut(self.span)
        return ProgramError(self.rule, self.message, self.span, self.notes)


class WorkerReport(NamedTuple):
    """The report of one process: results of the first block, the block that failed, times."""

    results: list[Any] | None = None
    failure: Failure | None = None
    times: tuple[list[int], list[float]] | None = None


def run_blocks(kernel: CompiledKernel, bound: list[Any], first: int, blocks: int, jobs: int) -> list[Any]:
    """Runs the blocks from ``first`` on in ``jobs`` processes, including this one; returns the result of block 0 if it
    is among them.

    Raises the error of the first block that failed, as one process would, and leaves the buffers in the state of that
    failure.
    """
    shared = share(bound, kernel.usage.written)
    if shared is None:
        runs = [kernel.run_block(bound, index, blocks) for index in range(first, blocks)]
        return runs[0]
    if kernel.profile_log is not None:
        kernel.prepare_queues()
    tickets = _tickets(first, blocks)
    alive, life = os.pipe()
    workers: list[Worker] = []
    try:
        with interrupts_held():
            for _ in range(jobs - 1):
                workers.append(new_worker(alive, life, lambda sink: _work(kernel, bound, blocks, tickets, sink)))
        # The measurements of this process are in its log already.
        mine = run_taken(kernel, bound, blocks, tickets)._replace(times=None)
        with grace():
            reports = [mine, *(worker.report() for worker in workers)]
    finally:
        for end in (tickets, alive, life):
            os.close(end)
        for worker in workers:
            worker.stop()
    failures = [report.failure for report in reports if report.failure is not None]
    if failures:
        raise min(failures, key=lambda failure: failure.block).exception()
    for original, copy in shared:
        original[...] = copy
    if kernel.profile_log is not None:
        for report in reports:
            kernel.profile_log.add_times(report.times)
    return next((o.results for o in reports if o.results is not None), [])


# ------------------------------------------------------------ memory


def share(bound: Sequence[Any], written: frozenset[int]) -> list[tuple[Array, Array]] | None:
    """Moves the buffers that may be written into shared memory; returns pairs of the caller's memory and the shared
    one.

    Returns ``None`` when arguments partly overlap each other.
    """
    contents = {index: found for index, value in enumerate(bound) if (found := content_of(value)) is not None}
    needed = [index for index in contents if index in written]
    for index, content in contents.items():
        if index not in written and any(np.may_share_memory(content, contents[other]) for other in needed):
            needed.append(index)
    originals: list[Array] = []
    numbers: dict[int, int] = {}
    for index in needed:
        content = contents[index]
        if not content.size:
            continue
        known = next((i for i, other in enumerate(originals) if np.may_share_memory(other, content)), None)
        if known is None:
            known = len(originals)
            originals.append(content)
        elif not _same_memory(originals[known], content):
            return None
        numbers[index] = known
    copies = [shared_copy(content) for content in originals]
    for index, number in numbers.items():
        move_content(bound[index], copies[number])
    return list(zip(originals, copies, strict=True))


def _same_memory(a: Array, b: Array) -> bool:
    return (a.ctypes.data, a.shape, a.strides, a.dtype) == (b.ctypes.data, b.shape, b.strides, b.dtype)


def shared_copy(content: Array) -> Array:
    """Returns the content in memory that copies of this process share."""
    flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)
    memory = np.frombuffer(mmap.mmap(-1, content.nbytes, flags=flags), np.uint8)
    copy = memory.view(content.dtype).reshape(content.shape)
    copy[...] = content
    return copy


# ------------------------------------------------------------ processes


def _tickets(first: int, blocks: int) -> int:
    """Returns a pipe from which processes take ranges of blocks, in order."""
    source, sink = os.pipe()
    os.write(sink, tickets_for(first, blocks))
    os.close(sink)
    return source


def tickets_for(first: int, blocks: int) -> bytes:
    """Returns the bytes to write into a pipe of tickets."""
    size = -(-(blocks - first) // TICKETS)
    ranges = ((start, min(start + size, blocks)) for start in range(first, blocks, size))
    return b"".join(TICKET.pack(*pair) for pair in ranges)


def _taken(tickets: int) -> Iterator[int]:
    while ticket := _ticket(tickets):
        yield from range(*TICKET.unpack(ticket))


def _ticket(tickets: int) -> bytes:
    """Returns the next ticket; nothing when there is none, whether the pipe is closed then or stays open for later
    ones."""
    try:
        return os.read(tickets, TICKET.size)
    except BlockingIOError:
        return b""


class Worker:
    """A process that runs blocks: its id, and the pipe on which it reports."""

    def __init__(self, pid: int, source: int) -> None:
        self.pid = pid
        self.reports = os.fdopen(source, "rb")
        self.running = True

    def report(self) -> WorkerReport:
        """Returns the report of the process; waits for its end."""
        report = self.reports.read()
        _, status = os.waitpid(self.pid, 0)
        self.running = False
        if report:
            return pickle.loads(report)
        message = f"a process that ran blocks has ended early ({os.waitstatus_to_exitcode(status)})"
        return WorkerReport(failure=Failure(0, "internal", message))

    def stop(self) -> None:
        """Ends the process if it still runs."""
        self.reports.close()
        if self.running:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def new_worker(alive: int, life: int, live: Callable[[int], NoReturn]) -> Worker:
    """Starts a process that calls ``live`` with the end of a pipe for its report.

    It ends when no process holds the pipe end ``life`` any more; ``alive`` is the other end.
    """
    source, sink = os.pipe()
    with quiet_fork():
        pid = os.fork()
    if pid:
        os.close(sink)
        return Worker(pid, source)
    os.close(life)
    Thread(target=end_with, args=(alive,), daemon=True).start()
    live(sink)


def end_with(alive: int) -> None:
    """Waits for the end of the parent process, however it happens, and ends this one."""
    os.read(alive, 1)
    os._exit(1)


def _work(kernel: CompiledKernel, bound: list[Any], blocks: int, tickets: int, sink: int) -> NoReturn:
    """Runs blocks in a worker process until there are none left, reports, and ends without cleaning up for others."""
    code = 1
    try:
        # Ctrl-C reaches every process of a terminal; the first one ends the others.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        # Existing objects are never freed here; collecting them would only copy their memory.
        put_all_aside()
        resume()
        report = pickle.dumps(run_taken(kernel, bound, blocks, tickets))
        with os.fdopen(sink, "wb") as out:
            out.write(report)
        code = 0
    finally:
        os._exit(code)


def run_taken(kernel: CompiledKernel, bound: list[Any], blocks: int, tickets: int) -> WorkerReport:
    """Runs blocks as long as there are tickets."""
    log = kernel.profile_log
    mark = log.mark() if log is not None else None
    results: list[Any] | None = None
    for index in _taken(tickets):
        try:
            returned = kernel.run_block(bound, index, blocks)
        except Exception as error:
            for _ in _taken(tickets):
                pass
            return WorkerReport(failure=failure_of(index, error, kernel))
        except TimedOut as over:
            return WorkerReport(failure=Failure(index, "", "", span_of(kernel.stopped_at(over)), late=True))
        if index == 0:
            results = returned
    if log is None:
        return WorkerReport(results)
    assert mark is not None
    return WorkerReport(results, None, log.since(mark))


def failure_of(block: int, error: Exception, kernel: CompiledKernel) -> Failure:
    """Returns the error in a form that can be sent to another process; an unforeseen one with the operation that raised
    it."""
    if isinstance(error, MemoryError):
        error = kernel.out_of_memory(error)
    if isinstance(error, ProgramError):
        error = located(error, kernel.module)
        return Failure(block, error.rule, error.message, error.span, error.notes)
    op = kernel.locate(error.__traceback__) or kernel.function
    name = op.name if op is not kernel.function else f"@{kernel.entry}"
    return Failure(block, "internal", f"{name} cannot be executed: {type(error).__name__}: {error}", span_of(op))
