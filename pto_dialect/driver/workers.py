"""Processes that share the inputs of a run.

Each worker gets a few inputs at a time through a pipe of its own, so that its termination, for whatever reason, closes
the pipe, and an interrupted run leaves no process running.
"""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection, wait
from typing import TYPE_CHECKING, Any, TypeVar

from pto_dialect.accel.collector import all_aside
from pto_dialect.children import UncleanStart, clean_start, process_context
from pto_dialect.interrupts import interrupts_held

from .jobs import WorkerError
from .options import Options
from .pipeline import process

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

Item = TypeVar("Item")
Result = TypeVar("Result")

_MAX_CHUNK = 16
_STOP_SECONDS = 5.0

_USUAL = "func.func @f() {\n  %0 = arith.constant 0 : index\n  return\n}\n"
"""A program of operations that most programs have."""


def in_parallel(
    inputs: Sequence[Item], work: Callable[[Item], Result], jobs: int, *, printing: bool = False
) -> Generator[Result]:
    """Yields what ``work`` gives for all inputs, in their order, from ``jobs`` processes.

    ``printing`` loads the printer as well, which the processes then share. Raises ``WorkerError`` when one of them
    dies.
    """
    size = max(1, min(_MAX_CHUNK, len(inputs) // (jobs * 8)))
    chunks = iter([(start, inputs[start : start + size]) for start in range(0, len(inputs), size)])
    results: dict[int, Result] = {}
    following = 0
    workers: dict[Connection, BaseProcess] = {}
    try:
        _start(workers, work, jobs, printing)
        busy = {connection for connection in workers if _send(connection, chunks)}
        while busy:
            for connection in wait(list(busy)):
                assert isinstance(connection, Connection)
                try:
                    start, found = connection.recv()
                except (EOFError, ConnectionError):
                    message = "a worker process ended unexpectedly (out of memory?); try fewer with -j"
                    raise WorkerError(message) from None
                results.update(enumerate(found, start))
                if not _send(connection, chunks):
                    busy.remove(connection)
            while following in results:
                yield results.pop(following)
                following += 1
    finally:
        _stop(workers)


def _send(connection: Connection, chunks: Any) -> bool:
    """Gives a worker its next inputs; False when there are none."""
    chunk = next(chunks, None)
    if chunk is not None:
        connection.send(chunk)
    return chunk is not None


def _start(workers: dict[Connection, BaseProcess], work: Callable[[Any], Any], jobs: int, printing: bool) -> None:
    # A fork shares what is loaded, but is only safe in a process with one thread (and not on macOS).
    if sys.platform != "linux" or threading.active_count() > 1:
        try:
            with clean_start():
                _add_workers(workers, work, jobs, process_context("spawn"))
        except UncleanStart as error:
            raise WorkerError(f"no worker processes: {error.strerror}") from None
        return
    process(_USUAL, "<warm up>", Options(printing=printing))
    # The collector of a worker would write to every page that it shares with this process.
    with all_aside(), interrupts_held():
        _add_workers(workers, work, jobs, process_context("fork"))


def _add_workers(workers: dict[Connection, BaseProcess], work: Callable[[Any], Any], jobs: int, context: Any) -> None:
    for _ in range(jobs):
        ours, theirs = context.Pipe()
        inherited = [*workers, ours] if context.get_start_method() == "fork" else []
        worker = context.Process(target=_serve, args=(theirs, inherited, work), daemon=True)
        worker.start()
        theirs.close()
        workers[ours] = worker


def _stop(workers: dict[Connection, BaseProcess]) -> None:
    for connection, worker in workers.items():
        connection.close()
        worker.terminate()
    for worker in workers.values():
        worker.join(_STOP_SECONDS)
        if worker.is_alive():
            worker.kill()
            worker.join()


def _serve(connection: Connection, inherited: list[Connection], work: Callable[[Any], Any]) -> None:
    """What a worker does: answers until its pipe is closed."""
    # Ctrl-C reaches every process of the terminal; the main one handles it for all. Its stop message unwinds the stack,
    # so that no partially written file remains.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    for other in inherited:
        # An open copy here would keep the pipes open after the main process has ended.
        other.close()
    while True:
        try:
            start, chunk = connection.recv()
        except (EOFError, ConnectionError):
            return
        connection.send((start, [work(item) for item in chunk]))
