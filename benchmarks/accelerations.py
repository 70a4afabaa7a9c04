"""What each acceleration gains in the row of ``benchmarks/run.py`` where a user feels it most.

Usage: python benchmarks/accelerations.py [NAME ...] [--rounds N] [--tree FOLDER]...

NAMEs are those of ``pto_dialect.accel.ACCELERATIONS``.  Samples of the row with the acceleration and without it
alternate, each in a process of its own; what is compared is the processor time of our side beside that of the anchor,
so that other work on the machine counts little.  The gain is the part of the time that the acceleration saves."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from pto_dialect.accel import ACCELERATIONS, VARIABLE

RUN = Path(__file__).with_name("run.py")

ROWS = {
    "class-code": "start-up",
    "regex-code": "start-up",
    "module-code": "start-up",
    "parse-tables": "start-up",
    "formats": "start-up",
    "results": "start-again",
    "server": "start-served",
    "exit": "start-again",
    "collector": "samples-once",
    "definitions": "samples-once",
    "construction": "samples-once",
    "locations": "samples-once",
    "templates": "samples-once",
    "verdicts": "samples-once",
    "held": "gemm",
    "conversions": "tcvt",
    "blocks": "rmsnorm",
    "worker-pool": "processes-100",
    "replay": "attention-arrays",
    "shadow": "sanitizing",
    "watched-launches": "sanitizing-again",
}
"""The row of each acceleration; compiled orchestrations of PyPTO have none."""

HIDDEN_BY = {"held": "replay", "blocks": "replay"}
"""Accelerations that have nothing to do where another one is in force: that is disabled on both sides."""


def sample(row: str, folder: Path, disabled: str) -> float:
    """Time of our side beside the anchor, with accelerations ``disabled``."""
    variables = {**os.environ, VARIABLE: disabled, "PTO_BENCH_CLOCK": "processor", "PYTHONDONTWRITEBYTECODE": ""}
    line = [sys.executable, str(RUN), "--sample", row, str(folder)]
    done = subprocess.run(line, stdout=subprocess.PIPE, text=True, check=True, env=variables)
    ours, anchor = json.loads(done.stdout.splitlines()[-1])
    return ours / anchor


def measure(name: str, rounds: int) -> tuple[float, float, float]:
    """The median gain of an acceleration, the smallest and the largest."""
    row, base = ROWS[name], HIDDEN_BY.get(name, "")
    gains: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, str(RUN), "--prepare", row, folder], check=True)
        for _ in range(rounds):
            with_it = sample(row, Path(folder), base)
            without = sample(row, Path(folder), ",".join(filter(None, (base, name))))
            gains.append(1 - with_it / without)
    return median(gains), min(gains), max(gains)


def main() -> None:
    """Prints a line for each acceleration."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"accelerations: {', '.join(ACCELERATIONS)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--tree", type=Path, action="append", help="folder with programs")
    args = parser.parse_args()
    if unknown := [name for name in args.names if name not in ROWS]:
        parser.error(f"no row for {unknown[0]!r}; there are {', '.join(ROWS)}")
    if args.tree:
        os.environ["PTO_BENCH_TREES"] = os.pathsep.join(str(path.resolve()) for path in args.tree)
    print(f"{'acceleration':18} {'row':18} {'gain':>6}  spread")
    for name in args.names or ROWS:
        gain, least, most = measure(name, args.rounds)
        print(f"{name:18} {ROWS[name]:18} {gain:6.0%}  {least:.0%} to {most:.0%}", flush=True)


if __name__ == "__main__":
    main()
