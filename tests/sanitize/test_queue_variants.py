"""Queues of every form in every kind of run: by handles and numbers, through global memory and local slots."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from pair_programs import FREE, arguments, declare, double, flag, pop, product, push, queue, store, text
from queue_programs import CubeToVector, VectorToCube
from sanitize_programs import instrumented

import pto_dialect
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

MAIN = import_module("pto_dialect.tools.pto_run").main
READ = [*flag("MTE2", "V"), double("v", "t"), *flag("V", "MTE3"), store("t", "yp"), *flag("MTE3", "V"), FREE]


def by_handle(arch: str, *, hand: bool = True) -> str:
    lines = [*declare("v"), queue(arch), pop("v"), *READ]
    lines = lines if hand else [line for line in lines if "_flag" not in line]
    return text(arch, [queue(arch), *product(by_hand=hand), push()], lines)


PROGRAMS = {
    "handle, gm": by_handle("a2a3"),
    "handle, local": by_handle("a5"),
    "handle, gm, left to the compiler": by_handle("a2a3", hand=False),
    "number, gm": CubeToVector(arch="a2a3").text(),
    "number, local": CubeToVector(arch="a5").text(),
    "number, back, gm": VectorToCube(arch="a2a3").text(),
    "number, back, local": VectorToCube(arch="a5").text(),
}
RUNS = {
    "plain": [], "sanitize": ["--sanitize"], "strict order": ["--schedule", "newest"], "cycles": ["--cycles"],
    "profile": ["--profile"], "record": ["--record", "run.pto-rec"], "page": ["--html", "run.html"],
    "trace": ["--trace", "run.json"],
}  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_kinds_of_runs(name: str, run: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("k.pto").write_text(PROGRAMS[name])
    result = CliRunner().invoke(MAIN, ["k.pto", "--auto", *RUNS[run]])
    assert result.exit_code == 0, result.output
    assert "pipe-slot" not in result.output


@pytest.mark.parametrize("arch", ["a2a3", "a5"])
def test_the_same_numbers_in_an_instrumented_run(arch: str) -> None:
    program = by_handle(arch)
    plain, seen = arguments(), arguments()
    Kernel(pto_dialect.parse(program), None, None, RunOptions()).run(plain, 1)
    instrumented(program).run(seen, 1)
    np.testing.assert_array_equal(seen[2], plain[2])
    assert plain[2].any()
