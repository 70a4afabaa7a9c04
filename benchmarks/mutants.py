"""Does the sanitizer notice when synchronisation is broken?  Deletes, moves and swaps every signal, wait and barrier.

Usage: python benchmarks/mutants.py LAUNCHES TREE [CASE-REGEX]    (--help has details)

LAUNCHES is a table of programs with their launches, TREE the folder with the programs.  A mutant counts when it changes
what happens: an independent graph of the run (``happens_before``) has a pair of conflicting accesses without order, or
the run cannot end.  A deleted signal counts unless nobody waited for it.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import click
import numpy as np
from happens_before import RecordedKernel, Recorder, races

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.ir.core.location import span_of
from pto_dialect.runtime.compile.compiler import functions_of
from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.syntax.read.parser import parse_program

SETS = frozenset(("pto.set_flag", "pto.sync.set", "pto.set_intra_block"))
WAITS = frozenset(("pto.wait_flag", "pto.sync.wait", "pto.wait_intra_block"))
ORDERING = SETS | WAITS | {"pto.barrier"}
COLUMNS = {"case", "level", "launch", "program"}
_LAUNCH = re.compile(r"(\w+)<<<(\d+)>>>\((.*)\)$")
_PIPES = re.compile(r'"(PIPE_\w+)", "(PIPE_\w+)"')


class Launch(NamedTuple):
    """One program and how it is started: entry, blocks, arguments as (element type, elements)."""

    case: str
    text: str
    entry: str
    blocks: int
    arguments: list[tuple[str, int]]


class Mutant(NamedTuple):
    """A changed program: what was done to which operation."""

    how: str
    name: str
    line: int
    text: str


class Result(NamedTuple):
    """What a run showed: rules of the findings, and whether the independent graph has a race."""

    rules: Counter[str]
    races: int
    stopped: bool

    @property
    def noticed(self) -> bool:
        """A race between pipes or a deadlock was reported; the graph knows nothing of order inside one pipe."""
        return any(
            (rule.startswith("race") and rule != "race-same-pipe")
            or rule in ("l0c-handover", "sync-deadlock", "sync-unit-flag")
            for rule in self.rules
        )


def read_launches(table: Path, tree: Path, pattern: str) -> Iterator[Launch]:
    """The cube and cube-vector programs of the table that start one kernel on buffers alone.

    Raises ``ClickException`` for a table of another form and for a program that is not in ``tree``.
    """
    with table.open(newline="") as stream:
        reader = csv.DictReader(stream)
        missing = COLUMNS - set(reader.fieldnames or ())
        if missing:
            raise click.ClickException(f"{table} has no column {', '.join(sorted(missing))}")
        for row in reader:
            if not row["level"].startswith("cube") or not re.search(pattern, row["case"]):
                continue
            found = _LAUNCH.match(row["launch"].strip())
            if found is None or "=@" in found[3]:
                continue
            arguments = [part.partition("=")[2].rsplit(":", 3) for part in found[3].split("; ")]
            shapes = [(element.removeprefix("!pto."), int(count)) for _, element, count, _ in arguments]
            program = tree / row["program"]
            if not program.is_file():
                raise click.ClickException(f"{tree} has no {row['program']}")
            yield Launch(row["case"], program.read_text(), found[1], int(found[2]), shapes)


def values(launch: Launch) -> list[Any]:
    """Small random numbers for every buffer."""
    rng = np.random.default_rng(7)
    arrays = []
    for element, count in launch.arguments:
        storage = format_of(element).storage
        if storage.kind == "f":
            arrays.append(rng.standard_normal(count).astype(storage))
        else:
            arrays.append(rng.integers(0, 60, count * storage.itemsize, np.uint8).view(storage))
    return arrays


def parse(text: str) -> Any:
    """The module of a text; raises ``ValueError`` when it does not parse."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    module = parse_program(SourceFile("mutant.pto", text), engine)
    if module is None or engine.has_errors:
        raise ValueError("the program does not parse")
    return module


def kernel_of(launch: Launch, text: str) -> RecordedKernel:
    """The kernel of a program; signals mean the same whatever a mutant leaves of them."""
    options = RunOptions(fill="poison", cross_core="p2p")
    return RecordedKernel(parse(text), launch.entry, None, options, SanitizeOptions(sync="strict"))


