"""Runs every program of a tree and compares with what an independent implementation says about it.

Usage: python benchmarks/conformance.py TREE --verdicts VERDICTS.csv [-j N] [--csv DISAGREEMENTS.csv]

The verdict file has the columns ``repository, path, sha256, arch, verdict, newer_verdict``: a program agrees when
``pto-opt`` says what either version of the reference stated. Accepted programs are printed in both forms, read back,
compared and printed again; their generic form goes to ``mlir-opt``.
"""

from __future__ import annotations

import csv
import hashlib
import resource
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import click
from mlir_opt import refused_texts
from program_checks import Outcome, check_program

MLIR_OPT = ("mlir-opt", "mlir-opt-19", "mlir-opt-20", "mlir-opt-18")
SLOWEST = 5
MEGABYTE = 1e6

ANY_ARCH = "auto"
"""The ``arch`` of a row whose program was checked under its own attribute, or the default target."""


class Row(NamedTuple):
    """One line of the verdict file."""

    repository: str
    path: str
    sha256: str
    arch: str
    verdicts: tuple[str, ...]


class Program(NamedTuple):
    """One file of the tree with its row, if the row describes this text."""

    path: Path
    name: str
    size: int
    row: Row | None
    target: str | None


class Finding(NamedTuple):
    """One line of the report: what is wrong about which program."""

    name: str
    target: str
    kind: str
    verdicts: str
    detail: str


def read_rows(path: Path) -> list[Row]:
    """The rows of a verdict file; a ``ClickException`` for a file of another form."""
    with path.open(newline="") as stream:
        reader = csv.DictReader(stream)
        missing = {"repository", "path", "sha256", "arch", "verdict"} - set(reader.fieldnames or ())
        if missing:
            raise click.ClickException(f"{path} has no column {', '.join(sorted(missing))}")
        return [
            Row(
                line["repository"],
                line["path"],
                line["sha256"],
                line["arch"],
                tuple(dict.fromkeys(v for v in (line["verdict"], line.get("newer_verdict")) if v)),
            )
            for line in reader
        ]


