"""Pausing the garbage collector while a module is read, checked or printed.

These stages make or visit many objects that all stay alive, so that collections find nothing and cost 10 to 35 % of the
time. The same holds for the first collection after the pause, which would visit all of them: they are moved to the
oldest generation, which the next full collection visits.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from pto_dialect.accel import enabled

_MOST = 500_000
"""Objects that may be put aside before a new program makes a full collection due."""


class _Aside:
    """How many objects were put aside since the last full collection that was made for them, and whether somebody else
    keeps objects from the collector, who would get them back by what is done here."""

    count = 0
    shared = False


_THRESHOLD = 200_000
"""A start allocates some 85,000 objects that live as long as the process; collecting among them takes 40 ms."""


def collect_rarely() -> None:
    """Makes collections rare, for processes of our own."""
    if enabled("collector"):
        gc.set_threshold(_THRESHOLD, 20, 100)


def put_all_aside() -> None:
    """Keeps all objects that exist now from the collector, for processes of our own."""
    if enabled("collector"):
        gc.freeze()


@contextmanager
def all_aside() -> Iterator[None]:
    """Keeps all objects that exist now from the collector, while processes are made that share their memory."""
    if not enabled("collector"):
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def paused(*, anew: bool = False) -> Iterator[None]:
    """No collections inside; afterwards the collector is as it was.

    ``anew``: a new program begins, so that earlier ones may have become garbage.
    """
    if not enabled("collector"):
        yield
        return
    collecting = gc.isenabled()
    if collecting and anew and _Aside.count > _MOST:
        _Aside.count = 0
        gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            _put_aside()
            gc.enable()


def _put_aside() -> None:
    """Makes the new objects old ones without looking at them."""
    new = gc.get_count()[0]
    if new <= gc.get_threshold()[0] or _Aside.shared:
        return
    if gc.get_freeze_count():
        _Aside.shared = True
        return
    _Aside.count += new
    gc.freeze()
    gc.unfreeze()
