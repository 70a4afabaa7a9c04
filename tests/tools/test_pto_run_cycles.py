"""``pto-run --cycles``: what a run takes, against schedules made here. Source: docs/cycles.md, "With a run"."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from pto_dialect.analysis.cycles.table import shipped

MAIN = import_module("pto_dialect.tools.pto_run").main
OPT = import_module("pto_dialect.tools.pto_opt").main

TILE = "!pto.tile_buf<vec, 16x16xf32>"
VIEW = "!pto.tensor_view<?x?xf32>"
PART = "!pto.partition_tensor_view<16x16xf32>"

LOAD = 264 + 1024 / 128
STORE = 264 + 1024 / 109
MULS = 50 + 6 + 4
"""One register of each of 16 rows, which follow one another: four registers."""


def scale(tiles: int = 1, arch: str = "a5") -> str:
    """Doubles 16 rows in each iteration, with as many tiles in turn."""
    body = "".join(
        f"""
      %r{k} = arith.muli %k{k}, %c16 : index
      %p{k} = pto.partition_view %v, offsets = [%r{k}, %c0], sizes = [%c16, %c16] : {VIEW} -> {PART}
      pto.tload ins(%p{k} : {PART}) outs(%x{k} : {TILE})
      pto.tmuls ins(%x{k}, %two : {TILE}, f32) outs(%x{k} : {TILE})
      pto.tstore ins(%x{k} : {TILE}) outs(%p{k} : {PART})"""
        for k in range(tiles)
    )
    indices = "".join(
        f"\n      %d{k} = arith.constant {k} : index\n      %k{k} = arith.addi %i, %d{k} : index" for k in range(tiles)
    )
    places = "".join(
        f"\n    %at{k} = arith.constant {k * 4096} : i64\n    %x{k} = pto.alloc_tile addr = %at{k} : {TILE}"
        for k in range(tiles)
    )
    return f"""module attributes {{pto.target_arch = "{arch}"}} {{
  func.func @scale(%a: !pto.ptr<f32>, %n: index) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %step = arith.constant {tiles} : index
    %two = arith.constant 2.0 : f32
    %rows = arith.muli %n, %c16 : index
    %one = arith.constant 1 : index
    %v = pto.make_tensor_view %a, shape = [%rows, %c16], strides = [%c16, %one] : {VIEW}{places}
    scf.for %i = %c0 to %n step %step {{{indices}{body}
    }}
    return
  }}
}}
"""


def run(path: Path, *options: str, turns: int = 8) -> Result:
    arguments = ["--arg", f"a=ones:f32:{16 * turns}x16", "--arg", f"n={turns}", "--quiet"]
    return CliRunner().invoke(MAIN, [*options, *arguments, str(path)])


def timed(tmp_path: Path, text: str, *options: str, turns: int = 8) -> dict[str, Any]:
    path = tmp_path / "scale.pto"
    path.write_text(text, encoding="utf-8")
    result = run(path, "--cycles=json", *options, turns=turns)
    assert result.exit_code == 0, result.output
    (program,) = json.loads(result.stdout)["programs"]
    return program


def chained(turns: int, tiles: int) -> float:
    """When the last store ends: each pipe in order, each tile used again when it is stored."""
    load = muls = store = 0.0
    free = [0.0] * tiles
    for turn in range(turns):
        load = max(load, free[turn % tiles]) + LOAD
        muls = max(muls, load) + MULS
        store = free[turn % tiles] = max(store, muls) + STORE
    return store


@pytest.mark.parametrize("tiles", [1, 2, 4])
def test_data_orders_the_pipes_where_the_compiler_does(tiles: int, tmp_path: Path) -> None:
    program = timed(tmp_path, scale(tiles))
    assert program["whole"]["cycles"] == pytest.approx(chained(8, tiles), abs=1)
    counts = [(one["operation"], one["count"]) for one in program["operations"]]
    assert counts == [("pto.tload", 8 // tiles), ("pto.tmuls", 8 // tiles), ("pto.tstore", 8 // tiles)] * tiles
    assert program["pipes"]["V"]["cycles"] == pytest.approx(8 * MULS)
    assert program["run"] is True
    assert program["whole"]["low"] <= program["whole"]["cycles"] <= program["whole"]["high"]


@pytest.mark.parametrize("tiles", [1, 2])
def test_flags_order_the_pipes_where_the_program_does(tiles: int, tmp_path: Path) -> None:
    """With flags from insert-sync the run takes as long as without, and one cycle for each flag on the way."""
    plain, flagged = tmp_path / "plain.pto", tmp_path / "flagged.pto"
    plain.write_text(scale(tiles), encoding="utf-8")
    assert CliRunner().invoke(OPT, ["-p", "insert-sync", str(plain), "-o", str(flagged)]).exit_code == 0
    program = timed(tmp_path, flagged.read_text())
    assert chained(8, tiles) <= program["whole"]["cycles"] <= chained(8, tiles) + 8 * 6 + 4
    assert {one["operation"] for one in program["operations"]} >= {"pto.set_flag", "pto.wait_flag"}


@pytest.mark.parametrize("flags", [False, True])
@pytest.mark.parametrize("tiles", [1, 2])
def test_waits_and_work_of_a_pipe_are_its_time(tiles: int, flags: bool, tmp_path: Path) -> None:
    text = scale(tiles)
    if flags:
        plain = tmp_path / "plain.pto"
        plain.write_text(text, encoding="utf-8")
        text = CliRunner().invoke(OPT, ["-p", "insert-sync", str(plain)]).stdout
    program = timed(tmp_path, text, "--no-advice")
    waited: dict[str, float] = {}
    for one in program["waits"]:
        waited[one["pipe"]] = waited.get(one["pipe"], 0.0) + one["cycles"]
        assert one["share"] == pytest.approx(one["cycles"] / program["whole"]["cycles"], abs=1e-3)
        assert one["kind"] == ("flag" if flags else {"MTE2": "overwrites"}.get(one["pipe"], "reads"))
        assert one["text"].startswith(f"{one['pipe']} waits {100 * one['share']:.0f} % of the time for {one['for']}: ")
    # The store ends last, the others before it; flags take a cycle each, and some wait after the last operation.
    ends = {"MTE3": chained(8, tiles), "V": chained(8, tiles) - STORE, "MTE2": chained(8, tiles) - STORE - MULS}
    for pipe, end in ends.items():
        assert waited[pipe] + program["pipes"][pipe]["cycles"] == pytest.approx(end, abs=60 if flags else 1.5)
    longest = {"MTE3": ("V", "pto.tstore", "pto.tmuls"), "V": ("MTE2", "pto.tmuls", "pto.tload"),
               "MTE2": ("MTE3", "pto.tload", "pto.tstore")}  # fmt: skip
    for pipe, expected in longest.items():
        one = next(one for one in program["waits"] if one["pipe"] == pipe)
        assert (one["for"], one["operation"], one["other"]) == expected


def test_a_run_says_what_the_text_says_of_one_execution(tmp_path: Path) -> None:
    program = timed(tmp_path, scale())
    text = json.loads(CliRunner().invoke(OPT, ["--cycles=json", str(tmp_path / "scale.pto")]).stdout)["programs"][0]
    for one, other in zip(program["operations"], text["operations"], strict=True):
        same = ("operation", "line", "pipe", "evidence")
        assert [one[key] for key in same] == [other[key] for key in same]
        assert one["cycles"] == pytest.approx(other["cycles"], abs=0.1)


def test_tables_and_variants_are_taken(tmp_path: Path) -> None:
    slow = shipped("a5").with_values({("operation", "tmuls", "*", "chain"): 1006.0})
    (tmp_path / "slow.csv").write_text(slow.text(), encoding="utf-8")
    plain = timed(tmp_path, scale())
    changed = timed(tmp_path, scale(), "--cycle-table", str(tmp_path / "slow.csv"))
    assert changed["whole"]["cycles"] - plain["whole"]["cycles"] == pytest.approx(8 * 1000, abs=1)
    rows = timed(tmp_path, scale(), "--cycle-option", "precision=high_precision")
    assert rows["whole"] == plain["whole"]


def test_memory_is_shared_by_the_blocks_that_run(tmp_path: Path) -> None:
    """Bytes that are not in the cache take their share of the bandwidth where that is less than a core alone has: for
    all cores that load them at the same time, whichever is simulated first."""
    values = {("machine", "memory_gbps", "*", "value"): 10.0}
    (tmp_path / "narrow.csv").write_text(shipped("a5").with_values(values).text(), encoding="utf-8")
    table = ("--cycle-table", str(tmp_path / "narrow.csv"))
    one = timed(tmp_path, scale(), *table, turns=1)
    many = timed(tmp_path, scale(), *table, "--blocks", "4", turns=1)
    share = 1024 / (10_000 / 1650)
    assert one["whole"]["cycles"] == pytest.approx(LOAD + MULS + STORE, abs=1)
    first = many["operations"][0]
    assert first["count"] == 4
    assert first["cycles"] == pytest.approx(max(LOAD, 4 * share), abs=1)
    # The store comes when they are there.
    assert many["operations"][2]["cycles"] == pytest.approx(STORE, abs=1)


def test_as_many_blocks_as_cores_run_concurrently(tmp_path: Path) -> None:
    """A block of a kernel for vector cores takes one of the two beside each of the 32 cube cores."""
    one = timed(tmp_path, scale())["whole"]["cycles"]
    assert timed(tmp_path, scale(), "--blocks", "64")["whole"]["cycles"] == pytest.approx(one, rel=0.01)
    assert timed(tmp_path, scale(), "--blocks", "65")["whole"]["cycles"] == pytest.approx(2 * one, rel=0.01)


def test_the_timeline_has_the_times(tmp_path: Path) -> None:
    program = timed(tmp_path, scale(), "--trace", str(tmp_path / "t.json"))
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    slices = [event for event in events if event["ph"] == "X"]
    assert len(slices) == 3 * 8
    assert max(each["ts"] + each["dur"] for each in slices) == pytest.approx(
        program["whole"]["cycles"] / program["clock_mhz"], abs=1e-3
    )


def test_results_and_summary_are_as_without(tmp_path: Path) -> None:
    path = tmp_path / "scale.pto"
    path.write_text(scale(), encoding="utf-8")
    arguments = ["--arg", "a=ones:f32:16x16", "--arg", "n=1", str(path)]
    plain = CliRunner().invoke(MAIN, arguments)
    text = CliRunner().invoke(MAIN, ["--cycles", *arguments])
    assert text.exit_code == plain.exit_code == 0
    assert text.stdout.startswith(plain.stdout)
    assert "whole" in text.stdout
    watched = CliRunner().invoke(MAIN, ["--cycles", "--sanitize", *arguments])
    assert watched.stdout == text.stdout


def test_lengths_that_only_the_run_knows_are_taken_from_it(tmp_path: Path) -> None:
    dynamic = "!pto.tile_buf<vec, 16x64xf32, valid=?x?>"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%a: !pto.ptr<f32>, %n: index) attributes {{pto.entry}} {{
    %at = arith.constant 0 : i64
    %x = pto.alloc_tile addr = %at valid_row = %n valid_col = %n : {dynamic}
    pto.texp ins(%x : {dynamic}) outs(%x : {dynamic})
    return
  }}
}}
"""
    program = timed(tmp_path, text, turns=8)
    (one,) = program["operations"]
    assert one["evidence"] == "measured"
    assert one["cycles"] == 50 + 14 + 2 * (8 - 1)


