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
    assert advice_for(f"'{header}' file not found", "examples/k/k.cpp", "a5") == advice


def test_folders_that_build_files_name_come_first(project: Path) -> None:
    (project / "examples" / "CMakeLists.txt").write_text('include_directories(${TOP}/csrc/kernel "${TOP}/lib")\n')
    advice = advice_for("'shared.h' file not found", "examples/k/k.cpp", "a5")
    assert advice == "-I csrc/kernel or -I examples/near finds shared.h"


@pytest.mark.parametrize("named", ["${TOP}/csrc/kernels", "${TOP}/csrc/kernel/deep", "${TOP}/csrc/kernel.cpp"])
def test_other_paths_of_build_files_name_no_folder(project: Path, named: str) -> None:
    (project / "examples" / "CMakeLists.txt").write_text(f"include_directories({named})\n")
    advice = advice_for("'shared.h' file not found", "examples/k/k.cpp", "a5")
    assert advice == "-I examples/near or -I csrc/kernel finds shared.h"


def test_folders_of_the_chip_come_first(project: Path) -> None:
    for folder in ("a2a3", "a5"):
        (project / "tests" / folder).mkdir(parents=True)
        (project / "tests" / folder / "common.hpp").touch()
    message = "'common.hpp' file not found"
    assert advice_for(message, "examples/k/k.cpp", "a5") == "-I tests/a5 or -I tests/a2a3 finds common.hpp"
    assert advice_for(message, "examples/k/k.cpp", "a2a3") == "-I tests/a2a3 or -I tests/a5 finds common.hpp"


def test_scripts_that_name_a_header_are_named(project: Path) -> None:
    scripts = project / "examples" / "k" / "scripts"
    scripts.mkdir()
    for name, text in (
        ("cases.py", "OUT = 'build/made.h'"),
        ("other.py", "OUT = 'remade.h', 'made.hpp'"),
        ("n.txt", "made.h"),
    ):
        (scripts / name).write_text(text)
    (project / "csrc" / "away.py").write_text("made.h")
    message = "'made.h' file not found"
    wanted = "no folder has it; examples/k/scripts/cases.py may write it: run that, and name its folder with -I"
    assert advice_for(message, "examples/k/k.cpp", "a5") == wanted
    (scripts / "run.sh").write_text("head made.h")
    assert "scripts/cases.py and examples/k/scripts/run.sh may" in (advice_for(message, "examples/k/k.cpp", "a5") or "")
    (project / "lib" / "made.h").touch()
    assert advice_for(message, "examples/k/k.cpp", "a5") == "-I lib finds made.h"


def test_other_messages_and_texts_without_a_file_have_no_advice(project: Path) -> None:
    assert advice_for("expected ';'", "examples/k/k.cpp", "a5") is None
    assert advice_for("'shared.h' file not found", "<kernel>.cpp", "a5") is None
