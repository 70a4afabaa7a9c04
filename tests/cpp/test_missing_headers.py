"""A header that the compiler does not find: the option that finds it in the project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pto_dialect.cpp.missing import advice_for


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "project"
    for file in (
        "examples/k/k.cpp",
        "csrc/kernel/shared.h",
        "examples/near/shared.h",
        "lib/deep/parts/a.h",
        "two words/b.h",
    ):
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        (root / file).touch()
    for hidden in (root / ".git" / "hidden.h", tmp_path / "outside.h"):
        hidden.parent.mkdir(exist_ok=True)
        hidden.touch()
    os.mkfifo(root / "csrc" / "pipe.h")
    monkeypatch.chdir(root)
    return root


@pytest.mark.parametrize(
    ("header", "advice"),
    [
        ("shared.h", "-I examples/near or -I csrc/kernel finds shared.h"),
        ("parts/a.h", "-I lib/deep finds parts/a.h"),
        ("deep/a.h", None),
        ("b.h", "-I 'two words' finds b.h"),
        ("pipe.h", None),
        ("hidden.h", None),
        ("outside.h", None),
        ("../outside.h", None),
        ("/outside.h", None),
    ],
)
def test_folders_of_the_project_are_named(project: Path, header: str, advice: str | None) -> None:
    assert advice_for(f"'{header}' file not found", "examples/k/k.cpp") == advice


def test_other_messages_and_texts_without_a_file_have_no_advice(project: Path) -> None:
    assert advice_for("expected ';'", "examples/k/k.cpp") is None
    assert advice_for("'shared.h' file not found", "<kernel>.cpp") is None
