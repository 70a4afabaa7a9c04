"""A pytest plugin that notes which lines of the package each test executes.

Used as `-p coverage_contexts` with this folder on the path.  The file goes to `$PTO_COVERAGE`; every worker process
writes one of its own beside it, and one with the seconds that each test takes.  A test is a function with all of its
parameters, or one row of the large tables in `TABLES`, which together take too long to be tried for a single change.
"""

from __future__ import annotations

import json
import math
import os
from pathlib import Path
from typing import Any

import coverage

_FILE = os.environ.get("PTO_COVERAGE", "")
_COVERAGE: list[coverage.Coverage] = []
_CURRENT: list[str] = []
_SECONDS: dict[str, float] = {}


TABLES = (
    *("test_lit", "verify/test_snapshots.py", "verify/test_mutated_programs.py", "faulty/test_findings.py"),
    *("passes/test_snapshots.py", "runtime/test_snapshots.py", "sanitize/test_snapshots.py"),
)
"""Files of tests whose parameters are rows of a long table."""


def test_of(node: str) -> str:
    """The name under which a test is noted: its function, or, in a table, its row."""
    return node if any(table in node for table in TABLES) else node.partition("[")[0]


def seconds_file(file: str, worker: str) -> Path:
    """Where a worker writes how long the functions take."""
    return Path(f"{file}-seconds.{worker}.json")


def pytest_configure(config: Any) -> None:
    """Starts before tests are collected: what they import counts as nobody's."""
    worker = getattr(config, "workerinput", {}).get("workerid", "main")
    if not _FILE or (worker == "main" and getattr(config.option, "numprocesses", None)):
        return
    package = Path(__file__).resolve().parents[1] / "pto_dialect"
    measured = coverage.Coverage(data_file=f"{_FILE}.{worker}", source=[str(package)], config_file=False)
    measured.start()
    _COVERAGE.append(measured)


def pytest_runtest_setup(item: Any) -> None:
    """Lines belong to the test that runs; a change of the owner writes to the file."""
    name = test_of(item.nodeid)
    for measured in _COVERAGE:
        if [name] != _CURRENT:
            _CURRENT[:] = [name]
            measured.switch_context(name)


def pytest_runtest_logreport(report: Any) -> None:
    """Adds up what the parts of a test take; one that fails takes for ever."""
    name = test_of(report.nodeid)
    _SECONDS[name] = _SECONDS.get(name, 0.0) + (math.inf if report.failed else report.duration)


def pytest_unconfigure(config: Any) -> None:
    """Writes the files."""
    for measured in _COVERAGE:
        measured.stop()
        measured.save()
        worker = getattr(config, "workerinput", {}).get("workerid", "main")
        seconds_file(_FILE, worker).write_text(json.dumps(_SECONDS), encoding="utf-8")
