"""One line of the table: what is measured, beside what, and what is promised."""

from __future__ import annotations

import gc
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any, NamedTuple

Times = tuple[float, float]
"""Seconds of our side and of the anchor."""


class Row(NamedTuple):
    """``sample`` measures once, in a fresh process, in the folder that ``prepare`` filled (a process of its own).

    ``goal`` limits the ratio ours / anchor, or anchor / ours with ``at_least``; ``None`` promises nothing. Without an
    anchor (``absolute``) the second time is the goal in seconds, the ratio the part of it that is used. ``rounds``
    is the number of samples; ``slow`` rows run only when they are named or with ``--slow``. Rows with ``extreme`` show
    the worst of many programs: two versions can differ in which one it is, so their ratios are compared, not seconds.
    """

    what: str
    sample: Callable[[Path], Times]
    goal: float | None
    at_least: bool = False
    absolute: bool = False
    rounds: int = 3
    prepare: Callable[[Path], None] | None = None
    slow: bool = False
    extreme: bool = False


CLOCK = "PTO_BENCH_CLOCK"
"""The variable that says which seconds count: ``wall`` (the default) or ``processor``."""


def processor_time() -> float:
    """Seconds of the processor that this process and its ended children have taken."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return process_time() + children.ru_utime + children.ru_stime


def clock() -> Callable[[], float]:
    """What rows measure with. Time of the processor is for machines that do other work as well; rows that are about
    several processes use the time that passes in any case."""
    return processor_time if os.environ.get(CLOCK) == "processor" else perf_counter


def alternate(
    ours: Callable[[], Any],
    anchor: Callable[[], Any],
    rounds: int,
    *,
    warm_up: int = 1,
    now: Callable[[], float] | None = None,
) -> Times:
    """Seconds of the fastest run of both, run alternately: what other work on the machine adds is left out."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(warm_up):
        ours()
        anchor()
    for _ in range(rounds):
        for record, function in zip(times, (ours, anchor), strict=True):
            gc.collect()
            record.append(seconds(function, now))
    return min(times[0]), min(times[1])


def seconds(function: Callable[[], Any], now: Callable[[], float] | None = None) -> float:
    """How long one call takes, by the clock ``now``, or the one that was requested."""
    now = now or clock()
    started = now()
    function()
    return now() - started


def command(*words: str | Path, succeeds: bool = True) -> Callable[[], None]:
    """Runs a command of this environment, or fails; Python may write its compiled files. Without ``succeeds`` the
    command may end with an error, as it does on wrong programs."""
    scripts = Path(sys.executable).parent
    first = scripts / str(words[0])
    line = [str(first if first.exists() else words[0]), *map(str, words[1:])]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}

    def call() -> None:
        subprocess.run(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=succeeds, env=environment)

    return call


def python(code: str) -> Callable[[], None]:
    """Runs Python code in a fresh process."""
    return command(sys.executable, "-c", code)


def programs_below(folders: Sequence[Path], count: int, seed: int = 0) -> list[Path]:
    """Up to ``count`` programs below the folders, the same for the same seed."""
    import random

    found = sorted(path for folder in folders for path in folder.rglob("*.pto"))
    return sorted(random.Random(seed).sample(found, min(count, len(found))))
