"""Feeds broken programs to the tool chain: none may raise, take long, or take much memory.

Usage: python benchmarks/fuzz.py [--count N] [--seed S] [-j WORKERS] [--tree FOLDER]... [--run SHARE] [--keep FOLDER]

Every input is parsed, verified and printed in both forms, and what was printed is read again; a share of the inputs
goes through the other passes and statistics, and a share of those that are accepted is compiled and runs, with and
without the sanitizers. Inputs are mutations (see ``fuzz_mutators.py``) of the project's examples and lit tests and of
the programs below each FOLDER. An input is made from the seed and its number alone. Each share of inputs has a process
of its own with a limit of memory, so that one that dies is known as well. Failing inputs are written to the folder
after ``--keep``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from fuzz_mutators import mutate

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.render import render_text
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.statistics import collect
from pto_dialect.passes.registry import PASS_TABLE
from pto_dialect.passes.run import run_passes
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

ROOT = Path(__file__).resolve().parent.parent
LIMIT_SECONDS = 10.0
"""Time of the processor that an input may take, whatever else the machine does."""

LONGEST_WAIT = 300
"""Seconds of any kind; a program that only waits takes no time of the processor."""

LIMIT_BYTES = 2 << 30
RUN_SECONDS = 1.0
"""What a run may take; programs may loop for ever, so longer ones are no failures."""
SHARE = 1000
WARM_UP = 300
"""Programs that are checked before the processes begin."""

LARGEST_SEED = 4_000
ELEMENTS = 4096


class TooSlow(BaseException):
    """An input took longer than the limit; not an Exception, so that nothing catches it."""


class Failure(NamedTuple):
    """An input that failed, and how."""

    number: int
    text: str
    message: str


def seeds(trees: Sequence[Path]) -> list[str]:
    """Texts to mutate."""
    files = [
        file for folder in (ROOT / "examples", ROOT / "lit-tests", *trees) for file in sorted(folder.rglob("*.pto"))
    ]
    texts: list[str] = []
    for file in files:
        text = file.read_text(encoding="utf-8", errors="replace")
        texts.extend(chunk for chunk in text.split("// -----") if chunk.strip() and len(chunk) <= LARGEST_SEED)
    return texts


def check(text: str, extra: bool, run: bool) -> str:
    """Puts ``text`` through the tools; errors of the program are fine, exceptions are not. What became of it."""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("fuzz.pto", text), engine)
    if module is None or engine.has_errors:
        render_text(engine.diagnostics)
        return "not parsed"
    verify_module(module, engine)
    for generic in (False, True):
        printed = print_module(module, generic=generic)
        if engine.has_errors:
            # What a wrong program is printed as is nobody's input.
            continue
        again = DiagnosticEngine()
        if parse_program(SourceFile("printed.pto", printed), again) is None or again.has_errors:
            raise AssertionError(
                f"printed form is not read: {again.diagnostics[0].rule}: {again.diagnostics[0].message}"
            )
    if extra:
        run_passes(module, [name for name in PASS_TABLE if name not in ("verify-structure",)], engine, None)
        collect(module, "fuzz.pto", None)
    render_text(engine.diagnostics)
    if engine.has_errors:
        return "refused"
    if run:
        return execute(module)
    return "accepted"


def execute(module: Any) -> str:
    """Runs the last function of ``module``, plainly and watched, for a moment."""
    from pto_dialect.runtime.compile.compiler import find_entry, functions_of
    from pto_dialect.runtime.errors import BindingError, ProgramError
    from pto_dialect.runtime.run.launch import Kernel
    from pto_dialect.runtime.run.machine import RunOptions
    from pto_dialect.sanitize.launch import InstrumentedKernel
    from pto_dialect.sanitize.options import SanitizeOptions, parse_checks

    functions = list(functions_of(module))
    if not functions:
        return "accepted"
    try:
        entry = find_entry(module, None)
    except ProgramError:
        entry = functions[-1]
    checks = parse_checks(("all",))
    result = "ran"
    for instrumented in (False, True):
        signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)
        kernel: Kernel | None = None
        try:
            if instrumented:
                kernel = InstrumentedKernel(
                    module, entry, None, RunOptions(fill="poison"), SanitizeOptions(checks, "auto")
                )
            else:
                kernel = Kernel(module, entry, None, RunOptions())
            values = list(arguments(kernel))
            signal.setitimer(signal.ITIMER_PROF, RUN_SECONDS)
            kernel.run(values)
        except TooSlow:
            if kernel is None:
                raise
            result = "ran too long"
        except (ProgramError, BindingError) as error:
            if getattr(error, "rule", "") == "internal":
                raise
            result = "not run"
        finally:
            signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)
    return result


def arguments(kernel: Any) -> Iterator[Any]:
    """A value for each argument of ``kernel``."""
    import numpy as np

    from pto_dialect.ir.core.types import TileType
    from pto_dialect.runtime.run.arguments import argument_format

    for _, type_ in kernel.arguments:
        format_ = argument_format(type_)
        if format_ is None:
            yield 1
            continue
        size = (type_.rows, type_.cols) if isinstance(type_, TileType) else ELEMENTS
        yield np.zeros(size, format_.storage)


def _alarm(number: int, frame: FrameType | None) -> None:
    raise TooSlow


def input_of(seed: int, number: int, texts: Sequence[str]) -> tuple[str, random.Random]:
    """The input with this number, and the generator of further choices about it."""
    rng = random.Random(f"{seed}:{number}")
    return mutate(rng, texts), rng


def work(seed: int, first: int, count: int, texts: Sequence[str], shares: tuple[float, float], pipe: int) -> None:
    """One share of the inputs, in a process of its own; reports its progress line by line to its parent."""
    # What programs print is not wanted.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    resource.setrlimit(resource.RLIMIT_AS, (LIMIT_BYTES, LIMIT_BYTES))
    signal.signal(signal.SIGPROF, _alarm)
    signal.signal(signal.SIGALRM, _alarm)
    extra_share, run_share = shares
    outcomes: Counter[str] = Counter()
    slowest = 0.0

    def tell(**what: Any) -> None:
        os.write(pipe, (json.dumps(what) + "\n").encode())

    for number in range(first, first + count):
        tell(at=number)
        text, rng = input_of(seed, number, texts)
        signal.setitimer(signal.ITIMER_PROF, LIMIT_SECONDS)
        signal.alarm(LONGEST_WAIT)
        started = time.process_time()
        try:
            outcomes[check(text, rng.random() < extra_share, rng.random() < run_share)] += 1
        except TooSlow:
            tell(failed=number, message=f"took more than {LIMIT_SECONDS} s")
        except KeyboardInterrupt:
            return
        except BaseException:
            tell(failed=number, message=traceback.format_exc(limit=-4))
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.alarm(0)
        slowest = max(slowest, time.process_time() - started)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    tell(done=True, outcomes=outcomes, slowest=slowest, peak=peak)


class Campaign:
    """All shares, at most ``jobs`` at a time."""

    def __init__(self, seed: int, texts: Sequence[str], shares: tuple[float, float], keep: Path | None) -> None:
        self.seed = seed
        self.keep = keep
        self.texts = texts
        self.shares = shares
        self.outcomes: Counter[str] = Counter()
        self.failures: list[Failure] = []
        self.slowest = 0.0
        self.peak = 0

    def warm_up(self) -> None:
        """Loads what most inputs need, which all processes then share."""
        with suppress(Exception):
            for text in random.Random(self.seed).sample(self.texts, min(WARM_UP, len(self.texts))):
                check(text, True, False)

    def run(self, first: int, count: int, jobs: int) -> None:
        """Works off ``count`` inputs from number ``first`` on."""
        pending = [(start, min(SHARE, first + count - start)) for start in range(first, first + count, SHARE)][::-1]
        running: dict[int, tuple[int, int, int]] = {}
        total = len(pending)
        while pending or running:
            while pending and len(running) < jobs:
                start, size = pending.pop()
                reading, writing = os.pipe()
                process = os.fork()
                if process == 0:
                    os.close(reading)
                    work(self.seed, start, size, self.texts, self.shares, writing)
                    os._exit(0)
                os.close(writing)
                running[process] = reading, start, size
            # One that is waited for keeps the others' pipes filling; what they write is little.
            process = next(iter(running))
            reading, start, size = running.pop(process)
            with os.fdopen(reading, encoding="utf-8") as stream:
                at = self._listen(stream)
            _, status = os.waitpid(process, 0)
            if at is not None:
                self._fail(at, f"the process died (status {status})")
                if at + 1 < start + size:
                    pending.append((at + 1, start + size - at - 1))
            left = len(pending) + len(running)
            end = "\r" if sys.stderr.isatty() else "\n"
            print(f"{total - left}/{total} shares, {len(self.failures)} failures", end=end, file=sys.stderr, flush=True)

    def _listen(self, stream: Any) -> int | None:
        """Takes what a process reports; the input at which it died, if it did."""
        at: int | None = None
        for line in stream:
            what = json.loads(line)
            at = what.get("at", at)
            if "failed" in what:
                self._fail(what["failed"], what["message"])
            if "done" in what:
                self.outcomes.update(what["outcomes"])
                self.slowest = max(self.slowest, what["slowest"])
                self.peak = max(self.peak, what["peak"])
                return None
        return at

    def _fail(self, number: int, message: str) -> None:
        failure = Failure(number, input_of(self.seed, number, self.texts)[0], message)
        self.failures.append(failure)
        if self.keep is not None:
            self.keep.mkdir(parents=True, exist_ok=True)
            file = self.keep / f"{self.seed}-{number}.pto"
            file.write_text(failure.text, encoding="utf-8", errors="surrogatepass")
            file.with_suffix(".txt").write_text(message, encoding="utf-8", errors="backslashreplace")

    def report(self, seconds: float, count: int) -> str:
        """Figures, and one failure of each kind."""
        found = ", ".join(f"{number:,} {what}" for what, number in self.outcomes.most_common())
        text = f"{count:,} inputs ({found}), {len(self.failures)} failures, {seconds:.0f} s\n"
        text += f"slowest {self.slowest:.1f} s, memory at most {self.peak / (1 << 20):.0f} MiB\n"
        kinds: dict[str, list[Failure]] = {}
        for failure in self.failures:
            kinds.setdefault(_kind(failure.message), []).append(failure)
        for same in sorted(kinds.values(), key=len, reverse=True):
            text += f"--- {len(same)} times, first number {same[0].number}\n{same[0].message}\n"
        return text


def _kind(message: str) -> str:
    """Failures from one location are one kind."""
    places = [line for line in message.splitlines() if line.lstrip().startswith("File ")]
    return places[-1] if places else message[:60]


def main() -> int:
    """Runs the campaign; 1 when an input failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first input")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--tree", type=Path, action="append", default=[], help="folder of further programs")
    parser.add_argument("--extra", type=float, default=0.2, help="share that goes through all passes and statistics")
    parser.add_argument("--run", type=float, default=0.1, help="share of accepted programs that run")
    parser.add_argument("--keep", type=Path, help="folder for failing inputs")
    options = parser.parse_args()
    campaign = Campaign(options.seed, seeds(options.tree), (options.extra, options.run), options.keep)
    started = time.perf_counter()
    campaign.warm_up()
    campaign.run(options.first, options.count, options.j)
    print(campaign.report(time.perf_counter() - started, options.count), end="")
    return 1 if campaign.failures else 0


if __name__ == "__main__":
    sys.exit(main())
