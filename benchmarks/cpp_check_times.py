"""Times ``pto check`` on the C++ kernels of a list: from the source to its findings, and once more without a change.

    python benchmarks/cpp_check_times.py LIST.csv TREES [--repository TEXT] [--every N]

The list has the columns ``repo`` and ``path``; ``TREES`` is a folder with a tree for each repository, named after it.
A macro of its own makes the first compilation of each kernel a new one. Each command is a process of its own. Prints
the seconds of the processor and by the clock for each kernel, and the medians. The exit code is 1 if a median of the
processor is above 2 s, or above 0.3 s for the second time.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from statistics import median
from time import perf_counter, perf_counter_ns

from cpp_translations import folders_of, kernels_of, target_of

WANTED = (2.0, 0.3)
"""Seconds of the processor: for the first time, and for the second one."""


def seconds_of(command: Sequence[str]) -> tuple[float, float, int]:
    """Seconds of the processor and by the clock that a command takes, and its exit code."""
    before, started = getrusage(RUSAGE_CHILDREN), perf_counter()
    done = subprocess.run(command, capture_output=True, check=False)
    clock, after = perf_counter() - started, getrusage(RUSAGE_CHILDREN)
    return sum(after[:2]) - sum(before[:2]), clock, done.returncode


def main(arguments: Sequence[str]) -> int:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=Path)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--repository", default="", help="only repositories whose name has this text")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th kernel")
    options = parser.parse_args(arguments)
    rows: list[tuple[float, float, float, float]] = []
    print(" lines   first: cpu  clock   again: cpu  clock  code  kernel")
    for kernel in list(kernels_of(options.list, options.trees, options.repository))[:: options.every]:
        tree = Path(kernel["tree"])
        path = tree / kernel["path"]
        target = target_of(tree, path)
        command = [sys.executable, "-m", "pto_dialect", "check", str(path), "--target", target]
        for folder in folders_of(tree, path, target):
            command += ["-I", folder]
        command += ["-D", f"TIMED_{perf_counter_ns()}"]
        (cpu, clock, code), (cpu_again, clock_again, _) = seconds_of(command), seconds_of(command)
        rows.append((cpu, clock, cpu_again, clock_again))
        lines = path.read_bytes().count(b"\n")
        shown = f"{cpu:10.2f} {clock:6.2f} {cpu_again:12.2f} {clock_again:6.2f}"
        print(f"{lines:6}   {shown} {code:5}  {kernel['repo']} {kernel['path']}", flush=True)
    medians = [median(column) for column in zip(*rows, strict=True)]
    print(f"median of {len(rows)}: {medians[0]:.2f} s, {medians[1]:.2f} s by the clock", end="; ")
    print(f"again {medians[2]:.2f} s, {medians[3]:.2f} s by the clock")
    return int(medians[0] > WANTED[0] or medians[2] > WANTED[1])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
