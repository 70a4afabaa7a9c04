"""Worker pool: processes that are reused for further launches of a kernel.

Starting a process costs some 20 ms, which is noticeable in a launch of 100 ms. A kernel whose blocks have been shared
among processes before gets a pool: copies of this process that wait for orders, and shared memory into which the
arguments of each launch are copied. Everything else is as in ``parallel``. Source: docs/reference/execution.md, "Cores
and memories", "Launches".
"""

from __future__ import annotations

import mmap
import os
import pickle
import signal
import sys
import weakref
from collections.abc import Sequence
from contextlib import suppress
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from pto_dialect.accel.collector import put_all_aside
from pto_dialect.deadline import may_be_limited, quiet_fork
from pto_dialect.interrupts import interrupts_held

from ..memory.spaces import Arena, Array, Pointer
from ..memory.values import move_content
from .parallel import Failure, WorkerReport, end_with, run_taken, tickets_for

if TYPE_CHECKING:
    from .kernel import CompiledKernel

ALIGNMENT = 4096
"""Buffers are aligned to pages."""

_NUMBERS = (int, float, np.number, np.bool_)


class Buffer(NamedTuple):
    """The properties that two launches must share to use one pool: a buffer of global memory, and its addressing."""

    name: str
    nbytes: int
    base_align: int
    offset: int
    dtype: str
    item_bytes: int


Form = tuple[Buffer | None, ...]
"""The arguments of a launch; ``None`` stands for a number."""


class Order(NamedTuple):
    """The work of a process: numbers by position, which buffers are never written, how many blocks there are."""

    numbers: dict[int, Any]
    constant: list[int]
    blocks: int


def form_of(bound: Sequence[Any]) -> Form | None:
    """Returns the form of bound arguments; ``None`` where some are neither numbers nor whole buffers of their own."""
    form: list[Buffer | None] = []
    contents: list[Array] = []
    for value in bound:
        if isinstance(value, _NUMBERS):
            form.append(None)
            continue
        if type(value) is not Pointer or value.arena.space != "gm":
            return None
        arena = value.arena
        content = arena.bytes
        if any(np.may_share_memory(content, other) for other in contents):
            return None
        contents.append(content)
        dtype = np.dtype(value.dtype).str
        form.append(Buffer(arena.name, content.nbytes, arena.base_align, value.offset, dtype, value.item_bytes))
    return tuple(form)


class PoolWorker:
    """One process: its id, the pipe for orders, and the pipe on which it reports."""

    def __init__(self, pid: int, orders: int, reports: int) -> None:
        self.pid = pid
        self.orders = os.fdopen(orders, "wb")
        self.reports = os.fdopen(reports, "rb")

    def send(self, order: bytes) -> None:
        """Sends an order."""
        self.orders.write(order)
        self.orders.flush()

    def report(self) -> WorkerReport:
        """Returns the result of the order."""
        try:
            return pickle.load(self.reports)
        except (EOFError, pickle.UnpicklingError):
            _, status = os.waitpid(self.pid, 0)
            self.pid = 0
            message = f"a process that ran blocks has ended early ({os.waitstatus_to_exitcode(status)})"
            return WorkerReport(failure=Failure(0, "internal", message))

    def is_alive(self) -> bool:
        """Returns whether the process is alive."""
        try:
            if self.pid and os.waitpid(self.pid, os.WNOHANG)[0]:
                self.pid = 0
        except ChildProcessError:
            # Another thread has waited for it.
            self.pid = 0
        return self.pid != 0

    def end(self, mine: bool) -> None:
        """Ends the process if it is ``mine``, and closes its pipes."""
        for stream in (self.orders, self.reports):
            # An unsent message cannot be sent any more.
            with suppress(OSError):
                stream.close()
        if mine and self.is_alive():
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)
            self.pid = 0


