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

import numpy as np
from isa_record import NotMapped, read_record
from isa_text import program_of

from pto_dialect.api import ParseError, VerifyError, parse
from pto_dialect.runtime.api import compile as compile_kernel
from pto_dialect.runtime.errors import BindingError, ProgramError

AGREES, DIFFERS, REJECTED, RAISES, NOT_MAPPED, NO_RESULT = (
    "agrees",
    "differs",
    "rejected",
    "raises",
    "not mapped",
    "no result",
)
SECONDS = 120
SLACK = bytes(1 << 16)
"""Device memory is given out in pages: some kernels read after what their tests have requested."""


Launch = Callable[[Path, str, Path | None], str]
"""Runs what a test has recorded in a folder, for a target, and keeps its program; returns what the rules say."""


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


def run_test(program: Path, name: str, target: str, keep: Path | None = None, launch: Launch | None = None) -> Outcome:
    """Runs one test; ``keep`` is a file for its last program, ``launch`` runs what the test has recorded."""
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
            run = functools.partial(launch or run_record, program.parent, target, keep)
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
            failed.append(fields[0])
        elif kind == "file":
            missing.append(f"{Path(fields[0]).name} has {fields[1]} bytes, room for {fields[2]}")
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


def run_record(folder: Path, target: str, keep: Path | None) -> str:
    """Runs the program of a record on the files of the device memory; what the rules say against it."""
    try:
        record = read_record((folder / "record.txt").read_text())
        text, sizes = program_of(record, target)
    except NotMapped as error:
        raise Failure(NOT_MAPPED, str(error)) from None
    if keep is not None:
        keep.write_text(text)
    files = [folder / f"memory{number}.bin" for number in record.memories]
    buffers = [np.frombuffer(bytearray(file.read_bytes() + SLACK), np.uint8) for file in files]
    rejection = ""
    try:
        module = parse(text, filename="test.pto")
        try:
            kernel = compile_kernel(module, backend="emitc")
        except VerifyError as error:
            first = error.diagnostics[0]
            rejection = f"{first.message} [{first.rule}]"
            kernel = compile_kernel(parse(text, filename="test.pto"), backend="emitc", verify=False)
        kernel(*buffers, *sizes)
    except ParseError as error:
        raise Failure(REJECTED, f"{error.diagnostics[0].message} [{error.diagnostics[0].rule}]") from None
    except (ProgramError, BindingError) as error:
        rule = f" [{error.rule}]" if isinstance(error, ProgramError) else ""
        said = f"{str(error).splitlines()[0][:200]}{rule}"
        raise Failure(REJECTED if rejection else RAISES, rejection or said) from None
    except Exception as error:
        said = f"{type(error).__name__}: {error}"[:200]
        raise Failure(REJECTED if rejection else RAISES, rejection or said) from None
    for file, buffer in zip(files, buffers, strict=True):
        buffer[: -len(SLACK)].tofile(file)
    return rejection
