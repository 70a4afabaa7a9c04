"""``pto-run --record`` writes recordings, whatever becomes of the run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from pto_dialect.recording import open as open_recording
from tools.pto_run import main

FAULTY = Path("examples/faulty").resolve()


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_a_run_leaves_a_recording(tmp_path: Path) -> None:
    path = tmp_path / "run.pto-rec"
    race = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64")
    assert run(FAULTY / "race.pto", *race, "--record", path, "--out", f"b={tmp_path / 'b.npy'}")[0] == 0
    found = open_recording(path)
    assert np.array_equal(np.asarray(found.end("b")), np.load(tmp_path / "b.npy"))
    assert found.outcome.kind == "ended"
    assert not found.timed
    assert list(tmp_path.iterdir()) != []


def test_findings_and_cycles_are_recorded_with_the_run(tmp_path: Path) -> None:
    path = tmp_path / "run.pto-rec"
    race = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64")
    assert run(FAULTY / "race.pto", *race, "--record", path, "--sanitize", "--cycles")[0] == 3
    found = open_recording(path)
    assert [one.rule for one in found.findings] == ["race-war"]
    assert [found.step(step).statement.name for step in found.findings[0].steps] == ["pto.mte_gm_ub"]
    assert found.timed
    assert (found.steps.end >= found.steps.start)[~np.isnan(found.steps.start)].all()


def test_a_deadlock_leaves_everything_until_then(tmp_path: Path) -> None:
    path = tmp_path / "run.pto-rec"
    code, _ = run(FAULTY / "deadlock.pto", "--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64", "--record", path)
    found = open_recording(path)
    assert code == 1
    assert (found.outcome.kind, found.outcome.rule) == ("failed", "sync-deadlock")
    waiting = [(found.threads[one.thread].pipe, one.signals) for one in found.waiting]
    assert waiting == [("MTE2", ("MTE3 -> MTE2 event 0",)), ("MTE3", ("MTE2 -> MTE3 event 0",))]
    assert [found.statements[one.statement].name for one in found.waiting] == ["pto.wait_flag", "pto.wait_flag"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--record-every", "5"), "--record-every has no meaning without --record"),
        (("--record-limit", "1M"), "--record-limit has no meaning without --record"),
        (("--record", "x.rec", "--profile"), "--profile times plain runs"),
        (("--record", "x.rec", "--list"), "--list runs nothing, so there is nothing for --record"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(options: tuple[str, ...], says: str) -> None:
    code, output = run(FAULTY / "race.pto", *options)
    assert code == 2
    assert says in " ".join(output.split())


def test_a_run_leaves_a_page_and_a_recording(tmp_path: Path) -> None:
    path, page = tmp_path / "run.pto-rec", tmp_path / "run.html"
    race = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64")
    assert run(FAULTY / "race.pto", *race, "--record", path, "--html", page, "--sanitize")[0] == 3
    found = open_recording(path)
    assert [one.rule for one in found.findings] == ["race-war"]
    assert found.timed
    assert "race-war" in page.read_text(encoding="utf-8")


TWICE = """program = "{program}"
[[launch]]
arguments = {{ a = "ones:f32:64", b = "zeros:f32:64" }}
[[launch]]
arguments = {{ a = "zeros:f32:64", b = "zeros:f32:64" }}
"""


def test_each_launch_of_a_file_has_its_own(tmp_path: Path) -> None:
    file = tmp_path / "t.launch.toml"
    (tmp_path / "race.pto").write_text((FAULTY / "race.pto").read_text(encoding="utf-8"), encoding="utf-8")
    file.write_text(TWICE.format(program="race.pto"), encoding="utf-8")
    code, output = run(file, "--record", tmp_path / "run.pto-rec", "--html", tmp_path / "run.html")
    assert code == 0, output
    assert sorted(path.name for path in tmp_path.glob("run*")) == [
        "run-1.html", "run-1.pto-rec", "run-2.html", "run-2.pto-rec",
    ]  # fmt: skip
    found = [open_recording(tmp_path / f"run-{number}.pto-rec") for number in (1, 2)]
    assert [float(np.asarray(one.begin("a"))[0]) for one in found] == [1, 0]
    assert len(found[0]) == len(found[1]) > 0


def test_findings_and_timelines_of_each_launch_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "t.launch.toml"
    (tmp_path / "race.pto").write_text((FAULTY / "race.pto").read_text(encoding="utf-8"), encoding="utf-8")
    file.write_text(TWICE.format(program="race.pto"), encoding="utf-8")
    code, output = run(file, "--trace", tmp_path / "run.json")
    assert code == 0, output
    for number in (1, 2):
        assert json.loads((tmp_path / f"run-{number}.json").read_text())["traceEvents"]
    code, output = run(file, "--sanitize", "--report", tmp_path / "found.sarif")
    assert code == 3, output
    [found] = json.loads((tmp_path / "found-1.sarif").read_text())["runs"]
    assert [one["ruleId"] for one in found["results"]] == ["race-war"]


def test_a_group_leaves_one_recording(tmp_path: Path) -> None:
    from group_programs import cube, module, vector

    (tmp_path / "cube.pto").write_text(module(cube()))
    (tmp_path / "vector.pto").write_text(module(vector()))
    np.save(tmp_path / "out.npy", np.zeros(4, np.int32))
    file = tmp_path / "t.launch.toml"
    file.write_text(GROUP)
    code, output = run(file, "--allow", "sync-ffts-base", "--record", tmp_path / "run.pto-rec")
    assert code == 0, output
    found = open_recording(tmp_path / "run.pto-rec")
    assert {one.core for one in found.threads} == {"AIC", "AIV0", "AIV1"}
    assert {one.function for one in found.statements} == {"produce", "consume"}
    assert np.asarray(found.end("consume.arg1")).tolist() == [70, 70, 80, 80]


GROUP = """blocks = 2
[[launch]]
arguments = { arg0 = "zeros:i32:2" }
[[launch.group]]
program = "cube.pto"
arguments = { 1 = "per-core:block", arg2 = "per-core:block + 7" }
[[launch.group]]
program = "vector.pto"
arguments = { arg1 = "out.npy" }
"""


TASKS = """program = "{program}"
[buffers]
b = "zeros:f32:64"
[[task]]
name = "one"
arguments = {{ a = "ones:f32:64", b = "b" }}
"""


@pytest.mark.parametrize("option", ["--record", "--html", "--trace"])
def test_launches_that_leave_nothing_are_reported(tmp_path: Path, option: str) -> None:
    (tmp_path / "race.pto").write_text((FAULTY / "race.pto").read_text(encoding="utf-8"), encoding="utf-8")
    (tmp_path / "t.launch.toml").write_text(TASKS.format(program="race.pto"), encoding="utf-8")
    code, output = run(tmp_path / "t.launch.toml", option, tmp_path / "x")
    assert code == 2
    assert f"error: {option} does not go with tasks; [[launch]] tables instead run in" in output
    code, output = run(Path("examples/ranks").resolve(), option, tmp_path / "x")
    assert code == 2
    assert f"{option} goes with a single launch file" in " ".join(output.split())
    assert not (tmp_path / "x").exists()


def test_the_recording_is_there_while_the_run_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.recording import log

    seen: list[tuple[str, int, bool]] = []
    path = tmp_path / "run.pto-rec"
    notify = log.Log.notify_every

    def looking(self: log.Log, seconds: float, listener: Callable[[], None]) -> None:
        def look() -> None:
            listener()
            with open_recording(path) as found:
                seen.append((found.outcome.kind, len(found), bool(found.memory_at(found.last, "ub"))))

        notify(self, 0.0, look)

    monkeypatch.setattr(log, "_LOOK", 4)
    monkeypatch.setattr(log, "_PATIENCE", 0)
    monkeypatch.setattr(log.Log, "notify_every", looking)
    race = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64")
    assert run(FAULTY / "race.pto", *race, "--record", path, "--record-every", "1")[0] == 0
    whole = open_recording(path)
    assert whole.outcome.kind == "ended"
    assert [kind for kind, _, _ in seen] == ["running"] * len(seen)
    assert [steps for _, steps, _ in seen] == list(range(4, len(whole), 4))


def test_a_disk_that_is_full_is_reported_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    from pto_dialect.recording import log

    monkeypatch.setattr(log, "_LOOK", 4)
    monkeypatch.setattr("zipfile._ZipWriteFile.write", full)
    race = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64", "--quiet")
    path = tmp_path / "run.pto-rec"
    code, output = run(FAULTY / "race.pto", *race, "--record", path, "--record-every", "0.1")
    assert (code, output) == (2, f"error: cannot write '{path}': No space left on device\n")
    assert list(tmp_path.iterdir()) == []


def test_a_recording_that_cannot_be_written_costs_no_result(tmp_path: Path) -> None:
    race = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64")
    out = tmp_path / "b.npy"
    code, output = run(FAULTY / "race.pto", *race, "--record", tmp_path / "no" / "run.rec", "--out", f"b={out}")
    assert code == 2
    assert f"error: cannot write '{tmp_path / 'no' / 'run.rec'}': No such file or directory" in output
    assert np.load(out).any()
    assert [path.name for path in tmp_path.iterdir()] == ["b.npy"]
