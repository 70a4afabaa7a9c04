"""What is no recording, a damaged or newer one, and a disk that is full: one message each, and nothing lost."""

from __future__ import annotations

import json
import os
import resource
import stat
import zipfile
from io import BytesIO
from pathlib import Path
from random import Random
from threading import Thread

import numpy as np
import pytest
from recorded_runs import recorded, recording_kernel
from sanitize_programs import load, program, store, ub

import pto_dialect
from pto_dialect.recording import RecordingError, write
from pto_dialect.recording import open as open_recording
from pto_dialect.recording.format import COLUMNS
from pto_dialect.recording.save import save

TEXT = program(ub("x", 0), "scf.for %i = %i0 to %i3 step %i1 {", load("%x"), store("%x"), "}")


@pytest.fixture(params=[write.TOGETHER, -1], ids=["together", "apart"])
def path(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A recording whose bytes are with the columns, and one that has a member for each part."""
    monkeypatch.setattr(write, "TOGETHER", request.param)
    kernel = recording_kernel(pto_dialect.parse(TEXT), None, None)
    found = tmp_path / "run.pto-rec"
    recorded(found, kernel, [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]).close()
    return found


def earlier(path: Path) -> bytes:
    """Puts a recording of other values at ``path``; what it holds."""
    kernel = recording_kernel(pto_dialect.parse(TEXT), None, None)
    kernel.run([np.full(64, 7, np.float32), np.ones(64, np.float32)])
    save(path, kernel, 1)
    return path.read_bytes()


def everything(path: Path) -> None:
    """Reads all that there is."""
    with open_recording(path) as found:
        for step in range(len(found)):
            for question in (found.step, found.accesses_of, found.scalars_of, found.handles_of, found.signals_of):
                question(step)
        for memory in found.memories:
            found.memory_at(found.last, memory.number)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(RecordingError, match=r"cannot read '.*gone': No such file or directory"):
        open_recording(tmp_path / "gone")


@pytest.mark.parametrize("content", [b"", b"func.func @f() {}", b"PK\x03\x04" + bytes(100)])
def test_a_file_that_is_no_archive(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(RecordingError, match="is no recording"):
        open_recording(path)


def test_an_archive_of_something_else(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.zeros(3))
    with pytest.raises(RecordingError, match="is no recording"):
        open_recording(tmp_path / "x.npz")


def changed(path: Path, name: str, content: bytes | None) -> Path:
    """The recording with another content of one member, or without it."""
    target = path.with_name(f"changed-{path.name}")
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(target, "w") as new:
        for member in old.namelist():
            if member != name:
                new.writestr(member, old.read(member))
        if content is not None:
            new.writestr(name, content)
    return target


def test_a_newer_version(path: Path) -> None:
    header = json.loads(zipfile.ZipFile(path).read("recording.json")) | {"version": 7}
    with pytest.raises(RecordingError, match="has version 7, this package reads recordings up to version 4"):
        open_recording(changed(path, "recording.json", json.dumps(header).encode()))


def test_every_member_may_be_missing(path: Path) -> None:
    for name in zipfile.ZipFile(path).namelist():
        with pytest.raises(RecordingError):
            everything(changed(path, name, None))


def test_every_key_may_be_missing_or_of_another_kind(path: Path) -> None:
    header = json.loads(zipfile.ZipFile(path).read("recording.json"))
    for key in header:
        for value in ({}, [[]]):
            wrong = {**header, key: value}
            if key in ("findings", "waiting") and value == {}:
                continue
            if key == "limit" or (key == "together" and value == {} and not header[key]):
                continue
            with pytest.raises(RecordingError):
                everything(changed(path, "recording.json", json.dumps(wrong).encode()))


def test_a_file_that_is_cut_off_or_has_other_bytes(path: Path) -> None:
    whole = path.read_bytes()
    random = Random(1)
    broken = path.with_name("broken")
    told = 0
    for _ in range(60):
        content = bytearray(whole)
        if random.random() < 0.3:
            del content[random.randrange(len(content)) :]
        else:
            for _ in range(random.choice((1, 20))):
                content[random.randrange(len(content))] ^= 1 << random.randrange(8)
        broken.write_bytes(content)
        try:
            everything(broken)
        except RecordingError as error:
            told += 1
            assert str(broken) in str(error) or "damaged" in str(error)
    assert told > 40


def with_columns(path: Path, columns: dict[str, np.ndarray], **said: object) -> Path:
    """The recording with these columns, whose numbers are as given; ``said`` is written about them instead."""
    header = json.loads(zipfile.ZipFile(path).read("recording.json"))
    header["columns"] = {name: [one.dtype.str, one.size, False] for name, one in columns.items() if one.size} | said
    rest = sum(size for _, size in header["together"])
    behind = np.load(BytesIO(zipfile.ZipFile(path).read("columns.npy")))[-rest:] if rest else np.zeros(0, np.uint8)
    content = np.frombuffer(b"".join(one.tobytes() for one in columns.values()) + behind.tobytes(), np.uint8)
    stream = BytesIO()
    np.save(stream, content)
    return changed(changed(path, "recording.json", json.dumps(header).encode()), "columns.npy", stream.getvalue())


FREE = {"issue.loops", "issue.integers", "issue.floats", "issue.order", "gather.starts", "step.start", "step.end"} | {
    "handle.address",
    "gather.item",
}
"""Columns of which any number may be true."""


def columns_of(path: Path) -> dict[str, np.ndarray]:
    with open_recording(path) as found:
        return {name: found._columns[name] for name in COLUMNS}


def test_columns_that_do_not_fit_each_other(path: Path) -> None:
    columns = columns_of(path)
    everything(with_columns(path, columns))
    for name, column in columns.items():
        if not column.size:
            continue
        large = column + 200 if column.itemsize == 1 else column + 1_000_000
        for wrong in (column[:-1], *([] if name in FREE else [large])):
            with pytest.raises(RecordingError):
                everything(with_columns(path, {**columns, name: wrong}))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("step.issue", ["<f8", 4, False]),
        ("step.start", ["<i8", 4, False]),
        ("step.issue", ["|O8", 4, False]),
        ("step.issue", ["|u1", -4, False]),
        ("step.issue", ["|u1", 1 << 40, False]),
        ("step.issue", ["|u1", 4, 2]),
        ("step.issue", ["|u1", 4]),
        ("step.issue", "|u1"),
    ],
)
def test_statements_about_a_column_have_to_fit(path: Path, name: str, said: object) -> None:
    with pytest.raises(RecordingError, match="damaged"):
        everything(with_columns(path, columns_of(path), **{name: said}))


def test_numbers_that_no_column_holds(path: Path) -> None:
    columns = columns_of(path)
    wide = {**columns, "step.thread": columns["step.thread"].astype(np.int64) + (1 << 40)}
    with pytest.raises(RecordingError, match=r"column step\.thread leaves its range"):
        everything(with_columns(path, wide))


def test_a_disk_that_fills_up_leaves_what_was_there(tmp_path: Path) -> None:
    kernel = recording_kernel(pto_dialect.parse(TEXT), None, None)
    values = [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]
    kernel.run(values)
    path = tmp_path / "run.pto-rec"
    before = earlier(path)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        with pytest.raises(RecordingError, match=r"cannot write '.*run.pto-rec': File too large"):
            save(path, kernel, 1)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["run.pto-rec"]
    # What the run has computed and recorded is still there.
    assert values[1][:16].tolist() == list(range(16))
    save(path, kernel, 1)
    assert path.read_bytes() != before and len(open_recording(path)) > 0


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    kernel = recording_kernel(pto_dialect.parse(TEXT), None, None)
    kernel.run([np.arange(64, dtype=np.float32), np.zeros(64, np.float32)])
    pipe, copy = tmp_path / "pipe", tmp_path / "copy"
    os.mkfifo(pipe)
    reader = Thread(target=lambda: copy.write_bytes(pipe.read_bytes()), daemon=True)
    reader.start()
    save(pipe, kernel, 1)
    reader.join(60)
    assert stat.S_ISFIFO(os.stat(pipe).st_mode)
    with open_recording(copy) as found:
        assert np.asarray(found.end("b"))[:16].tolist() == list(range(16))


def test_a_protected_file_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = recording_kernel(pto_dialect.parse(TEXT), None, None)
    kernel.run([np.arange(64, dtype=np.float32), np.zeros(64, np.float32)])
    path = tmp_path / "run.pto-rec"
    before = earlier(path)
    path.chmod(0o444)
    monkeypatch.setattr(os, "access", lambda *_: False)  # Who runs the tests may be allowed everything.
    with pytest.raises(RecordingError, match="Permission denied"):
        save(path, kernel, 1)
    assert path.read_bytes() == before


def test_a_file_of_another_kind_stays(tmp_path: Path) -> None:
    kernel = recording_kernel(pto_dialect.parse(TEXT), None, None)
    kernel.run([np.arange(64, dtype=np.float32), np.zeros(64, np.float32)])
    path = tmp_path / "run.pto-rec"
    path.write_bytes(b"before")
    with pytest.raises(RecordingError, match="it holds something else, and would be replaced by a recording"):
        save(path, kernel, 1)
    assert path.read_bytes() == b"before"
