"""``pto tune``: candidates checked, run, timed and shown. Source: docs/tune.md, "What is done with each
candidate"."""

from __future__ import annotations

import json
import re
import shlex
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner, Result

MAIN = import_module("pto_dialect.tools.pto_tune").main
RUN = import_module("pto_dialect.tools.pto_run").main
PAGE = Path(__file__).parents[2] / "docs" / "tune.md"

VIEW = "!pto.tensor_view<?x?xf32>"
TILE = "!pto.tile_buf<vec, 16x16xf32>"
ARGUMENTS = ["--arg", "a=random:f32:64x32", "--arg", "b=zeros:f32:64x32"]


def kernel(turns: str = "columns", rows: str = "${rows}", first: str = "64") -> str:
    """Doubles 64 x 32 numbers in parts of ``rows``, loops over rows or over columns outside."""
    part, tile = f"!pto.partition_tensor_view<{rows}x16xf32>", f"!pto.tile_buf<vec, {rows}x16xf32>"
    loops = [f"scf.for %i = %c0 to %c{first} step %crows {{", "scf.for %j = %c0 to %c32 step %c16 {"]
    if turns == "columns":
        loops.reverse()
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @double(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %c48 = arith.constant 48 : index
    %c64 = arith.constant 64 : index
    %crows = arith.constant {rows} : index
    %av = pto.make_tensor_view %a, shape = [%c64, %c32], strides = [%c32, %c1] : {VIEW}
    %bv = pto.make_tensor_view %b, shape = [%c64, %c32], strides = [%c32, %c1] : {VIEW}
    %x = pto.alloc_tile : {tile}
    {loops[0]}
    {loops[1]}
      %p = pto.partition_view %av, offsets = [%i, %j], sizes = [%crows, %c16] : {VIEW} -> {part}
      %q = pto.partition_view %bv, offsets = [%i, %j], sizes = [%crows, %c16] : {VIEW} -> {part}
      pto.tload ins(%p : {part}) outs(%x : {tile})
      pto.tadd ins(%x, %x : {tile}, {tile}) outs(%x : {tile})
      pto.tstore ins(%x : {tile}) outs(%q : {part})
    }}
    }}
    return
  }}
}}
"""


def tune(*arguments: str) -> Result:
    return CliRunner().invoke(MAIN, list(arguments))


def found(*arguments: str) -> dict[str, Any]:
    result = tune(*arguments, "--output-format", "json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_guide_shows_real_output(folder: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    (program,) = re.findall(r"^`gelu.pto`[^\n]*\n\n```mlir\n(.*?)^```$", text, re.M | re.S)
    ((command, shown),) = re.findall(r"^```console\n\$ pto tune ([^\n]*)\n(.*?)^```$", text, re.M | re.S)
    (folder / "gelu.pto").write_text(program, encoding="utf-8")
    result = tune(*shlex.split(command))
    assert result.output == shown
    assert (folder / "best.pto").exists()


def test_times_and_memory_are_those_of_a_run(folder: Path) -> None:
    (folder / "k.pto").write_text(kernel(), encoding="utf-8")
    passes = "double-buffer{count=[1,2]},assign-memory,insert-sync"
    told = found("k.pto", "--param", "rows=16,64", "-p", passes, *ARGUMENTS, "-o", "best.pto")
    assert [one["values"] for one in told["candidates"]] == [
        {"rows": rows, "count": count} for rows in (16, 64) for count in (1, 2)
    ]  # fmt: skip
    assert told["reference"] == "the first candidate that runs" and told["left_out"] == 0
    for one in told["candidates"]:
        rows, count = one["values"].values()
        assert one["bytes"] == {"ub": rows * 16 * 4 * count}
    best = min(told["candidates"], key=lambda one: one["cycles"])
    assert best["front"]
    run = CliRunner().invoke(RUN, ["--cycles=json", "--no-advice", "--quiet", *ARGUMENTS, "best.pto"])
    assert json.loads(run.stdout)["programs"][0]["whole"]["cycles"] == pytest.approx(best["cycles"], abs=0.1)


def test_files_of_the_command_line_count_from_the_current_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And may lie anywhere, as for pto-run: the user has named them."""
    (folder / "kernels").mkdir()
    (folder / "work").mkdir()
    (folder / "kernels" / "k.pto").write_text(kernel(), encoding="utf-8")
    numbers = np.arange(64 * 32, dtype=np.float32).reshape(64, 32)
    np.save(folder / "a.npy", numbers)
    monkeypatch.chdir(folder / "work")
    np.save("twice.npy", 2 * numbers)
    for path in ("../a.npy", str(folder / "a.npy")):
        given = ("--arg", f"a={path}", "--arg", "b=zeros:f32:64x32", "--expect", "b=twice.npy")
        told = found("../kernels/k.pto", "--param", "rows=16", "-p", "assign-memory,insert-sync", *given)
        assert [one["right"] for one in told["candidates"]] == [True]
        assert "expect" in told["reference"]


