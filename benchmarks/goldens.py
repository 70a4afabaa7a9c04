"""Runs the programs of a source tree against the results of its own generators, as a launch table says.

Usage: python benchmarks/goldens.py TREE --launches launches.csv [--only REGEX] [--sanitize auto|strict] [-j N]
       [--keep FOLDER] [--lower STAGES]

Each row of the table becomes launch files in a scratch folder; inputs and expected results come from the generators of
the tree, and its own comparisons judge. ``--lower`` has tile programs go through these stages before they run, each
case by itself. ``--keep`` leaves launch files with their inputs. The exit code is 1 when fewer than 97 % of the
rows with results pass.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import golden_micro
import golden_samples
import golden_tile
import golden_validation
from golden_rows import FAIL, FOUND, NO_GOLDEN, PASS, REFUSED, Row, Scratch, Verdict, read_rows

from pto_dialect.driver.launch.session import Settings
from pto_dialect.driver.run.sanitizing import Sanitizing
from pto_dialect.passes.stages import lowering
from pto_dialect.sanitize.options import SanitizeOptions, SyncMode

CORPORA = {module.CORPUS: module for module in (golden_tile, golden_micro, golden_samples, golden_validation)}
REQUIRED = 0.97


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="root of an unpacked source tree")
    parser.add_argument("--launches", type=Path, required=True, metavar="CSV", help="the launch table")
    parser.add_argument("--only", default="", metavar="REGEX", help="rows whose 'corpus/case [level]' matches")
    parser.add_argument("--repository", default="", metavar="REGEX", help="rows of matching repositories")
    parser.add_argument("--sanitize", choices=("auto", "strict"), help="watch every run, with this order of pipes")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write a line for each row to this file")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="copy each launch file with its inputs to FOLDER")
    parser.add_argument("--lower", metavar="STAGES", help="lower tile programs to these stages before they run")
    options = parser.parse_args()
    only = re.compile(options.only)
    rows = [
        row
        for row in read_rows(options.launches)
        if row.corpus in CORPORA
        and re.search(options.repository, row.repository)
        and only.search(f"{row.corpus}/{row.case} [{row.level}]")
        and (options.tree / row.program.partition(" / ")[0]).exists()
    ]
    started = time.perf_counter()
    verdicts: list[Verdict] = []
    how = How(
        settings_of(options.sanitize),
        options.keep and options.keep.resolve(),
        lowering(options.lower) if options.lower else (),
    )
    for found in run_groups(options.tree.resolve(), groups_of(rows), how, options.jobs):
        verdicts += found
        for one in found:
            if one.verdict != PASS:
                print(f"  {one.verdict:9} {one.row.corpus}/{one.row.case}: {one.reason}", flush=True)
    return report(verdicts, time.perf_counter() - started, options.csv)


def groups_of(rows: list[Row]) -> list[list[Row]]:
    """Rows that share a program, and with it a generator."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        groups[f"{row.corpus} {row.program}"].append(row)
    return list(groups.values())


def settings_of(sync: SyncMode | None) -> Settings:
    """How the launches run: plainly, or watched by the sanitizers."""
    if sync is None:
        return Settings(quiet=True)
    return Settings(quiet=True, sanitizing=Sanitizing(SanitizeOptions(sync=sync)))


class How(NamedTuple):
    """How launches run, where they are kept, and the passes that tile programs go through before."""

    settings: Settings
    keep: Path | None
    passes: tuple[str, ...]


Task = tuple[Path, list[Row], How]


def run_group(task: Task) -> list[Verdict]:
    """Runs one group in a scratch folder."""
    tree, rows, (settings, keep, passes) = task
    place = None
    if keep is not None:
        # Cases of two programs may have the same name.
        place = keep / re.sub(r"\W+", "-", f"{rows[0].repository} {rows[0].program}")
        place.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        return CORPORA[rows[0].corpus].run(rows, Scratch(tree, Path(folder), settings, keep=place, passes=passes))


def run_groups(tree: Path, groups: list[list[Row]], how: How, jobs: int) -> Iterator[list[Verdict]]:
    """Verdicts of all groups as they come."""
    tasks: list[Task] = [(tree, group, how) for group in groups]
    if jobs <= 1:
        yield from map(run_group, tasks)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap_unordered(run_group, tasks)


def report(verdicts: list[Verdict], seconds: float, file: Path | None) -> int:
    """The table by corpus and level, and the exit code."""
    counts: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in verdicts:
        counts[one.row.corpus, one.row.level][one.verdict] += 1
    kinds = (PASS, FAIL, REFUSED, FOUND, NO_GOLDEN)
    print(f"{'corpus':20} {'level':46}" + "".join(f"{kind:>10}" for kind in kinds) + f"{'rate':>9}")
    total: Counter[str] = Counter()
    for (corpus, level), found in sorted(counts.items()):
        total += found
        print(f"{corpus:20} {level:46}" + "".join(f"{found[kind]:10}" for kind in kinds) + f"{_rate(found):9.2%}")
    print(f"{'all':67}" + "".join(f"{total[kind]:10}" for kind in kinds) + f"{_rate(total):9.2%}   {seconds:.0f} s")
    if file is not None:
        with open(file, "w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(("corpus", "case", "level", "verdict", "reason"))
            writer.writerows((v.row.corpus, v.row.case, v.row.level, v.verdict, v.reason) for v in verdicts)
    return 0 if _rate(total) >= REQUIRED else 1


def _rate(found: Counter[str]) -> float:
    judged = sum(found.values()) - found[NO_GOLDEN]
    return found[PASS] / judged if judged else 0.0


if __name__ == "__main__":
    sys.exit(main())
