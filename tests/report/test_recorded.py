"""Pages of recordings say what pages of the runs themselves say. Source: docs/report.md, "From a recording"."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from read_pages import ROOT, Read, page

from pto_dialect.recording import open as opened
from pto_dialect.report.__main__ import main as write
from pto_dialect.report.recorded import page_of_recording
from tools.pto_run import main

FAULTY = ROOT / "examples" / "faulty"
GEMM = ROOT / "examples" / "gemm" / "gemm.pto"
ARGUMENTS = {
    "race": ("--arg", "a=random:f32:16:seed=1", "--arg", "b=zeros:f32:16", "--sanitize"),
    "deadlock": ("--arg", "a=zeros:f32:16", "--arg", "b=zeros:f32:16", "--sanitize"),
    "gemm": ("--arg", "a=random:f16:256x512:seed=1", "--arg", "b=random:f16:512x256:seed=2", "--arg",
             "bias=ones:f32:1x256", "--arg", "c=zeros:f32:256x256", "--arg", "with_bias=1", "--quiet"),
}  # fmt: skip


def both(folder: Path, name: str, *more: str, code: int = 0) -> tuple[Read, Read]:
    """The page of a run, and that of its recording."""
    program = GEMM if name == "gemm" else FAULTY / f"{name}.pto"
    direct = Read(page(folder, program, *ARGUMENTS[name], code=code))
    file = folder / "run.pto-rec"
    result = CliRunner().invoke(main, [str(program), *ARGUMENTS[name], *more, "--record", str(file), "--no-cache"])
    assert result.exit_code == code, result.output
    with opened(file) as recording:
        return direct, Read(page_of_recording(recording))


def ops(one: Read) -> list[str]:
    return [f"{one.doc['sites'][site]['op']}:{one.doc['sites'][site]['line']}" for site in one.steps["site"].tolist()]


def test_a_product_has_the_same_steps_times_and_bytes(tmp_path: Path) -> None:
    direct, recorded = both(tmp_path, "gemm", "--cycles")
    assert ops(direct) == ops(recorded)
    for side in ("start", "end"):
        np.testing.assert_allclose(recorded.steps[side], direct.steps[side])
    assert recorded.accesses["step"].tolist() == sorted(recorded.accesses["step"].tolist())
    names = [one["name"] for one in direct.doc["memories"]]
    for name in names:
        one, other = direct.memory(direct.memory_called(name)), recorded.memory(recorded.memory_called(name))
        assert np.array_equal(one, other), name
    kinds = [
        {(one["kind"], one["rows"], one["cols"]) for one in each.doc["shapes"] if one} for each in (direct, recorded)
    ]
    assert kinds[0] == kinds[1]


def test_a_race_is_there_with_its_operations(tmp_path: Path) -> None:
    direct, recorded = both(tmp_path, "race", "--cycles", code=3)
    for one in (direct, recorded):
        (finding,) = one.doc["findings"]
        assert finding["rule"] == "race-war"
    assert set(recorded.doc["findings"][0]["steps"]) <= set(direct.doc["findings"][0]["steps"])
    assert recorded.doc["findings"][0]["steps"]
    boxes = [{(box["start"], box["stop"], box["name"]) for box in one.doc["boxes"]} for one in (direct, recorded)]
    assert boxes[0] == boxes[1]


def test_a_deadlock_has_its_waits(tmp_path: Path) -> None:
    direct, recorded = both(tmp_path, "deadlock", code=3)
    pipes = [
        sorted(one.doc["threads"][each["thread"]]["pipe"] for each in one.doc["blocked"]) for one in (direct, recorded)
    ]
    assert pipes[0] == pipes[1] == ["PIPE_MTE2", "PIPE_MTE3"]
    assert not recorded.doc["complete"] and recorded.doc["findings"][0]["rule"] == "sync-deadlock"


def test_without_times_the_order_stays(tmp_path: Path) -> None:
    _, recorded = both(tmp_path, "race", code=3)
    steps = recorded.steps
    for step in range(len(steps["site"])):
        sender = int(steps["sender"][step])
        assert sender < 0 or steps["end"][sender] < steps["end"][step]
    assert (steps["end"] > steps["start"]).all()


@pytest.mark.parametrize("name", ["nothing.pto-rec", "damaged.pto-rec"])
def test_what_is_no_recording_is_one_message(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name.startswith("damaged"):
        (tmp_path / name).write_bytes(b"PK\x03\x04 something else")
    assert write([str(tmp_path / name)]) == 2
    assert capsys.readouterr().err.startswith("error: ")


def test_the_command_writes_the_page_beside_the_recording(tmp_path: Path) -> None:
    file = tmp_path / "run.pto-rec"
    CliRunner().invoke(main, [str(FAULTY / "race.pto"), *ARGUMENTS["race"], "--record", str(file)])
    assert write([str(file)]) == 0
    assert Read((tmp_path / "run.html").read_text(encoding="utf-8")).doc["entry"] == "race"
    assert write([]) == 2
