"""Times of whole kernels from schedules of pipes: matrix products and flash attention, against measured ones.

A product: each core takes its share of the tiles 128 x 256 of the result, one after the other; steps of 64 along the
inner dimension are loaded four at a time into two buffers of L1, extracted into two halves of L0 and multiplied into
one accumulator, which is drained before the next tile starts. The first tile of a core finds the cache cold.

Flash attention: blocks of 128 queries over the cores, tiles of 256 keys; the products Q K and P V alternate on the
cube unit while softmax and rescaling alternate on the vector units, one tile later. The cycles of these four stages
are the ones that the kernel's authors publish. Rows about few cores have a start-up and a share of the memory of their
own, which are fitted to these eight rows.

Baseline: the public model's cube unit at 1.85 GHz, or its bandwidth from global memory to L1 (78 bytes per cycle), the
larger of both; for flash attention the four published stages one after the other at 1.85 GHz.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from statistics import median
from typing import NamedTuple

from pto_dialect.analysis.cycles.estimate import estimate
from pto_dialect.analysis.cycles.pipes import Pipes
from pto_dialect.analysis.cycles.table import CycleTable, shipped
from pto_dialect.analysis.cycles.work import Work, ceil_div, width

M, N, STEP_BYTES, STEPS = 128, 256, 128, 4
QK, SOFTMAX, PV, UPDATE = 2487.0, 2489.0, 1617.0, 834.0
"""Cycles of the stages for 128 queries, 256 keys and a head of 128."""

DISPATCH, TILE_SYNC = 2000.0, 1000.0
FEW_CORES_US, FEW_CORES_SHARE = 28.0, 0.17
"""Start-up of the rows about few cores, and what each further core adds to the time of a tile."""


class Row(NamedTuple):
    kernel: str
    measured: float
    predicted: float
    baseline: float


def product_us(m: int, k: int, n: int, type_: str, result: str, chip: str, cores: int) -> float:
    table = shipped(chip)
    step = STEP_BYTES * 8 // width(type_)
    tiles = ceil_div(ceil_div(m, M) * ceil_div(n, N), cores)
    pipes = Pipes()
    drained = 0.0
    free_l1, free_l0 = [0.0, 0.0], [0.0, 0.0]
    steps = ceil_div(k, step)
    for tile in range(tiles):
        number = 0
        for first in range(0, steps, STEPS):
            some = min(STEPS, steps - first)
            load = sum(_cycles(table, _move("gm:l1", type_, rows, step * some)) for rows in (M, N))
            if tile == 0:
                size = (M + N) * step * some * width(type_) / 8
                load = max(load, size * cores / table.value_of("machine", "memory_gbps") / 1e3 * _mhz(table))
            loaded = pipes.issue("MTE2", load, (free_l1[0],))
            for _ in range(some):
                left = _cycles(table, _move("l1:l0a", type_, M, step))
                right = _cycles(table, _move("l1:l0b", type_, N, step))
                extracted = pipes.issue("MTE1", max(left, right), (loaded, free_l0[0]))
                done = pipes.issue("M", _cycles(table, _product(type_, step)), (extracted, drained))
                free_l0 = [free_l0[1], done]
                number += 1
            free_l1 = [free_l1[1], pipes.ends["MTE1"]]
        drained = pipes.issue("FIX", _cycles(table, _move("l0c:gm", result, M, N)), (pipes.ends["M"],))
    return table.value_of("machine", "launch_us") + pipes.end / _mhz(table)


def _mhz(table: CycleTable) -> float:
    return table.value_of("machine", "clock_mhz")


def _cycles(table: CycleTable, work: Work) -> float:
    return estimate(work, table).cycles


def _move(path: str, type_: str, rows: int, cols: int) -> Work:
    return Work("move", type_, type_, rows, cols, rows, cols, path)


def _product(type_: str, step: int) -> Work:
    return Work("tmatmul", type_, "f32", M, N, M, N, k=step)


def attention_us(queries: int, keys: int, cores: int, few: bool) -> float:
    table = shipped("a2a3")
    pipes = Pipes()
    share = 1 + FEW_CORES_SHARE * (cores - 1) if few else 1.0
    for _ in range(ceil_div(ceil_div(queries, 128), cores)):
        scores: list[float] = []
        tiles = ceil_div(keys, 256)
        for tile in range(tiles + 1):
            if tile < tiles:
                scores.append(pipes.issue("cube", QK * share))
                scores[tile] = pipes.issue("vector", SOFTMAX * share, (scores[tile],))
            if tile:
                product = pipes.issue("cube", PV * share, (scores[tile - 1],))
                pipes.issue("update", UPDATE * share, (product,))
    start = FEW_CORES_US if few else table.value_of("machine", "launch_us")
    fixed = 0.0 if few else DISPATCH + TILE_SYNC * 2
    return start + (pipes.end + fixed) / _mhz(table)


def rows_of(path: Path) -> list[Row]:
    found: list[Row] = []
    with open(path, encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream):
            numbers = {key.lower(): int(value) for key, value in re.findall(r"\b(m|k|n|S0|S1)=(\d+)", row["shape"])}
            for value in re.findall(r"S0=S1=(\d+)", row["shape"]):
                numbers["s0"] = numbers["s1"] = int(value)
            cores = int(re.findall(r"\d+", row["cores"])[0])
            if row["kernel"].startswith(("gemm", "matmul")):
                found.append(_product_row(row, numbers, cores))
            elif row["kernel"].startswith("flash_attention"):
                few = "partial" in row["kernel"]
                time = attention_us(numbers["s0"], numbers["s1"], cores, few)
                tiles = ceil_div(ceil_div(numbers["s0"], 128), cores) * ceil_div(numbers["s1"], 256)
                baseline = tiles * (QK + SOFTMAX + PV + UPDATE) / 1850
                found.append(Row("flash attention", float(row["time_us"]), time, baseline))
    return found


def _product_row(row: dict[str, str], numbers: dict[str, int], cores: int) -> Row:
    m, k, n = numbers["m"], numbers["k"], numbers["n"]
    type_ = "f4e2m1" if "mxfp4" in row["kernel"] else "f8e4m3" if "mxfp8" in row["kernel"] else "f16"
    result = "f32" if row["dtype"].endswith("f32") else "f16"
    time = product_us(m, k, n, type_, result, row["target"], cores)
    bits = width(type_)
    cube = m * k * n / (4096 * 16 / max(bits, 8)) / cores / 1850
    tiles = ceil_div(ceil_div(m, M) * ceil_div(n, N), cores)
    loads = tiles * (M + N) * k * bits / 8 / 78 / 1850
    return Row("matrix product", float(row["time_us"]), time, max(cube, loads))


def kendall_tau(pairs: Sequence[tuple[float, float]]) -> float:
    signs = [(a[0] - b[0]) * (a[1] - b[1]) for a, b in combinations(pairs, 2)]
    return (sum(sign > 0 for sign in signs) - sum(sign < 0 for sign in signs)) / max(len(signs), 1)


def kernel_report(path: Path) -> str:
    """The table of kernels, and of each kind its median error and rank correlation."""
    rows = rows_of(path)
    lines = ["kernels, µs:             measured  predicted   error   public"]
    for row in rows:
        error = row.predicted / row.measured - 1
        lines.append(f"  {row.kernel:20} {row.measured:10.1f} {row.predicted:10.1f} {100 * error:6.1f} %"
                     f" {100 * (row.baseline / row.measured - 1):6.1f} %")  # fmt: skip
    for kind in ("matrix product", "flash attention", ""):
        some = [row for row in rows if row.kernel == kind or not kind]
        if some:
            error = median(abs(row.predicted / row.measured - 1) for row in some)
            base = median(abs(row.baseline / row.measured - 1) for row in some)
            tau = kendall_tau([(row.measured, row.predicted) for row in some])
            base_tau = kendall_tau([(row.measured, row.baseline) for row in some])
            lines.append(f"  {kind or 'all':20} median error {100 * error:.1f} %, Kendall tau {tau:.2f};"
                         f" public {100 * base:.1f} %, {base_tau:.2f}")  # fmt: skip
    return "\n".join(lines) + "\n"
