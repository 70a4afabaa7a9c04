"""Random chains of loops before and after `fuse-loops`.

Usage: python benchmarks/fused_loops.py [--programs N] [--seed N]

Each program has two to four loops over blocks of rows of up to three arrays. Offsets of loads and stores, tiles and
what is computed are random, so that some loops may be fused and others may not. Every program runs as it is, and after
`fuse-loops,assign-memory,insert-sync` and the same with `double-buffer` under several schedules: the bytes have to be
equal. The exit code is 1 when some differ, or when no loop was fused or none was kept apart."""

from __future__ import annotations

import sys
from random import Random

import click
import numpy as np

from pto_dialect import parse
from pto_dialect.diagnostics.engine import DiagnosticEngine, DiagnosticOptions
from pto_dialect.passes.registry import make_pass
from pto_dialect.runtime.queues.schedule import Schedule
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

ROWS, BLOCK, COLUMNS = 64, 8, 16
TILE = f"!pto.tile_buf<vec, {BLOCK}x{COLUMNS}xf32>"
PART = f"!pto.partition_tensor_view<{BLOCK}x{COLUMNS}xf32>"
PIPELINES = (
    ("fuse-loops", "assign-memory", "insert-sync"),
    ("fuse-loops", "double-buffer", "assign-memory", "insert-sync"),
)


class Chain:
    """The text of a random program."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.lines: list[str] = []
        self.number = 0
        self.tiles = [f"%t{number}" for number in range(self.random.randint(2, 5))]
        self.text = self._program()

    def _program(self) -> str:
        constants = "\n".join(f"%c{number} = arith.constant {number} : index" for number in (0, 1, 8, 16, 32, 64, 72))
        views = "\n".join(
            f"%v{name} = pto.make_tensor_view %{name}, shape = [%c72, %c32], strides = [%c32, %c1]"
            f" : !pto.tensor_view<?x?xf32>"
            for name in "abc"
        )
        tiles = "\n".join(f"{tile} = pto.alloc_tile : {TILE}" for tile in self.tiles)
        self.carries = self.random.random() < 0.2
        """Whether tiles have values before the loops, which any operation may read."""
        for tile in self.tiles if self.carries else ():
            self.lines.append(f"pto.texpands ins(%one : f32) outs({tile} : {TILE})")
        for _ in range(self.random.randint(2, 4)):
            self._loop()
        if self.carries and self.random.random() < 0.5:
            self._transfer("tstore", self.random.choice(self.tiles), "%c0")
        body = "\n".join(self.lines)
        return (
            'module attributes {pto.target_arch = "a5"} {\n'
            "func.func @f(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>, %c: !pto.ptr<f32>) attributes {pto.entry} {\n"
            f"{constants}\n%one = arith.constant 1.0 : f32\n{views}\n{tiles}\n{body}\nreturn\n}}\n}}\n"
        )

    def _loop(self) -> None:
        self.lines.append("scf.for %i = %c0 to %c64 step %c8 {")
        mine = self.random.sample(self.tiles, self.random.randint(1, len(self.tiles)))
        known = mine if self.carries else mine[:1]
        self._transfer("tload", mine[0])
        for _ in range(self.random.randint(1, 4)):
            kind = self.random.random()
            one, other, result = self.random.choice(known), self.random.choice(known), self.random.choice(mine)
            if kind < 0.2:
                self._transfer("tload", result)
            elif kind < 0.4:
                self._transfer("tstore", one)
                continue
            elif kind < 0.6:
                self.lines.append(f"pto.tadds ins({one}, %one : {TILE}, f32) outs({result} : {TILE})")
            else:
                name = self.random.choice(("tadd", "tmul", "tmax"))
                self.lines.append(f"pto.{name} ins({one}, {other} : {TILE}, {TILE}) outs({result} : {TILE})")
            known = [*known, result]
        self._transfer("tstore", self.random.choice(known))
        self.lines.append("}")

    def _transfer(self, name: str, tile: str, row: str = "%i") -> None:
        if self.random.random() < 0.1:
            row = self.random.choice(("%c0", "%c16"))
        if self.random.random() < 0.1 and row == "%i":
            self.number += 1
            row = f"%n{self.number}"
            self.lines.append(f"{row} = arith.addi %i, %c8 : index")
        self.number += 1
        column = self.random.choice(("%c0", "%c0", "%c0", "%c16"))
        self.lines.append(
            f"%p{self.number} = pto.partition_view %v{self.random.choice('aab')}, offsets = [{row}, {column}],"
            f" sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> {PART}"
        )
        view = (f"%p{self.number} : {PART}", f"{tile} : {TILE}")
        source, target = view if name == "tload" else view[::-1]
        self.lines.append(f"pto.{name} ins({source}) outs({target})")


def outcome(text: str, calls: tuple[str, ...], schedule: str = "text") -> tuple[list[bytes], int, int]:
    """The arrays after a run of what passes make of a program; its loops, and how many the pass keeps apart."""
    module = parse(text, "program.pto")
    engine = DiagnosticEngine(DiagnosticOptions(max_errors=0, pedantic=True))
    for call in calls:
        make_pass(call, None).run(module, engine)
    assert not engine.has_errors, engine.diagnostics[0].message
    random = np.random.default_rng(1)
    arrays = [random.integers(-3, 4, (72, 32)).astype(np.float32) for _ in "abc"]
    Kernel(module, None, None, RunOptions(schedule=Schedule.parse(schedule, strict=schedule != "text"))).run(arrays, 1)
    loops = sum(op.name == "scf.for" for op in module.walk())
    apart = sum(one.rule == "fuse-loops-apart" for one in engine.diagnostics)
    return [array.tobytes() for array in arrays], loops, apart


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--programs", default=200, show_default=True, metavar="N", help="how many programs")
@click.option("--seed", default=0, show_default=True, metavar="N", help="the first one")
def main(programs: int, seed: int) -> None:
    """Run random chains of loops before and after the pass."""
    wrong: list[str] = []
    fused = apart = 0
    for number in range(seed, seed + programs):
        text = Chain(number).text
        expected, before, kept = outcome(text, ())
        after = before
        for calls in PIPELINES:
            for schedule in ("oldest", "newest", "random:1"):
                found, after, kept = outcome(text, calls, schedule)
                if found != expected:
                    wrong.append(f"program {number}: {','.join(calls)} under {schedule}")
        fused += before - after
        apart += kept
    print(f"{programs} programs: {fused} loops fused, {apart} kept apart, {len(wrong)} runs differ")
    print(*wrong, sep="\n")
    sys.exit(1 if wrong or not (fused and apart) else 0)


if __name__ == "__main__":
    main()
