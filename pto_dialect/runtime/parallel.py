"""Runs independent blocks in several processes that share the buffers of the launch.

Each process is a copy of this one with the compiled program in it; the buffers that the program may write lie in memory
that all of them see while they run.  Source: execution page, sections 1 and 3.
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import struct
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from ..ir.location import span_of
from .errors import ProgramError
from .memory import Array
from .values import content_of, move_content

if TYPE_CHECKING:
    from .launch import Kernel

TICKET = struct.Struct("<II")
TICKETS = 4096
"""Most tickets, each a range of blocks, that are handed out; they fit into a pipe at once."""


class Outcome(NamedTuple):
    """What one process has to tell: results of the first block, the error of the lowest block that failed, times."""

    results: list[Any] | None
    failed: int
    error: BaseException | None
    times: tuple[list[int], list[float]] | None


def can_fork() -> bool:
    """True where a process can be copied safely."""
    return hasattr(os, "fork") and sys.platform != "darwin"


def run_blocks(kernel: Kernel, bound: list[Any], blocks: int, jobs: int) -> list[Any]:
    """Runs all blocks in ``jobs`` processes; what the first block returns.

    Raises the error of the lowest block that failed, as one process would, and leaves the buffers as they were then.
    """
    shared = _share(bound, kernel.usage.written)
    if shared is None:
        runs = [kernel.run_block(bound, index, blocks) for index in range(blocks)]
        return runs[0]
    if kernel.profile_log is not None:
        kernel.prepare_queues()
    tickets = _tickets(blocks)
    workers: list[Worker] = []
    try:
        for _ in range(jobs):
            workers.append(_start(kernel, bound, blocks, tickets))
        outcomes = [worker.outcome() for worker in workers]
    finally:
        os.close(tickets)
        for worker in workers:
            worker.stop()
    failures = sorted((o.failed, i) for i, o in enumerate(outcomes) if o.error is not None)
    if failures:
        error = outcomes[failures[0][1]].error
        assert error is not None
        raise error
    for original, copy in shared:
        original[...] = copy
    if kernel.profile_log is not None:
        for outcome in outcomes:
            kernel.profile_log.add_times(outcome.times)
    return next((o.results for o in outcomes if o.results is not None), [])


# ------------------------------------------------------------ memory


def _share(bound: Sequence[Any], written: frozenset[int]) -> list[tuple[Array, Array]] | None:
    """Moves the buffers that may be written into shared memory: pairs of the caller's memory and the shared one.

    ``None`` when arguments overlap each other in part.
    """
    contents = {index: found for index, value in enumerate(bound) if (found := content_of(value)) is not None}
    needed = [index for index in contents if index in written]
    for index, content in contents.items():
        if index not in written and any(np.may_share_memory(content, contents[other]) for other in needed):
            needed.append(index)
    pairs: list[tuple[Array, Array]] = []
    for index in needed:
        content = contents[index]
        if not content.size:
            continue
        known = [pair for pair in pairs if np.may_share_memory(pair[0], content)]
        if not known:
            known = [(content, _shared_copy(content))]
            pairs += known
        elif not _same_memory(known[0][0], content):
            return None
        move_content(bound[index], known[0][1])
    return pairs


def _same_memory(a: Array, b: Array) -> bool:
    return (a.ctypes.data, a.shape, a.strides, a.dtype) == (b.ctypes.data, b.shape, b.strides, b.dtype)


def _shared_copy(content: Array) -> Array:
    memory = np.frombuffer(mmap.mmap(-1, content.nbytes), np.uint8)
    copy = memory.view(content.dtype).reshape(content.shape)
    copy[...] = content
    return copy


# ------------------------------------------------------------ processes


def _tickets(blocks: int) -> int:
    """A pipe from which processes take ranges of blocks, in order."""
    source, sink = os.pipe()
    size = -(-blocks // TICKETS)
    ranges = ((start, min(start + size, blocks)) for start in range(0, blocks, size))
    os.write(sink, b"".join(TICKET.pack(*pair) for pair in ranges))
    os.close(sink)
    return source


def _taken(tickets: int) -> Iterator[int]:
    while ticket := os.read(tickets, TICKET.size):
        yield from range(*TICKET.unpack(ticket))


@contextmanager
def _quiet_fork() -> Iterator[None]:
    """Python warns of threads, which BLAS keeps; it is made to be copied."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


class Worker:
    """A process that runs blocks: its id, and the pipe on which it reports."""

    def __init__(self, pid: int, source: int) -> None:
        self.pid = pid
        self.reports = os.fdopen(source, "rb")
        self.running = True

    def outcome(self) -> Outcome:
        """What the process reports; waits for its end."""
        report = self.reports.read()
        _, status = os.waitpid(self.pid, 0)
        self.running = False
        if report:
            return pickle.loads(report)
        message = f"a process that ran blocks has ended early ({os.waitstatus_to_exitcode(status)})"
        return Outcome(None, 0, ProgramError("internal", message), None)

    def stop(self) -> None:
        """Ends the process if it still runs."""
        self.reports.close()
        if self.running:
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)


def _start(kernel: Kernel, bound: list[Any], blocks: int, tickets: int) -> Worker:
    """A new process at work."""
    source, sink = os.pipe()
    with _quiet_fork():
        pid = os.fork()
    if pid:
        os.close(sink)
        return Worker(pid, source)
    _work(kernel, bound, blocks, tickets, sink)


def _work(kernel: Kernel, bound: list[Any], blocks: int, tickets: int, sink: int) -> NoReturn:
    """Life of a process: runs blocks until there are none left, reports, ends without cleaning up for others."""
    code = 1
    try:
        # Ctrl-C reaches every process of a terminal; the first one ends the others.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        report = pickle.dumps(_run_taken(kernel, bound, blocks, tickets))
        with os.fdopen(sink, "wb") as out:
            out.write(report)
        code = 0
    finally:
        os._exit(code)


def _run_taken(kernel: Kernel, bound: list[Any], blocks: int, tickets: int) -> Outcome:
    log = kernel.profile_log
    mark = log.mark() if log is not None else None
    results: list[Any] | None = None
    for index in _taken(tickets):
        try:
            returned = kernel.run_block(bound, index, blocks)
        except Exception as error:
            for _ in _taken(tickets):
                pass
            return Outcome(None, index, _portable(error, kernel), None)
        if index == 0:
            results = returned
    return Outcome(results, -1, None, log.since(mark) if log is not None and mark is not None else None)


def _portable(error: Exception, kernel: Kernel) -> BaseException:
    """The error in a form that can be sent to another process; an unforeseen one with the operation it left."""
    if isinstance(error, (ProgramError, MemoryError)):
        return error
    op = kernel.locate(error.__traceback__) or kernel.function
    name = op.name if op is not kernel.function else f"@{kernel.entry}"
    return ProgramError("internal", f"{name} cannot be executed: {type(error).__name__}: {error}", span_of(op))
