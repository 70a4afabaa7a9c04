"""What recordings of the examples cost, and whether they show the memory of a run that is stopped.

Usage: python benchmarks/recordings.py [NAME ...] [--steps N]    (names of examples; default: all)

For each example: the time of a recorded launch beside a plain one, both with compilation and alternately; bytes of the
file beside those that the run has written and those of its arguments, and how many more there are than these; and N
steps, spread over the run, at which every byte of every memory is compared with that of a run that ends there. Then
the longest of two thousand commands of the debugger in a run of 10^5 operations. Times are of the processor.
"""

from __future__ import annotations

import sys
from io import StringIO
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import process_time

import click
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))

from recorded_runs import memories_at, recorded, recording_kernel
from sanitize_programs import load as load_bytes
from sanitize_programs import program, store, ub
from sanitized_examples import seconds

import pto_dialect
from examples.case import Case
from examples.check import FOLDER, copied, entry_of, module_of
from examples.run_all import EXAMPLES, label, load
from pto_dialect.debug.commands import Debugger
from pto_dialect.debug.session import Session
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

_LARGE = 1 << 14
"""Bytes from which the fixed part of a file counts little."""


def measured(example: str, case: Case, steps: int, folder: Path) -> tuple[float, int, int, int]:
    """Slow-down, bytes written, bytes of the file, and steps at which a byte differed."""
    target = case.targets[0]
    module = module_of(FOLDER / example / case.program, target)

    def values() -> list[object]:
        return list(copied(case.data).values())

    def plain() -> None:
        Kernel(module, entry_of(case), target, RunOptions()).run(values(), case.blocks)

    def instrumented() -> None:
        recording_kernel(module, entry_of(case), target).run(values(), case.blocks)

    times = seconds(plain, instrumented)
    path = folder / "run.pto-rec"
    with recorded(path, recording_kernel(module, entry_of(case), target), values(), case.blocks) as found:
        accesses = found.accesses
        written = int(accesses.size[accesses.writes != 0].sum()) + sum(
            one.size for one in found.memories if one.fill is None
        )
        wrong = 0
        for step in np.linspace(-1, found.last, steps, dtype=int).tolist():
            held = memories_at(recording_kernel(module, entry_of(case), target), values(), case.blocks, step)
            wrong += any(found.memory_at(step, name) != content.tobytes() for name, content in held.items())
    return times[1] / times[0], written, path.stat().st_size, wrong


_COMMANDS = (
    "step",
    "back",
    "next",
    "rnext",
    "memory ub 0 64",
    "print %x",
    "writer %x",
    "locals",
    "over",
    "out",
    "idle V",
)


def stepping(folder: Path) -> tuple[int, float]:
    """Steps of a long run, and the longest time of a command of the debugger in it, also after jumps, in seconds of the
    processor."""
    lines = (ub("x", 0), "%n = arith.constant 50000 : index", "scf.for %i = %i0 to %n step %i1 {")
    text = program(*lines, load_bytes("%x"), store("%x"), "}")
    arrays = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    kernel = recording_kernel(pto_dialect.parse(text), None, None)
    with recorded(folder / "long.pto-rec", kernel, arrays) as found:
        session = Session(found)
        session.move(session.end // 2)
        debugger = Debugger(session, StringIO(), StringIO(), echo=True)
        places = np.random.default_rng(1).integers(session.end, size=len(_COMMANDS) * 10)
        commands = [*_COMMANDS * 80]
        for place in places.tolist():
            commands += [f"goto {place}", *_COMMANDS]
        worst = 0.0
        for command in commands:
            started = process_time()
            debugger.onecmd(command)
            worst = max(worst, process_time() - started)
        return session.end, worst


@click.command()
@click.argument("names", nargs=-1)
@click.option("--steps", default=8, show_default=True, help="Steps at which memories are compared.")
def main(names: tuple[str, ...], steps: int) -> None:
    """Prints a line for each example; exits with 1 where a byte differs."""
    rows: list[tuple[float, int, int, int]] = []
    with TemporaryDirectory() as folder:
        print(f"{'example':<58} {'time':>6} {'written':>9} {'file':>9} {'more':>6} {'wrong':>6}")
        for example in names or EXAMPLES:
            cases, _ = load(example)
            for case in cases:
                rows.append(measured(example, case, steps, Path(folder)))
                slower, written, size, wrong = rows[-1]
                counts = f"{written:>9} {size:>9} {max(size - written, 0):>6} {wrong:>6}"
                print(f"{label(example, case):<58} {slower:>5.2f}x {counts}", flush=True)
        long, worst = stepping(Path(folder))
    print(f"time: median {median(row[0] for row in rows):.2f}x, at most {max(row[0] for row in rows):.2f}x")
    large = [size / written for _, written, size, _ in rows if written >= _LARGE]
    if large:
        print(f"bytes where at least {_LARGE} are written: median {median(large):.2f}x, at most {max(large):.2f}x")
    print(f"bytes beyond those written: at most {max(max(size - written, 0) for _, written, size, _ in rows)}")
    print(f"longest command of the debugger in {long} steps: {worst * 1e3:.1f} ms")
    sys.exit(any(wrong for *_, wrong in rows))


if __name__ == "__main__":
    main()
