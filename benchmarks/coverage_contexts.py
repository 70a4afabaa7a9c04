"""A pytest plugin that notes which lines of the package each test function executes.

Used as `-p coverage_contexts` with this folder on the path.  The file goes to `$PTO_COVERAGE`; every worker process
writes one of its own beside it.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import coverage

_FILE = os.environ.get("PTO_COVERAGE", "")
_COVERAGE: list[coverage.Coverage] = []
_CURRENT: list[str] = []


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
    # Each file of lit tests is a test of its own.
    name = item.nodeid if "test_lit" in item.nodeid else item.nodeid.partition("[")[0]
    for measured in _COVERAGE:
        if [name] != _CURRENT:
            _CURRENT[:] = [name]
            measured.switch_context(name)


def pytest_unconfigure() -> None:
    """Writes the file."""
    for measured in _COVERAGE:
        measured.stop()
        measured.save()
