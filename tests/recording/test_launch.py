"""Recording from Python."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from sanitize_programs import load, program, store, ub

import pto_dialect
from pto_dialect.recording import open as open_recording
from pto_dialect.recording.launch import record
from pto_dialect.runtime.errors import ProgramError

MODULE = pto_dialect.parse(program(ub("x", 0), load("%x"), store("%x")), "k.pto")


def test_run_records(tmp_path: Path) -> None:
    values = {"a": np.arange(64, dtype=np.float32), "b": np.zeros(64, np.float32)}
    plain = pto_dialect.run(MODULE, {name: value.copy() for name, value in values.items()})
    found = pto_dialect.run(MODULE, values, record=tmp_path / "run.pto-rec")
    assert np.array_equal(found["b"], plain["b"])
    with open_recording(tmp_path / "run.pto-rec") as recording:
        assert np.array_equal(np.asarray(recording.end("b")), plain["b"])


def test_launches_in_a_block_are_recorded_and_others_are_not(tmp_path: Path) -> None:
    kernel = pto_dialect.compile(MODULE)
    path = tmp_path / "run.pto-rec"
    with record(path):
        kernel(np.ones(64, np.float32), np.zeros(64, np.float32))
    kernel(np.full(64, 7, np.float32), np.zeros(64, np.float32))
    with open_recording(path) as recording:
        assert np.asarray(recording.end("b"))[0] == 1


def test_a_launch_that_fails_is_recorded_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "run.pto-rec"
    module = pto_dialect.parse(program(ub("x", 0), load("%x"), ub("y", 10_000_000), load("%y")), "k.pto")
    with pytest.raises(ProgramError, match="outside"):
        pto_dialect.run(module, {"a": np.ones(64, np.float32), "b": np.zeros(64, np.float32)}, record=path)
    with open_recording(path) as recording:
        assert recording.outcome.rule == "mem-oob"
        assert recording.last >= 1
