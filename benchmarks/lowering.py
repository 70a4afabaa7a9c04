"""What assign-memory and insert-sync make of the functions of a table, counted and run.

Usage: python benchmarks/lowering.py TABLE --tree NAME=FOLDER... [--only REGEX] [--reuse WORD] [--run]

TABLE has a row for each function with what a reference compiler made of it: flags and barriers, peaks and bounds of
each memory. The programs lie below the folder of the first part of their path. With ``--run`` every program that runs
with arguments generated from its types runs before and after: the bytes have to be the same under several schedules,
and the sanitizers must find nothing about order. The exit code is 1 when something differs or is out of order."""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from time import process_time
from typing import Any

import click
import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from pto_dialect import parse
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.driver.explore import synthesized
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.sync.flags import BarrierOp, SetFlagDynOp, SetFlagOp
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.assign_memory.assign import AssignMemoryPass
from pto_dialect.passes.assign_memory.plan import memory_plans
from pto_dialect.passes.insert_sync.insert import InsertSyncPass
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

SPACES = {"vec": "ub", "mat": "l1", "left": "l0a", "right": "l0b", "acc": "l0c"}
SCHEDULES = ("text", "oldest", "newest", "random:1")
ORDER = ("race", "sync-", "l0c-handover")
"""How the rules begin that are about order."""
EVENTS = 8
"""Events that two pipes have between them."""
MANY = 10
"""Tile operations from which on a function counts as a kernel."""


def functions(module: ModuleOp) -> dict[str, Operation]:
    """The functions with a body by name."""
    found = (op for op in walk(module) if has_role(op, Role.FUNCTION) and op.regions[0].blocks)
    return {op.properties["sym_name"].data: op for op in found}  # pyright: ignore


class Totals:
    """What was counted over all rows."""

    def __init__(self) -> None:
        self.count: Counter[str] = Counter()
        self.ratios: list[float] = []
        self.peaks: dict[str, list[float]] = defaultdict(list)
        self.above: list[str] = []
        self.seconds: list[float] = []
        self.events = 0
        self.wrong: list[str] = []


def lower(text: str, name: str, target: str) -> tuple[ModuleOp, str]:
    """The program with addresses and flags for a chip, and the objections to it."""
    module = parse(text, name)
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    AssignMemoryPass(target).run(module, engine)
    if not engine.has_errors:
        InsertSyncPass(target).run(module, engine)
    return module, engine.diagnostics[0].message if engine.has_errors else ""


def compare_counts(row: dict[str, str], function: Operation, totals: Totals) -> None:
    """Flags and barriers against those of the table."""
    ops = list(walk(function))
    mine = sum(isinstance(op, (SetFlagOp, SetFlagDynOp, BarrierOp)) for op in ops)
    theirs = int(row["set_flags"]) + int(row["barriers"])
    compare_limits(row, ops, totals)
    if row["clean"] != "clean":
        return
    totals.count["compared"] += 1
    totals.count["at most as many"] += mine <= theirs
    if mine > theirs:
        totals.above.append(f"{row['function']}: {mine} flags and barriers, table {theirs}")
    if int(row["tile_ops"]) >= MANY:
        totals.ratios.append(mine / theirs)


def compare_limits(row: dict[str, str], ops: Sequence[Operation], totals: Totals) -> None:
    """Barriers for all pipes in the midst of a function, and numbers of events between two pipes."""
    totals.count["functions"] += 1
    events: dict[tuple[str | None, str | None], set[str | None]] = defaultdict(set)
    for op in ops:
        if isinstance(op, SetFlagOp):
            events[enumerator(op, "src_pipe"), enumerator(op, "dst_pipe")].add(enumerator(op, "event_id"))
        if isinstance(op, BarrierOp) and enumerator(op, "pipe") == Pipe.ALL.value:
            follower = op.next_op
            if follower is None or not has_role(follower, Role.RETURN) or op.parent_op() is not ops[0]:
                totals.above.append(f"{row['function']}: a barrier for all pipes in its midst")
    most = max(map(len, events.values()), default=0)
    totals.events = max(totals.events, most)
    if most > EVENTS:
        totals.above.append(f"{row['function']}: {most} events between two pipes")


def compare_peaks(row: dict[str, str], function: Operation, reuse: str, totals: Totals) -> None:
    """Peaks of each memory against those of the table, where the author gave no addresses."""
    if row["addressed"] != "0":
        return
    try:
        planned = memory_plans(function, row["target"], reuse)
    except UnsupportedError:
        return
    found = {plan.space: plan.peak for plan in planned if plan.addresses}
    for name, space in SPACES.items():
        if row[f"bound_{name}"] not in ("", "?", "0") and space in found:
            totals.peaks[name].append(found[space] / int(row[f"bound_{name}"]))
        if row[f"peak_{name}"] not in ("", "?") and found.get(space, 0) > int(row[f"peak_{name}"]):
            totals.above.append(f"{row['function']}: {found[space]} bytes of {name}, table {row[f'peak_{name}']}")


