"""The pytest plug-in on test sessions of its own, each in a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sanitize_programs import load, program, set_flag, store, ub, wait_flag

from pto_dialect.integrations.base import Device
from pto_dialect.integrations.session import Session, file_name

LOADED = load("%x") + ' loc("model.py":12:8)'
STORED = store("%x") + ' loc("model.py":14:8)'
RACE = program(ub("x", 0), LOADED, set_flag("MTE2", "V"), wait_flag("MTE2", "V"), STORED)
RIGHT = program(ub("x", 0), LOADED, set_flag("MTE2", "MTE3"), wait_flag("MTE2", "MTE3"), STORED)
TESTS = f'''
import numpy as np
import pytest
from pto_dialect.integrations.function import jit

@jit("""{RIGHT}""")
def right(a, b): ...

@jit("""{RACE}""")
def racing(a, b): ...

def buffers():
    return np.ones(64, np.float32), np.zeros(64, np.float32)

@pytest.fixture
def prepared():
    racing(*buffers())

def test_right():
    a, b = buffers()
    right(a, b)
    assert b[0] == 1

def test_racing():
    racing(*buffers())

def test_wrong():
    a, b = buffers()
    racing(a, b)
    assert b[0] == 2

@pytest.mark.pto_allow("race-raw")
def test_accepted():
    racing(*buffers())

def test_prepared(prepared): ...

def test_nothing(): ...

def test_called():
    import pto_dialect
    module = pto_dialect.parse("""{RACE}""", "called.pto")
    pto_dialect.compile(module)(*buffers())
    pto_dialect.compile_group([(module, "k", "vector")])(buffers())
'''


CONFTEST = """
import os

def pytest_runtest_logreport(report):
    if report.when == "teardown" and os.path.isdir("reports"):
        with open("seen.txt", "a") as stream:
            print(len(os.listdir("reports")), file=stream)
"""
"""Counts reports when tests are over, which is when a process that ran one of them may end."""


def session(folder: Path, *options: str, **variables: str) -> tuple[int, str]:
    """Exit code and output of a test session on TESTS."""
    (folder / "test_it.py").write_text(TESTS)
    (folder / "conftest.py").write_text(CONFTEST)
    command = [sys.executable, "-m", "pytest", "-p", "pto_dialect.integrations.pytest_plugin", "-q", "-rA", *options]
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        command, cwd=folder, env={**environment, **variables}, capture_output=True, text=True, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


def outcomes(output: str) -> dict[str, str]:
    """What became of each test."""
    lines = (line.split() for line in output.splitlines() if "test_it.py::" in line)
    return {words[1].partition("::")[2]: words[0] for words in lines if words[0] in ("PASSED", "FAILED", "ERROR")}


def test_nothing_is_instrumented_without_a_request(tmp_path: Path) -> None:
    code, output = session(tmp_path)
    assert (code, "1 failed, 6 passed" in output) == (1, True), output
    assert "race-raw" not in output


def test_findings_fail_the_test(tmp_path: Path) -> None:
    code, output = session(tmp_path, "--pto-sanitize", "--pto-report=reports")
    assert code == 1, output
    assert outcomes(output) == {
        "test_right": "PASSED",
        "test_racing": "FAILED",
        "test_wrong": "FAILED",
        "test_accepted": "PASSED",
        "test_prepared": "ERROR",
        "test_nothing": "PASSED",
        "test_called": "FAILED",
    }
    assert "nothing orders the two [race-raw]" in output
    assert "assert np.float32(1.0) == 2" in output
    section = output.partition("Captured pto findings call")[2].partition("\n_____")[0]
    assert "model.py:14:8: error" in section, "findings of a test that fails by itself stand beside its error"
    assert "model.py:14:8: error" in output
    assert "called.pto:14:5: note: the statement of the program" in output
    assert "<racing>:14:5: note: the statement of the program" in output
    reports = {path.name: json.loads(path.read_text()) for path in (tmp_path / "reports").iterdir()}
    assert set(reports) == {
        file_name(f"test_it.py::test_{name}") for name in ("right", "racing", "wrong", "accepted", "prepared", "called")
    }
    assert (tmp_path / "seen.txt").read_text().split() == ["1", "2", "3", "4", "5", "5", "6"]
    launched = reports[file_name("test_it.py::test_called")]["launches"]
    assert [(one["client"], one["functions"]) for one in launched] == [("pto_dialect", ["k"])] * 2
    report = reports[file_name("test_it.py::test_racing")]
    assert report["test"] == "test_it.py::test_racing"
    assert [one["file"] for one in report["launches"]] == ["<racing>"]
    assert report["launches"][0]["functions"] == ["k"]
    assert report["launches"][0]["findings"] == [0]
    finding: dict[str, Any] = report["findings"][0]
    assert (finding["rule"], finding["location"]["start"]["line"]) == ("race-raw", 14)
    assert finding["origins"][0] == {"file": "model.py", "line": 14, "column": 8}
    assert reports[file_name("test_it.py::test_right")]["findings"] == []


def test_rules_and_checks_that_are_left_out() -> None:
    device = Device("test")
    buffers = [np.ones(64, np.float32), np.zeros(64, np.float32)]
    for checks, allow, allowed in (("all", ["race-raw"], ()), ("bounds,init", [], ()), ("all", [], ["race-raw"])):
        one = Session(checks, None, allow)
        with one.open():
            one.begin("test")
            device.launch(device.compile(RACE), buffers)
            assert one.judge(allowed) == ("", "")
            one.end()


def test_unknown_checks(tmp_path: Path) -> None:
    code, output = session(tmp_path, "--pto-sanitize", "--pto-checks=speed")
    assert (code, "--pto-checks: there is no check 'speed'" in output) == (4, True)


def test_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "reports").write_text("a file")
    code, output = session(tmp_path, "--pto-report=reports")
    assert (code, "ERROR: --pto-report:" in output) == (4, True), output


def test_names_of_reports_tell_tests_apart() -> None:
    first, second = file_name("a/test_x.py::test[a/b]"), file_name("a/test_x.py::test[a b]")
    assert first != second
    assert first.startswith("a_test_x.py_test_a_b-")
    assert len(file_name("x" * 1000)) < 150


def test_plugin_alone_loads_nothing_of_the_package() -> None:
    code = (
        "import sys, pto_dialect.integrations.pytest_plugin\n"
        "print([name for name in sys.modules if name.startswith('pto_dialect.') or name in ('numpy', 'xdsl')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = ["pto_dialect.version", "pto_dialect.integrations", "pto_dialect.integrations.pytest_plugin"]
    assert done.stdout.strip() == str(modules)


def test_a_session_without_a_report_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    one = Session("all", None, ())
    with one.open():
        one.begin("test")
        assert one.judge() == ("", "")
        one.end()
    assert list(tmp_path.iterdir()) == []
