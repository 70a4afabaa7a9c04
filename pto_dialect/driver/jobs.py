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
    return 1 if len(inputs) < 2 or total_size(inputs) < PARALLEL_BYTES else processors()


def processors() -> int:
    """Returns how many processors this process may use. More processes than that take more time and memory for
    nothing."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


def bounded(jobs: int) -> tuple[int, str]:
    """Returns ``jobs``, but at most one for each processor, and a note where these are fewer, else nothing."""
    most = processors()
    if jobs <= most:
        return jobs, ""
    those = "1 processor is usable, so 1 process runs" if most == 1 else f"{most} processors are usable, so as many run"
    return most, f"note: -j {jobs}: {those}\n"
