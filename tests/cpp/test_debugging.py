"""The debugger on C++ kernels: their lines, their names, and programs with locations in C++ files."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from run_lines import run_command

KERNEL = (Path(__file__).parents[2] / "examples" / "cpp" / "add_exp.cpp").read_text(encoding="utf-8")
RUN = [
    *("--arg", "x=ones:f32:1024", "--arg", "y=ones:f32:1024", "--arg", "z=zeros:f32:1024", "--arg", "n=4"),
    *("--quiet", "--debug"),
]


def line_of(part: str) -> int:
    return KERNEL[: KERNEL.index(part)].count("\n") + 1


EXP, STORE = line_of("TEXP"), line_of("TSTORE")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "add_exp.cpp").write_text(KERNEL, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def dialogue(program: str, *commands: str) -> list[str]:
    """What the debugger answers to each command."""
    result = run_command("pto-run", [program, *RUN], "".join(f"{one}\n" for one in commands).encode())
    text = result.stdout.decode()
    return [one.partition("\n")[2].rstrip("\n") for one in re.split(r"^\(pto\) ", text, flags=re.MULTILINE)[1:-1]]


def test_names_and_lines_are_those_of_cpp(folder: Path) -> None:
    said = dialogue(
        "add_exp.cpp", "break TEXP", "continue", "print c[0, :2]", "print n * 2 + i", "watch c", "continue",
        f"break {STORE} if i == 2 and max(c) > 7", "delete 1", "delete 2", "continue", "locals", "writer c", "list",
    )  # fmt: skip
    assert said[0] == "breakpoint 1, TEXP"
    assert said[1].endswith(f"core V add_exp.cpp:{EXP} [i = 0]\n{EXP:>5}  TEXP(c, c);")
    assert said[2:5] == ["2 float32\n[2. 2.]", "8", "breakpoint 2, write of c"]
    assert said[5].startswith("breakpoint 2, write of c\n")
    assert said[9].endswith(f"core MTE3 add_exp.cpp:{STORE} [i = 2]\n{STORE:>5}  TSTORE(gz, c);")
    assert [one.partition(":")[0] for one in said[10].splitlines()] == ["a", "b", "c", "i = 2", "n = 4"]
    assert said[11].startswith("#") and f"add_exp.cpp:{EXP} [i = 2]" in said[11]
    assert f" >{STORE:>5}      TSTORE(gz, c);" in said[12] or f"*>{STORE:>5}      TSTORE(gz, c);" in said[12]


def test_content_is_changed_by_its_cpp_name(folder: Path) -> None:
    said = dialogue("add_exp.cpp", f"break {EXP}", "continue", "set c[0, 1] = 0", "step", "print c[0, :3]")
    assert said[4] == "3 float32\n[7.389056 1.       7.389056]"


def test_unknown_names(folder: Path) -> None:
    said = dialogue("add_exp.cpp", "print other", "watch other", "break TMATMUL", "break 1")
    assert said == [
        "error: there is no other here",
        "error: there is no buffer other here",
        "error: no statement that can be stopped at is called TMATMUL",
        "error: no statement that can be stopped at is on line 1",
    ]


def test_program_with_locations_is_debugged_on_the_lines_of_their_file(folder: Path) -> None:
    assert run_command("pto-opt", ["add_exp.cpp", "--print-debuginfo", "-o", "made.pto"]).exit_code == 0
    made = (folder / "made.pto").read_text(encoding="utf-8")
    own = made[: made.index("pto.texp")].count("\n") + 1
    said = dialogue(
        "made.pto", f"break {EXP}", f"break add_exp.cpp:{STORE}", f"break made.pto:{own}", "continue",
        "list", f"list made.pto:{own}", "where", "delete 1", "delete 3", "continue", "list gone.cpp:1",
    )  # fmt: skip
    assert said[:3] == [f"breakpoint 1, {EXP}", f"breakpoint 2, add_exp.cpp:{STORE}", f"breakpoint 3, made.pto:{own}"]
    assert said[3].endswith(f"core V add_exp.cpp:{EXP} [%i = 0]\n{EXP:>5}  TEXP(c, c);")
    assert f"*>{EXP:>5}      TEXP(c, c);\n" in said[4]
    assert re.search(rf"^\* +{own} +pto\.texp ins", said[5], re.MULTILINE)
    assert said[6] == f"#0 @add_exp line {EXP} [%i = 0]"
    assert f"add_exp.cpp:{STORE} [%i = 0]" in said[9]
    assert said[10] == "error: 'gone.cpp' is no file of the program that can be read"


def test_program_without_its_source_is_debugged_on_its_own_lines(folder: Path) -> None:
    assert run_command("pto-opt", ["add_exp.cpp", "--print-debuginfo", "-o", "made.pto"]).exit_code == 0
    made = (folder / "made.pto").read_text(encoding="utf-8")
    own = made[: made.index("pto.texp")].count("\n") + 1
    (folder / "add_exp.cpp").unlink()
    said = dialogue("made.pto", f"break {own}", "continue")
    assert f"core V made.pto:{own} [%i = 0]\n" in said[1]
