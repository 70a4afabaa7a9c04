"""How much slower the examples run under all sanitizers, each beside its plain run.

Usage: python benchmarks/sanitized_examples.py [NAME ...]    (names of examples; default: all)

First launches include compilation, as ``pto-run`` has it for every run; those that are reported as ``again`` are
further launches of kernels that are kept, as launch files have them. Times are of the processor, so that other work on
the machine counts little. The pipes of all programs are checked as if the program had to order them itself (``--sync
strict``), which is the slowest of the checks."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import process_time

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from examples.case import Case
from examples.check import FOLDER, copied, entry_of, module_of
from examples.run_all import EXAMPLES, label, load
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.options import SanitizeOptions

_ROUNDS = 5


def seconds(*functions: Callable[[], object]) -> list[float]:
    """The shortest time of each function in seconds of the processor, run alternately."""
    found = [float("inf")] * len(functions)
    for _ in range(_ROUNDS):
        for number, function in enumerate(functions):
            gc.collect()
            started = process_time()
            function()
            found[number] = min(found[number], process_time() - started)
    return found


def measured(example: str, case: Case) -> tuple[float, float]:
    """Seconds of a plain and of an instrumented launch."""
    target = case.targets[0]
    module = module_of(FOLDER / example / case.program, target)

    def plain() -> None:
        Kernel(module, entry_of(case), target, RunOptions()).run(list(copied(case.data).values()), case.blocks)

    def instrumented() -> None:
        kernel = InstrumentedKernel(
            module, entry_of(case), target, RunOptions(fill="poison"), SanitizeOptions(sync="strict")
        )
        kernel.run(list(copied(case.data).values()), case.blocks)

    plain_time, watched_time = seconds(plain, instrumented)
    return plain_time, watched_time


def measured_again(example: str, case: Case) -> tuple[float, float]:
    """Seconds of a plain and of an instrumented launch of kernels that have run before; both carry out instructions."""
    target = case.targets[0]
    module = module_of(FOLDER / example / case.program, target)
    kernel = Kernel(module, entry_of(case), target, RunOptions())
    kernel.replayed = False
    under_watch = InstrumentedKernel(
        module, entry_of(case), target, RunOptions(fill="poison"), SanitizeOptions(sync="strict")
    )

    def plain() -> None:
        kernel.run(list(copied(case.data).values()), case.blocks)

    def instrumented() -> None:
        under_watch.run(list(copied(case.data).values()), case.blocks)
        under_watch.observer.findings.clear()

    plain_time, watched_time = seconds(plain, instrumented)
    return plain_time, watched_time


def main(names: list[str]) -> None:
    """Prints the examples from the least to the most slowed down, and the median."""
    rows: list[tuple[float, float, str]] = []
    for example in names or EXAMPLES:
        cases, _ = load(example)
        for case in cases:
            plain, instrumented = measured(example, case)
            kept, kept_watched = measured_again(example, case)
            ratios = instrumented / plain, kept_watched / kept
            text = f"{label(example, case):<40} {plain * 1e3:>9.1f} {instrumented * 1e3:>9.1f} {ratios[0]:>8.1f}x"
            rows.append((*ratios, f"{text} {kept * 1e3:>9.1f} {kept_watched * 1e3:>9.1f} {ratios[1]:>8.1f}x"))
    print(f"{'example':<40} {'plain ms':>9} {'watched':>9} {'ratio':>9} {'again':>9} {'watched':>9} {'ratio':>9}")
    print(*(text for _, _, text in sorted(rows)), sep="\n")
    first, again = median(row[0] for row in rows), median(row[1] for row in rows)
    print(f"median of {len(rows)}: {first:.1f}x, again {again:.1f}x")


if __name__ == "__main__":
    main(sys.argv[1:])