def run(launch: Launch, text: str) -> Result:
    """Sanitizes a run of a program and compares with the graph."""
    kernel = kernel_of(launch, text)
    stopped = False
    try:
        kernel.run(values(launch), launch.blocks)
    except ProgramError:
        stopped = True
    found = Counter(finding.rule for finding in kernel.observer.findings.all)
    assert isinstance(kernel.observer, Recorder)
    deadlocked = "sync-deadlock" in found
    return Result(found, sum(1 for _ in races(kernel.observer)), stopped or deadlocked)


def mutants(text: str, entry: str) -> Iterator[Mutant]:
    """The program without, with a moved, and with a turned ordering operation of the function called ``entry``."""
    ordering = [op for op in functions_of(parse(text))[entry].walk() if op.name in ORDERING]
    for op in ordering:
        span = span_of(op)
        assert span is not None
        before, here, after = text[: span.start], span.text, text[span.end :]
        yield Mutant("delete", op.name, span.line, before + after)
        behind = op.next_op
        other = span_of(behind) if behind is not None else None
        if behind is not None and other is not None and behind.name not in ORDERING and not behind.regions:
            between = text[span.end : other.start]
            if behind.next_op is not None:
                yield Mutant("move", op.name, span.line, before + other.text + between + here + text[other.end :])
        turned = _PIPES.sub(r'"\2", "\1"', here)
        if turned != here:
            yield Mutant("swap", op.name, span.line, before + turned + after)


def _regex(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise click.BadParameter(f"{value!r} is no regular expression: {error}") from None
    return value


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("table", metavar="LAUNCHES", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("pattern", metavar="[CASE-REGEX]", default="", callback=_regex)
def main(table: Path, tree: Path, pattern: str) -> None:
    """Break the synchronisation of the programs in LAUNCHES, which lie below TREE, and count what is reported.

    CASE-REGEX chooses cases by name. Exit code 1 when a goal is missed.
    """
    total: Counter[tuple[str, str]] = Counter()
    missed: list[str] = []
    started = perf_counter()
    programs = 0
    for launch in read_launches(table, tree, pattern):
        programs += 1
        whole = run(launch, launch.text)
        if whole.noticed or whole.races:
            missed.append(f"{launch.case}: unmodified program: {dict(whole.rules)}, graph {whole.races}")
        unconsumed = _unconsumed(launch)
        for mutant in mutants(launch.text, launch.entry):
            result = run(launch, mutant.text)
            key = f"{mutant.how} {mutant.name}"
            place = f"{launch.case}:{mutant.line} {key}"
            if mutant.how == "delete" and mutant.name in SETS:
                counts = mutant.line not in unconsumed
                noticed = bool(set(result.rules) & {"sync-deadlock", "sync-flag-unconsumed"})
            else:
                counts, noticed = bool(result.races) or result.stopped, result.noticed
            total[key, "all"] += 1
            total[key, "counted"] += counts
            total[key, "found"] += counts and noticed
            if counts and not noticed:
                missed.append(f"{place}: not reported, {dict(result.rules)}, graph {result.races}")
            if result.noticed and not result.races and not result.stopped and "sync-unit-flag" not in result.rules:
                missed.append(f"{place}: reported without a cause, {dict(result.rules)}")
    print(f"{programs} programs, {perf_counter() - started:.1f} s")
    print(f"{'mutants':<28} {'all':>5} {'not redundant':>14} {'reported':>9}")
    for key in sorted({key for key, _ in total}):
        print(f"{key:<28} {total[key, 'all']:>5} {total[key, 'counted']:>14} {total[key, 'found']:>9}")
    print(*missed, sep="\n")
    sys.exit(1 if missed else 0)


def _unconsumed(launch: Launch) -> set[int]:
    """Lines of signals that nobody takes in the unmodified program."""
    kernel = kernel_of(launch, launch.text)
    kernel.run(values(launch), launch.blocks)
    found = [finding for finding in kernel.observer.findings.all if finding.rule == "sync-flag-unconsumed"]
    return {finding.span.line for finding in found if finding.span is not None}


if __name__ == "__main__":
    main()
