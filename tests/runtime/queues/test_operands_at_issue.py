"""Valid sizes are operands: what was issued before they change keeps its own. Source: docs/reference/execution.md,
"Scheduling"."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from lowering_programs import SCHEDULES, disorder, lowered, results

from pto_dialect import parse, print_module
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

ROWS = (16, 8, 3)
"""How many rows of a tile each of its contents has."""
_TILE = "!pto.tile_buf<vec, 16x16xf32, valid=?x?>"


def program(target: str, looped: bool) -> str:
    """Contents are loaded and stored one after the other, each with its size; ``looped``: through a carried handle."""
    lines: list[str] = []
    start = 0
    for number, rows in enumerate(ROWS):
        part = f"!pto.partition_tensor_view<{rows}x16xf32>"
        where = f"offsets = [%c{start}, %c0], sizes = [%c{rows}, %c16] : !pto.tensor_view<?x?xf32> -> {part}"
        lines += [
            f"%p{number} = pto.partition_view %xv, {where}",
            f"%q{number} = pto.partition_view %yv, {where}",
            *([f"pto.set_validshape %t, %c{rows}, %c16 : {_TILE}"] if number else []),
            f"pto.tload ins(%p{number} : {part}) outs(%t : {_TILE})",
            f"pto.tstore ins(%t : {_TILE}) outs(%q{number} : {part})",
        ]
        start += rows
    if looped:
        lines = [
            f"%last = scf.for %i = %c0 to %c1 step %c1 iter_args(%t = %a) -> ({_TILE}) {{",
            *lines,
            f"scf.yield %t : {_TILE}",
            "}",
        ]
    else:
        lines = [line.replace("%t", "%a") for line in lines]
    numbers = sorted({0, 1, *ROWS, *np.cumsum(ROWS)[:-1].tolist(), sum(ROWS)})
    head = [
        *(f"%c{number} = arith.constant {number} : index" for number in numbers),
        *(
            f"%{name}v = pto.make_tensor_view %{name}, shape = [%c{sum(ROWS)}, %c16], strides = [%c16, %c1] "
            ": !pto.tensor_view<?x?xf32>"
            for name in "xy"
        ),
        f"%a = pto.alloc_tile valid_row = %c16 valid_col = %c16 : {_TILE}",
    ]
    body = "\n".join(f"  {line}" for line in (*head, *lines))
    return (
        f'module attributes {{pto.target_arch = "{target}"}} {{\n'
        f"func.func @f(%x: !pto.ptr<f32>, %y: !pto.ptr<f32>) attributes {{pto.entry}} {{\n{body}\n  return\n}}\n}}\n"
    )


def given() -> list[np.ndarray]:
    return [np.arange(sum(ROWS) * 16, dtype=np.float32), np.zeros(sum(ROWS) * 16, np.float32)]


@pytest.mark.parametrize("looped", [False, True])
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_lowered_programs_store_what_they_load(target: str, looped: bool) -> None:
    text = program(target, looped)
    module, said = lowered(text, "assign-memory", "insert-sync")
    assert not said
    x, _ = given()
    for judged in (parse(text), module):
        for schedule in ("text", *SCHEDULES):
            *_, stored = results(judged, given(), schedule if judged is module else "text")
            assert np.array_equal(np.frombuffer(stored, np.float32), x), schedule
    assert not disorder(module, given())


def test_launches_that_come_again_do_so_too() -> None:
    """The steps of a launch are kept after some, with the sizes that each was issued with."""
    kernel = Kernel(lowered(program("a5", False), "assign-memory", "insert-sync")[0], None, None, RunOptions())
    for number in range(8):
        x, y = given()
        x += number
        kernel.run([x, y], 1)
        assert np.array_equal(x, y), number


ENGINES = ("--cycles --out y=y.npy", "--sanitize", "--sanitize --sync strict", "--record r.pto-rec", "--html r.html")


@pytest.mark.parametrize("options", ENGINES)
def test_every_engine_judges_by_the_size_at_issue(
    options: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = print_module(lowered(program("a5", False), "assign-memory", "insert-sync")[0])
    Path("lowered.pto").write_text(text, encoding="utf-8")
    count = sum(ROWS) * 16
    arguments = ["--arg", f"x=ones:f32:{count}", "--arg", f"y=zeros:f32:{count}"]
    main = import_module("pto_dialect.tools.pto_run").main
    result = CliRunner().invoke(main, ["--no-cache", *options.split(), *arguments, "lowered.pto"], prog_name="pto-run")
    assert result.exit_code == 0, result.output
    assert f"y: f32 {count}, min 1, max 1, mean 1" in result.stdout
    assert "error" not in result.stderr
