"""Peaks of planned memory against their lower bounds.

Usage: python benchmarks/memory_peaks.py [--count N] [--seed S] [--reuse WORD] [PROGRAM...]

Each memory of each function of PROGRAMs, or folders of them, and of N random tile programs is planned. A row is stated
for each memory: how many plans there are, how many need at most 1.05 times what no plan can do without, and the worst.
The exit code is 1 when fewer than 95 % of the plans do, or one needs more than 1.25 times as much.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import click
from generated_tiles import TileProgram

from pto_dialect import parse
from pto_dialect.diagnostics.refused import ParseError
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.assign_memory.plan import lacking, memory_plans

NEAR, FAR, SHARE = 1.05, 1.25, 0.95
CHIPS = ("a5", "a2a3")


def texts(programs: tuple[Path, ...], seed: int, count: int) -> Iterator[tuple[str, str, str]]:
    """Names, texts and targets, where a text states none."""
    for place in programs:
        for path in sorted(place.rglob("*.pto")) if place.is_dir() else [place]:
            yield str(path), path.read_text(encoding="utf-8", errors="replace"), "a5"
    for number in range(seed, seed + count):
        target = CHIPS[number % 2]
        yield f"seed {number}", TileProgram(number, target).text, target


def ratios(name: str, text: str, target: str, reuse: str) -> Iterator[tuple[str, float]]:
    """The memories of the functions of a program that lack addresses, and how many times their bounds they take."""
    try:
        module = parse(text, name)
    except ParseError:
        return
    stated = None if "pto.target_arch" in text else target
    for function in walk(module):
        if not has_role(function, Role.FUNCTION) or not any(lacking(function)):
            continue
        try:
            plans = memory_plans(function, stated, reuse)
        except UnsupportedError:
            continue
        for plan in plans:
            # A tile that nobody uses is needed at no point, but has to lie somewhere.
            least = max(plan.bound, max((buffer.size for buffer in plan.addresses), default=0))
            if least:
                yield plan.space, plan.peak / least


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("programs", nargs=-1, type=click.Path(exists=True, path_type=Path))
@click.option("--count", default=200, show_default=True, help="random programs")
@click.option("--seed", default=0, show_default=True, help="number of the first random program")
@click.option("--reuse", default="max", show_default=True, help="who may share bytes")
def main(programs: tuple[Path, ...], count: int, seed: int, reuse: str) -> None:
    """Plan the memory of PROGRAMS and of random ones, and compare with lower bounds."""
    found: dict[str, list[tuple[float, str]]] = defaultdict(list)
    for name, text, target in texts(programs, seed, count):
        for space, ratio in ratios(name, text, target, reuse):
            found[space].append((ratio, name))
    for space, all_ in sorted(found.items()):
        near = sum(ratio <= NEAR for ratio, _ in all_)
        worst, name = max(all_)
        print(f"{space}: {len(all_)} plans, at most {NEAR} in {near}, worst {worst:.2f} ({name})")
    every = [ratio for all_ in found.values() for ratio, _ in all_]
    near = sum(ratio <= NEAR for ratio in every)
    print(
        f"all: {len(every)} plans, at most {NEAR} in {near / max(1, len(every)):.1%}, worst {max(every, default=1):.2f}"
    )
    sys.exit(1 if near < SHARE * len(every) or max(every, default=1) > FAR else 0)


if __name__ == "__main__":
    main()
