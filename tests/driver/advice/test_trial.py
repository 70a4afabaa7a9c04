"""Advice is reported where a changed copy is right and faster, and says what it gains. Source: docs/cycles.md, "Waits
and advice"."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

MAIN = import_module("pto_dialect.tools.pto_run").main
OPT = import_module("pto_dialect.tools.pto_opt").main

TILE = "!pto.tile_buf<vec, 16x64xf32>"
VIEW = "!pto.tensor_view<?x?xf32>"
PART = "!pto.partition_tensor_view<16x64xf32>"
ADD = f"ins(%z, %{{}} : {TILE}, {TILE}) outs(%z : {TILE})"


def program(body: str, before: str = "", after: str = "", places: tuple[int, ...] = (0, 4096, 8192)) -> str:
    """A loop over panels of %a, whose tiles %x, %y, %z have addresses, unless there are none."""
    tiles = [
        f"%{name} = pto.alloc_tile{f' addr = %{name}_at' if places else ''} : {TILE}" for name in ("x", "y", "z")
    ]  # fmt: skip
    numbers = [f"%{name}_at = arith.constant {at} : i64" for name, at in zip("xyz", places, strict=False)]
    return f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @sums(%a: !pto.ptr<f32>, %b: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    %c16 = arith.constant 16 : index
    %c64 = arith.constant 64 : index
    %c128 = arith.constant 128 : index
    %zero = arith.constant 0.0 : f32
    {chr(10).join(numbers)}
    %v = pto.make_tensor_view %a, shape = [%c128, %c64], strides = [%c64, %c1] : {VIEW}
    %w = pto.make_tensor_view %b, shape = [%c16, %c64], strides = [%c64, %c1] : {VIEW}
    %out = pto.partition_view %w, offsets = [%c0, %c0], sizes = [%c16, %c64] : {VIEW} -> {PART}
    {chr(10).join(tiles)}
    pto.texpands ins(%zero : f32) outs(%z : {TILE})
    {before}
    scf.for %i = %c0 to %c8 step %c1 {{
      %r = arith.muli %i, %c16 : index
      %p = pto.partition_view %v, offsets = [%r, %c0], sizes = [%c16, %c64] : {VIEW} -> {PART}
      {body}
    }}
    {after}
    pto.tstore ins(%z : {TILE}) outs(%out : {PART})
    return
  }}
}}
"""


def told(tmp_path: Path, text: str, *options: str) -> dict[str, Any]:
    path = tmp_path / "sums.pto"
    path.write_text(text, encoding="utf-8")
    arguments = ["--arg", "a=random:f32:128x64", "--arg", "b=zeros:f32:16x64", "--quiet", "--no-cache"]
    result = CliRunner().invoke(MAIN, ["--cycles=json", *arguments, *options, str(path)])
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)["programs"][0]


def load(name: str) -> str:
    return f"pto.tload ins(%p : {PART}) outs(%{name} : {TILE})"


def flag(word: str, source: str, target: str, event: int) -> str:
    return f"pto.{word}_flag[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID{event}>]"


V_DONE = [flag("set", "V", "MTE2", 0), flag("set", "V", "MTE2", 1)]
BEHIND = [
    flag("wait", "V", "MTE2", 0), flag("wait", "V", "MTE2", 1),
    flag("set", "V", "MTE3", 0), flag("wait", "V", "MTE3", 0),
]  # fmt: skip


def two_loads(*begin: str) -> str:
    """%y and %x are loaded and added in turn; flag 1 frees %y, flag 0 %x; ``begin`` are the loads and their waits."""
    adds = [
        flag("wait", "MTE2", "V", 1), f"pto.tadd {ADD.format('y')}", flag("set", "V", "MTE2", 1),
        flag("wait", "MTE2", "V", 0), f"pto.tadd {ADD.format('x')}", "pto.barrier <PIPE_V>",
        f"pto.texp ins(%x : {TILE}) outs(%x : {TILE})", flag("set", "V", "MTE2", 0),
    ]  # fmt: skip
    return program("\n      ".join([*begin, *adds]), "\n    ".join(V_DONE), "\n    ".join(BEHIND))


LATE = [
    flag("wait", "V", "MTE2", 1), load("y"), flag("set", "MTE2", "V", 1),
    flag("wait", "V", "MTE2", 0), load("x"), flag("set", "MTE2", "V", 0),
]  # fmt: skip
EARLY = [LATE[0], LATE[3], *LATE[1:3], *LATE[4:]]


