"""How many processes share the inputs of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence

from .inputs import Input, total_size

PARALLEL_BYTES = 1_000_000
"""Inputs of this size together take longer than starting further processes does."""


class WorkerError(RuntimeError):
    """A worker process ended without an answer."""


def default_jobs(inputs: Sequence[Input]) -> int:
    """One process for little work, else one for each processor this process may use."""
    if len(inputs) < 2 or total_size(inputs) < PARALLEL_BYTES:
        return 1
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1
