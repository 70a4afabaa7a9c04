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
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from time import monotonic
from typing import NamedTuple

PASSED, FOUND, FAILED, ENDED, REFUSED = "passed", "finding", "failed", "not in time", "other platforms"
FINDING = re.compile(r"\S+:\d+:\d+: error: .*\[[a-z0-9-]+\]$")


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
    options = parser.parse_intermixed_args()
    os.chdir(options.tree)
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
    command = [sys.executable, "-m", "pto_dialect.integrations.pypto", *["--sanitize"] * sanitize, file, "-p", platform]
    start = monotonic()
    try:
        done = subprocess.run(
            command,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [".", os.environ.get("PYTHONPATH")]))},
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
    found = list(filter(FINDING.match, lines))
    errors = [line for line in lines if "Error" in line or "error" in line]
    last = (errors or lines or [""])[-1].strip()
    if found:
        return Outcome(FOUND, seconds, found[0])
    if code == 0:
        return Outcome(PASSED, seconds, "")
    if "invalid choice" in last:
        return Outcome(REFUSED, seconds, last)
    return Outcome(FAILED, seconds, last)


if __name__ == "__main__":
    sys.exit(main())
