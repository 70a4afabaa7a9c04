"""A pytest plugin that notes which lines of the package each test function executes.

Used as `-p coverage_contexts` with this folder on the path.  The file goes to `$PTO_COVERAGE`; every worker process
writes one of its own beside it, and one with the seconds that each function takes.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import coverage

_FILE = os.environ.get("PTO_COVERAGE", "")
_COVERAGE: list[coverage.Coverage] = []
_CURRENT: list[str] = []
_SECONDS: dict[str, float] = {}


def _function(node: str) -> str:
    """The function of a test, whatever its parameters; each file of lit tests is a test of its own."""
    return node if "test_lit" in node else node.partition("[")[0]


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
    """Lines belong to the function that runs, whatever its parameters: each change of the owner writes to the file."""
    name = _function(item.nodeid)
    for measured in _COVERAGE:
        if [name] != _CURRENT:
            _CURRENT[:] = [name]
            measured.switch_context(name)


def pytest_runtest_logreport(report: Any) -> None:
    """Adds up what the parts of a test take."""
    name = _function(report.nodeid)
    _SECONDS[name] = _SECONDS.get(name, 0.0) + report.duration


def pytest_unconfigure(config: Any) -> None:
    """Writes the files."""
    for measured in _COVERAGE:
        measured.stop()
        measured.save()
        worker = getattr(config, "workerinput", {}).get("workerid", "main")
        seconds_file(_FILE, worker).write_text(json.dumps(_SECONDS), encoding="utf-8")
