"""A server reads and writes files of its folder, whatever a request names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pto_dialect.integrations.agents.folder import MOST_BYTES, Folder, RefusedError

TEXT = "func.func @f() {\n  return\n}\n"


@pytest.fixture
def inside(tmp_path: Path) -> Path:
    folder = tmp_path / "kernels"
    (folder / "below").mkdir(parents=True)
    (folder / "below" / "a.pto").write_text(TEXT)
    (tmp_path / "secret.pto").write_text("secret\n")
    (tmp_path / "kernels-too").mkdir()
    (tmp_path / "kernels-too" / "b.pto").write_text("secret\n")
    (folder / "link.pto").symlink_to(tmp_path / "secret.pto")
    (folder / "up").symlink_to(tmp_path)
    (folder / "near.pto").symlink_to(folder / "below" / "a.pto")
    (folder / "disguised.pto").symlink_to(folder / "pto.toml")
    (folder / "pto.toml").write_text("")
    os.mkfifo(folder / "pipe.pto")
    (folder / "large.pto").write_bytes(b" " * (MOST_BYTES + 1))
    return folder


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("/etc/passwd", "is an absolute path"),
        ("~/a.pto", "is an absolute path"),
        ("../secret.pto", "has '..'"),
        ("below/../../secret.pto", "has '..'"),
        ("below\\..\\..\\secret.pto", "has '..'"),
        ("link.pto", "leads outside"),
        ("up/secret.pto", "leads outside"),
        ("up/kernels-too/b.pto", "leads outside"),
        ("pto.toml", "is no .pto file"),
        ("disguised.pto", "is no .pto file"),
        ("below", "is no .pto file"),
        ("pipe.pto", "is no regular file"),
        ("large.pto", "is larger than 4 MiB"),
        ("none.pto", "No such file"),
        ("below/a.pto/x.pto", "cannot read"),
        ("a" * 5000 + ".pto", "cannot read"),
        ("a\0.pto", "relative to the folder"),
        ("", "relative to the folder"),
    ],
)
def test_a_path_is_refused(inside: Path, name: str, why: str) -> None:
    with pytest.raises(RefusedError, match=why.replace(".", r"\.")) as told:
        Folder(str(inside)).read(name)
    assert "secret\n" not in str(told.value)


@pytest.mark.parametrize("name", ["below/a.pto", "./below/a.pto", "near.pto", "up/kernels/below/a.pto"])
def test_files_of_the_folder_are_read(inside: Path, name: str) -> None:
    assert Folder(str(inside)).read(name).text == TEXT


def test_a_file_is_written_where_it_was_read(inside: Path) -> None:
    folder = Folder(str(inside))
    source = folder.read("near.pto")
    folder.write(source, "// new\n")
    assert (inside / "below" / "a.pto").read_text() == "// new\n"
    assert (inside / "near.pto").is_symlink()
    with pytest.raises(RefusedError, match="has changed"):
        folder.write(source, "// newer\n")
    (inside / "near.pto").unlink()
    (inside / "near.pto").symlink_to(inside.parent / "secret.pto")
    with pytest.raises(RefusedError, match="leads outside"):
        folder.write(source, "// newer\n")
    with pytest.raises(RefusedError, match="needs file"):
        folder.write(folder.given(TEXT), TEXT)
    assert (inside.parent / "secret.pto").read_text() == "secret\n"


def test_settings_count_only_inside(inside: Path) -> None:
    folder = Folder(str(inside))
    assert folder.read("below/a.pto").settings == os.path.realpath(inside / "pto.toml")
    (inside / "pto.toml").unlink()
    (inside.parent / "pto.toml").write_text("")
    assert folder.read("below/a.pto").settings is None
    (inside / "pto.toml").symlink_to(inside.parent / "pto.toml")
    assert folder.read("below/a.pto").settings is None
