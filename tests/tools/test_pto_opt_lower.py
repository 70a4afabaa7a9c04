"""``pto-opt --lower``: what it prints, and what it refuses."""

from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from lowering_programs import add, kernel, load, part, store

MAIN = import_module("pto_dialect.tools.pto_opt").main

_LINES = (part("p", "a", "c0"), load("p", "x"), add("x", "x", "y"), store("y", "p"))
PLAIN = kernel(*_LINES)
UNPLACED = PLAIN.replace("addr = %at0 ", "").replace("addr = %at1 ", "").replace("addr = %at2 ", "")


@pytest.fixture
def opt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)

    def run(text: str, *arguments: str) -> Result:
        Path("program.pto").write_text(text, encoding="utf-8")
        return CliRunner().invoke(MAIN, ["--no-cache", "program.pto", *arguments], prog_name="pto-opt")

    return run


def test_all_stages_run(opt):
    result = opt(UNPLACED, "--lower")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("alloc_tile addr") == 3
    assert result.stdout.count("set_flag") == 2


def test_one_stage_runs(opt):
    result = opt(UNPLACED, "--lower=memory")
    assert result.stdout.count("alloc_tile addr") == 3
    assert "set_flag" not in result.stdout
    assert "alloc_tile addr" not in opt(UNPLACED, "--lower=sync").stdout


def test_a_lowered_program_stays_as_it_is(opt):
    once = opt(UNPLACED, "--lower").stdout
    assert opt(once, "--lower").stdout == once


def test_a_program_that_a_stage_cannot_do_is_not_printed(opt):
    call = kernel("func.call @g() : () -> ()", *_LINES).replace(
        "  func.func @f", "  func.func private @g()\n  func.func @f", 1
    )
    result = opt(call, "--lower")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "[insert-sync-unsupported]" in result.stderr
    assert "program.pto:" in result.stderr


def test_the_map_of_memory_is_that_before_the_passes(opt):
    plain = opt(UNPLACED, "--memory-report")
    assert plain.exit_code == 0
    assert plain.stdout == opt(UNPLACED, "--memory-report", "--lower").stdout
    assert "ub: 1024 of 262144 bytes" in plain.stdout
    assert "ub: 3072 of 262144 bytes" in opt(UNPLACED, "--memory-report", "-p", "assign-memory{reuse=none}").stdout


def test_a_proof_says_what_it_has_run(opt):
    result = opt(UNPLACED, "--lower", "--prove")
    assert result.exit_code == 0
    assert result.stdout == opt(UNPLACED, "--lower").stdout
    assert "keep every bit that @f computes" in result.stderr
    assert "[prove-done]" in result.stderr


LONG = kernel(
    "%most = arith.constant 1000000000 : index",
    "%sum = scf.for %k = %c0 to %most step %c1 iter_args(%s = %c0) -> (index) {",
    "%next = arith.addi %s, %k : index",
    "scf.yield %next : index",
    "}",
    *_LINES,
)
OPEN = UNPLACED.replace("pto.tload", "// pto.tload", 1)
"""The tile that is stored has no content."""


def test_a_proof_that_stays_open_fails(opt):
    result = opt(OPEN, "--lower", "--prove")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "error: @f uses memory that it never writes" in result.stderr
    assert "[prove-open]" in result.stderr


@pytest.mark.parametrize("option", ["--prove=allow-open", "--prove=30,allow-open"])
def test_a_proof_may_be_allowed_to_stay_open(opt, option: str):
    result = opt(OPEN, "--lower", option)
    assert result.exit_code == 0
    assert result.stdout == opt(OPEN, "--lower").stdout
    assert "info: @f uses memory that it never writes" in result.stderr
    assert "[prove-open]" in result.stderr


def test_a_proof_without_time_fails(opt):
    result = opt(LONG, "--lower=sync", "--prove=0.001")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "error: @f is not proven: the time of --prove is over" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        *(
            ([f"--prove={word}", "--lower"], f"'{word}' is no number of seconds above 0")
            for word in ("0", "-1", "x", "inf", "nan")
        ),
        (["--lower=flags"], "there is no stage 'flags'; stages are sums, memory, sync, cube"),
        (["--stats", "--memory-report"], "choose one"),
        (["--prove", "-p", "check-sync"], "--prove needs a pass that changes the program"),
        (["--memory-report", "-o", "x.pto"], "--memory-report prints no module"),
        (["--lower", "-p", "insert-sync"], "--lower names passes already"),
    ],
)
def test_a_wrong_command_line(opt, arguments: list[str], said: str):
    result = opt(PLAIN, *arguments)
    assert result.exit_code == 2
    assert said in result.stderr
