"""Do results of correct programs depend on what pipes and cores do first?

Usage: python benchmarks/schedules.py LAUNCHES TREE [CASE-REGEX] [--seeds N]

LAUNCHES is a table of programs with their launches, TREE the folder with the programs, as for ``mutants.py``.  Each
program runs under the schedules text, oldest, newest and some random ones, with random content of on-chip memory; all
have to leave the same bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path
from time import perf_counter

import click
from mutants import Launch, parse, read_launches, values

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.queues.schedule import KINDS, Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions


def outcome(launch: Launch, schedule: Schedule) -> tuple[bytes, ...] | str:
    """What a program leaves in its buffers, or the rule that ended it."""
    options = RunOptions(cross_core="p2p", fill="random", schedule=schedule)
    arrays = values(launch)
    try:
        Kernel(parse(launch.text), launch.entry, None, options).run(arrays, launch.blocks)
    except ProgramError as error:
        return error.rule
    return tuple(array.tobytes() for array in arrays)


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("table", metavar="LAUNCHES", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.argument("tree", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("pattern", metavar="[CASE-REGEX]", default="")
@click.option("--seeds", type=click.IntRange(1), default=4, show_default=True, help="Number of random schedules.")
def main(table: Path, tree: Path, pattern: str, seeds: int) -> None:
    """Run the programs in LAUNCHES, which lie below TREE, under several schedules and compare what they leave."""
    started = perf_counter()
    schedules = [Schedule.parse(text) for text in (*KINDS, *(f"random:{seed}" for seed in range(seeds)))]
    programs = 0
    wrong: list[str] = []
    for launch in read_launches(table, tree, pattern):
        programs += 1
        found = {outcome(launch, schedule) for schedule in schedules}
        if len(found) > 1 or isinstance(next(iter(found)), str):
            wrong.append(f"{launch.case}: {len(found)} outcomes {[one for one in found if isinstance(one, str)]}")
    seconds = perf_counter() - started
    print(f"{programs} programs, {len(schedules)} schedules, {len(wrong)} depend on them, {seconds:.1f} s")
    print(*wrong, sep="\n")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