def test_forms_of_a_kernel_are_separate_programs_and_wrong_ones_are_reported(folder: Path) -> None:
    for order in ("rows", "columns"):
        (folder / f"k_{order}.pto").write_text(kernel(order), encoding="utf-8")
    # The last rows are missing.
    (folder / "k_short.pto").write_text(kernel("rows", first="48"), encoding="utf-8")
    (folder / "k.launch.toml").write_text(
        'program = "k_{order}.pto"\n[tune]\norder = ["rows", "columns", "short"]\nrows = [16]\n'
        'passes = "assign-memory,insert-sync"\n[arguments]\na = "random:f32:64x32"\nb = "zeros:f32:64x32"\n',
        encoding="utf-8",
    )
    told = found("k.launch.toml")
    assert [one["right"] for one in told["candidates"]] == [True, True, False]
    assert told["candidates"][2]["reason"] == "b differs from that of the first candidate that runs"
    (folder / "e.launch.toml").write_text(
        (folder / "k.launch.toml").read_text().replace("random", "ones") + '[expect]\nb = "2.0"\n', encoding="utf-8"
    )
    told = found("e.launch.toml")
    assert told["reference"] == "the expectations of the launch file"
    assert "b" in told["candidates"][2]["reason"]


def test_candidates_are_compared_with_the_program_without_passes_where_it_runs(folder: Path) -> None:
    (folder / "k.pto").write_text(kernel(rows="64"), encoding="utf-8")
    told = found("k.pto", "-p", "tile-loops{rows=[16,32,off]}", *ARGUMENTS)
    assert told["reference"] == "the program without passes"
    assert [one["right"] for one in told["candidates"]] == [True, True, True]


def test_a_tolerance_allows_for_other_roundings(folder: Path) -> None:
    add = f"pto.tadd ins(%x, %x : {TILE}, {TILE}) outs(%x : {TILE})"
    for name, factor in (("exact", "2.0"), ("near", "2.000001"), ("far", "2.1")):
        text = kernel(rows="16").replace(add, f"pto.tmuls ins(%x, %factor : {TILE}, f32) outs(%x : {TILE})")
        text = text.replace("%c0 =", f"%factor = arith.constant {factor} : f32\n    %c0 =")
        (folder / f"k_{name}.pto").write_text(text, encoding="utf-8")
    (folder / "k.launch.toml").write_text(
        'program = "k_{form}.pto"\n[tune]\nform = ["exact", "near", "far"]\n'
        '[arguments]\na = "random:f32:64x32"\nb = "zeros:f32:64x32"\n',
        encoding="utf-8",
    )
    assert [one["right"] for one in found("k.launch.toml")["candidates"]] == [True, False, False]
    assert [one["right"] for one in found("k.launch.toml", "--rtol", "1e-5")["candidates"]] == [True, True, False]


def test_processes_find_what_one_process_finds(folder: Path) -> None:
    (folder / "k.pto").write_text(kernel(), encoding="utf-8")
    passes = "double-buffer{count=[1,2]},assign-memory,insert-sync"
    # The first two do not fit, so the third is what the others are compared with.
    given = ("k.pto", "--param", "rows=8192,16,32,64", "-p", passes, *ARGUMENTS)
    alone, together = (found(*given, "-j", jobs, "-o", f"best{jobs}.pto") for jobs in "12")
    assert [one["right"] for one in alone["candidates"]] == [False, False] + [True] * 6
    assert together == alone
    assert (folder / "best2.pto").read_bytes() == (folder / "best1.pto").read_bytes()


