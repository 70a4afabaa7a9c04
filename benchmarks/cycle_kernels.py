"""Times of whole kernels on boards, beside what `pto-run --cycles` says about programs with their tiles and loops.

    python benchmarks/cycle_kernels.py KERNELS.csv [--large] [--folds]

KERNELS.csv has the columns kernel, target, cores, shape, time_us. cycle_programs.py writes the programs of matrix
products, convolutions as products, microscaling products and flash attention; the command runs each of them, and its
time with the launch is compared. Rows with more than 7 * 10^10 multiplications take minutes, and need --large.
Attention on few cores is listed apart: the same problem on the same number of cores was measured three times as fast
in another table of the same kernel.

With --folds the free constants of schedules are fitted again without the rows of one kernel, by a step of least squares
whose derivatives are runs of the command with changed tables, and predict these rows. The table of folds ends with the
bands that hold nine of ten left-out rows.
"""

from __future__ import annotations

import csv
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from cycle_programs import Product, attention, attention_arguments, product

from pto_dialect.analysis.cycles.table import CycleTable, Key, shipped

ROOT = Path(__file__).resolve().parents[1]

FREE: tuple[tuple[Key, float], ...] = (
    (("machine", "launch_us", "*", "value"), 0.1),
    (("machine", "memory_gbps", "*", "value"), 0.1),
    (("move", "gm:l1", "*", "rate"), 0.1),
    (("move", "l0c:gm", "*", "rate"), 0.1),
    (("cube", "tmatmul", "*", "head"), 1.0),
)
"""Constants of schedules, and the relative changes that derivatives are taken of."""

RIDGE = 0.3
"""Weight of a relative change of a constant, against the relative error of one row."""

LARGE = 7 * 10**10
"""Multiplications of rows that take minutes; one of attention counts as ten, as its operations are smaller."""


class Row(NamedTuple):
    """A measured run: its kernel, what it is called, its time, and its program with arguments."""

    kernel: str
    name: str
    chip: str
    measured: float
    text: str
    arguments: tuple[str, ...]
    work: int


