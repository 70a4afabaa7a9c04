"""``pto-run --debug`` on programs, on recordings, and after errors."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from tools.pto_run import main

FAULTY = Path("examples/faulty").resolve()
BUFFERS = ("--arg", "a=ones:f32:64", "--arg", "b=zeros:f32:64")


def run(*arguments: object, commands: str = "") -> tuple[int, str]:
    result = CliRunner().invoke(main, [str(argument) for argument in arguments], input=commands)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_a_program_is_run_and_debugged() -> None:
    code, output = run(FAULTY / "race.pto", *BUFFERS, "--debug", "--quiet", commands="b 18\nc\np %b[0]\ns\np %b[0]\n")
    assert code == 0
    assert f"{FAULTY / 'race.pto'}: @race on a5, 16 steps" in output
    assert "(pto) p %b[0]\n0\n" in output
    assert "(pto) p %b[0]\n1\n" in output


def test_a_change_runs_the_program_again() -> None:
    commands = "b 18\nc\nset ub 0 f32 = 5\ngoto end\np %b[:2]\nq\n"
    _, output = run(FAULTY / "race.pto", *BUFFERS, "--debug", "--quiet", commands=commands)
    assert "(pto) p %b[:2]\n2 float32\n[1. 1.]\n" in output
    commands = "goto end\nback 3\nset ub 0 f32 = 5\ngoto end\np %b[:2]\nq\n"
    _, output = run(FAULTY / "race.pto", *BUFFERS, "--debug", "--quiet", commands=commands)
    assert "(pto) p %b[:2]\n2 float32\n[5. 1.]\n" in output


def test_a_recording_is_debugged_without_its_program(tmp_path: Path) -> None:
    path = tmp_path / "run.pto-rec"
    assert run(FAULTY / "race.pto", *BUFFERS, "--record", path, "--quiet")[0] == 0
    code, output = run(path, "--debug", commands="goto end\np %b[0]\nset ub 0 f32 = 5\n")
    assert code == 0
    assert "(pto) p %b[0]\n1\n" in output
    code, output = run(path)
    assert code == 2
    assert "is a recording; --debug shows it" in " ".join(output.split())
    path.write_bytes(b"nothing")
    code, output = run(path, "--debug")
    assert (code, output) == (2, f"error: '{path}' is no recording, or its end is missing\n")


def test_findings_are_where_it_starts() -> None:
    code, output = run(FAULTY / "race.pto", *BUFFERS, "--debug", "--break-on-finding", commands="back\n")
    assert code == 3
    assert "breakpoint 1, finding\n#8 block 0 core MTE2" in output


def test_an_error_is_debugged_afterwards() -> None:
    code, output = run(FAULTY / "deadlock.pto", *BUFFERS, "--debug", commands="pipes\n")
    assert code == 1
    assert "the run failed at line 3: the program cannot continue [sync-deadlock]" in output
    assert "block 0 core MTE2: waits at line 9 for MTE3 -> MTE2 event 0" in output


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (("--break-on-finding",), "--break-on-finding has no meaning without --debug"),
        (("--debug", "--profile"), "--debug does not go with --profile"),
        (("--debug", "--sanitize", "--fix"), "--debug does not go with --fix"),
        (("--debug", "--html", "x.html"), "--debug does not go with --html"),
        (("--debug", "--ranks", "2"), "--debug does not go with --ranks; --record RUN.pto-rec keeps the run"),
    ],
)
def test_options_that_do_not_go_together(options: tuple[str, ...], says: str) -> None:
    code, output = run(FAULTY / "race.pto", *options)
    assert code == 2
    assert says in " ".join(output.split())


def test_a_program_from_standard_input_cannot_be_debugged() -> None:
    assert run("-", "--debug", commands="module {}")[0] == 2