def test_a_mistake_in_a_process_is_reported_as_in_one(folder: Path) -> None:
    for order in ("rows", "columns"):
        (folder / f"k_{order}.pto").write_text(kernel(order), encoding="utf-8")
    (folder / "k.launch.toml").write_text(
        'program = "k_{order}.pto"\n[tune]\norder = ["rows", "columns", "none"]\nrows = [16]\n'
        'passes = "assign-memory,insert-sync"\n[arguments]\na = "random:f32:64x32"\nb = "zeros:f32:64x32"\n',
        encoding="utf-8",
    )
    alone, together = (tune("k.launch.toml", "-j", jobs) for jobs in "12")
    assert alone.exit_code == together.exit_code == 2
    assert "k_none.pto" in alone.stderr and together.stderr == alone.stderr


def test_the_number_of_candidates_is_bounded(folder: Path) -> None:
    (folder / "k.pto").write_text(kernel(), encoding="utf-8")
    told = found("k.pto", "--param", "rows=16,32,64", *ARGUMENTS, "--limit", "1")
    assert len(told["candidates"]) == 1 and told["left_out"] == 2


def test_candidates_that_do_not_work_have_a_reason(folder: Path) -> None:
    (folder / "k.pto").write_text(kernel(), encoding="utf-8")
    result = tune("k.pto", "--param", "rows=8192,-3", *ARGUMENTS)
    assert result.exit_code == 1
    assert result.output.splitlines()[-1] == "2 candidates: none is right"
    assert all("line" in line for line in result.output.splitlines()[1:3])


def test_the_plot_is_a_picture(folder: Path) -> None:
    pytest.importorskip("matplotlib", reason="plots need the extra plot")
    (folder / "k.pto").write_text(kernel(), encoding="utf-8")
    result = tune("k.pto", "--param", "rows=16,64", *ARGUMENTS, "--plot", "front.svg")
    assert result.exit_code == 0, result.output
    text = (folder / "front.svg").read_text(encoding="utf-8")
    assert "<svg" in text and text.count("rows=") >= 1
    result = tune("k.pto", "--param", "rows=16", *ARGUMENTS, "--plot", "front.nothing")
    assert result.exit_code == 2 and result.output.splitlines()[-1].startswith("error: cannot write 'front.nothing'")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.pto"], "no such file: 'none.pto'"),
        (["k.pto"], "there is nothing to vary: give --param NAME=16,32 for ${NAME} in the program"),
        (["k.pto", "--param", "rows"], "is not written as NAME=16,32,64"),
        (["k.pto", "-p", "unroll{factor=[1,2]}", *ARGUMENTS], "no value is given for ${rows} of the program"),
        (["k.pto", "--param", "rows=16", "--param", "n=1,2", *ARGUMENTS], "nothing uses n; write ${n} in the program"),
        (["n.launch.toml"], "error: nothing uses n\n"),
        (["k.pto", "--param", "rows=16"], "a"),
        (["k.pto", "--param", "rows=16", "--arg", "a"], "'a' is not written as NAME=VALUE"),
        (["k.pto", "--param", "rows=16", "-p", "tile-loop"], "unknown pass 'tile-loop'"),
        (["k.pto", "--param", "rows=16", "--cycle-table", "none.csv"], "cannot read 'none.csv'"),
        (["k.launch.toml", "--param", "rows=16"], "--param does not go with a launch file"),
        (["k.launch.toml"], "lies outside of the folder"),
    ],
)
def test_mistakes_are_one_message(arguments: list[str], message: str, folder: Path) -> None:
    (folder / "k.pto").write_text(kernel(), encoding="utf-8")
    (folder / "k.launch.toml").write_text('program = "../k.pto"\n[tune]\nrows = [16]\n', encoding="utf-8")
    (folder / "n.launch.toml").write_text('program = "k.pto"\n[tune]\nrows = [16]\nn = [1]\n', encoding="utf-8")
    result = tune(*arguments)
    assert result.exit_code == 2, result.output
    assert message in result.output and "Traceback" not in result.output
