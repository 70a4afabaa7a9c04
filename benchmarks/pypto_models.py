"""Programs of PyPTO that compare their own results, as those of pypto-lib do, each in a process of its own.

    python benchmarks/pypto_models.py TREE [--platform a2a3sim] [--sanitize] [--limit SECONDS] [FILES]

runs the Python programs FILES of the checkout TREE, or all below its `examples` and `models` that are programs, as
`python FILE -p PLATFORM` does with a board, and prints a line for each: how it ended, its seconds by the clock, and the
first finding of the sanitizers, or its last line where it failed. PyPTO has to be built and installed in the Python
environment that runs this script (docs/pypto.md says how). The exit code is 1 where a program failed.
"""

from __future__ import annotations

import argparse
import os
import runpy
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import NamedTuple

SCRIPT = Path(__file__).resolve()
PASSED, FOUND, FAILED, ENDED, REFUSED = "passed", "finding", "failed", "not in time", "other platforms"
FINDING = "pto finding: "
"""Begins the line that a program's process prints for the first finding in it."""


class Outcome(NamedTuple):
    """How a program ended, its seconds by the clock, and one line that says more."""

    ended: str
    seconds: float
    line: str


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tree", type=Path, help="root of a checkout with programs of PyPTO")
    parser.add_argument("files", nargs="*", help="programs, relative to the root")
    parser.add_argument("--platform", default="a2a3sim", help="argument of each program's option -p")
    parser.add_argument("--sanitize", action="store_true", help="sanitize every kernel")
    parser.add_argument("--limit", type=float, default=600, metavar="SECONDS", help="time for one program")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()
    os.chdir(options.tree)
    if options.here:
        return run_here(options.files[0], options.platform, options.sanitize)
    ends: Counter[str] = Counter()
    for file in options.files or programs(Path()):
        outcome = run_apart(file, options.platform, options.sanitize, options.limit)
        ends[outcome.ended] += 1
        print(f"{outcome.ended:16}{outcome.seconds:7.1f} s  {file}  {outcome.line}", flush=True)
    print(", ".join(f"{ended}: {number}" for ended, number in ends.most_common()))
    return int(bool(ends[FAILED]))


def programs(tree: Path) -> Iterator[str]:
    """The programs of a checkout, without drafts, which are unfinished by their names."""
    for folder in ("examples", "models"):
        for path in sorted((tree / folder).rglob("*.py")):
            if "draft" not in path.stem and "__main__" in path.read_text(encoding="utf-8"):
                yield str(path)


def run_apart(file: str, platform: str, sanitize: bool, limit: float) -> Outcome:
    """Runs a program of the current folder in a process."""
    command = [sys.executable, str(SCRIPT), ".", file, "--here", "--platform", platform]
    start = monotonic()
    try:
        done = subprocess.run(
            [*command, *["--sanitize"] * sanitize],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=limit,
        )
    except subprocess.TimeoutExpired:
        return Outcome(ENDED, limit, "")
    return judged(done.returncode, done.stdout, monotonic() - start)


def judged(code: int, output: str, seconds: float) -> Outcome:
    """What exit code and output of a program mean."""
    lines = [line for line in output.splitlines() if line.strip()]
    found = [line.removeprefix(FINDING) for line in lines if line.startswith(FINDING)]
    errors = [line for line in lines if "Error" in line or "error" in line]
    last = (errors or lines or [""])[-1].strip()
    if found:
        return Outcome(FOUND, seconds, found[0])
    if code == 0:
        return Outcome(PASSED, seconds, "")
    if "invalid choice" in last:
        return Outcome(REFUSED, seconds, last)
    return Outcome(FAILED, seconds, last)


def run_here(file: str, platform: str, sanitize: bool) -> int:
    """Runs a program in this process, and prints the first finding as one line; returns its exit code."""
    from pto_dialect.diagnostics.diagnostic import Severity
    from pto_dialect.integrations.pypto import install
    from pto_dialect.integrations.session import Session

    install()
    session = Session("all" if sanitize else None, None, ())
    sys.argv = [file, "-p", platform]
    sys.path[:0] = [".", str(Path(file).parent)]
    code = 0
    with session.open():
        session.begin(file)
        try:
            runpy.run_path(file, run_name="__main__")
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
        errors, _ = session.judge()
    first = next((line for line in errors.splitlines() if f": {Severity.ERROR.label}: " in line), None)
    if first is not None:
        print(f"\n{FINDING}{first}")
    return code


if __name__ == "__main__":
    sys.exit(main())
