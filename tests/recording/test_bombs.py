"""Recordings that state, or hold, more than there is room for: refused before anything of that size is made."""

from __future__ import annotations

import json
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_runs import recorded, recording_kernel
from sanitize_programs import load, program, store, ub

import pto_dialect
from pto_dialect.driver.run import arrays
from pto_dialect.recording import RecordingError
from pto_dialect.recording import open as open_recording

MIB = 1 << 20
MANY = 64 * MIB
MOST = 24 * MIB
TEXT = program(ub("x", 0), "scf.for %i = %i0 to %i3 step %i1 {", load("%x"), store("%x"), "}")


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("bombs") / "run.pto-rec"
    kernel = recording_kernel(pto_dialect.parse(TEXT), None, None)
    recorded(found, kernel, [np.arange(64, dtype=np.float32), np.zeros(64, np.float32)]).close()
    return found


def rewritten(path: Path, change: Callable[[dict[str, bytes]], None], packing: int = zipfile.ZIP_DEFLATED) -> Path:
    """The recording with other members."""
    with zipfile.ZipFile(path) as old:
        members = {name: old.read(name) for name in old.namelist()}
    change(members)
    target = path.with_name("changed.pto-rec")
    with zipfile.ZipFile(target, "w", packing) as new:
        for name, content in members.items():
            new.writestr(name, content)
    return target


def with_header(change: Callable[[dict[str, Any]], None]) -> Callable[[dict[str, bytes]], None]:
    def apply(members: dict[str, bytes]) -> None:
        header = json.loads(members["recording.json"])
        change(header)
        members["recording.json"] = json.dumps(header).encode()

    return apply


def npy(array: np.ndarray) -> bytes:
    stream = BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@contextmanager
def little_memory() -> Iterator[None]:
    """Nothing large is made inside of the block."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < MOST
    finally:
        tracemalloc.stop()


def everything(path: Path, most: int | None = None) -> None:
    with open_recording(path, most) as found:
        for memory in found.memories:
            found.memory_at(found.last, memory.number)
            found.memory_at(-1, memory.number)


def test_columns_that_unpack_to_more_than_is_stated(path: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        members["columns.npy"] = npy(np.zeros(MANY, np.uint8))

    bomb = rewritten(path, change)
    assert bomb.stat().st_size < MIB
    with little_memory(), pytest.raises(RecordingError, match=r"columns\.npy has another size than it should"):
        everything(bomb)


@pytest.mark.parametrize("most", [None, 16 * MIB])
def test_columns_that_state_what_they_unpack_to(path: Path, most: int | None) -> None:
    rows = 1 << 40 if most is None else MANY // 2

    def change(members: dict[str, bytes]) -> None:
        header = json.loads(members["recording.json"])
        header["columns"], header["together"] = {"issue.loops": ["|u1", rows, True]}, []
        members["recording.json"] = json.dumps(header).encode()
        members["columns.npy"] = npy(np.zeros(MANY // 2, np.uint8))

    reason = "another size than it should" if most is None else "more than 16 MiB"
    bomb = rewritten(path, change)
    with little_memory(), pytest.raises(RecordingError, match=reason):
        everything(bomb, most)


def test_an_archive_that_lies_about_sizes(path: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        members["columns.npy"] = bytes(MANY)

    bomb = rewritten(path, change)
    with zipfile.ZipFile(path) as old:
        stated = old.getinfo("columns.npy").file_size
    content = bomb.read_bytes().replace(MANY.to_bytes(4, "little"), stated.to_bytes(4, "little"))
    bomb.write_bytes(content)
    with little_memory(), pytest.raises(RecordingError, match="is damaged"):
        everything(bomb)


def test_text_that_unpacks_to_too_much(path: Path) -> None:
    bomb = rewritten(path, lambda members: members.update({"recording.json": b" " * MANY + b"{}"}))
    with little_memory(), pytest.raises(RecordingError, match=r"would take 512 MiB of memory with its recording\.json"):
        everything(bomb, 300 * MIB)


def test_nested_text(path: Path) -> None:
    for content in (b"[" * 200_000, b'{"a":' * 200_000):
        with pytest.raises(RecordingError, match="is no recording"):
            everything(rewritten(path, lambda members, text=content: members.update({"recording.json": text})))
    deep: Any = 1
    for _ in range(900):
        deep = [deep]
    with pytest.raises(RecordingError, match="damaged"):
        everything(rewritten(path, with_header(lambda header: header.update(statements=deep))))


def test_a_memory_that_states_too_much(path: Path) -> None:
    def change(header: dict[str, Any]) -> None:
        for memory in header["memories"]:
            memory[-2 if memory[-1] is None or isinstance(memory[-1], int) else -1] = 1 << 50

    bomb = rewritten(path, with_header(change))
    with little_memory(), pytest.raises(RecordingError, match=r"more than|damaged"):
        everything(bomb)


@pytest.mark.parametrize("dims", [[[1 << 40, 0]], [[1 << 70, 1]], [[1 << 20, 0], [1 << 20, 0]]])
def test_accesses_of_more_bytes_than_there_are(path: Path, dims: list[list[int]]) -> None:
    def change(header: dict[str, Any]) -> None:
        header["patterns"] = [[run, dims] for run, _ in header["patterns"]]

    bomb = rewritten(path, with_header(change))
    with little_memory(), pytest.raises(RecordingError, match="damaged"):
        everything(bomb)


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_forms_of_packing(path: Path, packing: int) -> None:
    with pytest.raises(RecordingError, match="packed in another way"):
        everything(rewritten(path, lambda _: None, packing))


def test_an_array_that_states_another_shape(path: Path) -> None:
    def change(members: dict[str, bytes]) -> None:
        head, _, rest = members["columns.npy"].partition(b"(")
        digits, _, end = rest.partition(b",")
        members["columns.npy"] = head + b"(" + b"9" * len(digits) + b"," + end

    bomb = rewritten(path, change)
    with little_memory(), pytest.raises(RecordingError, match="other bytes than its head says"):
        everything(bomb)


@pytest.mark.parametrize("packing", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_arguments_that_are_packed_otherwise(tmp_path: Path, packing: int) -> None:
    with zipfile.ZipFile(tmp_path / "x.npz", "w", packing) as archive:
        archive.writestr("a.npy", npy(np.zeros(4)))
    with (tmp_path / "x.npz").open("rb") as stream, pytest.raises(zipfile.BadZipFile, match="packed in another way"):
        content: Any = type("Content", (), {"key": "a"})
        arrays._stated_bytes(content, stream)
