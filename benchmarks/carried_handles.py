"""Programs whose handles are carried by loops: planned, synchronised, run and watched.

Usage: python benchmarks/carried_handles.py [--count N] [--seed S] [--target CHIP] [--failures DIR]

Each random program of ``carried_programs.py`` is planned and synchronised (``assign-memory``, ``insert-sync``). The
result has to leave the same bytes as the program does in the order of its text, under all schedules, and the sanitizers
have to find nothing in it. The exit code is 1 otherwise, and when a program is refused."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import click
import numpy as np
from carried_programs import COUNT, CarriedProgram
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse, print_module
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import VERIFY_PASSES
from pto_dialect.passes.run import run_passes
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

CHIPS = ("a5", "a2a3")
PASSES = ("assign-memory", "insert-sync")
SCHEDULES = ("text", "oldest", "newest", "random:1")
NUMBERS = (0, 2, 3)
"""What the index argument is; loops run up to it."""
BATCH = 50
"""Programs that a process judges before another one replaces it."""


def arrays(number: int) -> list[object]:
    """The arguments of a run."""
    first = np.arange(COUNT, dtype=np.float32) % 97 - 40
    return [first, first[::-1].copy() * 3, number]


def outcome(module: ModuleOp, number: int, schedule: str) -> list[bytes]:
    """What a run leaves in the buffers."""
    values = arrays(number)
    options = RunOptions(fill="random", schedule=Schedule.parse(schedule, strict=schedule != "text"))
    Kernel(module, None, None, options).run(values, 1)
    return [value.tobytes() for value in values if isinstance(value, np.ndarray)]


def findings(module: ModuleOp, number: int) -> list[str]:
    """The rules that the sanitizers name."""
    instrumented = InstrumentedKernel(module, None, None, RunOptions(fill="random"), SanitizeOptions(sync="strict"))
    instrumented.run(arrays(number), 1)
    return [finding.rule for finding in instrumented.observer.findings.all]


def judge(text: str, passes: Sequence[str] = PASSES) -> tuple[str, str]:
    """``clean``, or what is wrong with a program and its lowered form: a kind and a reason."""
    source, module = parse(text, "program.pto"), parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    if not run_passes(module, [*VERIFY_PASSES, *passes], engine, None):
        return "refused", " ".join(sorted({one.rule for one in engine.diagnostics}))
    lowered = parse(print_module(module), "lowered.pto")
    for number in NUMBERS:
        expected = outcome(source, number, "text")
        for schedule in SCHEDULES:
            if outcome(lowered, number, schedule) != expected:
                return "differs", f"n={number} {schedule}"
        found = findings(lowered, number)
        if found:
            return "finding", f"n={number} {' '.join(sorted(set(found)))}"
    return "clean", ""


def judged(number: int, only: str | None, failures: Path | None) -> tuple[str, str]:
    """What becomes of the program with a number; one that is not clean is kept."""
    text = CarriedProgram(number, only or CHIPS[number % 2]).text
    kind, why = judge(text)
    if kind != "clean" and failures is not None:
        failures.mkdir(parents=True, exist_ok=True)
        (failures / f"{number}.pto").write_text(text, encoding="utf-8")
    return kind, why


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--count", default=100, show_default=True, help="programs")
@click.option("--seed", default=0, show_default=True, help="number of the first program")
@click.option("--target", "only", type=click.Choice(CHIPS), help="one chip; default: half of them for each")
@click.option("--failures", type=click.Path(file_okay=False, path_type=Path), help="folder for what is not clean")
def main(count: int, seed: int, only: str | None, failures: Path | None) -> None:
    """Lower random programs with carried handles and say what becomes of them."""
    kinds: Counter[str] = Counter()
    started = perf_counter()
    numbers = range(seed, seed + count)
    with get_context("fork").Pool(1, maxtasksperchild=BATCH) as pool:
        one = partial(judged, only=only, failures=failures)
        for number, (kind, why) in zip(numbers, pool.imap(one, numbers), strict=True):
            kinds[kind] += 1
            if kind != "clean":
                print(f"{number}: {kind} {why}", flush=True)
    print(f"{count} programs, {perf_counter() - started:.0f} s")
    print(*(f"{kind}: {number}" for kind, number in sorted(kinds.items())), sep="\n")
    sys.exit(0 if kinds["clean"] == count else 1)


if __name__ == "__main__":
    main()
