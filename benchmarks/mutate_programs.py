"""How right are verdicts on changed programs? Changes accepted programs of a tree in different forms, one at a
time, and compares what ``pto-opt`` says with what follows from the language and the rules.

Usage: python benchmarks/mutate_programs.py TREE [--count N] [--seed S] [--only core_] [--csv WRONG.csv] [--sample N]
"""

from __future__ import annotations

import csv
import random
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click
import core_mutations  # noqa: F401 - registers its kinds
from program_mutations import ACCEPT, KINDS, READ, REJECT, Change

from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import build_module

LARGEST = 20_000
"""Characters of a program that is changed; larger ones repeat the same statements and take longer."""
PLACES = 60
"""Places of one kind in one program among which are chosen."""
TRACEBACK = "traceback"
_ARCH = re.compile(r"pto-arch[= ](a\d)")


class Wrong(NamedTuple):
    """A verdict that is not the expected one."""

    program: str
    kind: str
    what: str
    line: int
    expected: str
    found: str
    detail: str


def verdict(text: str, target: str | None) -> tuple[str, str]:
    """``accept``, ``reject`` or ``traceback``, with the first error."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=1))
    try:
        build_module(SourceFile("changed.pto", text), engine, Options(target=target))
    except Exception as error:  # what a check is for: any exception at all is a finding
        return TRACEBACK, repr(error)
    if not engine.has_errors:
        return ACCEPT, ""
    errors = (d for d in engine.diagnostics if d.severity is Severity.ERROR)
    return REJECT, "; ".join(f"{d.rule}: {d.message}" for d in errors)[:200]


def plan(
    programs: Sequence[tuple[str, str, str | None]], count: int, seed: int, only: str = ""
) -> list[tuple[int, str, Change]]:
    """``count`` changes, each kind about equally often, spread over the programs."""
    chance = random.Random(seed)
    places: dict[str, list[tuple[int, str, Change]]] = {name: [] for name in KINDS if re.match(only, name)}
    for number, (_, text, _) in enumerate(programs):
        for name in places:
            found = list(KINDS[name](text))
            if len(found) > PLACES:
                found = chance.sample(found, PLACES)
            places[name] += [(number, name, change) for change in found]
    for members in places.values():
        chance.shuffle(members)
    chosen: list[tuple[int, str, Change]] = []
    while len(chosen) < count and any(places.values()):
        for members in places.values():
            if members and len(chosen) < count:
                chosen.append(members.pop())
    return chosen


def judge(name: str, text: str, target: str | None, kind: str, change: Change) -> tuple[Wrong | None, str]:
    """The finding about one changed program, if its verdict is wrong, and the verdict."""
    changed = text[: change.start] + change.text + text[change.end :]
    found, detail = verdict(changed, target)
    line = text.count("\n", 0, change.start) + 1
    if found == TRACEBACK or change.expected not in (READ, found):
        return Wrong(name, kind, change.what, line, change.expected, found, detail), found
    return None, found


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--count", type=click.IntRange(1), default=20_000, show_default=True, help="Changed programs.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--only", default="", metavar="REGEX", help="Kinds whose names begin so; core_ for the core dialects.")
@click.option("--sample", type=click.IntRange(0), default=20, show_default=True, help="Wrong verdicts that are shown.")
@click.option("--csv", "report", type=click.Path(dir_okay=False, path_type=Path), help="Write all of them here.")
def main(tree: Path, count: int, seed: int, only: str, sample: int, report: Path | None) -> None:
    """Change the programs below TREE one location at a time. Exit code 1 when a verdict is wrong."""
    programs: list[tuple[str, str, str | None]] = []
    for path in sorted(tree.rglob("*.pto")):
        text = path.read_text(encoding="utf-8", errors="replace")
        arch = _ARCH.search(text)
        target = arch[1] if arch else None
        # A file of several programs, or one whose errors are its point, reports nothing about a change.
        if len(text) <= LARGEST and "// -----" not in text and verdict(text, target)[0] == ACCEPT:
            programs.append((path.relative_to(tree).as_posix(), text, target))
    chosen = plan(programs, count, seed, only)
    if not chosen:
        raise click.ClickException(f"{tree} has no accepted .pto file that can be changed")
    wrong: list[Wrong] = []
    tried: Counter[str] = Counter()
    for number, kind, change in chosen:
        name, text, target = programs[number]
        finding, _ = judge(name, text, target, kind, change)
        tried[kind] += 1
        if finding is not None:
            wrong.append(finding)
    right = len(chosen) - len(wrong)
    click.echo(f"{len(programs)} programs, {len(chosen)} changes of {len(tried)} kinds, seed {seed}")
    click.echo(f"right: {right} of {len(chosen)} ({right / len(chosen):.2%})")
    by_kind = Counter((finding.kind, finding.found) for finding in wrong)
    for (kind, found), times in by_kind.most_common():
        click.echo(f"  {kind}: {times} of {tried[kind]} are wrong ({found})")
    for finding in random.Random(seed).sample(wrong, min(sample, len(wrong))):
        click.echo(f"{finding.program}:{finding.line}: {finding.what}: {finding.found}, expected {finding.expected}")
        if finding.detail:
            click.echo(f"    {finding.detail}")
    if report is not None:
        with report.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(Wrong._fields)
            writer.writerows(wrong)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
