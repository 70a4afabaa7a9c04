"""A fault of the tools themselves is one line and a file with a small program, never a traceback."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from xdsl.ir import Operation

from pto_dialect.driver import internal_error
from pto_dialect.driver.reduce.lines import reduced
from pto_dialect.syntax.print import printer
from pto_dialect.verify import verifier
from tools import pto_opt, pto_run

PROGRAM = """module attributes {pto.target_arch = "a5"} {
  func.func @other(%x: i32) -> i32 {
    %y = arith.addi %x, %x : i32
    return %y : i32
  }
  func.func @f(%p: !pto.ptr<f32, gm>, %n: i32) {
    %t = arith.constant true
    %c = arith.constant 0 : index
    scf.if %t {
      %v = pto.load %p[%c] : !pto.ptr<f32, gm> -> f32
      %w = arith.addf %v, %v : f32
      pto.store %w, %p[%c] : !pto.ptr<f32, gm>, f32
    }
    return
  }
}
"""
NAMED = re.compile(r"with '([^']+)'")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the files of internal errors go."""
    monkeypatch.delenv(internal_error.VARIABLE, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    (tmp_path / "p.pto").write_text(PROGRAM)
    yield tmp_path


def fails_at(name: str, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """Has the verifier fail at operations called ``name``."""
    check = verifier.Verifier._check

    def failing(self: verifier.Verifier, op: Operation) -> None:
        if op.name == name:
            raise error
        check(self, op)

    monkeypatch.setattr(verifier.Verifier, "_check", failing)


def program_in(text: str) -> tuple[str, str]:
    """Comments and program of the file that a report names."""
    named = NAMED.search(text)
    assert named is not None, text
    lines = Path(named[1]).read_text().splitlines(keepends=True)
    comments = [line for line in lines if line.startswith("//")]
    return "".join(comments), "".join(lines[len(comments) :])


@pytest.mark.parametrize("command", ["opt", "opt -j", "run", "run --sanitize"])
@pytest.mark.parametrize("error", [KeyError("x"), RecursionError("too deep"), AssertionError(), OSError(5, "strange")])
def test_an_error_of_the_verifier(
    command: str, error: Exception, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fails_at("arith.addf", monkeypatch, error)
    path = str(folder / "p.pto")
    if command.startswith("opt"):
        (folder / "good.pto").write_text("func.func @f() {\n  return\n}\n")
        arguments = [str(folder), "-j", "2"] if command == "opt -j" else [path]
        result = CliRunner().invoke(pto_opt.main, arguments)
    else:
        given = [f"--arg=p={'zeros:f32:4'}", "--arg=n=1", "--entry=f", *command.split()[1:]]
        result = CliRunner().invoke(pto_run.main, [path, *given])
    assert result.exit_code == 1
    assert result.exception is None or isinstance(result.exception, SystemExit)
    lines = result.stderr.splitlines()
    reports = [line for line in lines if "internal error" in line]
    assert len(reports) == 1
    assert f"'{path}': internal error: {type(error).__name__}" in reports[0]
    assert "report it to the issue tracker" in reports[0] and reports[0].endswith("[internal]")
    assert "Traceback" not in result.output
    comments, program = program_in(reports[0])
    assert "Traceback" in comments and type(error).__name__ in comments
    assert "arith.addf" in program
    assert "@other" not in program and "pto.store" not in program


def test_an_error_of_the_printer(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> str:
        raise IndexError("none")

    monkeypatch.setattr(printer, "print_module", failing)
    result = CliRunner().invoke(pto_opt.main, [str(folder / "p.pto")])
    assert result.exit_code == 1
    assert "internal error: IndexError: none" in result.stderr
    _, program = program_in(result.stderr)
    assert len(program.splitlines()) <= 1


def test_an_error_while_running(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.runtime.run import launch

    run_blocks = launch.Kernel._run_blocks

    def failing(self: launch.Kernel, bound: list[Any], blocks: int, jobs: int) -> list[Any]:
        if "scf.if" in {op.name for op in self.function.walk()}:
            raise ZeroDivisionError("here")
        return run_blocks(self, bound, blocks, jobs)

    monkeypatch.setattr(launch.Kernel, "_run_blocks", failing)
    given = ["--arg=p=zeros:f32:4", "--arg=n=1", "--entry=f"]
    result = CliRunner().invoke(pto_run.main, [str(folder / "p.pto"), *given])
    assert result.exit_code == 1
    first = result.stderr.splitlines()[0]
    assert first.startswith(f"{folder / 'p.pto'}:6:3: error: @f cannot be executed: ZeroDivisionError: here")
    _, program = program_in(first)
    assert "scf.if" in program and "@other" not in program


def test_an_error_while_compiling(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.runtime.compile import compiler

    def failing(*_: object) -> None:
        raise TypeError("not this")

    monkeypatch.setattr(compiler, "refuse_deep", failing)
    given = ["--arg=p=zeros:f32:4", "--arg=n=1", "--entry=f"]
    result = CliRunner().invoke(pto_run.main, [str(folder / "p.pto"), *given])
    assert result.exit_code == 1
    assert "@f cannot be compiled: TypeError: not this" in result.stderr
    assert "@other" not in program_in(result.stderr)[1]


@pytest.mark.parametrize("main", [pto_opt.main, pto_run.main])
def test_an_error_anywhere_else(main: object, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from pto_dialect.driver import inputs

    def failing(*_: object) -> None:
        raise RuntimeError("of another kind\nin two lines")

    monkeypatch.setattr(inputs, "collect", failing)
    result = CliRunner().invoke(main, [str(folder / "p.pto")])  # pyright: ignore[reportArgumentType]
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("error: internal error: RuntimeError: of another kind in two lines")


def test_memory_that_is_used_up_while_the_program_is_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fails_at("arith.addf", monkeypatch, MemoryError())
    path = folder / "p.pto"
    for result in (
        CliRunner().invoke(pto_opt.main, [str(path)]),
        CliRunner().invoke(pto_run.main, [str(path), "--arg=p=zeros:f32:4", "--arg=n=1", "--entry=f"]),
    ):
        assert result.exit_code == 1
        assert result.stderr.startswith(f"error: '{path}' does not fit into memory [input-memory]")


def test_developers_see_the_traceback(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(internal_error.VARIABLE, "1")
    fails_at("arith.addf", monkeypatch, KeyError("x"))
    result = CliRunner().invoke(pto_opt.main, [str(folder / "p.pto")])
    assert isinstance(result.exception, KeyError)


def test_reducing_ends_in_time(folder: Path) -> None:
    def holds(text: str) -> bool:
        while "return" not in text:
            pass
        return True

    assert "return" in reduced(PROGRAM, holds, 0.5)


def test_reducing_survives_what_it_tries(folder: Path) -> None:
    def holds(text: str) -> bool:
        if "@other" not in text:
            os._exit(3)
        return True

    assert "@other" in reduced(PROGRAM, holds, 2.0)


def test_reducing_leaves_what_matters() -> None:
    assert reduced(PROGRAM, lambda text: "addf" in text, 5.0).strip() == "%w = arith.addf %v, %v : f32"
    assert reduced(PROGRAM, lambda text: "scf.if" in text and "pto.load" in text, 5.0).count("\n") == 2
