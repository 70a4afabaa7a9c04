"""Commands run inside the test process, in a folder of their own."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import pytest
from click.testing import CliRunner

MAIN = import_module("pto_dialect.tools.pto_run").main
PROGRAMS = Path(__file__).parent / "programs"


class Outcome(NamedTuple):
    """The results of a command."""

    code: int
    out: str
    err: str


class PtoRun:
    """Calls ``pto-run`` as a click command; a program is named by its stem or given as text."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.command = MAIN

    def __call__(self, program: str, *arguments: str) -> Outcome:
        if "\n" in program:
            path = self.folder / "inline.pto"
            path.write_text(program)
        else:
            path = PROGRAMS / f"{program}.pto"
        return self.raw(str(path), *arguments)

    def raw(self, *arguments: str, stdin: bytes = b"") -> Outcome:
        """The command line as it is."""
        result = CliRunner().invoke(self.command, arguments, input=stdin, prog_name="pto-run")
        assert result.exception is None or isinstance(result.exception, SystemExit), result.exc_info
        assert "Traceback" not in result.output
        return Outcome(result.exit_code, result.stdout, result.stderr)

    def good(self, program: str, *arguments: str) -> str:
        """Standard output of a command that succeeds and has nothing to say on standard error."""
        outcome = self(program, *arguments)
        assert (outcome.code, outcome.err) == (0, ""), outcome
        return outcome.out

    def bad(self, code: int, program: str, *arguments: str) -> str:
        """Standard error of a command that fails with ``code``."""
        outcome = self(program, *arguments)
        assert outcome.code == code, outcome
        return outcome.err


@pytest.fixture
def pto_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PtoRun:
    monkeypatch.chdir(tmp_path)
    return PtoRun(tmp_path)


@pytest.fixture
def args() -> Callable[..., list[str]]:
    """``args(x="ones:f32:4")`` as the options ``--arg x=ones:f32:4``."""

    def options(**values: str) -> list[str]:
        return [word for name, value in values.items() for word in ("--arg", f"{name}={value}")]

    return options
