"""What a server takes for a change of the sources that it has loaded, with and without the help of the kernel."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

unchanged = import_module("pto_dialect.tools.server.unchanged")
SourceFiles: Any = unchanged.SourceFiles

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="servers are for Linux")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A folder with sources, which is the only one that counts."""
    (tmp_path / "tree" / "inner").mkdir(parents=True)
    for name in ("one.py", "inner/two.py", "inner/notes.txt"):
        (tmp_path / "tree" / name).write_text("1\n")
    return tmp_path / "tree"


@pytest.fixture(params=["kernel", "alone"])
def sources(request: pytest.FixtureRequest, tree: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    if request.param == "alone":
        monkeypatch.setattr(unchanged, "_OF_THIS_MACHINE", frozenset())
    else:
        monkeypatch.setattr(unchanged, "_local", lambda _: True)
    found = SourceFiles([str(tree)], [])
    assert (found._events is None) == (request.param == "alone")
    yield found
    found.close()


def new_folder(tree: Path) -> None:
    (tree / "more").mkdir()


def replaced(tree: Path) -> None:
    """Another folder with the same files, of the same times, comes to be where the first one was."""
    shutil.copytree(tree, tree.with_name("other"), copy_function=shutil.copy2)
    (tree.with_name("other") / "one.py").write_text("2\n")
    tree.rename(tree.with_name("old"))
    tree.with_name("other").rename(tree)


CHANGES: dict[str, Callable[[Path], object]] = {
    "written": lambda tree: (tree / "one.py").write_text("22\n"),
    "written inside": lambda tree: (tree / "inner" / "two.py").write_text("22\n"),
    "touched": lambda tree: os.utime(tree / "one.py", (1, 1)),
    "new": lambda tree: (tree / "inner" / "three.py").write_text("3\n"),
    "gone": lambda tree: (tree / "inner" / "two.py").unlink(),
    "renamed": lambda tree: (tree / "one.py").rename(tree / "four.py"),
    "saved as editors do": lambda tree: [
        (tree / "one.py~").write_text("22\n"),
        (tree / "one.py~").rename(tree / "one.py"),
    ],
    "folder gone": lambda tree: shutil.rmtree(tree / "inner"),
    "folder replaced": replaced,
}


@pytest.mark.parametrize("change", CHANGES)
def test_changes(sources: Any, tree: Path, change: str) -> None:
    assert not sources.changed()
    CHANGES[change](tree)
    assert sources.changed()


def test_what_is_no_source_does_not_count(sources: Any, tree: Path) -> None:
    (tree / "inner" / "notes.txt").write_text("2\n")
    (tree / "__pycache__").mkdir()
    (tree / "__pycache__" / "one.py").write_text("2\n")
    assert not sources.changed()
    (tree / "one.py").write_text("22\n")
    assert sources.changed()


def test_folders_that_came_later(sources: Any, tree: Path) -> None:
    new_folder(tree)
    assert not sources.changed()
    (tree / "more" / "five.py").write_text("5\n")
    assert sources.changed()


def test_what_is_installed(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    found = SourceFiles([str(tree)], [str(tmp_path / "site"), str(tmp_path / "missing")])
    assert not found.changed()
    os.utime(tmp_path / "site", (1, 1))
    assert found.changed()
    found.close()


@pytest.mark.parametrize("make", [os.symlink, os.link])
def test_files_with_several_names_are_looked_at(
    tree: Path, tmp_path: Path, make: Callable[[Path, Path], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unchanged, "_local", lambda _: True)
    elsewhere = tmp_path / "elsewhere.py"
    elsewhere.write_text("1\n")
    make(elsewhere, tree / "link.py")
    found = SourceFiles([str(tree)], [])
    assert found._events is None and not found.changed()
    elsewhere.write_text("22\n")
    assert found.changed()


def test_without_a_keyword_of_kernels_nothing_is_read(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unchanged, "_local", lambda _: True)
    found = SourceFiles([str(tree)], [])

    def never(*_: str) -> None:
        raise AssertionError("looked at")

    monkeypatch.setattr(unchanged, "sources", never)
    assert not found.changed()
    found.close()


@pytest.mark.parametrize(
    ("lines", "local"),
    [
        ("1 0 8:1 / / rw - ext4 /dev/x rw", True),
        ("1 0 8:1 / / rw - ext4 /dev/x rw\n2 1 0:9 / /net rw - nfs host:/x rw", False),
        ("1 0 8:1 / / rw - nfs host:/ rw\n2 1 0:9 / /net rw shared:1 - xfs /dev/y rw", True),
        ("1 0 8:1 / / rw - ext4 /dev/x rw\n2 1 0:9 / /net/a\\040b rw - nfs host:/x rw", True),
        ("1 0 8:1 / / rw - ext4 /dev/x rw\n2 1 0:9 / /net rw - ext4 /dev/y rw\n3 1 0:9 / /net rw - 9p x rw", False),
        ("1 0 8:1 / / rw - ext4 /dev/x rw\n2 1 0:9 / /nets rw - nfs host:/x rw", True),
    ],
)
def test_file_systems(lines: str, local: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(f"{lines}\n")
    monkeypatch.setattr(unchanged, "_MOUNTS", str(table))
    assert unchanged._local(["/net/checkout"]) == local
    if "\\040" in lines:
        assert not unchanged._local(["/net/a b/checkout"])
