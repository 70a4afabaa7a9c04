"""Ctrl-C while processes are being copied."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_held() -> Iterator[None]:
    """Makes Ctrl-C wait until the end of the block.

    A copy of this process that is made in the block never sees one before it has said what it does about it.
    Only for systems that can fork.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
