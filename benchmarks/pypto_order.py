"""A plug-in for pytest that has PyPTO's tests run in an order, and beside each other, as several processes can.

`benchmarks/pypto_suite.py` loads it (`-p pypto_order`). `PYPTO_LIKE` may name the log of an earlier run, whose tests
took about as long: tests that took longest come first, and those that took more than a quarter of the memory of the
machine are not made ready beside each other. What a test makes ready (inputs and expected results) takes most of its
memory; when it has come to its kernels, the next large one begins. `PYPTO_LOCKS` names a folder that the processes
share.

`PYPTO_SINGLE` has each test function run once, with the first of its sets of parameters.

Tests that share a fixture share what it writes: some of PyPTO's fixtures write to a folder of one name. They do not run
beside each other either. With `--forked` each test has fixtures of its own.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from functools import wraps
from hashlib import sha256
from importlib import import_module
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import pytest

LIKE = "PYPTO_LIKE"
"""Environment variable with the log of an earlier run."""
LOCKS = "PYPTO_LOCKS"
"""Environment variable with a folder for what processes hold."""
SINGLE = "PYPTO_SINGLE"
"""Environment variable that has each test function run once."""
LONG = 5.0
"""Seconds by the clock from which on a test has a position of its own in the order."""
SHARED = ("class", "module", "package")
"""Scopes of fixtures that several tests share."""
LARGE = "large"
SHARE = 4
"""Tests that take more of the memory than one part of so many are large."""


class Known(NamedTuple):
    """What an earlier run reports of a test: seconds by the clock, and the bytes of memory that it took at most."""

    seconds: float
    peak: int


def read(log: str | None) -> dict[str, Known]:
    """The tests of an earlier run."""
    if not log:
        return {}
    lines = [json.loads(line) for line in Path(log).read_text().splitlines()]
    return {one["test"]: Known(one["seconds"].get("wall", 0.0), one.get("peak", 0)) for one in lines if "test" in one}


def is_large(known: Known | None, memory: int) -> bool:
    """True for a test that takes more than a quarter of the memory of the machine."""
    return known is not None and SHARE * known.peak > memory


def arranged(tests: Sequence[str], known: Mapping[str, Known], memory: int) -> list[int]:
    """Places of the tests in the order in which they are to run.

    Long ones come first, large ones and others alternately, the longest first. Each has a short one after it, because a
    process takes the next test before it has ended the one before. Neighbours among the short ones are tests of
    different files.
    """

    def seconds(index: int) -> float:
        return known[tests[index]].seconds if tests[index] in known else 0.0

    long = sorted((index for index in range(len(tests)) if seconds(index) >= LONG), key=lambda index: -seconds(index))
    large = [index for index in long if is_large(known.get(tests[index]), memory)]
    first = _by_turns(large, [index for index in long if index not in large])
    short = [index for index in range(len(tests)) if seconds(index) < LONG]
    half = (len(short) + 1) // 2
    short = _by_turns(short[:half], short[half:])
    return _by_turns(first, short[: len(first)]) + short[len(first) :]


def single(tests: Sequence[str]) -> list[int]:
    """Places of the tests that have the first set of parameters of their function."""
    firsts: dict[str, int] = {}
    for index, name in enumerate(tests):
        firsts.setdefault(name.partition("[")[0], index)
    return list(firsts.values())


def _by_turns(one: Sequence[int], other: Sequence[int]) -> list[int]:
    return [index for index in chain.from_iterable(zip_longest(one, other)) if index is not None]


class Locks:
    """What this process, and the one that it has forked, hold of ``folder``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.held: dict[str, int] = {}

    @contextmanager
    def lock(self, name: str) -> Generator[None]:
        """Waits until nobody else holds ``name``, and holds it."""
        descriptor = os.open(self.folder / sha256(name.encode()).hexdigest()[:16], os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        self.held[name] = descriptor
        try:
            yield
        finally:
            del self.held[name]
            os.close(descriptor)

    def leave(self, name: str) -> None:
        """Gives ``name`` back before its time, also in a forked process: both have the same hold of it."""
        if name in self.held:
            fcntl.flock(self.held[name], fcntl.LOCK_UN)


class Order:
    """Arranges the tests of a session, and holds what each needs for itself."""

    def __init__(self, known: Mapping[str, Known], memory: int, locks: Locks | None) -> None:
        self.known = known
        self.memory = memory
        self.locks = locks

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        """Arranges the tests, after PyPTO has taken out those of other platforms."""
        if os.environ.get(SINGLE):
            kept = set(single([item.nodeid for item in items]))
            config.hook.pytest_deselected(items=[item for index, item in enumerate(items) if index not in kept])
            items[:] = [item for index, item in enumerate(items) if index in kept]
        items[:] = [items[index] for index in arranged([item.nodeid for item in items], self.known, self.memory)]

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Runs a test when nobody is in its way."""
        with ExitStack() as stack:
            if self.locks is not None:
                for name in sorted(shared_fixtures(item)):
                    stack.enter_context(self.locks.lock(name))
                if is_large(self.known.get(item.nodeid), self.memory):
                    stack.enter_context(self.locks.lock(LARGE))
            return (yield)


def shared_fixtures(item: pytest.Item) -> set[str]:
    """The fixtures of a test that tests of its class or file share, with the location where they are defined."""
    given: Any = getattr(item, "_fixtureinfo", None)
    if given is None:
        return set()
    last = [definitions[-1] for definitions in given.name2fixturedefs.values() if definitions]
    return {f"{one.baseid}::{one.argname}" for one in last if one.scope in SHARED}


def _left_at_kernels(function: Callable[..., Any], locks: Locks) -> Callable[..., Any]:
    """``function``, with which a test comes to its kernels."""

    @wraps(function)
    def entered(*given: Any, **named: Any) -> Any:
        locks.leave(LARGE)
        return function(*given, **named)

    return entered


def pytest_configure(config: pytest.Config) -> None:
    """Starts the plug-in; the process that hands tests to others has nothing to hold."""
    folder = os.environ.get(LOCKS)
    working = hasattr(config, "workerinput") or not config.getoption("numprocesses", None)
    locks = Locks(Path(folder)) if folder and working else None
    if locks is not None:
        with suppress(ImportError):
            worker: Any = import_module("pto_dialect.integrations.pypto.worker").Worker
            worker.run = _left_at_kernels(worker.run, locks)
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    config.pluginmanager.register(Order(read(os.environ.get(LIKE)), memory, locks))
