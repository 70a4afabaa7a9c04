"""How much slower the examples run under all sanitizers, each beside its plain run.

Usage: python benchmarks/watched_examples.py [NAME ...]    (names of examples; default: all)

Both launches include compilation, as ``pto-run`` has it for every run; times are of the processor, so that other work
on the machine counts little. The pipes of all programs are checked as if the program had to order them itself
(``--sync strict``), which is the slowest of the checks.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pto_dialect
from examples.case import Case
from examples.check import FOLDER, copied
from examples.run_all import EXAMPLES, label, load
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import WatchedKernel
from pto_dialect.sanitize.options import SanitizeOptions

_ROUNDS = 5


def seconds(*functions: Callable[[], object]) -> list[float]:
    """The shortest time of each function in seconds of the processor, run in turns."""
    found = [float("inf")] * len(functions)
    for _ in range(_ROUNDS):
        for number, function in enumerate(functions):
            gc.collect()
            started = process_time()
            function()
            found[number] = min(found[number], process_time() - started)
    return found


def measured(example: str, case: Case) -> tuple[float, float]:
    """Seconds of a plain and of a watched launch."""
    module = pto_dialect.parse((FOLDER / example / case.program).read_text(encoding="utf-8"), case.program)
    target = case.targets[0]

    def plain() -> None:
        Kernel(module, case.entry, target, RunOptions()).run(list(copied(case.data).values()), case.blocks)

    def watched() -> None:
        kernel = WatchedKernel(module, case.entry, target, RunOptions(fill="poison"), SanitizeOptions(sync="strict"))
        kernel.run(list(copied(case.data).values()), case.blocks)

    plain_time, watched_time = seconds(plain, watched)
    return plain_time, watched_time


def main(names: list[str]) -> None:
    """Prints the examples from the least to the most slowed down, and the median."""
    rows: list[tuple[float, str]] = []
    for example in names or EXAMPLES:
        cases, _ = load(example)
        for case in cases:
            plain, watched = measured(example, case)
            text = f"{label(example, case):<40} {plain * 1e3:>9.1f} {watched * 1e3:>9.1f} {watched / plain:>8.1f}x"
            rows.append((watched / plain, text))
    print(f"{'example':<40} {'plain ms':>9} {'watched':>9} {'ratio':>9}")
    print(*(text for _, text in sorted(rows)), sep="\n")
    print(f"median of {len(rows)}: {median(ratio for ratio, _ in rows):.1f}x")


if __name__ == "__main__":
    main(sys.argv[1:])
