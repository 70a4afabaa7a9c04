"""A plug-in for pytest that notes what becomes of each test of PyPTO, and where its processor time goes.

`benchmarks/pypto_suite.py` loads it (`-p pypto_times`); the environment variable `PYPTO_TIMES` names the file that gets
a line of JSON for each test as soon as it has ended, so that a session which is cut off leaves what it has done::

    {"collected": 453}
    {"test": "tests/st/...::test_add", "outcome": "passed", "reason": "", "seconds": {"kernels": 0.2, "host": 0.0,
     "test": 0.5, "wall": 0.8}, "peak": 210763776}

`kernels` is what this toolchain does: reading and checking programs, and carrying out orchestrations with their
kernels; `host` is the C++ compiler that it starts for orchestrations; `test` is everything of the test, these two
among it. All three are processor time, `wall` is time by the clock, `peak` the bytes of memory that the process took at
most. With `--forked` a test has a process of its own, whose times and memory these are.
"""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable, Generator
from functools import wraps
from importlib import import_module
from time import perf_counter, process_time
from typing import Any

import pytest

FILE = "PYPTO_TIMES"
"""Environment variable with the name of the file."""
PROPERTY = "pypto_times"
PEAK = "pypto_peak"

_ENTRANCES = (
    ("pto_dialect.integrations.pypto.assembler", "assemble"),
    ("pto_dialect.integrations.pypto.worker:Worker", "run"),
    ("pto_dialect.integrations.pypto.worker:Worker", "submit"),
)
"""Where PyPTO enters this toolchain."""


class Clock:
    """Processor seconds inside of the entrances; calls in calls count once."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self.depth = 0

    def counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """``function``, whose time is added."""

        @wraps(function)
        def timed(*given: Any, **named: Any) -> Any:
            started = process_time()
            self.depth += 1
            try:
                return function(*given, **named)
            finally:
                self.depth -= 1
                if not self.depth:
                    self.seconds += process_time() - started

        return timed


_clock = Clock()


def _line(document: dict[str, Any]) -> None:
    """Adds a line to the file, in one piece: several processes write to it."""
    with open(os.environ[FILE], "ab", buffering=0) as stream:
        stream.write(json.dumps(document).encode() + b"\n")


def _count_entrances() -> None:
    for place, name in _ENTRANCES:
        module, _, inner = place.partition(":")
        owner: Any = import_module(module)
        owner = getattr(owner, inner) if inner else owner
        setattr(owner, name, _clock.counted(getattr(owner, name)))


class Times:
    """Takes the times of tests, in the process that runs them."""

    def __init__(self) -> None:
        self.before: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def now(self) -> tuple[float, float, float]:
        """Processor time of this process, that of its children, and time by the clock."""
        times = os.times()
        return process_time(), times.children_user + times.children_system, perf_counter()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self) -> Generator[None, object, object]:
        """The test begins."""
        self.before = self.now()
        _clock.seconds = 0.0
        return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        """The test ends; its report takes the times to the process that writes them."""
        try:
            return (yield)
        finally:
            busy, host, wall = (after - before for before, after in zip(self.before, self.now(), strict=True))
            seconds = {"kernels": _clock.seconds, "host": host, "test": busy + host, "wall": wall}
            item.user_properties.append((PROPERTY, {name: round(value, 4) for name, value in seconds.items()}))
            item.user_properties.append((PEAK, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024))


class Lines:
    """Writes a line for each test, in the process that hears of all of them."""

    def __init__(self) -> None:
        self.ends: dict[str, tuple[str, str]] = {}
        self.unread: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A part of a test has ended; the last one may be a crash, which has no other parts."""
        outcome, why = self.ends.pop(report.nodeid, ("passed", ""))
        if report.failed and outcome == "passed":
            outcome, why = ("failed" if report.when == "call" else "error"), report.longreprtext
        elif report.skipped:
            outcome, why = "skipped", _skipped(report)
        if report.when in ("setup", "call"):
            self.ends[report.nodeid] = outcome, why
            return
        noted = dict(report.user_properties)
        seconds, peak = noted.get(PROPERTY, {}), noted.get(PEAK, 0)
        _line({"test": report.nodeid, "outcome": outcome, "reason": why, "seconds": seconds, "peak": peak})

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A file that cannot be read is an error, though several processes report it."""
        if report.failed and report.nodeid not in self.unread:
            self.unread.add(report.nodeid)
            _line({"test": report.nodeid, "outcome": "error", "reason": report.longreprtext, "seconds": {}, "peak": 0})

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """What there is to run."""
        if session.items:
            _line({"collected": len(session.items)})

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """The same, as each process of several reports it."""
        _line({"collected": len(ids)})


def _skipped(report: pytest.TestReport) -> str:
    longrepr = report.longrepr
    return str(longrepr[2]) if isinstance(longrepr, tuple) else str(longrepr)


def pytest_configure(config: pytest.Config) -> None:
    """Starts what this process is for."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Lines())
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        _count_entrances()
        config.pluginmanager.register(Times())
