"""Command lines of the benchmark scripts: wrong ones are explained, none ends in a traceback."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))


def run(script: str, *arguments: str | Path) -> Result:
    """What a command of click prints, and its exit code."""
    command = import_module(script.removesuffix(".py")).main
    done = CliRunner().invoke(command, list(map(str, arguments)), prog_name=script)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.parametrize("script", ["mutants.py", "seeded_faults.py", "scale.py"])
def test_help_says_how_to_call(script: str) -> None:
    done = run(script, "--help")
    assert done.exit_code == 0
    assert done.stdout.startswith(f"Usage: {script}")


@pytest.mark.parametrize(
    ("script", "arguments", "message"),
    [
        ("mutants.py", [], "Missing argument"),
        ("mutants.py", ["nowhere.csv", "."], "does not exist"),
        ("mutants.py", [__file__, "nowhere"], "does not exist"),
        ("mutants.py", [__file__, ".", "("], "no regular expression"),
        ("seeded_faults.py", ["many"], "is not a valid integer"),
        ("seeded_faults.py", ["0"], "is not in the range"),
        ("seeded_faults.py", ["1", "2"], "unexpected extra argument"),
        ("scale.py", ["--operations", "0"], "is not in the range"),
        ("scale.py", ["--shape", "tower"], "is not one of"),
    ],
)
def test_wrong_arguments(script: str, arguments: list[str], message: str) -> None:
    done = run(script, *arguments)
    assert done.exit_code == 2
    assert message in done.stderr


def test_a_table_of_another_form(tmp_path: Path) -> None:
    table = tmp_path / "launches.csv"
    table.write_text("case,level\n")
    done = run("mutants.py", table, tmp_path)
    assert done.exit_code == 1
    assert "has no column launch, program" in done.stderr


def test_a_table_without_its_programs(tmp_path: Path) -> None:
    table = tmp_path / "launches.csv"
    table.write_text("case,level,launch,program\none,cube,k<<<1>>>(%a=a.bin:f32:4:in),k.pto\n")
    done = run("mutants.py", table, tmp_path)
    assert done.exit_code == 1
    assert "has no k.pto" in done.stderr


def test_a_few_seeded_faults() -> None:
    done = run("seeded_faults.py", "2")
    assert done.exit_code == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert [line.split()[:5] for line in lines[1:]] == [
        [kind, "2", "2", "2", "0"] for kind in ("bounds", "init", "overlap", "alignment")
    ]


@pytest.mark.parametrize("shape", ["functions", "one", "mixed"])
def test_a_small_program_of_every_shape(shape: str) -> None:
    done = run("scale.py", "--operations", "2000", "--shape", shape)
    assert done.exit_code == 0, done.stdout + done.stderr
    row = done.stdout.splitlines()[-1].split()
    assert row[0] == shape and abs(int(row[1]) - 2000) < 600


def test_programs_that_run_on_generated_arguments_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    head = "func.func @f(%p: !pto.ptr<f32>, %v: f32) {\n  %c0 = arith.constant 0 : index\n"
    (tmp_path / "good.pto").write_text(f"{head}  pto.store_scalar %v, %p[%c0] : !pto.ptr<f32>, f32\n  return\n}}\n")
    (tmp_path / "trap.pto").write_text(f"{head}  pto.trap\n  return\n}}\n")
    (tmp_path / "wrong.pto").write_text("func.func @f(\n")
    import_module("auto_runs").main([str(tmp_path)])
    first, arguments, reason = capsys.readouterr().out.splitlines()
    assert arguments == "arguments: 1 out, 1 out, changed"
    assert set(first.split(", ")) == {"1 run", "1 do not run", "1 with errors", "50.0% of the executable ones run"}
    assert "trap.pto: do not run trap: " in reason