class WorkerPool:
    """``jobs - 1`` processes for launches of one kernel with arguments of one form."""

    def __init__(self, kernel: CompiledKernel, bound: Sequence[Any], form: Form, jobs: int) -> None:
        self.form = form
        self.jobs = jobs
        self.owner = os.getpid()
        self.closed = False
        self.lock = Lock()
        self.memory = _shared(form)
        self.tickets, self.sink = os.pipe()
        os.set_blocking(self.tickets, False)
        self.alive, self.life = os.pipe()
        self.members: list[PoolWorker] = []
        try:
            with interrupts_held():
                for _ in range(jobs - 1):
                    self.members.append(self._start(kernel, bound))
        except BaseException:
            self.close()
            raise
        weakref.finalize(kernel, self.close)

    @property
    def nbytes(self) -> int:
        """Returns how many bytes are copied for each launch."""
        return sum(buffer.nbytes for buffer in self.form if buffer is not None)

    def suits(self, form: Form | None, jobs: int) -> bool:
        """Returns whether the pool is for such a launch."""
        if self.closed or self.owner != os.getpid() or form != self.form or jobs != self.jobs:
            return False
        if not all(member.is_alive() for member in self.members):
            self.close()
        return not self.closed

    def run(self, kernel: CompiledKernel, bound: list[Any], first: int, blocks: int) -> list[Any]:
        """Runs the blocks from ``first`` on; returns the result of block 0 if it is among them.

        Raises the error of the first block that failed, and leaves the buffers in the state of that failure.
        """
        numbers = {index: value for index, value in enumerate(bound) if self.form[index] is None}
        constant = [index for index in self.memory if bound[index].arena.constant]
        originals = {index: bound[index].arena.bytes for index in self.memory}
        done = False
        try:
            for index, shared in self.memory.items():
                shared[...] = originals[index]
                if index in kernel.usage.written:
                    move_content(bound[index], shared)
            os.write(self.sink, tickets_for(first, blocks))
            order = pickle.dumps(Order(numbers, constant, blocks))
            for member in self.members:
                member.send(order)
            mine = run_taken(kernel, bound, blocks, self.tickets)
            outcomes = [mine, *(member.report() for member in self.members)]
            done = all(member.pid for member in self.members)
        finally:
            if not done:
                self.close()
        failures = [report.failure for report in outcomes if report.failure is not None]
        if failures:
            raise min(failures, key=lambda failure: failure.block).exception()
        for index in kernel.usage.written & self.memory.keys():
            originals[index][...] = self.memory[index]
        return next((o.results for o in outcomes if o.results is not None), [])

    def close(self) -> None:
        """Ends all processes. In a copy of the owning process they are left alone."""
        if self.closed:
            return
        self.closed = True
        for member in self.members:
            member.end(self.owner == os.getpid())
        for end in (self.tickets, self.sink, self.alive, self.life):
            os.close(end)

    def _start(self, kernel: CompiledKernel, bound: Sequence[Any]) -> PoolWorker:
        source, orders = os.pipe()
        reports, sink = os.pipe()
        with quiet_fork():
            pid = os.fork()
        if pid:
            os.close(source)
            os.close(sink)
            return PoolWorker(pid, orders, reports)
        _close_all_but(source, sink, self.tickets, self.alive)
        Thread(target=end_with, args=(self.alive,), daemon=True).start()
        self._serve(kernel, bound, source, sink)

    def _serve(self, kernel: CompiledKernel, bound: Sequence[Any], source: int, sink: int) -> NoReturn:
        """Executes orders in a worker process until the pipe closes."""
        code = os.EX_SOFTWARE
        try:
            # Ctrl-C reaches every process of a terminal; the first one ends the others.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            # Existing objects are never freed here; collecting them would only copy their memory.
            put_all_aside()
            with os.fdopen(source, "rb") as orders, os.fdopen(sink, "wb") as reports:
                while True:
                    order: Order = pickle.load(orders)
                    pickle.dump(run_taken(kernel, self._arguments(order), order.blocks, self.tickets), reports)
                    reports.flush()
        except EOFError:
            code = os.EX_OK
        finally:
            os._exit(code)

    def _arguments(self, order: Order) -> list[Any]:
        """Returns arguments as they are bound at a launch, without cached facts about earlier content."""
        values: list[Any] = []
        for index, buffer in enumerate(self.form):
            if buffer is None:
                values.append(order.numbers[index])
                continue
            arena = Arena.from_array(self.memory[index], name=buffer.name, base_align=buffer.base_align)
            arena.constant = index in order.constant
            values.append(Pointer(arena, buffer.offset, np.dtype(buffer.dtype), buffer.item_bytes))
        return values


def _close_all_but(*kept: int) -> None:
    """Closes everything that a copy has inherited besides its standard streams: a reader that waits for the end of a
    pipe must not wait for a worker process."""
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        if number > 2 and number not in kept:
            with suppress(OSError):
                os.close(number)


def _shared(form: Form) -> dict[int, Array]:
    """Returns shared memory for each buffer, by position."""
    owners: dict[int, int] = {}
    size = 0
    for index, buffer in enumerate(form):
        if buffer is not None:
            owners[index] = size
            size += -(-buffer.nbytes // ALIGNMENT) * ALIGNMENT
    flags = mmap.MAP_SHARED | mmap.MAP_ANONYMOUS | getattr(mmap, "MAP_POPULATE", 0)
    content = np.frombuffer(mmap.mmap(-1, max(size, 1), flags=flags), np.uint8)
    sizes = {index: buffer.nbytes for index, buffer in enumerate(form) if buffer is not None}
    return {index: content[start : start + sizes[index]] for index, start in owners.items()}


_latest: weakref.ref[WorkerPool] | None = None
"""There is one pool at a time; it is dismissed when another kernel needs one."""


def acquire_pool(kernel: CompiledKernel, bound: Sequence[Any], form: Form | None, jobs: int) -> WorkerPool | None:
    """Returns a pool for a launch and later ones of the same form; ``None`` where the launch has something that only
    one-off processes can share: other kinds of arguments, a time limit, a profile."""
    global _latest
    if sys.platform != "linux" or form is None or not any(form) or may_be_limited() or kernel.profile_log is not None:
        return None
    before = _latest() if _latest is not None else None
    if before is not None and before.owner == os.getpid():
        # Another thread may be using it.
        if not before.lock.acquire(blocking=False):
            return None
        try:
            before.close()
        finally:
            before.lock.release()
    pool = WorkerPool(kernel, bound, form, jobs)
    _latest = weakref.ref(pool)
    return pool
