"""What a page says of a run, against the program's own meaning. Source: docs/report.md, "What is in the page"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from read_pages import ROOT, Read, column, page

from pto_dialect.report.columns import Columns, Ranges, encoded
from pto_dialect.report.order import causes, shifted
from tools.pto_run import main

FAULTY = ROOT / "examples" / "faulty"

SCALE = """
!view = !pto.partition_tensor_view<8x16xf32>
!tile = !pto.tile_buf<vec, 8x16xf32>
module attributes {pto.target_arch = "a5"} {
  func.func @scale(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {pto.entry} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c3 = arith.constant 3 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c24 = arith.constant 24 : index
    %at = arith.constant 0 : i64
    %next = arith.constant 2048 : i64
    %three = arith.constant 3.0 : f32
    %v = pto.make_tensor_view %a, shape = [%c24, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %w = pto.make_tensor_view %b, shape = [%c24, %c16], strides = [%c16, %c1] : !pto.tensor_view<?x?xf32>
    %x = pto.alloc_tile addr = %at : !tile
    %y = pto.alloc_tile addr = %next : !tile
    scf.for %i = %c0 to %c3 step %c1 {
      %r = arith.muli %i, %c8 : index
      %p = pto.partition_view %v, offsets = [%r, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> !view
      %q = pto.partition_view %w, offsets = [%r, %c0], sizes = [%c8, %c16] : !pto.tensor_view<?x?xf32> -> !view
      pto.tload ins(%p : !view) outs(%x : !tile)
      pto.tmuls ins(%x, %three : !tile, f32) outs(%y : !tile)
      pto.tstore ins(%y : !tile) outs(%q : !view)
    }
    return
  }
}
"""


@pytest.fixture
def scaled(tmp_path: Path) -> tuple[Read, np.ndarray]:
    values = np.random.default_rng(5).normal(size=(24, 16)).astype(np.float32)
    np.save(tmp_path / "a.npy", values)
    arguments = ("--arg", f"a={tmp_path}/a.npy", "--arg", "b=zeros:f32:24x16", "--expect", f"b={tmp_path}/b.npy")
    np.save(tmp_path / "b.npy", values * 3)
    return Read(page(tmp_path, SCALE, *arguments)), values


def test_every_operation_is_a_step_with_its_loop_index(scaled: tuple[Read, np.ndarray]) -> None:
    found, _ = scaled
    sites = [found.doc["sites"][site]["op"] for site in found.steps["site"]]
    assert sites == ["pto.tload", "pto.tmuls", "pto.tstore"] * 3
    loops = {name: column(one) for name, one in found.doc["loops"].items()}
    values = [loops["numbers"][loops["starts"][one]] for one in found.steps["loops"]]
    assert values == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    counts = {one["op"]: one["count"] for one in found.doc["sites"] if one["count"]}
    assert counts == {"pto.tload": 3, "pto.tmuls": 3, "pto.tstore": 3}
    assert found.doc["complete"] and found.doc["findings"] == []


def test_memory_holds_what_numpy_says_at_every_step(scaled: tuple[Read, np.ndarray]) -> None:
    found, values = scaled
    unified = next(number for number, one in enumerate(found.doc["memories"]) if one["space"] == "ub")
    boxes = {one["name"]: one for one in found.doc["boxes"]}
    assert (boxes["%x"]["start"], boxes["%x"]["stop"], boxes["%y"]["start"], boxes["%y"]["stop"]) == (
        0,
        512,
        2048,
        2560,
    )
    for turn in range(3):
        loaded, stored = values[8 * turn : 8 * turn + 8], 3 * values[8 * turn : 8 * turn + 8]
        at = found.memory(unified, 3 * turn)
        assert at[:512].astype(np.uint8).tobytes() == loaded.tobytes()
        assert (at[512:2048] == -1).all()
        assert found.memory(unified, 3 * turn + 1)[2048:2560].astype(np.uint8).tobytes() == stored.tobytes()
        result = found.memory(found.memory_called("b"), 3 * turn + 2).astype(np.uint8).view(np.float32).reshape(24, 16)
        wanted = np.zeros((24, 16), np.float32)
        wanted[: 8 * turn + 8] = 3 * values[: 8 * turn + 8]
        assert np.array_equal(result, wanted)
    assert np.array_equal(column(found.doc["expected"]["b"]).reshape(24, 16), (3 * values).astype(np.float64))


def test_steps_wait_for_the_data_that_they_need(scaled: tuple[Read, np.ndarray]) -> None:
    found, _ = scaled
    # One tile for all iterations: nothing overlaps but the load after the product that has read the tile.
    assert found.steps["cause"].tolist()[:4] == [-1, 0, 1, 1]
    assert (found.steps["start"][1:3] == found.steps["end"][:2]).all()


def test_waits_and_advice_on_the_page_are_those_of_the_cycles(tmp_path: Path) -> None:
    arguments = ("--arg", "a=ones:f32:24x16", "--arg", "b=zeros:f32:24x16")
    found = Read(page(tmp_path, SCALE, *arguments, "--cycles")).doc
    told = CliRunner().invoke(main, [str(tmp_path / "kernel.pto"), *arguments, "--quiet", "--cycles", "--no-cache"])
    lines = [line for line in told.stdout.split("\n") if "such waits cost" in line or line.startswith("saves ")]
    assert [one["text"] for one in (*found["waits"], *found["advice"])] == lines
    assert found["waits"] and found["advice"] and found["advice"][0]["passes"].startswith("double-buffer")
    plain = Read(page(tmp_path, SCALE, *arguments)).doc
    assert plain["waits"] == found["waits"] and plain["advice"] is None
    summary = {one["name"]: one["text"] for one in found["limits"]["facts"]}
    shown = [line.split("  ", 1) for line in told.stdout.split("\n") if line.startswith(tuple(summary))]
    assert summary == {name: text.strip() for name, text in shown}
    assert "best change" in summary and "best change" not in {one["name"] for one in plain["limits"]["facts"]}


def test_a_product_counts_its_operations(tmp_path: Path) -> None:
    path = ROOT / "examples" / "gemm" / "gemm.pto"
    arguments = ["--arg", "a=ones:f16:256x512", "--arg", "b=ones:f16:512x256", "--arg", "bias=ones:f32:1x256",
                 "--arg", "c=zeros:f32:256x256", "--arg", "with_bias=1"]  # fmt: skip
    found = Read(page(tmp_path, path, *arguments))
    assert found.steps["work"][found.steps["work"] > 0].sum() == 2 * 256 * 512 * 256
    kinds = {one["kind"] for one in found.doc["shapes"] if one is not None}
    assert kinds >= {"NZ", "ZN"} or kinds >= {"NZ", "ZZ"}


def test_both_accesses_of_a_race_are_reported(tmp_path: Path) -> None:
    arguments = ("--arg", "a=zeros:f32:16", "--arg", "b=zeros:f32:16", "--sanitize")
    found = Read(page(tmp_path, FAULTY / "race.pto", *arguments, code=3))
    (finding,) = found.doc["findings"]
    first, second = finding["steps"]
    ops = [found.doc["sites"][int(found.steps["site"][step])]["op"] for step in (first, second)]
    assert (finding["rule"], ops, finding["ranges"]) == ("race-war", ["pto.mte_ub_gm", "pto.mte_gm_ub"], [[0, 64]])
    assert finding["writes"] == [False, True] and found.doc["memories"][finding["memory"]]["space"] == "ub"
    # They overlap in time: that is what a race is.
    assert found.steps["start"][second] < found.steps["end"][first]


def test_a_deadlock_states_what_every_pipe_waits_for(tmp_path: Path) -> None:
    arguments = ("--arg", "a=zeros:f32:16", "--arg", "b=zeros:f32:16")
    for more, code in (("--sanitize",), 3), ((), 1):
        found = Read(page(tmp_path, FAULTY / "deadlock.pto", *arguments, *more, code=code))
        waits = {found.doc["threads"][one["thread"]]["pipe"]: one["text"] for one in found.doc["blocked"]}
        assert waits == {
            "PIPE_MTE2": "a flag from PIPE_MTE3, EVENT_ID0",
            "PIPE_MTE3": "a flag from PIPE_MTE2, EVENT_ID0",
        }
        assert not found.doc["complete"] and found.doc["findings"][0]["rule"] == "sync-deadlock"


def test_a_run_that_fails_shows_what_happened_until_then(tmp_path: Path) -> None:
    text = SCALE.replace("%c3 = arith.constant 3 : index", "%c3 = arith.constant 4 : index")
    found = Read(page(tmp_path, text, "--arg", "a=ones:f32:24x16", "--arg", "b=zeros:f32:24x16", code=1))
    assert not found.doc["complete"]
    assert [one["severity"] for one in found.doc["findings"]] == ["error"]
    assert len(found.steps["site"]) >= 9
    stored = found.memory(found.memory_called("b")).astype(np.uint8).view(np.float32)
    assert (stored == 3).all()


def test_a_wrong_result_is_a_finding(tmp_path: Path) -> None:
    arguments = ("--arg", "a=ones:f32:24x16", "--arg", "b=zeros:f32:24x16", "--expect", "b=4")
    found = Read(page(tmp_path, SCALE, *arguments, code=1))
    (finding,) = found.doc["findings"]
    assert finding["rule"] == "expectation" and "b" in finding["message"] and found.doc["complete"]


@pytest.mark.parametrize("more", ["--profile", "--fix", "--emit-python"])
def test_options_that_do_not_go_with_a_page_are_reported(tmp_path: Path, more: str) -> None:
    from click.testing import CliRunner

    from tools.pto_run import main

    arguments = [str(FAULTY / "race.pto"), "--html", str(tmp_path / "r.html"), more]
    result = CliRunner().invoke(main, arguments + (["--sanitize"] if more == "--fix" else []))
    assert result.exit_code == 2 and "--html" in result.output
    assert not (tmp_path / "r.html").exists()


def test_a_page_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    from click.testing import CliRunner

    from tools.pto_run import main

    arguments = ["--arg", "a=zeros:f32:16", "--arg", "b=zeros:f32:16"]
    result = CliRunner().invoke(main, [str(FAULTY / "race.pto"), "--html", str(tmp_path / "no" / "r.html"), *arguments])
    assert result.exit_code == 2 and "cannot write" in result.output and "Traceback" not in result.output


# ------------------------------------------------------------ parts


def test_columns_come_back_as_they_were() -> None:
    rows = Columns(small="u8", real="f64", signed="i32")
    for row in ((1, 0.5, -7), (255, 1e300, 2**31 - 1)):
        rows.add(*row)
    back = {name: column(one).tolist() for name, one in rows.document().items()}
    assert back == {"small": [1, 255], "real": [0.5, 1e300], "signed": [-7, 2**31 - 1]}
    assert column(encoded("f32", [0.25])).tolist() == [0.25]


def test_lists_have_one_number_each() -> None:
    lists = Ranges()
    assert [lists.number(one) for one in ((), (3,), (1, 2), (3,), ())] == [0, 1, 2, 1, 0]
    assert lists.lists() == [(), (3,), (1, 2)]
    back = {name: column(one).tolist() for name, one in lists.document().items()}
    assert back == {"starts": [0, 0, 1, 3], "numbers": [3, 1, 2]}


class _Core:
    def __init__(self, index: int) -> None:
        self.block = self
        self.index = index


class _Thread:
    def __init__(self, number: int, device: int, time: float) -> None:
        self.number, self.device, self.time, self.core = number, device, time, _Core(device)


def test_blocks_without_a_core_come_after_others() -> None:
    rows = Columns(thread="u16", start="f64", end="f64", sender="i32")
    threads = [_Thread(number, number, 10.0 * (number + 1)) for number in range(3)]
    for number in range(3):
        rows.add(number, 0.0, 10.0 * (number + 1), -1)
    found = shifted(rows, threads, 2)  # type: ignore[arg-type]
    assert found["start"].tolist() == [0, 0, 10] and found["end"].tolist() == [10, 20, 40]


def test_causes_are_senders_then_the_pipe_then_what_ended_at_that_time() -> None:
    rows = Columns(thread="u16", start="f64", end="f64", sender="i32")
    threads = [_Thread(0, 0, 0.0), _Thread(1, 0, 0.0)]
    for row in ((0, 0.0, 5.0, -1), (0, 5.0, 6.0, -1), (1, 0.0, 7.0, 1), (1, 7.0, 9.0, -1), (0, 9.0, 12.0, -1)):
        rows.add(*row)
    columns = {name: np.asarray(one) for name, one in rows.of.items()}
    assert causes(columns, threads).tolist() == [-1, 0, 1, 2, 3]  # type: ignore[arg-type]
