"""How many tile operations are lowered to instructions, and whether these compute the same.

Usage: python benchmarks/instructions.py FOLDER... [--pass PASS] [--target a5] [--run] [--only REGEX] [--limit SECONDS]

Every program below a FOLDER that has operations of the pass, lower-cube or lower-vector, gets addresses and flags where
it has none, and is lowered. Those that are not lowered are counted by what is in the way. With ``--run`` each
function that runs with arguments generated from its types runs before and after: the bytes have to be the same under
several schedules, and the sanitizers must find nothing about order that they do not find before. The exit code is 1
when something differs.
"""

from __future__ import annotations

import re
import signal
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from time import perf_counter
from typing import Any

import click
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect import parse
from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.driver.explore import synthesized
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.assign_memory.assign import AssignMemoryPass, lacking
from pto_dialect.passes.insert_sync.insert import InsertSyncPass
from pto_dialect.passes.instructions.writer import Function
from pto_dialect.passes.lower_cube.lower import LowerCubePass
from pto_dialect.passes.lower_vector.lower import LowerVectorPass
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

SCHEDULES = ("text", "oldest", "newest")
PASSES = {"lower-cube": LowerCubePass, "lower-vector": LowerVectorPass}
Lowering = LowerCubePass | LowerVectorPass
ORDER = ("race", "sync-", "l0c-handover")
"""How the rules begin that are about order."""


def programs(folders: Sequence[Path], only: str) -> Iterator[tuple[str, str]]:
    """Programs with their names."""
    for folder in folders:
        for path in sorted((folder,) if folder.is_file() else folder.rglob("*.pto")):
            text = path.read_text(encoding="utf-8", errors="replace")
            if re.search(only, str(path)) and "pto.t" in text:
                yield str(path), text


def prepared(text: str, name: str, target: str | None) -> tuple[ModuleOp, str]:
    """The program with addresses and flags, and why it has none."""
    module = parse(text, name)
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    if any(True for op in walk(module) if has_role(op, Role.FUNCTION) for _ in lacking(op)):
        AssignMemoryPass(target).run(module, engine)
    if not engine.has_errors:
        InsertSyncPass(target).run(module, engine)
    return module, engine.diagnostics[0].message if engine.has_errors else ""


class Totals:
    """What was counted."""

    def __init__(self) -> None:
        self.lowered: Counter[str] = Counter()
        self.reasons: Counter[tuple[str, str]] = Counter()
        self.places: dict[tuple[str, str], str] = {}
        self.count: Counter[str] = Counter()
        self.wrong: list[str] = []
        self.seconds: list[float] = []


def own(lowering: Lowering, root: Operation) -> list[Operation]:
    """The operations that a pass lowers."""
    return [op for op in walk(root) if lowering.owns(op)]


def count(module: ModuleOp, name: str, lowering: Lowering, totals: Totals) -> bool:
    """Tries each operation by itself; whether all are lowered. The module is not used afterwards."""
    whole = True
    functions: dict[int, Function] = {}
    for op in own(lowering, module):
        place: Operation | None = op
        while place is not None and not has_role(place, Role.FUNCTION):
            place = place.parent_op()
        assert place is not None
        error = lowering.lower(op, functions.setdefault(id(place), Function(place)))
        if error is None:
            totals.lowered[op.name] += 1
            continue
        whole = False
        key = (op.name, re.sub(r"%\w+", "%tile", error.reason))
        totals.reasons[key] += 1
        totals.places.setdefault(key, name)
    return whole


def copies(values: Sequence[Any]) -> list[Any]:
    """Arrays that a run may write."""
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]


def content(values: Sequence[Any]) -> list[bytes]:
    """What a run has left."""
    return [value.tobytes() for value in values if isinstance(value, np.ndarray)]


def names(module: ModuleOp, lowering: Lowering) -> list[str]:
    """The functions with such operations."""
    found = [op for op in walk(module) if has_role(op, Role.FUNCTION) and own(lowering, op)]
    return [op.properties["sym_name"].data for op in found]  # pyright: ignore


class TooLongError(Exception):
    """A run takes longer than the limit."""


def too_long(*_: object) -> None:
    """Ends a run."""
    raise TooLongError


