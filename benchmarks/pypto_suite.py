"""PyPTO's system tests on this toolchain: how many pass, what becomes of the rest, and how long they take.

    python benchmarks/pypto_suite.py PYPTO_TREE [--platform a2a3sim] [--sanitize] [--jobs 2] [--select WORDS] [PATHS]

runs the tests below `tests/st` of a checkout of PyPTO, or those in PATHS, with the plug-in for pytest, and prints a
table of outcomes. Every folder is a session of its own; times are CPU seconds of all processes, tests and compilers
alike. PyPTO has to be built and installed in the Python environment that runs this script (docs/pypto.md says how),
with pytest, pytest-forked, and pytest-xdist for `--jobs` above 1. `--report DIR` keeps what each test has run and what
the sanitizers have found.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree

PLATFORMS = ("a2a3", "a5", "a2a3sim", "a5sim")


class Outcome(NamedTuple):
    """What became of one test: ``passed``, ``failed``, ``error`` or ``skipped``, and why."""

    test: str
    word: str
    reason: str


def outcomes(report: Path) -> list[Outcome]:
    """The tests of a report in JUnit's form."""
    found: list[Outcome] = []
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        test = f"{case.get('classname')}::{case.get('name')}"
        parts = {part.tag: part for part in case if part.tag in ("failure", "error", "skipped")}
        tag = next(iter(parts), None)
        words = {"failure": "failed", "error": "error", "skipped": "skipped"}
        text = "" if tag is None else f"{parts[tag].get('message') or ''}\n{parts[tag].text or ''}"
        found.append(Outcome(test, words[tag] if tag else "passed", reason(text)))
    return found


def reason(text: str) -> str:
    """The line of a failure that says most: an error with its rule, else the first line of an exception."""
    for pattern in (r"error: (.+\[[\w.-]+\])", r"((?:\w+\.)*\w*(?:Error|Exception)\b: .+)", r"(\S.*)"):
        match = re.search(pattern, text)
        if match is not None:
            return match[1].strip()[:160]
    return ""


def sessions(tree: Path, paths: Sequence[str]) -> Iterator[list[str]]:
    """The files of each session: those of one folder, or what is named."""
    for path in paths:
        files = sorted((tree / path).rglob("test_*.py"))
        if not files:
            yield [path]
        for _, some in groupby(sorted(files, key=lambda file: file.parent), lambda file: file.parent):
            yield [str(file.relative_to(tree)) for file in some]


def command(given: argparse.Namespace, files: Sequence[str], report: Path) -> list[str]:
    """What runs the tests of a session."""
    made = [sys.executable, "-m", "pytest", "--pto-pypto", f"--platform={given.platform}", f"--junitxml={report}"]
    # PyPTO compiles for one chip in a process, and some of its files refuse a platform altogether.
    made += ["--forked", "--continue-on-collection-errors", "-q", "--no-header", "-p", "no:cacheprovider", "--tb=short"]
    if given.jobs > 1:
        made += ["-n", str(given.jobs)]
    if given.sanitize:
        made.append("--pto-sanitize")
    if given.report:
        made.append(f"--pto-report={os.path.abspath(given.report)}")
    if given.select:
        made += ["-k", given.select]
    return [*made, *files]


def processor_seconds() -> float:
    """CPU seconds of all processes that have ended."""
    times = os.times()
    return times.children_user + times.children_system


def show(found: list[Outcome], seconds: float) -> None:
    """The table: numbers of outcomes, then reasons with their numbers and tests."""
    counts = Counter(one.word for one in found)
    numbers = ", ".join(f"{counts[word]} {word}" for word in ("passed", "failed", "error", "skipped"))
    print(f"{len(found)} tests: {numbers}; {seconds:.0f} CPU seconds, reading the tests among them")
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in found:
        if one.word != "passed":
            reasons.setdefault((one.word, one.reason), []).append(one.test)
    for (word, why), tests in sorted(reasons.items(), key=lambda item: -len(item[1])):
        print(
            f"{len(tests):4} {word}: {why}\n     "
            + "\n     ".join(tests[:3])
            + ("\n     ..." if len(tests) > 3 else "")
        )


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--platform", default="a2a3sim", help=f"one or more of {', '.join(PLATFORMS)}, with commas")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--select", default="")
    parser.add_argument("--report", default="")
    given = parser.parse_intermixed_args(arguments)
    found: list[Outcome] = []
    code = 0
    with tempfile.TemporaryDirectory() as folder:
        for index, files in enumerate(sessions(given.tree, given.paths or ["tests/st"])):
            report = Path(folder) / f"report{index}.xml"
            done = subprocess.run(command(given, files, report), cwd=given.tree, stdout=sys.stderr)
            if report.exists():
                found += outcomes(report)
            else:
                code = done.returncode or 1
    show(found, processor_seconds())
    return code


if __name__ == "__main__":
    sys.exit(main())
