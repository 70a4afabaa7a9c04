"""The runner of RUN lines itself: what passes, what fails, and that it can fail."""

import sys
from io import TextIOBase
from pathlib import Path
from types import ModuleType

import click
import pytest

import run_lines
from run_lines import ScriptError, find_tests, parse_run_lines, run_command, run_test


@click.command()
@click.argument("file", type=click.File("r"))
@click.option("--fail", type=int, default=0)
@click.option("--crash", is_flag=True)
def fake_opt(file: TextIOBase, fail: int, crash: bool) -> None:
    """Prints the file in upper case and says so on standard error."""
    click.echo(file.read().upper(), nl=False)
    click.echo("done", err=True)
    if crash:
        raise ZeroDivisionError("crash")
    raise SystemExit(fail)


@pytest.fixture(autouse=True)
def fake_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("fake_commands")
    module.__dict__["main"] = fake_opt
    monkeypatch.setitem(sys.modules, "fake_commands", module)
    monkeypatch.setattr(run_lines, "CLICK_COMMANDS", {"pto-opt": "fake_commands"})


def report_of(text: str, tmp_path: Path) -> str | None:
    file = tmp_path / "case.pto"
    file.write_text(text)
    return run_test(file, tmp_path)


PASSING = {
    "exit code": "// RUN: pto-opt %s",
    "several lines": "// RUN: pto-opt %s\n// RUN: pto-opt %s",
    "pipe": "// RUN: pto-opt %s | filecheck %s\nbody\n// CHECK: BODY",
    "check prefix": "// RUN: pto-opt %s | filecheck %s --check-prefix=HERE\nbody\n// HERE: BODY",
    "not": "// RUN: not pto-opt %s --fail 1",
    "not not": "// RUN: not not pto-opt %s",
    "not in the middle": "// RUN: not pto-opt %s --fail 3 | filecheck %s\nbody\n// CHECK: BODY",
    "standard error joined": "// RUN: pto-opt %s 2>&1 | filecheck %s\n// CHECK: done",
    "continuation": "// RUN: pto-opt %s \\\n// RUN:   | filecheck %s\nbody\n// CHECK: BODY",
    "output files": "// RUN: pto-opt %s > %t.1 2> %t.2\n// RUN: cat %t.1 %t.2 | filecheck %s\n// CHECK: done",
    "input file": "// RUN: pto-opt - < %s | filecheck %s\nbody\n// CHECK: BODY",
    "attached redirection": "// RUN: pto-opt %s >%t && pto-opt %t | diff %t -",
    "directory": "// RUN: pto-opt %S/case.pto && pto-opt %p/case.pto",
    "quotes": "// RUN: pto-opt '%s' \"--fail\" 0",
}

FAILING = {
    "exit code": ("// RUN: pto-opt %s --fail 2", "exited with 2: pto-opt"),
    "second line": ("// RUN: pto-opt %s\n// RUN: pto-opt %s --fail 1", "case.pto:2: exited with 1"),
    "first of a pipe": (
        "// RUN: pto-opt %s --fail 1 | filecheck %s\nbody\n// CHECK: BODY",
        "exited with 1: pto-opt",
    ),
    "check": ("// RUN: pto-opt %s | filecheck %s\n// CHECK: absent", "exited with 1: filecheck"),
    "no check": ("// RUN: pto-opt %s | filecheck %s", "exited with 2: filecheck"),
    "filecheck option": ("// RUN: pto-opt %s | filecheck", "exited with 2: filecheck"),
    "standard error apart": ("// RUN: pto-opt %s | filecheck %s\n// CHECK: done", "exited with 1: filecheck"),
    "input of the check": (
        "// RUN: pto-opt %s | filecheck %s\nbody\n// CHECK: x",
        "--- standard input\n// RUN",
    ),
    "not": ("// RUN: not pto-opt %s", "exited with 0: not pto-opt"),
    "crash": ("// RUN: pto-opt %s --crash", "crashed: pto-opt"),
    "crash after not": ("// RUN: not pto-opt %s --crash", "ZeroDivisionError: crash"),
    "difference": ("// RUN: pto-opt %s | diff %s -\nbody", "+BODY"),
    "second command": ("// RUN: pto-opt %s && pto-opt %s --fail 1", "exited with 1"),
}

UNREADABLE = {
    "nothing": ("body", "no RUN line"),
    "unknown command": ("// RUN: mlir-opt %s", "unknown command 'mlir-opt'"),
    "no command": ("// RUN: pto-opt %s | ", "a command is missing"),
    "open continuation": ("// RUN: pto-opt %s \\", "nothing continues it"),
    "mixed continuation": ("// RUN: pto-opt %s \\\n// RUN-SUBPROCESS: %s", "cannot continue"),
    "quote": ("// RUN: pto-opt '%s", "No closing quotation"),
    "operator": ("// RUN: pto-opt %s |filecheck %s", "'|filecheck' is not understood"),
    "sequence": ("// RUN: pto-opt %s ; pto-opt %s", "';' is not understood"),
}


@pytest.mark.parametrize("text", PASSING.values(), ids=PASSING)
def test_passes(text: str, tmp_path: Path) -> None:
    assert report_of(text, tmp_path) is None


@pytest.mark.parametrize(("text", "message"), FAILING.values(), ids=FAILING)
def test_fails(text: str, message: str, tmp_path: Path) -> None:
    report = report_of(text, tmp_path)
    assert report is not None
    assert message in report


@pytest.mark.parametrize(("text", "message"), UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ScriptError) as error:
        report_of(text, tmp_path)
    assert message in str(error.value)
    assert "case.pto" in str(error.value)


def test_substitution_leaves_value_names_alone() -> None:
    values = {"%s": "S", "%t": "T", "%%": "%"}
    (pipeline,) = run_lines.parse_script("pto-run %s --dump %sum %% %t.npy", values, "")
    assert pipeline[0].words == ["pto-run", "S", "--dump", "%sum", "%", "T.npy"]


def test_line_numbers_and_kinds() -> None:
    lines = parse_run_lines("x\n  // RUN: a \\\n//RUN: b\n// RUN-SUBPROCESS: c\n", Path("f"))
    assert [(line.text, line.line, line.in_process) for line in lines] == [("a b", 2, True), ("c", 4, False)]


def test_result_of_a_command() -> None:
    result = run_command("pto-opt", ["-", "--fail", "3"], b"abc\n")
    assert (result.exit_code, result.stdout, result.stderr) == (3, b"ABC\n", b"done\n")
    assert result.interleaved == b"ABC\ndone\n"
    assert not result.crashed


def test_found_files(tmp_path: Path) -> None:
    for name in ("b/x.pto", "a.mlir", "b/Inputs/y.pto", "b/notes.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert find_tests(tmp_path) == [tmp_path / "a.mlir", tmp_path / "b/x.pto"]
