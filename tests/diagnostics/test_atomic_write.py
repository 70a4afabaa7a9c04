"""Output files are complete or untouched."""

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from pto_dialect.diagnostics.files import atomic_write


def content(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()}


@pytest.mark.parametrize(
    ("data", "expected"),
    [(b"\x00\xff\r\n", b"\x00\xff\r\n"), ("a\nä\r\n漢", "a\nä\r\n漢".encode()), ("", b"")],
)
def test_new_file(tmp_path: Path, data: bytes | str, expected: bytes) -> None:
    atomic_write(tmp_path / "out.pto", data)
    assert content(tmp_path) == {"out.pto": expected}


def test_new_file_has_the_mode_of_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        atomic_write(tmp_path / "out.pto", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out.pto").stat().st_mode) == 0o640


def test_existing_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "out.pto"
    path.write_text("a longer old text")
    path.chmod(0o754)
    atomic_write(str(path), "new")
    assert content(tmp_path) == {"out.pto": b"new"}
    assert stat.S_IMODE(path.stat().st_mode) == 0o754


def test_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    atomic_write("out.pto", "x")
    assert content(tmp_path) == {"out.pto": b"x"}


def test_longest_possible_name(tmp_path: Path) -> None:
    name = "n" * 255
    atomic_write(tmp_path / name, "x")
    assert content(tmp_path) == {name: b"x"}


def test_symbolic_link_stays_a_link(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (real / "out.pto").write_text("old")
    link = tmp_path / "link.pto"
    link.symlink_to(real / "out.pto")
    atomic_write(link, "new")
    assert link.is_symlink()
    assert content(real) == {"out.pto": b"new"}


def test_dangling_link_creates_its_target(tmp_path: Path) -> None:
    (tmp_path / "link.pto").symlink_to("target.pto")
    atomic_write(tmp_path / "link.pto", "new")
    assert (tmp_path / "link.pto").is_symlink()
    assert (tmp_path / "target.pto").read_text() == "new"


@pytest.mark.parametrize("step", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("failure", [OSError(errno.ENOSPC, "No space left on device"), KeyboardInterrupt()])
def test_failure_leaves_the_old_file_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: str, failure: BaseException
) -> None:
    path = tmp_path / "out.pto"
    path.write_text("old")

    def fail(*_: object) -> None:
        assert len(content(tmp_path)) == 2
        raise failure

    monkeypatch.setattr(os, step, fail)
    with pytest.raises(type(failure)):
        atomic_write(path, "new")
    assert content(tmp_path) == {"out.pto": b"old"}


def test_data_is_on_disk_before_the_rename(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[str] = []
    real_fsync, real_replace = os.fsync, os.replace

    def fsync(descriptor: int) -> None:
        assert os.fstat(descriptor).st_size == 3
        steps.append("fsync")
        real_fsync(descriptor)

    def replace(source: str, target: str) -> None:
        assert os.path.dirname(source) == os.path.dirname(target) == str(tmp_path.resolve())
        steps.append("replace")
        real_replace(source, target)

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    atomic_write(tmp_path / "out.pto", "new")
    assert steps == ["fsync", "replace"]


def test_unencodable_text_touches_nothing(tmp_path: Path) -> None:
    (tmp_path / "out.pto").write_text("old")
    with pytest.raises(UnicodeEncodeError):
        atomic_write(tmp_path / "out.pto", "\udc80")
    assert content(tmp_path) == {"out.pto": b"old"}


def test_a_page_has_names_that_are_not_utf_8_as_escapes(tmp_path: Path) -> None:
    atomic_write(tmp_path / "out.html", "@k\udc80", "page")
    assert content(tmp_path) == {"out.html": b"@k\\udc80"}


def test_write_protection_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "out.pto"
    path.write_text("old")
    path.chmod(0o444)
    # The superuser may write anything, so the answer of the system is fixed here.
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(PermissionError, match=r"out\.pto"):
        atomic_write(path, "new")
    assert content(tmp_path) == {"out.pto": b"old"}


def test_missing_directory_and_directory_as_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        atomic_write(tmp_path / "none" / "out.pto", "x")
    with pytest.raises(IsADirectoryError):
        atomic_write(tmp_path, "x")
    assert content(tmp_path) == {}


def test_pipe_is_written_to_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    atomic_write(pipe, "x")
    reader.join(10)
    assert received == [b"x"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