def programs_of(tree: Path, rows: Sequence[Row], repository: str | None, profile: str | None) -> list[Program]:
    """Every ``.pto`` file below ``tree``, in order, with the row that has its path and its checksum.

    Without ``repository`` it is the one most of whose rows match. ``profile`` overrides the ``arch`` column.
    """
    files = sorted(path for path in tree.rglob("*.pto") if path.is_file())
    sums = {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    names = {path: path.relative_to(tree).as_posix() for path in files}
    present = {(names[path], sums[path]) for path in files}
    if repository is None:
        matches = Counter(row.repository for row in rows if (row.path, row.sha256) in present)
        repository = matches.most_common(1)[0][0] if matches else None
    known = {(row.path, row.sha256): row for row in rows if row.repository == repository}
    found: list[Program] = []
    for path in files:
        row = known.get((names[path], sums[path]))
        target = profile
        if profile is None and row is not None and row.arch != ANY_ARCH:
            target = row.arch
        if target == ANY_ARCH:
            target = None
        found.append(Program(path, names[path], path.stat().st_size, row, target))
    return found


def check_all(programs: Sequence[Program], jobs: int) -> Iterator[tuple[Outcome, int]]:
    """The outcome of every program, in order, and the peak memory (bytes) of the process that found it."""
    if jobs == 1:
        yield from map(_check, programs)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(_check, programs, chunksize=8)


def _check(program: Program) -> tuple[Outcome, int]:
    outcome = check_program(program.path, program.target)
    unit = 1 if sys.platform == "darwin" else 1024
    return outcome, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def disagreement(program: Program, outcome: Outcome) -> Finding | None:
    """The finding when no version of the reference gave our verdict."""
    if program.row is None:
        return None
    ours = "accept" if outcome.accepted else "reject"
    if ours in program.row.verdicts:
        return None
    kind = "wrong-accept" if outcome.accepted else "wrong-reject"
    return Finding(program.name, program.target or ANY_ARCH, kind, "/".join(program.row.verdicts), outcome.error)


def find_tool(name: str | None) -> str | None:
    """The MLIR tool to ask: the named one, else the first of the usual names; ``none`` disables it."""
    if name == "none":
        return None
    if name is not None:
        found = shutil.which(name)
        if found is None:
            raise click.ClickException(f"there is no program {name}")
        return found
    return next((found for found in map(shutil.which, MLIR_OPT) if found), None)


def write_findings(path: Path, findings: Iterable[Finding]) -> None:
    """The findings as CSV with a heading."""
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(("path", "arch", "kind", "reference", "detail"))
        writer.writerows(findings)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option(
    "--verdicts", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Verdicts to compare with."
)
@click.option("--repository", help="Repository of the verdict file that TREE holds [default: the one that matches].")
@click.option("--profile", help="Target of every program instead of the arch column; auto: what the module says.")
@click.option("-j", "--jobs", type=click.IntRange(1), default=1, show_default=True, help="Processes.")
@click.option("--mlir-opt", "tool", help="Tool that reads the generic form; none: skip [default: the installed one].")
@click.option("--csv", "report", type=click.Path(dir_okay=False, path_type=Path), help="Write the findings here.")
def main(
    tree: Path,
    verdicts: Path | None,
    repository: str | None,
    profile: str | None,
    jobs: int,
    tool: str | None,
    report: Path | None,
) -> None:
    """Check every .pto file below TREE. Exit code 1 when anything is found."""
    tool = find_tool(tool)
    rows = read_rows(verdicts) if verdicts else []
    programs = programs_of(tree, rows, repository, profile)
    if not programs:
        raise click.ClickException(f"{tree} has no .pto files")
    started = perf_counter()
    results = list(check_all(programs, jobs))
    elapsed = perf_counter() - started
    outcomes = [outcome for outcome, _ in results]

    findings: list[Finding] = []
    for program, outcome in zip(programs, outcomes, strict=True):
        if found := disagreement(program, outcome):
            findings.append(found)
        target = program.target or ANY_ARCH
        findings += [Finding(program.name, target, kind, "", detail) for kind, detail in outcome.problems]
    asked = [(program, outcome.generic) for program, outcome in zip(programs, outcomes, strict=True) if outcome.generic]
    if tool is not None:
        for position, message in refused_texts(tool, [text or "" for _, text in asked]).items():
            program = asked[position][0]
            findings.append(Finding(program.name, program.target or ANY_ARCH, "mlir-opt", "", message))

    click.echo(summary(programs, outcomes, findings, tool))
    peak = max(memory for _, memory in results) / MEGABYTE
    check = sum(outcome.check_seconds for outcome in outcomes)
    click.echo(
        f"time: {elapsed:.1f} s for everything, {check:.1f} s of it parse and verify; peak memory {peak:.0f} MB"
        f"{f' in each of {jobs} processes' if jobs > 1 else ''}"
    )
    slowest = sorted(zip(outcomes, programs, strict=True), key=lambda pair: -pair[0].check_seconds)[:SLOWEST]
    for outcome, program in slowest:
        click.echo(f"  {outcome.check_seconds * 1e3:7.0f} ms  {program.size / 1e3:7.0f} kB  {program.name}")
    if report is not None:
        write_findings(report, findings)
    else:
        for finding in findings:
            click.echo(f"{finding.kind}: {finding.name} [{finding.target}] {finding.detail}")
    sys.exit(1 if findings else 0)


def summary(
    programs: Sequence[Program], outcomes: Sequence[Outcome], findings: Sequence[Finding], tool: str | None
) -> str:
    """The figures, one to a line."""
    kinds = Counter(finding.kind for finding in findings)
    accepted = sum(outcome.accepted for outcome in outcomes)
    judged = [program for program in programs if program.row is not None]
    lines = [f"programs: {len(programs)} ({sum(p.size for p in programs) / MEGABYTE:.1f} MB), {accepted} accepted"]
    if judged:
        agree = len(judged) - kinds["wrong-reject"] - kinds["wrong-accept"]
        lines.append(
            f"verdicts: {agree} of {len(judged)} agree ({agree / len(judged):.2%}); "
            f"{kinds['wrong-reject']} rejected and {kinds['wrong-accept']} accepted against both versions"
        )
    lines.append(f"tracebacks: {kinds['traceback']}")
    for form in ("custom", "generic"):
        counts = ", ".join(
            f"{what} {accepted - kinds[f'{form}-{key}']}/{accepted}"
            for what, key in (("read back", "reread"), ("same structure", "structure"), ("print fixpoint", "fixpoint"))
        )
        lines.append(f"{form} form: {counts}")
    if tool is None:
        lines.append("mlir-opt: not asked")
    else:
        lines.append(f"mlir-opt: {accepted - kinds['mlir-opt']}/{accepted} generic forms accepted by {tool}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
