"""Time of the checks of the text (``check-sync``, ``check-memory``) beside parse + verify of the same program.

Usage: python benchmarks/check_times.py TREE ... [--limit 5] [--worst 12]

Every program below the folders that the verifier accepts is checked; the shortest of several times counts, in seconds
of the processor. Exits with 1 when the checks of a program take more than ``--limit`` times its parse + verify.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import process_time
from typing import NamedTuple

import click
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.inputs import Input, read
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import build_module
from pto_dialect.passes.check_memory import CheckMemoryPass
from pto_dialect.passes.check_sync import CheckSyncPass

_ENOUGH = 1.5
"""Part of the limit below which one look is enough."""
_ROUNDS = 5
_PASSES = (CheckSyncPass(None), CheckMemoryPass(None))


class Times(NamedTuple):
    """Seconds of parse + verify and of both checks."""

    path: Path
    build: float
    sync: float
    memory: float

    @property
    def ratio(self) -> float:
        """The checks by parse + verify."""
        return (self.sync + self.memory) / self.build

    def row(self) -> str:
        """One line of the table."""
        times = "".join(f"{seconds * 1e3:>10.2f}" for seconds in (self.build, self.sync, self.memory))
        return f"{times}{self.ratio:>9.2f}x  {self.path}"


def build(path: Path) -> ModuleOp | None:
    """The program in ``path``; ``None`` when it has errors."""
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0))
    text, _ = read(Input(str(path), str(path), path.name))
    module = build_module(SourceFile(str(path), text), engine, Options())
    return None if engine.has_errors else module


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The shortest of ``rounds`` times, without rounds of the garbage collector, which see the whole process."""
    found = float("inf")
    for _ in range(rounds):
        started = process_time()
        work()
        found = min(found, process_time() - started)
    return found


def times(path: Path, limit: float) -> Times | None:
    """What is measured on one program, ``None`` for one with errors."""
    module = build(path)
    if module is None:
        return None

    def measured(rounds: int) -> Times:
        def check(number: int) -> Callable[[], None]:
            return lambda: _PASSES[number].run(module, DiagnosticEngine(DiagnosticOptions(max_errors=0)))

        sync, memory = seconds(check(0), rounds), seconds(check(1), rounds)
        return Times(path, seconds(lambda: build(path), rounds), sync, memory)

    found = measured(1)
    return found if found.ratio < limit / _ENOUGH else measured(_ROUNDS)


def programs(trees: Sequence[Path]) -> Iterator[Path]:
    """All programs below the folders."""
    for tree in trees:
        yield from sorted(path for path in tree.rglob("*") if path.suffix in (".pto", ".mlir") and path.is_file())


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("trees", metavar="TREE...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--limit", default=5.0, show_default=True, help="Times parse + verify that the checks may take.")
@click.option("--worst", default=12, show_default=True, help="Number of programs to show.")
def main(trees: tuple[Path, ...], limit: float, worst: int) -> None:
    """Measure the checks on all programs below TREE and show those that take longest."""
    found: list[Times] = []
    for number, path in enumerate(programs(trees)):
        if number % 100 == 0:
            gc.collect()
        gc.disable()
        one = times(path, limit)
        gc.enable()
        if one is not None:
            found.append(one)
    found.sort(key=lambda one: -one.ratio)
    above = sum(one.ratio > limit for one in found)
    total = [sum(column) for column in zip(*((one.build, one.sync, one.memory) for one in found), strict=True)]
    print(f"{'build ms':>10}{'sync ms':>10}{'memory ms':>10}{'ratio':>10}")
    print(*(one.row() for one in found[:worst]), sep="\n")
    print(f"{len(found)} programs, {above} above {limit:g}x, together {sum(total[1:]) / total[0]:.2f}x")
    sys.exit(1 if above else 0)


if __name__ == "__main__":
    main()