def copies(values: Sequence[Any]) -> list[Any]:
    """Arrays that a run may write."""
    return [value.copy() if isinstance(value, np.ndarray) else value for value in values]


def content(values: Sequence[Any]) -> list[bytes]:
    """What a run has left."""
    return [value.tobytes() for value in values if isinstance(value, np.ndarray)]


def prove(row: dict[str, str], text: str, lowered: ModuleOp, totals: Totals) -> None:
    """Runs a function before and after, under several schedules and in instrumented runs."""
    plain = RunOptions(cross_core="p2p")
    place = (row["function"], row["target"])
    try:
        kernel = Kernel(parse(text, row["program"]), *place, plain)
        given = synthesized.synthesize_arguments(kernel, {}, 1, 1)
        values = synthesized.values_of(kernel, {}, dict(given))
        expected = copies(values)
        kernel.run(expected, 1)
    except (ProgramError, BindingError):
        totals.count["does not run alone"] += 1
        return
    totals.count["ran"] += 1
    for schedule in SCHEDULES:
        found = copies(values)
        options = RunOptions(cross_core="p2p", schedule=Schedule.parse(schedule, strict=True))
        Kernel(lowered, *place, options).run(found, 1)
        if content(found) != content(expected):
            totals.wrong.append(f"{row['program']} {row['function']}: other results under {schedule}")
    instrumented = InstrumentedKernel(lowered, *place, plain, SanitizeOptions(sync="strict"))
    instrumented.run(copies(values), 1)
    rules = {finding.rule for finding in instrumented.observer.findings.all if finding.rule.startswith(ORDER)}
    if rules:
        totals.wrong.append(f"{row['program']} {row['function']}: {', '.join(sorted(rules))}")


def rows_of(table: Path, only: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """The rows of each program."""
    by_program: dict[str, list[dict[str, str]]] = defaultdict(list)
    with table.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["program"].endswith(".pto") and re.search(only, row["program"]):
                by_program[row["program"]].append(row)
    yield from by_program.items()


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("table", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--tree", "trees", multiple=True, metavar="NAME=FOLDER", help="where programs of NAME lie")
@click.option("--only", default="", metavar="REGEX", help="programs whose path matches")
@click.option("--reuse", default="auto", show_default=True, help="who may share bytes where peaks are compared")
@click.option("--run", "runs", is_flag=True, help="run before and after as well")
def main(table: Path, trees: tuple[str, ...], only: str, reuse: str, runs: bool) -> None:
    """Lower the functions in TABLE and compare."""
    folders = dict(tree.split("=", 1) for tree in trees)
    totals = Totals()
    for program, rows in rows_of(table, only):
        name, _, path = program.partition("/")
        if name not in folders:
            totals.count["no tree"] += len(rows)
            continue
        text = (Path(folders[name]) / path).read_text(encoding="utf-8")
        original = functions(parse(text, program))
        by_target: dict[str, tuple[ModuleOp, str]] = {}
        for row in rows:
            if row["target"] not in by_target:
                started = process_time()
                by_target[row["target"]] = lower(text, program, row["target"])
                totals.seconds.append(process_time() - started)
            lowered, refused = by_target[row["target"]]
            if refused:
                totals.count["refused"] += 1
                totals.above.append(f"{row['function']}: {refused}")
                continue
            compare_counts(row, functions(lowered)[row["function"]], totals)
            compare_peaks(row, original[row["function"]], reuse, totals)
            if runs:
                prove(row, text, lowered, totals)
    show(totals)
    sys.exit(1 if totals.wrong else 0)


def show(totals: Totals) -> None:
    """Prints what was counted."""
    print(*(f"{name}: {number}" for name, number in totals.count.items()), sep="\n")
    print(f"events between two pipes: at most {totals.events}")
    if totals.ratios:
        print(f"flags and barriers of kernels of {MANY} or more operations, median: {median(totals.ratios):.2f}")
    for name, ratios in totals.peaks.items():
        near = sum(ratio <= 1.05 for ratio in ratios)
        print(f"{name}: peak against bound, median {median(ratios):.2f}, at most 1.05 in {near} of {len(ratios)}")
    if totals.seconds:
        middle, most = median(totals.seconds), max(totals.seconds)
        print(f"seconds of the processor for a program: median {middle:.3f}, most {most:.3f}")
    print(*totals.above, *totals.wrong, sep="\n")


if __name__ == "__main__":
    main()
