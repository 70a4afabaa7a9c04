"""Measures what users feel, each figure beside its anchor, in one run.

Usage: python benchmarks/run.py [NAME ...] [--tree FOLDER]... [--slow] [--clock wall|processor] [--json FILE]
       [--compare OLD NEW]

NAMEs are those of the rows in ``rows/``; without one, all but the slow ones.  Every sample has a process of its own,
in which both sides run; the table shows medians, and the smallest and largest ratio.  ``--tree`` names folders with
programs (by default the project's examples and tests).  ``--compare`` takes two trees of this project and runs each
row with the package of one and of the other alternately, with the interpreter of the tree's ``.venv`` where there is
one. ``--clock processor`` counts time of the processor, for machines that do other work as well.  Exits with 1 when a
goal is missed (with ``--compare``: when the second version is more than 3 % slower than the first, its spread left
aside)."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

from rows import front, instrumented, runs, start
from rows.row import CLOCK, Row, Times

ROWS: dict[str, Row] = {**front.ROWS, **start.ROWS, **runs.ROWS, **instrumented.ROWS}
TOLERANCE = 1.03


class Figure(NamedTuple):
    """Samples of a row: seconds of our side and of the anchor."""

    name: str
    samples: list[Times]

    @property
    def row(self) -> Row:
        """What was measured."""
        return ROWS[self.name]

    def ratios(self) -> list[float]:
        """Ours / anchor, or anchor / ours where a speed-up is requested, from the smallest to the largest."""
        return sorted(anchor / ours if self.row.at_least else ours / anchor for ours, anchor in self.samples)

    def costs(self) -> list[float]:
        """What two versions are compared by: our seconds, or ours / anchor where programs are chosen by that."""
        return [ours / anchor if self.row.extreme else ours for ours, anchor in self.samples]

    @property
    def ours(self) -> float:
        """Median of our side in seconds."""
        return median(sample[0] for sample in self.samples)

    @property
    def holds(self) -> bool | None:
        """Whether the goal is met; None without one."""
        if self.row.goal is None:
            return None
        ratio = median(self.ratios())
        return ratio >= self.row.goal if self.row.at_least else ratio <= self.row.goal

    def line(self) -> str:
        """One line of the table."""
        ratios = self.ratios()
        anchor = median(sample[1] for sample in self.samples)
        sign = ">=" if self.row.at_least else "<="
        goal = f"{sign} {self.row.goal:g}" if self.row.goal is not None else ""
        verdict = {True: "holds", False: "MISSED", None: ""}[self.holds]
        spread = f"{ratios[0]:.2f}-{ratios[-1]:.2f}"
        figures = f"{self.ours * 1e3:11.3f} {anchor * 1e3:11.3f} {median(ratios):8.2f} {spread:>13}"
        return f"{self.row.what:54} {figures}  {goal:8} {verdict}"


HEAD = f"{'what (anchor)':54} {'ours ms':>11} {'anchor ms':>11} {'ratio':>8} {'spread':>13}  goal"


def environment(tree: Path | None) -> dict[str, str]:
    """Variables under which Python finds the package of a tree, or the one that is installed, and keeps what it has
    compiled, as after an installation."""
    kept = {**os.environ, "PYTHONDONTWRITEBYTECODE": ""}
    return {**kept, "PYTHONPATH": str(tree)} if tree is not None else kept


def interpreter(tree: Path | None) -> str:
    """Python of a tree's own environment, in which its commands are installed, else the one that runs this."""
    own = tree / ".venv" / "bin" / "python" if tree is not None else Path(sys.executable)
    return str(own if own.exists() else sys.executable)


def call(name: str, what: str, folder: Path, tree: Path | None = None) -> str:
    """Runs a part of a row in a fresh process."""
    line = [interpreter(tree), __file__, f"--{what}", name, str(folder)]
    ended = subprocess.run(line, stdout=subprocess.PIPE, text=True, env=environment(tree))
    if ended.returncode:
        raise SystemExit(f"{name}: the process of the measurement ended with {ended.returncode}")
    return ended.stdout


def sampled(name: str, trees: Sequence[Path | None]) -> list[Figure]:
    """A row, measured with each package alternately."""
    row, found = ROWS[name], [Figure(name, []) for _ in trees]
    with tempfile.TemporaryDirectory() as place:
        folders = [Path(place, str(number)) for number in range(len(trees))]
        for folder, tree in zip(folders, trees, strict=True):
            folder.mkdir()
            if row.prepare is not None:
                call(name, "prepare", folder, tree)
        for _ in range(row.rounds):
            for figure, folder, tree in zip(found, folders, trees, strict=True):
                ours, anchor = json.loads(call(name, "sample", folder, tree).splitlines()[-1])
                figure.samples.append((ours, anchor))
    return found


def compare(names: Sequence[str], old: Path, new: Path) -> int:
    """Prints how long the second version takes beside the first."""
    slower = False
    print(f"{'what (anchor)':54} {'old ms':>11} {'new ms':>11} {'new/old':>8} {'spread':>13}")
    for name in names:
        before, after = sampled(name, (old.resolve(), new.resolve()))
        ratios = sorted(b / a for a, b in zip(before.costs(), after.costs(), strict=True))
        ratio, spread = median(ratios), f"{ratios[0]:.2f}-{ratios[-1]:.2f}"
        verdict = "SLOWER" if ratio > TOLERANCE and ratios[0] > 1 else ""
        slower = slower or bool(verdict)
        figures = f"{before.ours * 1e3:11.3f} {after.ours * 1e3:11.3f} {ratio:8.2f} {spread:>13}"
        print(f"{ROWS[name].what:54} {figures}  {verdict}", flush=True)
    return int(slower)


def table(names: Sequence[str], kept: Path | None) -> int:
    """Prints all rows; keeps them as JSON."""
    print(HEAD)
    found: list[Figure] = []
    for name in names:
        found += sampled(name, (None,))
        print(found[-1].line(), flush=True)
    if kept is not None:
        rows = [
            {"name": f.name, "what": f.row.what, "goal": f.row.goal, "at_least": f.row.at_least, "holds": f.holds}
            | {"samples": f.samples, "ratio": median(f.ratios())}
            for f in found
        ]
        kept.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return int(any(figure.holds is False for figure in found))


def main() -> int:
    """Runs what the command line requires."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"rows: {', '.join(ROWS)}")
    parser.add_argument("--tree", type=Path, action="append", help="folder with programs")
    parser.add_argument("--slow", action="store_true", help="the slow rows as well")
    parser.add_argument("--clock", choices=("wall", "processor"), default="wall")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--compare", type=Path, nargs=2, metavar=("OLD", "NEW"))
    for part in ("prepare", "sample"):
        parser.add_argument(f"--{part}", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.prepare or args.sample:
        name, folder = args.prepare or args.sample
        row = ROWS[name]
        if args.sample:
            print(json.dumps(row.sample(Path(folder))))
        elif row.prepare is not None:
            row.prepare(Path(folder))
        return 0
    if unknown := [name for name in args.names if name not in ROWS]:
        parser.error(f"unknown row {unknown[0]!r}; there are {', '.join(ROWS)}")
    if args.tree:
        os.environ["PTO_BENCH_TREES"] = os.pathsep.join(str(path.resolve()) for path in args.tree)
    os.environ[CLOCK] = args.clock
    names = args.names or [name for name, row in ROWS.items() if args.slow or not row.slow]
    return compare(names, *args.compare) if args.compare else table(names, args.json)


if __name__ == "__main__":
    sys.exit(main())
