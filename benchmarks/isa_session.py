"""One test of a test program: launches are run by the package, comparisons by the test itself."""

from __future__ import annotations

import functools
import os
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TextIO

AGREES, DIFFERS, REJECTED, RAISES, NOT_MAPPED, NO_RESULT = (
    "agrees",
    "differs",
    "rejected",
    "raises",
    "not mapped",
    "no result",
)
SECONDS = 120

Launch = Callable[[Path], str]
"""Runs what a test has launched, in a folder; returns what the rules say against it."""


class Outcome(NamedTuple):
    """What became of a test.

    ``loose``: the test's own comparison passes, which lets some numbers differ. A program that a rule refuses is run
    all the same; the reason says whether its results would agree.
    """

    outcome: str
    reason: str = ""
    loose: bool = False
    seconds: float = 0.0


class Failure(Exception):
    def __init__(self, outcome: str, reason: str) -> None:
        super().__init__(reason)
        self.outcome = outcome


def names_of(program: Path) -> list[str]:
    """The tests of a program."""
    done = subprocess.run([program], capture_output=True, text=True, timeout=SECONDS, check=True)
    return done.stdout.split()


def run_test(program: Path, name: str, launch: Launch) -> Outcome:
    """Runs one test; ``launch`` runs what it launches."""
    started = time.perf_counter()
    hears, says = os.pipe(), os.pipe()
    env = {**os.environ, "ISA_HEARS": str(hears[0]), "ISA_SAYS": str(says[1])}
    process = subprocess.Popen(
        [program, name],
        cwd=program.parent,
        env=env,
        pass_fds=(hears[0], says[1]),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(hears[0])
    os.close(says[1])
    limit = threading.Timer(SECONDS, process.kill)
    limit.start()
    try:
        with os.fdopen(hears[1], "w") as answers, os.fdopen(says[0]) as words:
            run = functools.partial(launch, program.parent)
            outcome = _converse(words, answers, run)
    except Failure as failure:
        outcome = Outcome(failure.outcome, str(failure))
    finally:
        limit.cancel()
        process.kill()
        process.wait()
    return outcome._replace(seconds=time.perf_counter() - started)


def _converse(words: TextIO, answers: TextIO, run: Callable[[], str]) -> Outcome:
    failed: list[str] = []
    differing: list[str] = []
    missing: list[str] = []
    rejection = ""
    runs = 0
    compared = 0
    for line in words:
        kind, *fields = line.rstrip("\n").split("|")
        if kind == "run":
            rejection = run() or rejection
            runs += 1
            answers.write("\n")
            answers.flush()
        elif kind == "failed":
            compared += runs > 0
            failed.append(fields[0])
        elif kind == "missing":
            return Outcome(NO_RESULT, "the kernels have no such launch function")
        elif kind == "file":
            missing.append(f"{Path(fields[0]).name} has {fields[1]} bytes, room for {fields[2]}")
        elif kind == "holds":
            # Some tests compare by themselves.
            compared += runs > 0
        elif kind == "compared":
            compared += 1
            different, allowed, count, first = int(fields[0]), int(fields[1]), fields[2], fields[3]
            if different > allowed:
                differing.append(f"{different} of {count} differ: {first}")
        elif kind == "done":
            if not compared or not runs:
                return Outcome(NO_RESULT, "; ".join(missing) or ("nothing is compared" if runs else "nothing runs"))
            if rejection:
                return Outcome(REJECTED, f"{rejection}; {'differs' if differing or failed else 'agrees'}")
            if differing:
                return Outcome(DIFFERS, differing[0], not failed)
            if failed:
                return Outcome(NO_RESULT if missing else DIFFERS, "; ".join(missing + failed))
            return Outcome(AGREES)
    return Outcome(NO_RESULT, "the test program stops before its end")