def test_a_wait_that_is_too_early_is_moved(tmp_path: Path) -> None:
    early, late = told(tmp_path, two_loads(*EARLY)), told(tmp_path, two_loads(*LATE))
    (moved,) = [one for one in early["advice"] if "pto.wait_flag" in one["text"] and "after pto.tload" in one["text"]]
    assert moved["before"] == early["whole"]["cycles"]
    assert moved["after"] == pytest.approx(late["whole"]["cycles"], abs=16)
    assert moved["saved"] == pytest.approx(1 - moved["after"] / moved["before"], abs=1e-4)
    assert moved["bytes"] == {}
    # Where it is where it has to, moving it on is wrong and is not reported.
    assert not [one for one in late["advice"] if "pto.wait_flag" in one["text"]]


def test_flags_are_advised_where_barriers_stop_all_pipes(tmp_path: Path) -> None:
    barrier = "pto.barrier <PIPE_ALL>"
    body = "\n      ".join([load("x"), load("y"), barrier, f"pto.tadd {ADD.format('x')}", "pto.barrier <PIPE_V>",
                            f"pto.tadd {ADD.format('y')}", barrier])  # fmt: skip
    found = told(tmp_path, program(body, barrier, barrier))
    assert found["waits"][0]["kind"] in ("barrier", "scalar")
    order = [one for one in found["advice"] if one["passes"] == "insert-sync"]
    slots = [one for one in found["advice"] if one["passes"] == "double-buffer{count=2},assign-memory,insert-sync"]
    assert len(order) + len(slots) >= 1
    for one in found["advice"]:
        assert one["after"] < 0.99 * one["before"]


@pytest.mark.parametrize("passes", ["", "assign-memory,insert-sync"])
def test_advised_slots_are_those_that_the_passes_give(passes: str, tmp_path: Path) -> None:
    text = program("\n      ".join([load("x"), f"pto.tadd {ADD.format('x')}"]), places=())
    path = tmp_path / "plain.pto"
    path.write_text(text, encoding="utf-8")
    if passes:
        text = CliRunner().invoke(OPT, ["-p", passes, str(path)]).stdout
    found = told(tmp_path, text)
    advice = next(one for one in found["advice"] if "a second buffer for %x" in one["text"])
    changed = CliRunner().invoke(OPT, ["-p", advice["passes"], str(path)]).stdout
    after = told(tmp_path, changed)
    assert after["whole"]["cycles"] == pytest.approx(advice["after"], abs=1)
    assert advice["bytes"] == {"ub": 4096}
    assert f"saves {100 * advice['saved']:.0f} %" in advice["text"]


def test_advice_that_does_not_help_is_not_given(tmp_path: Path) -> None:
    """One pipe works all the time: nothing can be saved."""
    body = "\n      ".join([f"pto.texp ins(%z : {TILE}) outs(%z : {TILE})"] * 3)
    found = told(tmp_path, program(body, places=()))
    assert found["advice"] == [] and found["untried"] is None


def test_a_change_that_leaves_other_bits_is_not_reported(tmp_path: Path) -> None:
    """Without the barrier the store would read what the loads have not written: faster, and wrong."""
    barrier = "pto.barrier <PIPE_ALL>"
    body = "\n      ".join([load("z"), barrier])
    found = told(tmp_path, program(body, barrier, barrier))
    assert not [one for one in found["advice"] if one["text"].startswith("without the barrier")]


def test_advice_can_be_left_out(tmp_path: Path) -> None:
    text = program("\n      ".join([load("x"), f"pto.tadd {ADD.format('x')}"]), places=())
    found = told(tmp_path, text, "--no-advice")
    assert found["advice"] == [] and found["waits"]
    path = tmp_path / "sums.pto"
    result = CliRunner().invoke(MAIN, ["--no-advice", str(path)])
    assert result.exit_code == 2 and "--no-advice has no meaning without --cycles" in result.output


def test_long_runs_say_that_nothing_was_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pto_dialect.driver.advice.trial.MOST_EVENTS", 10)
    text = program("\n      ".join([load("x"), f"pto.tadd {ADD.format('x')}"]), places=())
    found = told(tmp_path, text)
    assert found["advice"] == [] and "changes are tried up to 10" in found["untried"]
