"""Time and memory of the front end on programs of up to a million operations.

Usage: python benchmarks/scale.py [--operations N]... [--shape SHAPE]... [-o CSV]

Every program is measured in a process of its own. Times are those of the processor (user and system), which other work
on the machine changes little; the peak memory is that of the whole process, Python with its libraries included.
"""

from __future__ import annotations

import csv
import resource
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import pairwise
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import NamedTuple

import click
from scale_programs import SHAPES, program

from pto_dialect.accel.collector import paused
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.syntax.print.printer import print_module
from pto_dialect.syntax.read.parser import parse_program
from pto_dialect.verify.verifier import verify_module

SIZES = (100_000, 450_000, 1_000_000)


class Measurement(NamedTuple):
    """One program: its size, processor seconds of each stage, and the peak memory of the process in bytes."""

    shape: str
    operations: int
    text: int
    parse: float
    verify: float
    print: float
    start_memory: int
    memory: int


def measure(shape: str, operations: int) -> Measurement:
    """Writes a program, then reads, checks and prints it; raises ``ValueError`` if anything is wrong with it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.pto"
        with path.open("w") as stream:
            stream.writelines(program(shape, operations))
        engine = DiagnosticEngine()
        _warm_up()
        start = _memory()
        source = SourceFile(str(path), path.read_text())
        times = [process_time()]
        module = parse_program(source, engine)
        times.append(process_time())
        if module is None or engine.has_errors:
            raise ValueError(f"{engine.diagnostics[:3]}")
        verify_module(module, engine)
        times.append(process_time())
        with paused():
            text = print_module(module)
        times.append(process_time())
        memory = _memory()
        if engine.diagnostics:
            raise ValueError(f"{engine.diagnostics[:3]}")
        count = sum(1 for _ in module.walk())
        size = len(source.text)
        assert text.count("\n") > count // 2
    parse, verify, printed = (after - before for before, after in pairwise(times))
    return Measurement(shape, count, size, parse, verify, printed, start, memory)


def _warm_up() -> None:
    """Loads what every run loads: grammar, dialects, rules."""
    engine = DiagnosticEngine()
    module = parse_program(SourceFile("small", "".join(program("one", 60))), engine)
    assert module is not None and not engine.has_errors, engine.diagnostics
    verify_module(module, engine)
    print_module(module)


def _memory() -> int:
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def alone(shape: str, operations: int) -> Measurement:
    """``measure`` in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, shape, operations).result()


HEADING = (
    f"{'shape':<10} {'operations':>10} {'text MB':>8} {'parse s':>8} {'verify s':>8} {'print s':>8} "
    f"{'us/op':>6} {'peak MB':>8} {'B/op':>6} {'B/B':>6}"
)


def row(found: Measurement) -> str:
    """One line of the table; memory per operation and per byte of text is that above an empty program."""
    total = found.parse + found.verify + found.print
    grown = found.memory - found.start_memory
    return (
        f"{found.shape:<10} {found.operations:>10} {found.text / 1e6:>8.1f} {found.parse:>8.1f} {found.verify:>8.1f} "
        f"{found.print:>8.1f} {total / found.operations * 1e6:>6.1f} {found.memory / 1e6:>8.0f} "
        f"{grown / found.operations:>6.0f} {grown / found.text:>6.1f}"
    )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--operations",
    "sizes",
    type=click.IntRange(1),
    multiple=True,
    default=SIZES,
    show_default=True,
    help="Operations of a program, roughly; may be repeated.",
)
@click.option(
    "--shape",
    "shapes",
    type=click.Choice(SHAPES),
    multiple=True,
    default=SHAPES,
    show_default=True,
    help="Many functions, one function, or half of each; may be repeated.",
)
@click.option("-o", "--csv", "report", type=click.Path(dir_okay=False, path_type=Path), help="Write the figures here.")
def main(sizes: tuple[int, ...], shapes: tuple[str, ...], report: Path | None) -> None:
    """Parse, verify and print generated programs, each in a process of its own."""
    click.echo(HEADING)
    found: list[Measurement] = []
    for shape in shapes:
        for size in sizes:
            found.append(alone(shape, size))
            click.echo(row(found[-1]))
    if report is not None:
        with report.open("w", newline="") as stream:
            writer = csv.writer(stream)
            writer.writerow(Measurement._fields)
            writer.writerows(found)


if __name__ == "__main__":
    main()