def prove_within(limit: float, text: str, path: str, lowering: Lowering, totals: Totals) -> None:
    """``prove``, if it takes no longer than ``limit`` seconds."""
    signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        with redirect_stdout(StringIO()):
            prove(text, path, lowering, totals)
    except TooLongError:
        totals.count["takes too long"] += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def prove(text: str, path: str, lowering: Lowering, totals: Totals) -> None:
    """Runs the functions of a program before and after, under several schedules and in instrumented runs."""
    target = lowering.target
    before, _ = prepared(text, path, target)
    after, _ = prepared(text, path, target)
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    lowering.run(after, engine)
    chip = target or profile_of(before, None).arch
    for name in names(before, lowering):
        plain = RunOptions(cross_core="p2p", accumulate="exact")
        try:
            kernel = Kernel(before, name, chip, plain)
            given = synthesized.synthesize_arguments(kernel, {}, 1, 1)
            values = synthesized.values_of(kernel, {}, dict(given))
            kernel.run(copies(values), 1)
        except (ProgramError, BindingError):
            totals.count["does not run alone"] += 1
            continue
        totals.count["ran"] += 1
        try:
            _compare((before, after), name, chip, values, path, totals)
            found = [_rules(module, name, chip, values) for module in (before, after)]
            if found[1] - found[0]:
                totals.wrong.append(f"{path} {name}: {', '.join(sorted(found[1] - found[0]))}")
            totals.count["clean"] += not found[1]
        except (ProgramError, BindingError) as error:
            totals.wrong.append(f"{path} {name}: {error}")


def _compare(
    both: tuple[ModuleOp, ModuleOp], name: str, chip: str, values: list[Any], path: str, totals: Totals
) -> None:
    """Both forms under several schedules; a program whose own flags do not order it computes something else each
    time."""
    results: list[list[list[bytes]]] = []
    for module in both:
        results.append([])
        for schedule in SCHEDULES:
            found = copies(values)
            how = Schedule.parse(schedule, strict=True)
            Kernel(module, name, chip, RunOptions(cross_core="p2p", accumulate="exact", schedule=how)).run(found, 1)
            results[-1].append(content(found))
    if any(result != results[0][0] for result in results[0]):
        totals.count["not in order before"] += 1
    elif results[0] != results[1]:
        totals.wrong.append(f"{path} {name}: other results")
    else:
        totals.count["identical"] += 1


def _rules(module: ModuleOp, name: str, chip: str, values: list[Any]) -> set[str]:
    instrumented = InstrumentedKernel(
        module, name, chip, RunOptions(cross_core="p2p", accumulate="exact"), SanitizeOptions(sync="strict")
    )
    instrumented.run(copies(values), 1)
    return {finding.rule for finding in instrumented.observer.findings.all if finding.rule.startswith(ORDER)}


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("folders", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--target", default=None, help="the target of all programs; default: what each says")
@click.option("--only", default="", metavar="REGEX", help="programs whose path matches")
@click.option("--run", "runs", is_flag=True, help="run before and after as well")
@click.option("--limit", default=20.0, help="seconds that the runs of a program may take")
@click.option("--pass", "chosen", type=click.Choice(list(PASSES)), default="lower-cube", help="the pass")
def main(folders: tuple[Path, ...], target: str | None, only: str, runs: bool, limit: float, chosen: str) -> None:
    """Lower the programs below FOLDERS."""
    totals, lowering = Totals(), PASSES[chosen](target)
    for path, text in programs(folders, only):
        try:
            module, refused = prepared(text, path, target)
        except ValueError:
            totals.count["programs with errors"] += 1
            continue
        if not own(lowering, module):
            continue
        totals.count["programs"] += 1
        if refused:
            totals.count["programs without addresses or flags"] += 1
        started = perf_counter()
        whole = count(module, path, lowering, totals)
        totals.seconds.append(perf_counter() - started)
        totals.count["programs lowered"] += whole and not refused
        if runs and whole and not refused:
            prove_within(limit, text, path, lowering, totals)
    show(totals)
    sys.exit(1 if totals.wrong else 0)


def show(totals: Totals) -> None:
    """Prints what was counted."""
    print(*(f"{name}: {number}" for name, number in totals.count.items()), sep="\n")
    every = sum(totals.lowered.values()) + sum(totals.reasons.values())
    print(f"operations lowered: {sum(totals.lowered.values())} of {every}")
    for name, number in totals.lowered.most_common():
        print(f"  {name:<24} {number}")
    print("not lowered:")
    for key, number in totals.reasons.most_common():
        print(f"  {number:>5} {key[0]}: {key[1]} ({totals.places[key]})")
    if totals.seconds:
        print(f"seconds a program: most {max(totals.seconds):.3f}")
    print(*totals.wrong, sep="\n")


if __name__ == "__main__":
    main()
