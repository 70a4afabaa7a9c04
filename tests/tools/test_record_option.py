"""``pto-run --record`` writes recordings, whatever becomes of the run."""

from __future__ import annotations

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
    waiting = [(found.actors[one.actor].pipe, one.signals) for one in found.waiting]
    assert waiting == [("MTE2", ("MTE3 -> MTE2 event 0",)), ("MTE3", ("MTE2 -> MTE3 event 0",))]
    assert [found.statements[one.statement].name for one in found.waiting] == ["pto.wait_flag", "pto.wait_flag"]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--record-limit", "1M"), "--record-limit has no meaning without --record"),
        (("--record", "x.rec", "--profile"), "--profile times plain runs"),
        (("--record", "x.rec", "--ranks", "2"), "--record does not go with --ranks"),
        (("--record", "x.rec", "--list"), "--list runs nothing, so there is nothing for --record"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(options: tuple[str, ...], says: str) -> None:
    code, output = run(FAULTY / "race.pto", *options)
    assert code == 2
    assert says in " ".join(output.split())


def test_a_recording_that_cannot_be_written_costs_no_result(tmp_path: Path) -> None:
    race = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64")
    out = tmp_path / "b.npy"
    code, output = run(FAULTY / "race.pto", *race, "--record", tmp_path / "no" / "run.rec", "--out", f"b={out}")
    assert code == 2
    assert f"error: cannot write '{tmp_path / 'no' / 'run.rec'}': No such file or directory" in output
    assert np.load(out).any()
    assert [path.name for path in tmp_path.iterdir()] == ["b.npy"]
