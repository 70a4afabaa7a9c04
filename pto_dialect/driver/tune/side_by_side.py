"""Candidates that several processes measure.  Source: docs/tune.md, "What is done with each candidate"."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from pto_dialect.diagnostics.diagnostic import Diagnostic

from ..launch.document import LaunchError
from ..workers import in_parallel
from .measure import Measured, Tuner
from .space import Candidate


def measured(tuner: Tuner, chosen: Sequence[Candidate], jobs: int) -> list[Measured]:
    """Returns what became of ``chosen``, in their order, measured by ``jobs`` processes; the same as from one. Raises
    ``LaunchError`` as ``Tuner.measure`` does, ``WorkerError`` where a process dies."""
    if jobs == 1:
        return [tuner.measure(one) for one in chosen]
    found: list[Measured] = []
    rest = iter(chosen)
    # Whatever the others are compared with has to be known before they run.
    for one in rest:
        found.append(tuner.measure(one))
        if tuner.reference:
            break
    found += _others(tuner, list(rest), jobs)
    return found


def _others(tuner: Tuner, rest: list[Candidate], jobs: int) -> Iterator[Measured]:
    if not rest:
        return
    for candidate, one in zip(rest, in_parallel(rest, partial(_one, tuner), min(jobs, len(rest))), strict=True):
        if isinstance(one, Diagnostic):
            raise LaunchError(one)
        one.candidate = candidate
        yield one


def _one(tuner: Tuner, candidate: Candidate) -> Measured | Diagnostic:
    """Returns what becomes of a candidate, in a process that measures it; without the program, which is made again
    where it is wanted."""
    try:
        found = tuner.measure(candidate)
    except LaunchError as error:
        return error.diagnostic
    found.module = None
    return found
