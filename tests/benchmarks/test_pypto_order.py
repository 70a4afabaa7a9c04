"""The order in which PyPTO's system tests run, and which do not run beside each other."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from pypto_order import Known, arranged  # noqa: E402

MEMORY = 20


def order(seconds: dict[str, float], peaks: dict[str, int], tests: str) -> str:
    known = {name: Known(seconds.get(name, 0.1), peaks.get(name, 1)) for name in {*seconds, *peaks}}
    return "".join(tests[index] for index in arranged(tests, known, MEMORY))


def test_long_tests_come_first_each_with_a_short_one_after_it() -> None:
    assert order({"C": 9.0, "E": 30.0}, {}, "abCdEfg") == "EaCfbgd"


def test_without_an_earlier_run_neighbours_are_far_from_each_other() -> None:
    assert order({}, {}, "abcdefg") == "aebfcgd"
    assert order({}, {}, "") == ""


def test_large_tests_alternate_with_others() -> None:
    seconds = {"A": 50.0, "B": 40.0, "C": 30.0, "D": 20.0, "E": 10.0}
    assert order(seconds, {}, "ABCDE") == "ABCDE"
    assert order(seconds, {"A": 6, "B": 6, "C": 6}, "ABCDE") == "ADBEC"
    # A quarter of the memory is not large.
    assert order(seconds, {"A": 5, "B": 5, "C": 5}, "ABCDE") == "ABCDE"


SETS = """
import pytest

@pytest.mark.parametrize("number", range(3))
def test_one(number):
    pass

@pytest.mark.parametrize("platform", ["a5", "a2a3"])
class TestShared:
    @pytest.mark.parametrize("number", range(3))
    def test_one(self, platform, number):
        pass

def test_other():
    pass
"""


def test_each_function_runs_once_with_its_first_set(tmp_path: Path) -> None:
    (tmp_path / "test_sets.py").write_text(SETS)
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS), "PYPTO_SINGLE": "1"}
    environment |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-v", "-c", os.devnull, "-p", "pypto_order", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(tmp_path), "test_sets.py"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    told = [line.partition(" ")[0] for line in done.stdout.splitlines() if line.startswith("test_sets.py::")]
    assert sorted(told) == [
        "test_sets.py::TestShared::test_one[0-a5]",
        "test_sets.py::test_one[0]",
        "test_sets.py::test_other",
    ]
    assert "3 passed, 7 deselected" in done.stdout


HELD = """
import os, time
import pytest

def note(word):
    with open("log", "ab", buffering=0) as stream:
        stream.write(f"{word}\\n".encode())

@pytest.fixture(scope="class")
def shared():
    return 1

class TestShared:
    @pytest.mark.parametrize("number", range(3))
    def test_one(self, shared, number):
        note("shared in")
        time.sleep(0.3)
        note("shared out")

@pytest.mark.parametrize("number", range(3))
def test_large(number):
    from pto_dialect.integrations.pypto.worker import Worker
    note("large in")
    time.sleep(0.3)
    note("large out")
    Worker(level=3).run(lambda *_: note("kernels in"))
    time.sleep(0.5)
    note("kernels out")
"""


def test_what_tests_hold(tmp_path: Path) -> None:
    """Tests of one fixture do not run beside each other, nor do large ones until they come to their kernels."""
    (tmp_path / "test_held.py").write_text(HELD)
    (tmp_path / "locks").mkdir()
    tests = [f"test_held.py::TestShared::test_one[{n}]" for n in range(3)]
    large = [f"test_held.py::test_large[{n}]" for n in range(3)]
    lines = [{"test": name, "seconds": {"wall": 0.3}, "peak": 1000} for name in tests]
    # More than any machine has.
    lines += [{"test": name, "seconds": {"wall": 0.3}, "peak": 1 << 60} for name in large]
    (tmp_path / "like").write_text("".join(json.dumps(line) + "\n" for line in [{"collected": 6}, *lines]))
    environment = {**os.environ, "PYTHONPATH": str(BENCHMARKS), "PYPTO_LOCKS": str(tmp_path / "locks")}
    environment |= {"PYPTO_LIKE": str(tmp_path / "like"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", "pytest", "-q", "-c", os.devnull]
    command += ["-p", "xdist", "-p", "pypto_order", "-p", "no:cacheprovider"]
    command += ["--rootdir", str(tmp_path), "-n", "3", "--maxschedchunk=1", "test_held.py"]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    told = (tmp_path / "log").read_text().splitlines()
    for kind in ("shared", "large"):
        assert [line for line in told if line.startswith(kind)] == [f"{kind} in", f"{kind} out"] * 3
    # The kernels of one run while another is made ready.
    going, beside = 0, 0
    for line in told:
        going += (line == "kernels in") - (line == "kernels out")
        beside += line == "large in" and going > 0
    assert beside
