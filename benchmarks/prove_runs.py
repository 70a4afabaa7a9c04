"""Do runs contradict the proofs of ``pto prove``?

Usage: python benchmarks/prove_runs.py ENTRIES.json [--each N] [--part K/M] [--seed S] [--verbose]

Takes the proven functions among the entries that ``prove_corpus.py --json ENTRIES.json`` has written. Each is run
sanitized, with random integers as arguments, random contents of its buffers and a random schedule, until N runs have
come to their end. A run that its time limit or an error stops is counted apart, and so is one with signals to or from
cores that do not take part in it: they stay, or never come. What such functions lack, later ones run more, at most
three times as much. A finding about the order of pipes, or a deadlock, contradicts the proof, unless the call is
outside of what the verdict takes for granted, which is printed with the findings. The exit code is 1 if some run has a
finding. ``--part`` takes every M-th function from the K-th on.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path
from random import Random
from time import process_time
from typing import Any

import click
import numpy as np
from prove_corpus import module_of, target_of
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.driver.explore.synthesized import zeros_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.prove.reader import entry_functions
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

RULES = frozenset(
    (
        *("race-raw", "race-war", "race-waw", "race-inverted", "race-same-pipe", "race-cross-core", "l0c-handover"),
        *("sync-mte3-reorder", "sync-deadlock", "sync-flag-unconsumed", "sync-flag-depth", "sync-flag-range"),
        *("sync-buf-range", "sync-sem-range", "sync-buf-nesting"),
    )
)
"""Rules of sanitizers about what a proof states."""
ALONE = ("sync-flag-unconsumed", "sync-deadlock")
OTHERS = Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL
NUMBERS = (0, 1, 2, 3, 4, 5, 6, 7, 8, 11, 16, 31, 32, 33, 64, 100, 128)
RUNS_OF_CALL = 10
"""Schedules and contents with which one set of arguments is run."""
SECONDS = 2.0
"""Processor time of one run."""
SECONDS_OF_FUNCTION = 20.0
"""Processor time after which no other set of arguments is begun."""
MOST = 3
"""How many times as many runs as the others a function has at most, for those that other functions lack."""
CLEAN, ALONE_CLEAN, LATE = "clean", "clean but for signals of other cores", "clean until its time was over"


def proven(entries: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], ModuleOp, str | None]]:
    """The proven functions among ``entries``, with their programs."""
    for entry in entries:
        if entry["verdict"] == "proven":
            path = Path(entry["file"])
            target = target_of(path.read_text(encoding="utf-8", errors="replace"))
            module = module_of(path, target)
            if isinstance(module, ModuleOp):
                yield entry, module, target


class Runs:
    """Random runs of one function."""

    def __init__(self, module: ModuleOp, target: str | None, name: str, random: Random) -> None:
        self.module, self.target, self.name, self.random = module, target, name, random
        function = next(one for one in entry_functions(module) if one.properties["sym_name"].data == name)  # pyright: ignore[reportAttributeAccessIssue]
        self.signals_others = any(has_role(op, OTHERS) for op in function.walk())
        self.counts: Counter[str] = Counter()
        self.kernels: dict[bool, InstrumentedKernel] = {}

    @property
    def ended(self) -> int:
        """Runs that came to their end, or to a finding."""
        return sum(count for what, count in self.counts.items() if what == CLEAN or what.startswith("reports"))

    def run(self, count: int) -> None:
        """Counts what runs report, until ``count`` of them have ended, or the time is over."""
        end = process_time() + SECONDS_OF_FUNCTION
        for _ in range(2 * -(-count // RUNS_OF_CALL)):
            if self.ended >= count or process_time() > end:
                break
            self.call(min(RUNS_OF_CALL, count - self.ended))

    def call(self, count: int) -> None:
        """Counts what ``count`` runs with one set of arguments report, fewer where one of them takes too long."""
        blocks = self.random.choice((1, 1, 2, 3))
        plain = Kernel(self.module, self.name, self.target, RunOptions(fill="zero"))
        numbers = {name: self.random.choice(NUMBERS) for name, _ in plain.arguments}
        numbers = {name: self.random.choice((number, number % 4)) for name, number in numbers.items()}
        try:
            with deadline(SECONDS, processor=True), redirect_stdout(StringIO()):
                values = zeros_of(plain, numbers, blocks)
        except (TimedOut, ProgramError, BindingError, MemoryError) as error:
            self.counts[f"no call: {getattr(error, 'rule', type(error).__name__)}"] += 1
            return
        for _ in range(count):
            result = self.one(values, blocks)
            self.counts[result] += 1
            if result == LATE:
                break

    def kernel(self, schedule: Schedule) -> InstrumentedKernel:
        """The function, compiled once for all schedules that reorder pipes, without findings and events."""
        kernel = self.kernels.get(schedule.queued)
        if kernel is None:
            sanitize = SanitizeOptions(frozenset(("race", "deadlock", "sync")), "strict")
            options = RunOptions(fill="zero", schedule=schedule)
            kernel = InstrumentedKernel(self.module, self.name, self.target, options, sanitize)
            self.kernels[schedule.queued] = kernel
        kernel.options = replace(kernel.options, schedule=schedule)
        kernel.observer.forget()
        return kernel

    def one(self, values: list[Any], blocks: int) -> str:
        """What one run reports about the order."""
        kind = self.random.choice(("text", "oldest", "newest", "random", "random", "random"))
        text = f"random:{self.random.randrange(1 << 30)}" if kind == "random" else kind
        kernel = self.kernel(Schedule.parse(text, strict=True))
        end = CLEAN
        try:
            with deadline(SECONDS, processor=True), redirect_stdout(StringIO()):
                kernel.run([self.filled(value) for value in values], blocks)
        except TimedOut:
            end = LATE
        except ProgramError as error:
            end = f"clean until {error.rule}" if error.rule not in RULES else f"reports {error.rule}"
        rules = {finding.rule for finding in kernel.observer.findings.all} & RULES
        if end != CLEAN or rules:
            self.kernels.clear()  # A run that was cut off leaves its cores as they were.
        alone = rules | {end}
        if (
            self.signals_others
            and alone != {CLEAN}
            and alone <= {*ALONE, CLEAN, *(f"reports {rule}" for rule in ALONE)}
        ):
            return ALONE_CLEAN
        return f"reports {', '.join(sorted(rules))}" if rules else end

    def filled(self, value: Any) -> Any:
        """A copy of an argument with random contents."""
        if not isinstance(value, np.ndarray):
            return value
        sample = np.random.default_rng(self.random.randrange(1 << 30)).integers(0, 4, min(value.size, 4096))
        return np.resize(sample.astype(value.dtype), value.shape)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("table", metavar="ENTRIES.json", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--each", type=click.IntRange(1), default=20, show_default=True, help="Runs of each function that end.")
@click.option("--part", default="1/1", show_default=True, help="K/M: every M-th function from the K-th on.")
@click.option("--seed", type=int, default=1, show_default=True, help="Of arguments, contents and schedules.")
@click.option("--verbose", is_flag=True, help="Name each function with what its runs report.")
def main(table: Path, each: int, part: str, seed: int, verbose: bool) -> None:
    """Run the proven functions of the table."""
    first, parts = (int(one) for one in part.split("/"))
    total: Counter[str] = Counter()
    functions = contradicted = lacking = ended = 0
    chosen = [one for one in json.loads(table.read_text(encoding="utf-8")) if one["verdict"] == "proven"]
    for entry, module, target in proven(chosen[first - 1 :: parts]):
        functions += 1
        runs = Runs(module, target, entry["name"], Random(f"{seed} {entry['file']} {entry['name']}"))
        runs.run(min(each + lacking, MOST * each))
        lacking += each - runs.ended
        ended += runs.ended
        total += runs.counts
        reports = [one for one in runs.counts if one.startswith("reports")]
        contradicted += bool(reports)
        if verbose or reports:
            shown = ", ".join(f"{count} {what}" for what, count in runs.counts.most_common())
            print(f"{entry['file']} @{entry['name']}: {shown}; {entry['message']}", flush=True)
    print(f"{functions} proven functions, {ended} runs that ended, {contradicted} functions with a report")
    for what, count in total.most_common():
        print(f"  {count} {what}")
    sys.exit(1 if contradicted else 0)


if __name__ == "__main__":
    main()
