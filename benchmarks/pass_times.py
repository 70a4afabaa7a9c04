"""How long passes take on long programs, and how that grows with their length.

Usage: python benchmarks/pass_times.py [--most N] [--only REGEX]

A random program of tile operations for a5 is made four times as long each time, up to N operations. Each pass runs on
what the passes before it have made, as `--lower=memory,sync,vector` does; times are processor time of the pass alone,
the best of two. The exit code is 1 when a pass takes longer than 5 seconds for N operations, or grows faster than
n log n.
"""

from __future__ import annotations

import re
import sys
from math import log
from time import process_time

import click
from generated_tiles import TileProgram
from xdsl.dialects.builtin import ModuleOp

from pto_dialect import parse
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.registry import make_pass

BEFORE: dict[str, tuple[str, ...]] = {
    "tile-loops{rows=64}": (),
    "unroll": (),
    "double-buffer": (),
    "assign-memory": (),
    "insert-sync": ("assign-memory",),
    "remove-redundant-sync": ("assign-memory", "insert-sync"),
    "check-sync": ("assign-memory", "insert-sync"),
    "lower-vector": ("assign-memory", "insert-sync"),
    "lower-vector{fuse=false}": ("assign-memory", "insert-sync"),
    "sums-in-place": (),
    "repeat-sums": (),
    "lower-transfers": ("assign-memory", "insert-sync"),
}
"""Each pass, and the ones that run first."""
SECONDS = 5.0
ALLOWANCE = 1.5
"""Times that the growth may exceed that of n log n before it counts."""


def program(operations: int) -> str:
    """A program with about so many tile operations."""
    return TileProgram(7, "a5", statements=operations, core="vector").text


def seconds(text: str, call: str) -> float:
    """What a pass takes on a program that was made ready for it, the best of two."""
    best = float("inf")
    for _ in range(2):
        module = parse(text, "program.pto")
        for before in BEFORE[call]:
            run(module, before)
        started = process_time()
        run(module, call)
        best = min(best, process_time() - started)
    return best


def run(module: ModuleOp, call: str) -> None:
    """Runs one pass; what it says is dropped."""
    make_pass(call, None).run(module, DiagnosticEngine(DiagnosticOptions(max_errors=0)))


def tile_operations(text: str) -> int:
    """The operations on tiles in a program."""
    return sum(op.name.startswith("pto.t") for op in walk(parse(text, "program.pto")))


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--most", default=10_000, show_default=True, metavar="N", help="tile operations of the longest program")
@click.option("--only", default="", metavar="REGEX", help="passes whose name matches")
def main(most: int, only: str) -> None:
    """Time passes on long programs."""
    texts = [program(most // part) for part in (16, 4, 1)]
    sizes = [tile_operations(text) for text in texts]
    print(f"{'operations':<26}", *(f"{size:>8}" for size in sizes), "  growth, n log n")
    slow = False
    for call in BEFORE:
        if not re.search(only, call):
            continue
        times = [seconds(text, call) for text in texts]
        growth = times[-1] / times[-2]
        fair = sizes[-1] * log(sizes[-1]) / (sizes[-2] * log(sizes[-2]))
        bad = times[-1] > SECONDS or growth > ALLOWANCE * fair
        slow |= bad
        print(f"{call:<26}", *(f"{one:8.2f}" for one in times), f"  {growth:5.1f} {fair:5.1f}{'  slow' if bad else ''}")
    sys.exit(1 if slow else 0)


if __name__ == "__main__":
    main()
