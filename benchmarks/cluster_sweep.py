"""A sweep on local workers of a cluster, against the same sweep in one process.

    python benchmarks/cluster_sweep.py [--launches 200] [--products 6] [--workers 2] [--pairs 2]

Each launch of the sweep runs the product of `examples/gemm` `--products` times, on matrices of its own. Both kinds of
run alternate; a line for each pair has the seconds of both and their ratio, which says something only on a machine
that does nothing else. The ratio by processor time holds on a busy machine as well: that of one process times the
workers, over that of all processes of the cluster, start and end included. Needs the extra `cluster`; a pair takes less
than a minute. Every launch has to pass, and both kinds have to give the same records.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage
from time import perf_counter
from typing import NamedTuple

PROGRAM = Path(__file__).resolve().parents[1] / "examples" / "gemm" / "gemm.pto"
_SET_CHILD_SUBREAPER = 36

LAUNCH = """[[launch]]
program = "gemm.pto"
[launch.arguments]
a = "random:f16:256x512:seed={{seed}}"
b = "random:f16:512x256:seed={number}"
bias = "ones:f32:1x256"
c = "c"
with_bias = 1
"""


class Taken(NamedTuple):
    """Seconds of a run, processor seconds of all its processes, and what the launches that passed have shown."""

    wall: float
    processor: float
    passed: list[str]


def written(folder: Path, launches: int, products: int) -> None:
    """Writes the program and its launch file."""
    shutil.copy(PROGRAM, folder / "gemm.pto")
    head = f'[sweep]\nseed = {{ from = 0, to = {launches - 1} }}\n[buffers]\nc = "zeros:f32:256x256"\n'
    (folder / "gemm.launch.toml").write_text(head + "".join(LAUNCH.format(number=number) for number in range(products)))


def taken(folder: Path, extra: Sequence[str]) -> Taken:
    """Runs the sweep once. Raises ``CalledProcessError`` where something fails."""
    results = folder / "results.jsonl"
    results.unlink(missing_ok=True)
    command = [sys.executable, "-m", "pto_dialect", "run", "gemm.launch.toml", "--results", results.name, *extra]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    before, started = getrusage(RUSAGE_CHILDREN), perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, stdout=subprocess.DEVNULL)
    wall = perf_counter() - started
    _wait_for_orphans()
    after = getrusage(RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    records = [json.loads(line) for line in results.read_text().splitlines()]
    return Taken(wall, processor, sorted(one["key"] + one["out"] for one in records if one["result"] == "passed"))


def adopt_orphans() -> None:
    """Makes processes whose parent ends children of this one, so that their processor time counts (Linux)."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "prctl") or libc.prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        sys.exit("processor time of workers cannot be measured on this system")


def _wait_for_orphans() -> None:
    while True:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--launches", type=int, default=200)
    parser.add_argument("--products", type=int, default=6)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--pairs", type=int, default=2)
    options = parser.parse_args()
    adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="pto-sweep-") as name:
        folder = Path(name)
        written(folder, options.launches, options.products)
        for _ in range(options.pairs):
            one = taken(folder, [])
            many = taken(folder, ["--cluster", f"local:{options.workers}"])
            if one.passed != many.passed or len(one.passed) != options.launches:
                sys.exit(f"{len(one.passed)} launches passed in one process, {len(many.passed)} on the cluster")
            bound = options.workers * one.processor / many.processor
            print(f"one process {one.wall:.1f} s, local:{options.workers} {many.wall:.1f} s, ", end="")
            print(
                f"ratio {one.wall / many.wall:.2f} (processor {one.processor:.1f} and {many.processor:.1f} s: ", end=""
            )
            print(f"ratio {bound:.2f})", flush=True)


if __name__ == "__main__":
    main()
