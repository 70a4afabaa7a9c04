"""A limit for the time that a piece of work may take."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import math
import signal
import sys
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic, process_time
from types import FrameType
from typing import Any

GRACE = 1.0
"""Seconds that processes which share the work have to say where they were."""

_SOON = 0.02
"""Seconds until the alarm is repeated that found what must not be cut off."""
_AGAIN = 1.0
"""Seconds until the alarm is repeated, for code that handles the first exception as one of its own."""
PATIENCE = 20.0
"""How many times as long as its processor time a piece of work may take by the clock, on a machine with other work."""


class TimedOut(BaseException):
    """The time is over. Like ``KeyboardInterrupt`` it is no ``Exception``: whoever handles errors of the work itself
    must not take it for one.

    ``place`` is where the work was, if another process has reported it; ``line`` the line of generated source that
    issued the current instruction, if it was in a queue.
    """

    def __init__(self, place: Any = None) -> None:
        super().__init__("the time limit is over")
        self.place = place
        self.line = 0


_end: float | None = None
"""When the time of the running ``deadline`` is over."""
_budget: float | None = None
"""When the processor time of the running ``deadline`` is over; ``None`` where it counts by the clock."""
_block: FrameType | None = None
"""Who waits for the running ``deadline``."""
_whole: set[int] = set()
"""Threads that execute something that must not be interrupted."""


def can_limit() -> bool:
    """Returns True where the system has the timers that ``deadline`` needs."""
    return hasattr(signal, "setitimer")


@contextmanager
def deadline(seconds: float | None, processor: bool = False) -> Iterator[None]:
    """Raises ``TimedOut`` in the block, wherever it is, when ``seconds`` have passed; ``None`` is no limit.

    With ``processor`` they are seconds of the processor, which do not depend on the other work of the machine; by the
    clock it may take ``PATIENCE`` times as long.
    A call into numpy ends before the exception is raised, and so does an import that the block has begun: a module that
    was cut off would lack what it registers. A finalizer or a callback of the garbage collector ends too: Python would
    print the exception and continue. Only the main thread of a process shares its limit with copies of the
    process. Within another limit both hold: the outer one ends the outer block as soon as the inner one is left.
    From Python 3.12 on, an exception at the end of a ``while`` loop passes by the handlers of the function that has the
    loop: the block calls what it limits.
    """
    global _end, _block, _budget
    if seconds is None:
        yield
        return
    if threading.current_thread() is not threading.main_thread():
        with _deadline_of_thread(seconds, processor):
            yield
        return
    outer = _end, _block, _budget
    before = signal.signal(signal.SIGALRM, _over)
    _end, _block = monotonic() + seconds * (PATIENCE if processor else 1), _caller()
    _budget = process_time() + seconds if processor else None
    if outer[0] is not None:
        _end = min(_end, outer[0])
    if _budget is not None and outer[2] is not None:
        _budget = min(_budget, outer[2])
    report, sys.unraisablehook = sys.unraisablehook, _again_if_forgotten(sys.unraisablehook)
    _arm(0.0)
    try:
        yield
    finally:
        _end, _block, _budget = outer
        signal.setitimer(signal.ITIMER_REAL, 0)
        sys.unraisablehook = report
        signal.signal(signal.SIGALRM, before)
        _arm(0.0)


@contextmanager
def whole() -> Iterator[None]:
    """Something short that a limit must not cut off: it is over before ``TimedOut`` is raised.

    Around a fork, as what libraries do before and after it takes and releases their locks, and an exception there would
    leave one locked for ever.
    """
    thread = threading.get_ident()
    _whole.add(thread)
    try:
        yield
    finally:
        _whole.discard(thread)


@contextmanager
def quiet_fork() -> Iterator[None]:
    """Around a fork. Python warns of threads, which BLAS keeps; it is made to be copied. Limits of time wait."""
    with whole(), warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        yield


@contextmanager
def _deadline_of_thread(seconds: float, processor: bool) -> Iterator[None]:
    """The same in a thread that is not the main one, to which no signals come."""
    over = threading.Event()
    thread, block = threading.get_ident(), _caller()
    number = ctypes.c_ulong(thread)
    end, budget = monotonic() + seconds * PATIENCE, process_time() + seconds

    def wait() -> None:
        left = seconds
        while not over.wait(left):
            left = _SOON
            if processor and (more := _left_of(budget, end)) > 0:
                left = max(more, _SOON)
                continue
            if thread not in _whole and not _must_end(sys._current_frames().get(thread), block):
                ctypes.pythonapi.PyThreadState_SetAsyncExc(number, ctypes.py_object(TimedOut))
                left = _AGAIN

    threading.Thread(target=wait, daemon=True).start()
    try:
        yield
    finally:
        over.set()


def may_be_limited() -> bool:
    """Returns whether a ``deadline`` is running; those of other threads than the main one do not report."""
    return _end is not None or threading.current_thread() is not threading.main_thread()


def is_over() -> bool:
    """Returns whether the time of the running ``deadline`` is over: what an inner one has raised belongs to it then."""
    return _left() <= 0


def resume() -> None:
    """Continues the running limit in a copy of the process, which does not inherit timers."""
    _arm(0.0)


@contextmanager
def grace() -> Iterator[None]:
    """A little more time, to receive from other processes under the same limit what they were executing.

    Afterwards the limit holds again, unless it has passed: then their reports count.
    """
    _arm(GRACE)
    try:
        yield
    finally:
        if _end is not None and _end <= monotonic():
            signal.setitimer(signal.ITIMER_REAL, 0)
        else:
            _arm(0.0)


def _left_of(budget: float, end: float) -> float:
    """Returns the seconds that a budget of processor time lasts at least, if there is time until ``end`` at all."""
    return min(budget - process_time(), end - monotonic())


def _left() -> float:
    """Returns the seconds that the running limit lasts at least; infinite without one."""
    if _end is None:
        return math.inf
    return _end - monotonic() if _budget is None else _left_of(_budget, _end)


def _arm(extra: float) -> None:
    if _end is not None:
        signal.setitimer(signal.ITIMER_REAL, max(_left() + extra, 1e-6), _AGAIN)


def _over(number: int, frame: FrameType | None) -> None:
    if _budget is not None and _end is not None and (left := _left_of(_budget, _end)) > 0:
        signal.setitimer(signal.ITIMER_REAL, max(left, _SOON), _AGAIN)
        return
    if threading.get_ident() in _whole or _must_end(frame, _block):
        signal.setitimer(signal.ITIMER_REAL, _SOON, _AGAIN)
        return
    raise TimedOut


def _again_if_forgotten(report: Callable[[Any], object]) -> Callable[[Any], object]:
    """Returns a hook for exceptions that Python only reports: ``TimedOut`` is raised again instead."""

    def again(lost: Any) -> None:
        if lost.exc_type is TimedOut:
            signal.setitimer(signal.ITIMER_REAL, _SOON, _AGAIN)
        else:
            report(lost)

    return again


def _caller() -> FrameType | None:
    """Returns the frame outside of this file and of context managers from which it was called."""
    frame = sys._getframe()
    while frame is not None and frame.f_code.co_filename in (__file__, contextlib.__file__):
        frame = frame.f_back
    return frame


def _must_end(frame: FrameType | None, block: FrameType | None) -> bool:
    """Returns whether ``frame``, called by ``block``, imports a module or is code whose exceptions Python only
    prints."""
    forgotten = {getattr(callback, "__code__", None) for callback in gc.callbacks}
    while frame is not None and frame is not block:
        code = frame.f_code
        if code.co_filename.startswith("<frozen importlib") or code.co_name == "__del__" or code in forgotten:
            return True
        if code.co_filename == weakref.__file__ and code.co_name == "remove":
            return True
        frame = frame.f_back
    return False