def test_locks_carry_times(tmp_path: Path) -> None:
    """With buffer ids, the vector unit waits for the load, and the next load for the vector unit."""
    text = scale()
    for name, pipe in (("tload", "PIPE_MTE2"), ("tmuls", "PIPE_V"), ("tstore", "PIPE_MTE3")):
        lines = [line for line in text.splitlines() if f"pto.{name}" in line]
        for line in lines:
            bracket = f'      pto.get_buf "{pipe}", 0, 0\n{line}\n      pto.rls_buf "{pipe}", 0, 0'
            text = text.replace(line, bracket)
    whole = timed(tmp_path, text)["whole"]["cycles"]
    assert chained(8, 1) <= whole <= chained(8, 1) + 8 * 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--cycles", "--profile"], "--cycles does not go with --profile"),
        (["--cycle-table", "x.csv"], "--cycle-table has no meaning without --cycles"),
        (["--cycles", "--cycle-table", "/nowhere"], "cannot read '/nowhere'"),
        (["--cycles", "--cycle-option", "variant=x"], "variant is one of"),
        (["--cycles", "--emit-python"], "--emit-python runs nothing"),
        (["--cycles", "--ranks", "2"], "--cycles does not go with --ranks"),
    ],
)
def test_wrong_command_lines(options: list[str], message: str, tmp_path: Path) -> None:
    path = tmp_path / "scale.pto"
    path.write_text(scale(), encoding="utf-8")
    result = run(path, *options)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
