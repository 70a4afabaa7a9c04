"""Copies of a process: where there can be some, and Ctrl-C while one is made."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def can_fork() -> bool:
    """Returns True where a process can be copied safely."""
    return hasattr(os, "fork") and sys.platform != "darwin"


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
