"""The script that runs PyPTO's system tests: how it calls pytest, and what it makes of the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import pypto_suite  # noqa: E402

COUNTED = """
import subprocess, sys
from pathlib import Path

import pytest

from pto_dialect.integrations.pypto import assembler

PROGRAM = Path(__file__).parent / "k.pto"


def test_right():
    PROGRAM.write_text("func.func @k(%x: !pto.ptr<f32>) {\\n  return\\n}\\n")
    assembler.assemble(str(PROGRAM), str(PROGRAM.with_suffix(".cpp")), ())
    subprocess.run([sys.executable, "-c", "sum(range(3_000_000))"], check=True)


def test_wrong():
    raise AssertionError("Output 'c' does not match golden.")


def test_board():
    pytest.skip("needs a board")


@pytest.fixture
def broken():
    raise OSError("no disk")


def test_set_up(broken):
    pass
"""


@pytest.fixture(params=[0, 2], scope="module")
def log(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Path:
    """What the plug-in notes about a few tests, in one process or in several."""
    tmp_path = tmp_path_factory.mktemp("log")
    (tmp_path / "test_a.py").write_text(COUNTED)
    (tmp_path / "test_b.py").write_text("import no_such_module\n")
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS), "PYPTO_TIMES": str(tmp_path / "log.jsonl")}
    environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pypto_times", "-p", "no:cacheprovider", "-c", os.devnull]
    command += ["--rootdir", str(tmp_path), "--continue-on-collection-errors", str(tmp_path)]
    command += ["-p", "xdist", "-n", str(request.param)] if request.param else []
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 1, done.stdout + done.stderr
    return tmp_path / "log.jsonl"


def test_each_test_has_a_line(log: Path) -> None:
    found, collected = pypto_suite.read(log)
    told = {one.test.partition("::")[2] or one.test: one for one in found}
    assert {name: (one.word, one.reason) for name, one in told.items()} == {
        "test_b.py": ("error", "ModuleNotFoundError: No module named 'no_such_module'"),
        "test_right": ("passed", ""),
        "test_wrong": ("failed", "AssertionError: Output 'c' does not match golden."),
        "test_board": ("skipped", "Skipped: needs a board"),
        "test_set_up": ("error", "OSError: no disk"),
    }
    assert len(found) == collected == 5
    assert told["test_right"].peak > 10 << 20 and told["test_b.py"].peak == 0
    right = told["test_right"].seconds
    assert right["kernels"] > 0 and right["host"] > 0 and right["kernels"] + right["host"] <= right["test"]
    assert all(
        one.seconds["kernels"] == 0 == one.seconds["host"]
        for name, one in told.items()
        if name in ("test_wrong", "test_board")
    )


def test_the_table_states_what_was_done(log: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found, collected = pypto_suite.read(log)
    pypto_suite.show(found, collected, pypto_suite.Times(12.0, 20.0))
    shown = capsys.readouterr().out
    assert shown.startswith("5 tests: 1 passed, 1 failed, 2 error, 1 skipped\n12 s by the clock, 20 s of processors")
    assert "cut off" not in shown
    assert "   1 skipped: Skipped: needs a board\n     test_a.py::test_board\n" in shown
    pypto_suite.show(found[:2], collected, pypto_suite.Times(900.0, 20.0, 900.0))
    assert "cut off after 900 s, with 3 tests that have not ended\n" in capsys.readouterr().out


def test_command() -> None:
    plain = pypto_suite.parsed(["tree", "--platform", "a5sim", "tests/st/x.py"])
    made = pypto_suite.command(plain)
    assert {"--platform=a5sim", "--forked", "--pto-pypto"} <= set(made)
    assert made[-1] == "tests/st/x.py" and "-n" not in made and "--pto-sanitize" not in made
    made = pypto_suite.command(pypto_suite.parsed(["tree", "--jobs", "2", "--sanitize", "--select", "add"]))
    assert {"--pto-sanitize", "-n", "-k", "add", "tests/st"} <= set(made)


def suite(tree: Path, command: str, *options: str) -> subprocess.Popen[str]:
    """The script, with another command for the tests: PyPTO is not installed here."""
    code = f"import sys, pypto_suite; pypto_suite.command = lambda _: {command}; sys.exit(pypto_suite.main())"
    started = [sys.executable, "-c", code, str(tree), *options]
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS)}
    return subprocess.Popen(started, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def test_a_run_that_is_ended_reports_what_it_has(tmp_path: Path) -> None:
    (tmp_path / "test_a.py").write_text(SLOW)
    pytest_ = "[sys.executable, '-m', 'pytest', '-q', '-p', 'pypto_times', '-p', 'no:cacheprovider', 'test_a.py']"
    running = suite(tmp_path, pytest_)
    wait_for(tmp_path / "going")
    running.terminate()
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 1
    assert out.startswith("1 tests: 1 passed, 0 failed, 0 error, 0 skipped\ncut off after "), out
    assert "with 1 tests that have not ended" in out
    assert not alive(int((tmp_path / "going").read_text()))


def test_a_limit_ends_the_tests(tmp_path: Path) -> None:
    running = suite(tmp_path, "[sys.executable, '-c', 'import time; time.sleep(600)']", "--limit", "0.5")
    out, _ = running.communicate(timeout=120)
    assert running.returncode == 1
    assert out.startswith("0 tests: 0 passed, 0 failed, 0 error, 0 skipped\ncut off after "), out


SLOW = """
import os, time
from pathlib import Path


def test_quick():
    pass


def test_slow():
    Path("going").write_text(str(os.getpid()))
    time.sleep(600)
"""


def wait_for(path: Path) -> None:
    """Until there is something in the file."""
    started = monotonic()
    while not path.exists() or not path.read_text():
        assert monotonic() - started < 100
        sleep(0.05)


def alive(process: int) -> bool:
    """Whether a process runs."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
