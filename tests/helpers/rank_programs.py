"""The examples of ranks with numbers of their own: arguments, and the results of numpy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.diagnostics.source import SourceFile
from pto_dialect.driver.options import Options
from pto_dialect.driver.pipeline import build_module
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.ranks import Part
from pto_dialect.runtime.run.windows import World

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "ranks"
ROWS, COLS = 128, 64
F32, I32 = np.dtype(np.float32), np.dtype(np.int32)
NAMES = ("all_gather", "reduce_scatter", "all_reduce")

TELL = "pto.comm.tnotify(%cell, %one : !pto.partition_tensor_view<1xi32>, i32) {notifyOp = #pto<notify_op atomic_add>}"
WAIT = "pto.comm.twait(%cell, %wanted : !pto.partition_tensor_view<1xi32>, i32) {cmp = #pto<wait_cmp ge>}"


def text_of(name: str) -> str:
    """The program of an example."""
    return (EXAMPLES / f"{name}.pto").read_text()


def module_of(text: str) -> ModuleOp:
    """The parsed program."""
    engine = DiagnosticEngine()
    module = build_module(SourceFile("k.pto", text), engine, Options())
    assert module is not None, engine.diagnostics
    return module


class Ranks:
    """One example on ``count`` ranks: the parts they run, and ``got`` and ``wanted`` for each."""

    def __init__(self, name: str, count: int, kernel: Kernel) -> None:
        share = ROWS // count
        x = np.random.default_rng(count).standard_normal((count, ROWS, COLS)).astype(np.float32)
        total = x[0]
        for one in x[1:]:
            total = total + one
        windows = {"data": ROWS * COLS * 4, "signal": 4}
        if name == "all_reduce":
            windows["y"] = ROWS * COLS * 4
        self.world = world = World(count, windows)
        self.parts: list[Part] = []
        self.got: list[np.ndarray] = []
        self.wanted: list[np.ndarray] = []
        for rank in range(count):
            rows = slice(rank * share, (rank + 1) * share)
            data, signal = world.array("data", rank, (ROWS, COLS), F32), world.array("signal", rank, (1,), I32)
            last = [signal, world.context(rank), rank, count]
            if name == "all_gather":
                self.parts.append(Part(kernel, [x[0][rows].copy(), data, *last]))
                self.got.append(data)
                self.wanted.append(x[0])
                continue
            y = world.array("y", rank, (ROWS, COLS), F32) if name == "all_reduce" else np.zeros((share, COLS), F32)
            self.parts.append(Part(kernel, [x[rank].copy(), data, y, *last]))
            self.got.append(y)
            self.wanted.append(total if name == "all_reduce" else total[rows])

    def check(self) -> None:
        """Every rank has what numpy computes, bit by bit: sums are in the order of the ranks."""
        for rank, (got, wanted) in enumerate(zip(self.got, self.wanted, strict=True)):
            np.testing.assert_array_equal(got, wanted, f"rank {rank}")
