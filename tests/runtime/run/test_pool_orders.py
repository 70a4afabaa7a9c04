"""Messages to and from processes that stay, in one process: forms, orders, arguments and their end."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from pto_dialect.runtime.memory.spaces import Arena, Pointer
from pto_dialect.runtime.run import worker_pool
from pto_dialect.runtime.run.parallel import Failure, WorkerReport
from pto_dialect.runtime.run.worker_pool import ALIGNMENT, Order, PoolWorker, WorkerPool, _shared, form_of

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes stay on Linux only")


def pointer(array: np.ndarray, name: str = "x", start: int = 0) -> Pointer:
    """The bound form of an argument."""
    return Arena.from_array(array, name=name).pointer(start, array.dtype)


def test_forms_of_arguments() -> None:
    array, other = np.zeros(6, np.float32), np.zeros(3, np.int16)
    form = form_of([pointer(array, "x", 8), 5, 2.5, True, np.float32(1), pointer(other, "y")])
    assert form is not None and form[1:5] == (None,) * 4
    one, two = form[0], form[5]
    assert one is not None and two is not None
    assert (one.name, one.nbytes, one.offset, one.dtype, one.item_bytes) == ("x", 24, 8, "<f4", 4)
    assert (two.name, two.nbytes, two.offset, two.dtype, two.item_bytes) == ("y", 6, 0, "<i2", 2)
    assert one.base_align == pointer(array).arena.base_align
    local = Arena("ub", 64).pointer(0, np.float32)
    for bound in ([local], ["text"], [pointer(array), pointer(array)], [pointer(array), pointer(array[2:])]):
        assert form_of(bound) is None
    assert form_of([pointer(array[:3]), pointer(array[3:])]) is not None


def test_shared_memory_begins_at_pages() -> None:
    arrays = [np.zeros(size, np.uint8) for size in (1, ALIGNMENT, ALIGNMENT + 1, 0, 7)]
    form = form_of([pointer(arrays[0]), 5, *map(pointer, arrays[1:])])
    assert form is not None
    memory = _shared(form)
    assert {place: part.size for place, part in memory.items()} == {0: 1, 2: 4096, 3: 4097, 4: 0, 5: 7}
    starts = [part.__array_interface__["data"][0] for part in memory.values() if part.size]
    assert [start - starts[0] for start in starts] == [0, 4096, 8192, 16384]
    for place, part in memory.items():
        part[...] = place
    assert all((part == place).all() for place, part in memory.items())
    assert _shared((None,)) == {}


def a_pool(bound: list[Any]) -> Any:
    """A pool without processes."""
    found = WorkerPool.__new__(WorkerPool)
    form = form_of(bound)
    assert form is not None
    found.form, found.memory = form, _shared(form)
    return found


def test_arguments_are_those_of_the_order() -> None:
    array, other = np.arange(6, dtype=np.float32), np.arange(3, dtype=np.int16)
    bound = [pointer(array, "x", 8), 5, pointer(other, "y")]
    made = a_pool(bound)
    made.memory[0][...] = array.view(np.uint8)
    x, number, y = made._arguments(Order({1: 77}, [2], 4))
    assert number == 77 and made.nbytes == 30
    for found, given, part in ((x, bound[0], 0), (y, bound[2], 2)):
        assert found == Pointer(found.arena, given.offset, given.dtype, given.item_bytes)
        assert (found.arena.name, found.arena.base_align) == (given.arena.name, given.arena.base_align)
        assert found.arena.space == "gm" and found.arena.bytes.base is not None
        assert np.may_share_memory(found.arena.bytes, made.memory[part])
    assert (x.arena.constant, y.arena.constant) == (False, True)
    assert x.arena.bytes.view(np.float32).tolist() == array.tolist()


@pytest.mark.parametrize("broken", [False, True])
def test_life_of_a_process(broken: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """It carries out orders until the pipe ends, which is no error; anything else is."""
    codes: list[int] = []
    monkeypatch.setattr(worker_pool.os, "_exit", codes.append)
    monkeypatch.setattr(worker_pool, "put_all_aside", lambda: None)
    before = signal.getsignal(signal.SIGINT)
    made = a_pool([pointer(np.zeros(2, np.float32)), 5])
    made.tickets = 99

    def result(kernel: Any, bound: list[Any], blocks: int, tickets: int) -> WorkerReport:
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
        assert (kernel, blocks, tickets) == ("kernel", bound[1] + 1, 99)
        return WorkerReport([blocks])

    monkeypatch.setattr(worker_pool, "run_taken", result)
    source, orders = os.pipe()
    reports, sink = os.pipe()
    os.write(orders, b"".join(pickle.dumps(Order({1: n}, [], n + 1)) for n in (3, 8)) + b"?" * broken)
    os.close(orders)
    try:
        if broken:
            with pytest.raises(pickle.UnpicklingError):
                made._serve("kernel", [], source, sink)
        else:
            made._serve("kernel", [], source, sink)
    finally:
        signal.signal(signal.SIGINT, before)
    assert codes == [os.EX_SOFTWARE if broken else os.EX_OK]
    with os.fdopen(reports, "rb") as told:
        assert [pickle.load(told), pickle.load(told)] == [WorkerReport([4]), WorkerReport([9])]


def member(live: Any) -> PoolWorker:
    """A process that does something with the ends of its pipes."""
    source, orders = os.pipe()
    reports, sink = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(orders)
        os.close(reports)
        live(source, sink)
        os._exit(5)
    os.close(source)
    os.close(sink)
    return PoolWorker(pid, orders, reports)


def echo(source: int, sink: int) -> None:
    """Repeats the message that it gets."""
    while text := os.read(source, 4096):
        os.write(sink, text)


def test_orders_and_results() -> None:
    one = member(echo)
    for text in ([1], [2]):
        one.send(pickle.dumps(WorkerReport(text)))
        assert one.report() == WorkerReport(text) and one.is_alive()
    one.end(True)
    assert one.pid == 0 and not one.is_alive() and one.orders.closed and one.reports.closed
    one.end(True)


def test_a_process_that_ends_early() -> None:
    one = member(lambda *_: None)
    text = "a process that ran blocks has ended early (5)"
    assert one.report() == WorkerReport(failure=Failure(0, "internal", text))
    assert one.pid == 0 and not one.is_alive()
    one.end(True)


def test_a_process_of_another_one_is_left_alone() -> None:
    one = member(lambda source, _: signal.pause())
    one.end(False)
    assert one.is_alive() and one.pid
    os.kill(one.pid, signal.SIGKILL)
    os.waitpid(one.pid, 0)
    # Somebody else has waited for it.
    assert not one.is_alive() and one.pid == 0


def test_only_what_is_needed_stays_open() -> None:
    def live(source: int, sink: int) -> None:
        other = os.dup(sink)
        worker_pool._close_all_but(source, sink)
        found = []
        for end in (0, 1, 2, source, sink, other):
            with suppress(OSError):
                os.fstat(end)
                found.append(end)
        os.write(sink, pickle.dumps(WorkerReport([found == [0, 1, 2, source, sink]])))

    one = member(live)
    assert one.report() == WorkerReport([True])
    one.end(True)
