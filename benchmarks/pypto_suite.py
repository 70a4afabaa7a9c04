"""PyPTO's system tests on this toolchain: how many pass, what becomes of the rest, and how long they take.

    python benchmarks/pypto_suite.py PYPTO_TREE [--platform a2a3sim] [--sanitize] [--jobs 2] [--select WORDS]
        [--single] [--limit SECONDS] [--log FILE.jsonl] [--like FILE.jsonl] [PATHS]

runs the tests below `tests/st` of a checkout of PyPTO, or those in PATHS, with the plug-in for pytest, and prints a
table of results with times: by the clock, and of processors, apart for this toolchain, for the C++ compiler that it
starts for orchestrations (whose results are kept for the next time), and for PyPTO. PyPTO has to be built and installed
in the Python environment that runs this script (docs/pypto.md says how), with pytest, pytest-forked, and pytest-xdist
for `--jobs` above 1.

Tests that have ended are lines of `--log`. `--like` names that of an earlier run: tests that took longest there come
first, and the largest are not made ready beside each other (`benchmarks/pypto_order.py`). With `--single` each test
function runs once, with the first of its sets of parameters. With `--limit` the tests are ended after so many seconds,
as they are by an interrupt or a signal to end; the table then has what was done. `--report DIR` keeps what each test
has run and what the sanitizers have found.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Any, NamedTuple

PLATFORMS = ("a2a3", "a5", "a2a3sim", "a5sim")
DEVICES = "0-3"
"""Devices that tests of several may take."""
SLOWEST = 10
"""Tests that are named for the time of this toolchain."""


class Outcome(NamedTuple):
    """What became of one test: ``passed``, ``failed``, ``error`` or ``skipped``, why, its times, and the bytes that it
    took at most."""

    test: str
    word: str
    reason: str
    seconds: dict[str, float]
    peak: int = 0


class Times(NamedTuple):
    """A run of the tests: seconds by the clock, and of all processors; ``limit`` where it was cut off."""

    wall: float
    busy: float
    limit: float | None = None


def read(log: Path) -> tuple[list[Outcome], int]:
    """The tests of a log, and the number of those that were to run."""
    found: list[Outcome] = []
    collected = 0
    for line in log.read_text().splitlines():
        one: dict[str, Any] = json.loads(line)
        collected = max(collected, one.get("collected", 0))
        if "test" in one:
            found.append(
                Outcome(one["test"], one["outcome"], reason(one["reason"]), one["seconds"], one.get("peak", 0))
            )
    return found, max(collected, len(found))


def reason(text: str) -> str:
    """The line of a failure that says most: an error with its rule, else the first line of an exception."""
    for pattern in (r"error: (.+\[[\w.-]+\])", r"((?:\w+\.)*\w*(?:Error|Exception)\b: .+)", r"(\S.*)"):
        match = re.search(pattern, text)
        if match is not None:
            return match[1].strip()[:160]
    return ""


def command(given: argparse.Namespace) -> list[str]:
    """What runs the tests."""
    made = [sys.executable, "-m", "pytest", "--pto-pypto", "-p", "pypto_times", "-p", "pypto_order"]
    # PyPTO compiles for one chip in a process, and some of its files refuse a platform altogether.
    made += ["--forked", "--continue-on-collection-errors", "-q", "--no-header", "-p", "no:cacheprovider", "--tb=short"]
    made += [f"--platform={given.platform}", f"--device={DEVICES}"]
    if given.jobs > 1:
        made += ["-n", str(given.jobs), "--maxschedchunk=1"]
    if given.sanitize:
        made.append("--pto-sanitize")
    if given.report:
        made.append(f"--pto-report={os.path.abspath(given.report)}")
    if given.select:
        made += ["-k", given.select]
    return [*made, *(given.paths or ["tests/st"])]


def run(given: argparse.Namespace, log: Path, locks: str) -> tuple[int, Times]:
    """Runs the tests, at most as long as is allowed; the exit code of pytest, and what that took. ``locks`` is a folder
    for what processes hold."""
    here = str(Path(__file__).resolve().parent)
    paths = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": paths, "PYPTO_TIMES": str(log), "PYPTO_LOCKS": locks}
    if given.like:
        environment["PYPTO_LIKE"] = str(given.like.resolve())
    if given.single:
        environment["PYPTO_SINGLE"] = "1"
    started = monotonic()
    # A group of processes of its own can be ended as a whole.
    tests = subprocess.Popen(command(given), cwd=given.tree, stdout=sys.stderr, env=environment, start_new_session=True)
    limit = None
    try:
        code = tests.wait(given.limit or None)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        with suppress(ProcessLookupError):
            os.killpg(tests.pid, signal.SIGKILL)
        tests.wait()
        code, limit = 1, monotonic() - started
    times = os.times()
    return code, Times(monotonic() - started, times.children_user + times.children_system, limit)


def show(found: list[Outcome], collected: int, times: Times) -> None:
    """The table: numbers of results and times, the slowest tests, then reasons with their numbers and tests."""
    counts = Counter(one.word for one in found)
    numbers = ", ".join(f"{counts[word]} {word}" for word in ("passed", "failed", "error", "skipped"))
    print(f"{len(found)} tests: {numbers}")
    if times.limit is not None:
        print(f"cut off after {times.limit:.0f} s, with {collected - len(found)} tests that have not ended")
    print(f"{times.wall:.0f} s by the clock, {times.busy:.0f} s of processors, of which in tests that have ended:")
    spent: Counter[str] = Counter()
    for one in found:
        spent.update(one.seconds)
    own = spent["kernels"]
    print(f"  {own:8.1f} s  this toolchain: programs, and orchestrations with their kernels")
    print(f"  {spent['host']:8.1f} s  the C++ compiler for orchestrations")
    print(f"  {spent['test'] - own - spent['host']:8.1f} s  PyPTO and its tests")
    print(f"the {SLOWEST} tests that keep this toolchain busy for longest: seconds of it, by the clock, GB at most:")
    for one in sorted(found, key=lambda one: -one.seconds.get("kernels", 0.0))[:SLOWEST]:
        own, wall = (one.seconds.get(name, 0.0) for name in ("kernels", "wall"))
        print(f"  {own:8.1f} {wall:8.1f} {one.peak / 1e9:5.1f}  {one.test}")
    reasons: dict[tuple[str, str], list[str]] = {}
    for one in found:
        if one.word != "passed":
            reasons.setdefault((one.word, one.reason), []).append(one.test)
    for (word, why), tests in sorted(reasons.items(), key=lambda item: (item[0][0] == "skipped", -len(item[1]))):
        named = tests[:3] if word == "skipped" else tests
        more = ["..."] if len(tests) > len(named) else []
        print("\n     ".join([f"{len(tests):4} {word}: {why}", *named, *more]))


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path)
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--platform", default="a2a3sim", help=f"one or more of {', '.join(PLATFORMS)}, with commas")
    parser.add_argument("--sanitize", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--select", default="")
    parser.add_argument("--single", action="store_true", help="the first set of parameters of each function")
    parser.add_argument("--limit", type=float, default=0.0, help="seconds after which the tests are ended")
    parser.add_argument("--log", type=Path, help="file for a line about each test")
    parser.add_argument("--like", type=Path, help="such a file of an earlier run, for the order of tests")
    parser.add_argument("--report", default="")
    return parser.parse_intermixed_args(arguments)


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


def main(arguments: Sequence[str] | None = None) -> int:
    given = parsed(arguments)
    signal.signal(signal.SIGTERM, _interrupt)
    with tempfile.TemporaryDirectory() as folder:
        log = given.log or Path(folder) / "tests.jsonl"
        log.write_text("")
        code, times = run(given, log.resolve(), folder)
        show(*read(log), times)
    # 1: tests have failed, which the table reports.
    return 0 if code == 1 and times.limit is None else code


if __name__ == "__main__":
    sys.exit(main())
