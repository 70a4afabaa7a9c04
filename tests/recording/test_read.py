"""Recordings say what a run has done: statements, steps, accesses, signals, numbers, handles, findings."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from recorded_runs import recorded, recording_kernel
from sanitize_programs import load, program, store, ub

import pto_dialect
from pto_dialect.recording import Recording, RecordingError
from pto_dialect.runtime.errors import ProgramError

SET = 'pto.set_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]'
WAIT = 'pto.wait_flag["PIPE_MTE2", "PIPE_MTE3", "EVENT_ID0"]'
COPY = program(
    ub("x", 128), "scf.for %i = %i0 to %i3 step %i1 {", load("%x"), SET, WAIT, store("%x"), "}"
)  # fmt: skip


def run(tmp_path: Path, text: str, checks: bool = False) -> Recording:
    kernel = recording_kernel(pto_dialect.parse(text, "k.pto"), None, None, checks)
    values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    return recorded(tmp_path / "run.pto-rec", kernel, values)


def test_steps_have_statement_pipe_and_loop_indices(tmp_path: Path) -> None:
    found = run(tmp_path, COPY)
    loads = [found.step(n) for n in range(len(found)) if found.step(n).statement.name == "pto.mte_gm_ub"]
    assert [step.loops for step in loads] == [(0,), (1,), (2,)]
    assert {(step.thread.core, step.thread.pipe, step.thread.block, step.kind) for step in loads} == {
        ("core", "MTE2", 0, "operation")
    }
    assert loads[0].statement.line == COPY.split("pto.mte_gm_ub")[0].count("\n") + 1
    assert loads[0].statement.text.startswith("pto.mte_gm_ub %a, %x")
    assert loads[0].statement.loops == ("%i",)
    assert found.program.text == COPY
    assert (found.program.file, found.program.entry, found.program.target) == ("k.pto", "k", "a5")


def test_accesses_say_which_bytes(tmp_path: Path) -> None:
    found = run(tmp_path, COPY)
    first = next(n for n in range(len(found)) if found.step(n).statement.name == "pto.mte_gm_ub")
    shown = [(found.memories[a.memory].name, a.writes, a.first, a.stop) for a in found.accesses_of(first)]
    assert shown == [("a", False, 0, 64), ("block0.aiv0.ub", True, 128, 192)]


def test_waits_know_the_step_that_has_set_their_signal(tmp_path: Path) -> None:
    found = run(tmp_path, COPY)
    waits = [signal for signal in found.signals if signal.waits]
    sets = [signal for signal in found.signals if not signal.waits]
    assert [signal.peer for signal in waits] == [signal.step for signal in sets]
    assert [signal.peer for signal in sets] == [signal.step for signal in waits]
    assert {signal.text for signal in found.signals} == {"MTE2 -> MTE3 event 0"}
    assert {found.step(signal.step).kind for signal in waits} == {"wait"}


def test_arguments_at_begin_and_end(tmp_path: Path) -> None:
    found = run(tmp_path, COPY)
    assert np.array_equal(found.begin("a"), np.arange(64, dtype=np.float32))
    assert not np.any(found.begin("b"))
    assert np.array_equal(np.asarray(found.end("b"))[:16], np.arange(16, dtype=np.float32))


def test_numbers_are_reported_where_they_are_new_or_used(tmp_path: Path) -> None:
    found = run(tmp_path, COPY)
    loop = next(n for n in range(len(found)) if found.step(n).statement.name == "scf.for")
    assert found.scalars_of(loop)["%i3"] == 3
    load_step = next(n for n in range(len(found)) if found.step(n).statement.name == "pto.mte_gm_ub")
    assert found.scalars_of(load_step) == {"%c0": 0, "%c64": 64, "%c1": 1}
    handles = found.handles_of(load_step)
    assert (handles["%x"].form.kind, handles["%x"].address, handles["%x"].form.space) == ("pointer", 128, "ub")


def test_tiles_have_the_numbers_of_numpy(tmp_path: Path) -> None:
    text = Path("examples/gemm/gemm.pto").read_text(encoding="utf-8")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(256 * 512).astype(np.float16) for _ in range(2))
    kernel = recording_kernel(pto_dialect.parse(text, "gemm.pto"), "gemm", "a5")
    values = [a, b, np.zeros(256, np.float32), np.zeros(65536, np.float32), 0]
    found = recorded(tmp_path / "run.pto-rec", kernel, values)
    step = next(n for n in range(len(found)) if found.step(n).statement.name.startswith("pto.tmatmul"))
    left = a.reshape(256, 512)[:64, :64].astype(np.float32)
    right = b.reshape(512, 256)[:64, :64].astype(np.float32)
    assert np.array_equal(found.tile_at(step, "%a_l0"), left)
    assert np.array_equal(found.tile_at(step, "b_l0"), right)
    assert np.allclose(found.tile_at(step, "%acc"), left @ right, rtol=1e-5, atol=1e-4)
    with pytest.raises(KeyError, match="no step up to"):
        found.tile_at(step, "%nothing")


def test_findings_have_the_step_that_showed_them(tmp_path: Path) -> None:
    text = program(ub("x", 0), load("%x"), store("%x"), "pto.barrier #pto.pipe<PIPE_ALL>", SET, WAIT)
    found = run(tmp_path, text, checks=True)
    (race,) = [finding for finding in found.findings if finding.rule.startswith("race")]
    assert [found.step(step).statement.name for step in race.steps] == ["pto.mte_ub_gm"]


def test_a_run_that_fails_has_everything_until_then(tmp_path: Path) -> None:
    from pto_dialect.recording.save import save

    far = ub("y", 400_000)
    text = program(ub("x", 0), load("%x"), far, load("%y"))
    kernel = recording_kernel(pto_dialect.parse(text, "k.pto"), None, None)
    with pytest.raises(ProgramError) as caught:
        kernel.run([np.ones(64, np.float32), np.zeros(64, np.float32)])
    path = tmp_path / "run.pto-rec"
    save(path, kernel, 1, failure=caught.value.diagnostic())
    found = reopened(path)
    assert (found.outcome.kind, found.outcome.rule) == ("failed", "mem-oob")
    assert found.outcome.line == text.split("%y, %c0")[0].count("\n") + 1
    assert found.step(found.last).statement.line == found.outcome.line
    assert np.frombuffer(found.memory_at(found.last, "ub", stop=64), np.float32).tolist() == [1.0] * 16


def reopened(path: Path) -> Recording:
    from pto_dialect.recording import open as open_recording

    return open_recording(path)


def test_the_limit_keeps_the_last_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.recording import log

    monkeypatch.setattr(log, "CHUNK_STEPS", 4)
    module = pto_dialect.parse(COPY, "k.pto")
    values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    whole = recorded(tmp_path / "whole.pto-rec", recording_kernel(module, None, None), [v.copy() for v in values])
    part = recorded(tmp_path / "part.pto-rec", recording_kernel(module, None, None, limit=1200), values)
    assert whole.dropped == 0
    assert 0 < part.dropped < len(whole)
    assert len(part) + part.dropped == len(whole)
    for step in range(-1, len(part)):
        for memory in part.memories:
            assert part.memory_at(step, memory.number) == whole.memory_at(step + part.dropped, memory.name)
        if step >= 0:
            assert part.step(step)[1:] == whole.step(step + part.dropped)[1:] or np.isnan(part.step(step).start)
            assert part.step(step).statement == whole.step(step + part.dropped).statement
            assert part.scalars_of(step) == whole.scalars_of(step + part.dropped)


def test_a_memory_that_is_not_there_is_reported(tmp_path: Path) -> None:
    found = run(tmp_path, COPY)
    with pytest.raises(KeyError, match="no memory is called l1"):
        found.memory_at(0, "l1")
    with pytest.raises(IndexError, match="there is no step 1000"):
        found.memory_at(1000, "ub")
    with pytest.raises(RecordingError, match="no tile and no view"):
        found.tile_at(found.last, "%x")
