"""Runs the instruction set's own tests: their programs as tile programs, against their results and tolerances.

Usage: python benchmarks/isa_cases.py ISA_TREE [-j N] [--target a2a3|a5] [--case REGEX] [--json FILE] [--keep FOLDER]
    [--work FOLDER]

Each folder of ``tests/npu/TARGET/src/st/testcase`` has a generator of inputs and expected results, a host program with
the tests, and kernels in C++. The kernels are compiled and translated as ``pto_dialect.cpp`` does it; the package
verifies and runs what the host program launches, and the host program compares. The tree is left as it is: everything
is made in a scratch folder. It needs ``g++`` (12 or newer), and in the environment of the benchmark a compiler for the
kernels (the extra ``cpp``), numpy, ``ml_dtypes`` and ``en_dtypes`` for the generators.

A test agrees when no number differs by more than the tolerance that it states, and integers are equal; words of 16 bits
have the tolerance, because they may be halves. ``loosely`` counts those that pass only because their own comparison
lets a share of the numbers differ. The exit code is 1 when fewer than 99 % of the tests with a legal program agree.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import re
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import isa_build
from isa_kernels import NoProgram
from isa_launch import Launches
from isa_session import AGREES, DIFFERS, NO_RESULT, NOT_MAPPED, RAISES, REJECTED, Outcome, names_of, run_test

REQUIRED = 0.99
NOT_BUILT = "not built"
MAPPED = (AGREES, DIFFERS, RAISES)
OUTCOMES = (*MAPPED, REJECTED, NOT_MAPPED, NO_RESULT, NOT_BUILT)

_TEST = re.compile(r"^\s*TEST(?:_F)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)


class Task(NamedTuple):
    """One test folder."""

    tools: isa_build.Tools
    source: Path
    work: Path
    case: str
    keep: Path | None


class Verdict(NamedTuple):
    """What became of one test."""

    target: str
    folder: str
    test: str
    outcome: str
    reason: str
    loose: bool
    seconds: float


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="root of an unpacked source tree of the instruction set")
    parser.add_argument("-j", "--jobs", type=int, default=1, metavar="N", help="processes")
    parser.add_argument("--target", choices=tuple(isa_build.ARCHITECTURES), help="the tests of one target")
    parser.add_argument("--case", default="", metavar="REGEX", help="tests whose 'target/folder/Suite.test' matches")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the outcome of each test to this file")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="write the programs to this folder")
    parser.add_argument("--work", type=Path, metavar="FOLDER", help="build here, and use what was built here before")
    options = parser.parse_args()
    if options.keep is not None:
        options.keep.mkdir(parents=True, exist_ok=True)
    started = time.perf_counter()
    verdicts: list[Verdict] = []
    targets = [options.target] if options.target else list(isa_build.ARCHITECTURES)
    with tempfile.TemporaryDirectory() as scratch:
        work = (options.work or Path(scratch)).resolve()
        tasks = [
            task
            for target in targets
            for task in tasks_of(options.tree.resolve(), target, work, options.case, options.keep)
        ]
        for found in run_all(tasks, options.jobs):
            verdicts += found
            for one in found:
                if one.outcome in MAPPED and one.outcome != AGREES:
                    print(f"  {one.outcome:8} {one.target}/{one.folder}/{one.test}: {one.reason}", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps([one._asdict() for one in verdicts], indent=0))
    return report(verdicts, time.perf_counter() - started)


def tasks_of(tree: Path, target: str, work: Path, case: str, keep: Path | None) -> Iterator[Task]:
    """The test folders of a target that have a test whose name matches."""
    sources = sorted((tree / f"tests/npu/{target}/src/st/testcase").glob("*/main.cpp"))
    wanted = [file.parent for file in sources if any(matches(case, target, file.parent, t) for t in declared(file))]
    if not wanted:
        return
    tools = isa_build.prepare(tree, target, work / target)
    for source in wanted:
        yield Task(tools, source, work / target / source.name, case, keep)


def declared(main_file: Path) -> list[str]:
    """The tests that a host program declares."""
    return [f"{suite}.{test}" for suite, test in _TEST.findall(main_file.read_text(errors="replace"))]


def matches(case: str, target: str, source: Path, test: str) -> bool:
    return re.search(case, f"{target}/{source.name}/{test}") is not None


def run_folder(task: Task) -> list[Verdict]:
    """Runs the tests of one folder."""
    target, source = task.tools.target, task.source
    try:
        program, kernels = isa_build.built(task.tools, source, task.work)
        names = names_of(program)
    except NoProgram as error:
        names = [test for test in declared(source / "main.cpp") if matches(task.case, target, source, test)]
        outcome = Outcome(NOT_BUILT, str(error))
        return [_verdict(target, source, name, outcome) for name in names]
    launches = Launches(kernels, target)
    return [
        _verdict(target, source, name, run_test(program, name, partial(launches.run, keep=_kept(task, name))))
        for name in names
        if matches(task.case, target, source, name)
    ]


def _kept(task: Task, name: str) -> Path | None:
    return task.keep / f"{task.tools.target}_{task.source.name}_{name}.pto" if task.keep is not None else None


def _verdict(target: str, source: Path, name: str, outcome: Outcome) -> Verdict:
    return Verdict(target, source.name, name, *outcome)


def run_all(tasks: list[Task], jobs: int) -> Iterator[list[Verdict]]:
    """Verdicts of all folders as they come."""
    if jobs <= 1:
        yield from map(run_folder, tasks)
        return
    with multiprocessing.Pool(jobs) as pool:
        yield from pool.imap_unordered(run_folder, tasks)


def report(verdicts: list[Verdict], seconds: float) -> int:
    """The table by target, the reasons of the tests without a program, and the exit code."""
    print(f"{'target':8}{'tests':>8}" + "".join(f"{kind:>12}" for kind in OUTCOMES) + f"{'loosely':>10}{'rate':>9}")
    total: list[Verdict] = []
    for target in (*isa_build.ARCHITECTURES, "all"):
        found = [one for one in verdicts if target in (one.target, "all")]
        counts = Counter(one.outcome for one in found)
        loose = sum(one.loose for one in found)
        cells = "".join(f"{counts[kind]:12}" for kind in OUTCOMES)
        print(f"{target:8}{len(found):8}{cells}{loose:10}{_rate(found):9.2%}")
        total = found
    reasons: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for one in total:
        if one.outcome not in MAPPED:
            reasons[one.outcome, re.sub(r"\d+", "N", one.reason)[:110]][f"{one.target}/{one.folder}"] += 1
    for (outcome, reason), folders in sorted(reasons.items(), key=lambda item: -item[1].total()):
        print(f"  {folders.total():5} {outcome}: {reason} ({', '.join(folders)[:90]})")
    print(f"{seconds:.0f} s")
    return 0 if _rate(total) >= REQUIRED else 1


def _rate(found: list[Verdict]) -> float:
    mapped = [one for one in found if one.outcome in MAPPED]
    return sum(one.outcome == AGREES for one in mapped) / len(mapped) if mapped else 0.0


if __name__ == "__main__":
    sys.exit(main())
