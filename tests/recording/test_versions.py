"""Recordings of older versions are read as they were; what is packed comes back, and costs what the guide says."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_runs import recorded, recording_kernel
from sanitize_programs import load, program, store, ub

import pto_dialect
from pto_dialect.recording import open as open_recording
from pto_dialect.recording.format import COLUMNS, VERSION
from pto_dialect.recording.packing import packed, unpacked

OLD = Path(__file__).with_name("files")
"""Three rounds of a load and a store of 64 bytes, then 32 work-items that take every second number: written by the
package when the version was 1, 2 and 3, the last two with cycles."""


@pytest.mark.parametrize("version", [1, 2, 3])
def test_older_versions_are_read(version: int) -> None:
    with open_recording(OLD / f"version{version}.pto-rec") as found:
        assert (found.version, found.program.entry, found.outcome.kind) == (version, "k", "ended")
        names = [found.step(step).statement.name for step in range(len(found))]
        assert names.count("pto.mte_gm_ub") == names.count("pto.mte_ub_gm") == 3
        a = np.arange(64, dtype=np.float32)
        assert found.argument_at(-1, "factor") == 2.5
        assert np.array_equal(found.begin("a"), a)
        assert not np.any(found.begin("b"))
        stores = [step for step, name in enumerate(names) if name == "pto.mte_ub_gm"]
        for turn, step in enumerate(stores):
            assert found.loops_of(step) == (turn,)
            held = np.asarray(found.argument_at(step, "b"))
            assert np.array_equal(held[:16], a[16 * turn : 16 * turn + 16])
            (reads, writes) = found.accesses_of(step)
            assert (reads.first, reads.stop, writes.first, writes.stop) == (128, 192, 0, 64)
        assert np.array_equal(np.asarray(found.end("b"))[32:], a[::2] * np.float32(3.5))
        gathers = [
            access for step in range(len(found)) for access in found.accesses_of(step) if access.starts is not None
        ]
        assert [access.starts.tolist() for access in gathers[:1]] == [list(range(0, 256, 8))]
        waits = [signal for signal in found.signals if signal.waits]
        assert len(waits) == 6
        assert all(found.step(signal.peer).kind == "set" for signal in waits)
        assert found.timed
        assert np.nanmax(found.steps.end) > 800


NUMBERS = {
    "u1": st.integers(0, 255),
    "i4": st.integers(-(1 << 31), (1 << 31) - 1),
    "i8": st.integers(-(1 << 63), (1 << 63) - 1),
    "f8": st.floats(),
}
SMALL = st.one_of(st.integers(0, 3), st.integers(0, 60_000))


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_any_columns_come_back(data: st.DataObject) -> None:
    columns = {}
    for name, type_ in COLUMNS.items():
        element = NUMBERS[type_[1:]]
        if type_[1:] in ("i4", "i8"):
            element = st.one_of(SMALL, element)
        columns[name] = np.array(data.draw(st.lists(element, max_size=5)), type_)
    described, pieces = packed(columns)
    content = np.frombuffer(b"".join(pieces), np.uint8)
    behind = np.frombuffer(b"behind", np.uint8)
    described_again = {name: list(each) for name, each in described.items()}
    back, rest = unpacked(described_again, np.concatenate((content, behind)))
    assert rest.tobytes() == b"behind"
    for name, column in columns.items():
        assert back[name].dtype == column.dtype
        assert back[name].tobytes() == column.tobytes(), name


def test_growing_numbers_take_a_byte_each() -> None:
    steps = np.arange(0, 3_000_000, 3, dtype=np.int64)
    described, pieces = packed({"access.step": steps, "access.memory": np.full(5, 3, np.int32)})
    assert described == {"access.step": ("|u1", 1_000_000, True), "access.memory": ("|u1", 5, False)}
    assert [len(piece) for piece in pieces] == [1_000_000, 5]


@pytest.mark.parametrize(("turns", "members"), [(1, 2), (100, 2), (2000, 5)])
def test_a_file_has_the_bytes_written_and_a_fixed_part(tmp_path: Path, turns: int, members: int) -> None:
    """What a small run copies from one memory to another is there once, in the member of the columns."""
    lines = (ub("x", 0), f"%n = arith.constant {turns} : index", "scf.for %i = %i0 to %n step %i1 {")
    text = program(*lines, load("%x"), store("%x"), "}")
    values = [np.random.default_rng(1).normal(size=64).astype(np.float32), np.zeros(64, np.float32)]
    path = tmp_path / "run.pto-rec"
    recorded(path, recording_kernel(pto_dialect.parse(text), None, None), values).close()
    written, steps = 2 * 64 * turns, 2 * turns + 1
    small = members == 2
    assert path.stat().st_size <= (256 if small else written + 2 * 256) + 2_500 + 2 * steps
    assert len(ZipFile(path).namelist()) == members
    with open_recording(path) as found:
        assert found.version == VERSION
        assert np.array_equal(np.asarray(found.begin("a")), np.random.default_rng(1).normal(size=64).astype(np.float32))
        assert np.array_equal(np.asarray(found.end("b"))[:16], np.asarray(found.begin("a"))[:16])
