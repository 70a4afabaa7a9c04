"""The script that runs PyPTO's system tests: what it asks pytest for, and what it makes of the answer."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

import pypto_suite  # noqa: E402

REPORT = """<?xml version="1.0"?>
<testsuites><testsuite name="pytest">
<testcase classname="tests.st.test_a" name="test_right[a5sim]" time="1.5" />
<testcase classname="tests.st.test_a" name="test_wrong" time="0.5"><failure message="assert False">
AssertionError: Output 'c' does not match golden.
</failure></testcase>
<testcase classname="tests.st.test_a" name="test_races" time="0.25"><failure message="Failed">
k.pto:3:1: error: MTE2 of core writes bytes [race-war]
</failure></testcase>
<testcase classname="tests.st.test_a" name="test_board" time="0"><skipped message="needs a board" /></testcase>
</testsuite></testsuites>
"""


def test_outcomes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "report.xml").write_text(REPORT)
    found = pypto_suite.outcomes(tmp_path / "report.xml")
    assert [(one.word, one.reason) for one in found] == [
        ("passed", ""),
        ("failed", "AssertionError: Output 'c' does not match golden."),
        ("failed", "MTE2 of core writes bytes [race-war]"),
        ("skipped", "needs a board"),
    ]
    pypto_suite.show(found, 3.0)
    shown = capsys.readouterr().out
    numbers = "4 tests: 1 passed, 2 failed, 0 error, 1 skipped"
    assert shown.startswith(f"{numbers}; 3 CPU seconds, reading the tests among them\n")
    assert "   1 skipped: needs a board\n     tests.st.test_a::test_board\n" in shown


def test_command(tmp_path: Path) -> None:
    plain = Namespace(platform="a5sim", jobs=1, sanitize=False, report="", select="")
    made = pypto_suite.command(plain, ["tests/st/x.py", "tests/st/y.py"], tmp_path / "x.xml")
    assert "--platform=a5sim" in made and made[-2:] == ["tests/st/x.py", "tests/st/y.py"] and "-n" not in made
    asked = Namespace(platform="a5", jobs=2, sanitize=True, report="reports", select="add")
    made = pypto_suite.command(asked, ["tests/st/x.py"], tmp_path / "x.xml")
    assert {"--pto-sanitize", "-n", "-k", "tests/st/x.py", "--pto-pypto"} <= set(made)


def test_folders_are_sessions_of_their_own(tmp_path: Path) -> None:
    for name in ("st/ops/test_b.py", "st/ops/test_a.py", "st/ops/deep/test_c.py", "st/conftest.py", "st/test_d.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    test = "st/ops/test_a.py::test_one"
    assert list(pypto_suite.sessions(tmp_path, ["st", test])) == [
        ["st/test_d.py"],
        ["st/ops/test_a.py", "st/ops/test_b.py"],
        ["st/ops/deep/test_c.py"],
        [test],
    ]
