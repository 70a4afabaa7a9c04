"""The cache folder: where it is, and that nothing is read that others could have written."""

import os
import stat
from pathlib import Path

import pytest

from pto_dialect.accel import cache
from pto_dialect.accel.cache import cache_folder, read_private, write_private

posix = pytest.mark.skipif(os.name != "posix", reason="owners and modes of POSIX")


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PTO_CACHE_DIR", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def test_which_folder_it_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_folder() == str(tmp_path / ".cache" / "pto-dialect")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == str(tmp_path / "xdg" / "pto-dialect")
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path / "own"))
    assert cache_folder() == str(tmp_path / "own")
    assert stat.S_IMODE(os.stat(tmp_path / "own").st_mode) == 0o700


def test_relative_paths(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert cache_folder() == str(tmp_path / ".cache" / "pto-dialect")
    monkeypatch.setenv("PTO_CACHE_DIR", "own")
    assert cache_folder() == str(tmp_path / "own")
    assert not (tmp_path / "relative").exists()


def test_without_a_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert cache_folder() is None


@pytest.mark.parametrize("name", ["file/below", "nul\0character"])
def test_a_folder_that_cannot_be_made(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(cache, "_named_folder", lambda: str(tmp_path / name))
    assert cache_folder() is None


@posix
@pytest.mark.parametrize("mode", [0o720, 0o702, 0o777])
def test_a_folder_that_others_may_write_to(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, mode: int) -> None:
    folder = tmp_path / "shared"
    folder.mkdir()
    folder.chmod(mode)
    monkeypatch.setenv("PTO_CACHE_DIR", str(folder))
    assert cache_folder() is None
    folder.chmod(0o755)
    assert cache_folder() == str(folder)


@posix
def test_a_folder_of_somebody_else(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PTO_CACHE_DIR", str(tmp_path))
    assert cache_folder() is not None
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    assert cache_folder() is None


def test_what_is_written_is_read(tmp_path: Path) -> None:
    path = str(tmp_path / "entry")
    assert read_private(path) is None
    assert write_private(path, b"one") and read_private(path) == b"one"
    assert write_private(path, b"") and read_private(path) == b""
    assert os.listdir(tmp_path) == ["entry"]


@pytest.mark.parametrize("damage", [b"", b"abc", b"\0" * 5, b"\0\0\0\0x"])
def test_a_damaged_file(tmp_path: Path, damage: bytes) -> None:
    path = tmp_path / "entry"
    path.write_bytes(damage)
    assert read_private(str(path)) is None


def test_a_truncated_file(tmp_path: Path) -> None:
    path = tmp_path / "entry"
    write_private(str(path), b"content")
    whole = path.read_bytes()
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        assert read_private(str(path)) is None


@posix
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_to(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "entry"
    write_private(str(path), b"content")
    path.chmod(mode)
    assert read_private(str(path)) is None
    path.chmod(0o644)
    assert read_private(str(path)) == b"content"


@posix
def test_a_file_of_somebody_else(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "entry"
    write_private(str(path), b"content")
    monkeypatch.setattr(os, "getuid", lambda: tmp_path.stat().st_uid + 1)
    assert read_private(str(path)) is None


@posix
def test_what_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert read_private(str(tmp_path / "pipe")) is None
    assert read_private(str(tmp_path)) is None


@posix
def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    assert not write_private(str(tmp_path / "none" / "entry"), b"content")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "inside").write_text("")
    assert not write_private(str(tmp_path / "folder"), b"content")
    assert os.listdir(tmp_path) == ["folder"]