def rows_of(path: Path) -> Iterator[Row]:
    """The rows that have a program."""
    with open(path, encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            one = _row(row)
            if one is not None:
                yield one


def _row(row: Mapping[str, str]) -> Row | None:
    numbers = {key.lower(): int(value) for key, value in re.findall(r"\b(m|k|n|S0|S1)=(\d+)", row["shape"])}
    for value in re.findall(r"S0=S1=(\d+)", row["shape"]):
        numbers["s0"] = numbers["s1"] = int(value)
    kernel, time = row["kernel"], float(row["time_us"])
    if kernel.startswith("flash_attention"):
        queries, keys = numbers["s0"], numbers["s1"]
        kind = "attention, few cores" if "partial" in kernel else "attention"
        options = (f"--blocks={queries // 128}", *attention_arguments(queries, keys))
        work = 10 * queries * keys * 256
        return Row(kind, f"{queries}x{keys}", "a2a3", time, attention(queries, keys), options, work)
    one = _product(kernel, numbers)
    if one is None:
        return None
    name = f"{one.m}x{one.k}x{one.n}"
    options = (f"--blocks={one.cores}", *one.arguments)
    return Row(kernel.split(" ")[0], name, one.chip, time, product(one), options, one.m * one.k * one.n)


def _product(kernel: str, numbers: Mapping[str, int]) -> Product | None:
    """The product of a row, with the tiles that the public kernel has."""
    m, k, n = (numbers.get(name, 0) for name in "mkn")
    if kernel.startswith("gemm (manual)"):
        return Product(m, k, n, "f16", "f32", (4, 6), (128, 64, 256), 4)
    if kernel == "conv2d_forward":
        return Product(m, k, n, "f16", "f16", (4, 6), (128, 48, 256), 3, slices=1)
    if kernel == "matmul_mxfp8":
        return Product(m, k, n, "f8E5M2", "bf16", (4, 8), (128, 128, 256), 4, scaled=True, chip="a5")
    if kernel == "matmul_mxfp4":
        return Product(m, k, n, "!pto.f4E2M1x2", "bf16", (4, 8), (256, 256, 256), 2, scaled=True, chip="a5")
    return None


class Times(NamedTuple):
    """Microseconds of a task by the command, and its band."""

    time: float
    low: float
    high: float


def run(row: Row, table: CycleTable | None, folder: Path) -> Times:
    """What `pto-run --cycles` says about a row."""
    program = folder / "kernel.pto"
    program.write_text(row.text, encoding="utf-8")
    options = ["--cycles=json", "--no-advice", "--quiet", "--max-errors=1", *row.arguments]
    if table is not None:
        (folder / "table.csv").write_text(table.text(), encoding="utf-8")
        options.append(f"--cycle-table={folder / 'table.csv'}")
    command = [sys.executable, "-m", "pto_dialect", "run", str(program), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if done.returncode:
        sys.exit(f"{row.kernel} {row.name}: {done.stderr.strip()}")
    [one] = json.loads(done.stdout)["programs"]
    return Times(one["task"]["microseconds"], one["task"]["low"], one["task"]["high"])


def line(row: Row, time: float, more: str = "") -> str:
    error = 100 * (time / row.measured - 1)
    return f"  {row.kernel:22}{row.name:18} measured {row.measured:8.1f}  predicted {time:8.1f}  {error:+6.1f} %{more}"


def report(rows: Sequence[Row], folder: Path) -> dict[Row, Times]:
    """Prints the rows by the shipped tables; their times."""
    found: dict[Row, Times] = {}
    for row in rows:
        found[row] = run(row, None, folder)
        inside = found[row].low <= row.measured <= found[row].high
        print(line(row, found[row].time, "" if inside else "  outside of its band"), flush=True)
    for kernel in dict.fromkeys(row.kernel for row in rows):
        some = [abs(found[row].time / row.measured - 1) for row in rows if row.kernel == kernel]
        print(f"  {kernel:22}median error {100 * median(some):.1f} %, most {100 * max(some):.1f} %")
    return found


def folds(rows: Sequence[Row], base: Mapping[Row, Times], folder: Path) -> None:
    """Prints each kernel as predicted by constants fitted to the other kernels of its chip."""
    errors: list[float] = []
    for chip in dict.fromkeys(row.chip for row in rows):
        some = [row for row in rows if row.chip == chip]
        table = shipped(chip)
        slopes = np.zeros((len(some), len(FREE)))
        for column, (key, change) in enumerate(FREE):
            changed = table.with_values({key: table.entries[key].value * (1 + change)})
            for number, row in enumerate(some):
                slopes[number, column] = (run(row, changed, folder).time - base[row].time) / row.measured / change
        now = np.array([base[row].time / row.measured - 1 for row in some])
        for kernel in dict.fromkeys(row.kernel for row in some):
            held = np.array([row.kernel == kernel for row in some])
            matrix = np.vstack([slopes[~held], RIDGE * np.eye(len(FREE))])
            step = np.linalg.lstsq(matrix, np.concatenate([-now[~held], np.zeros(len(FREE))]), rcond=None)[0]
            constants = ", ".join(
                f"{key[1] if key[0] != 'move' else key[1] + ' rate'} {table.entries[key].value * (1 + change):.4g}"
                for (key, _), change in zip(FREE, step, strict=True)
            )
            print(f"{kernel} left out: {constants}")
            for number, row in enumerate(some):
                if held[number]:
                    error = now[number] + float(slopes[number] @ step)
                    errors.append(error)
                    print(line(row, row.measured * (1 + error)), flush=True)
    found = sorted(abs(error) for error in errors)
    within = found[int(0.9 * (len(found) - 1))]
    print(f"left out: {len(found)} rows, median {100 * median(found):.1f} %, nine of ten within {100 * within:.1f} %")


def main(arguments: Sequence[str]) -> None:
    paths = [argument for argument in arguments if not argument.startswith("--")]
    if len(paths) != 1:
        sys.exit(__doc__)
    rows = [row for row in rows_of(Path(paths[0])) if "--large" in arguments or row.work <= LARGE]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few = [row for row in rows if "few" in row.kernel]
        rest = [row for row in rows if "few" not in row.kernel]
        base = report(rest, folder)
        if few:
            report(few, folder)
        if "--folds" in arguments:
            folds(rest, base, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
