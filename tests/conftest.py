"""Set-up of all tests: which package is tested, how hypothesis runs, that Ctrl-C works, and snapshots of text."""

import difflib
import gc
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings
from sampling import THOROUGH

import pto_dialect
from pto_dialect.accel import ACCELERATIONS, enabled

# `tools/` and `grammar/` are beside the package. Found here first, they belong to the same checkout as the
# package, whatever is installed in this Python.
pto_dialect.__path__.append(str(Path(__file__).parents[1]))

# Examples differ widely in cost (a first call loads the grammar), which a deadline would report as flaky.
settings.register_profile("default", deadline=None, max_examples=100 if THOROUGH else 50)
settings.register_profile("thorough", deadline=None, max_examples=2000)
settings.load_profile("default")

# Shells start background jobs with Ctrl-C ignored, and programs inherit that: tests that send it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


ABOUT_ACCELERATIONS = (
    *("accel/", "tools/cache/", "tools/server/", "tools/test_no_plans.py", "safety/test_private_cache.py"),
    *("syntax/read/test_tables_on_disk.py", "sanitize/instrument/test_locations.py", "sanitize/state/test_shadow.py"),
    *("sanitize/times/", "sanitize/test_repeated.py", "verify/test_shared_verdicts.py"),
    *("runtime/run/test_balance.py", "runtime/run/test_pool_orders.py", "runtime/run/test_worker_pool.py"),
    *("runtime/compile/test_held.py", "runtime/numerics/test_direct.py"),
    "runtime/numerics/test_refused_numbers.py::test_conversions_follow",
    "runtime/queues/test_second_launch.py::test_later_launches",
)
"""Tests of what ``PTO_PLAIN=1`` disables; all others pass with and without it."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips tests of accelerations where these are disabled."""
    if all(map(enabled, ACCELERATIONS)):
        return
    for item in items:
        place = item.nodeid.removeprefix("tests/")
        if place.startswith(ABOUT_ACCELERATIONS) and not place.startswith(("accel/test_plain", "accel/test_private")):
            item.add_marker(pytest.mark.skip(reason="PTO_PLAIN disables what it tests"))


# Collection of tests makes millions of objects that stay; the collector would look at them again and again.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """What is collected stays until the end: the collector need not look at it again. It finds the garbage of tests
    later, as it does in processes of our own."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000, 20, 100)
    gc.enable()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The option that writes snapshots."""
    parser.addoption("--renew", action="store_true", help="write snapshots of text instead of comparing with them")


@pytest.fixture
def compare(request: pytest.FixtureRequest) -> Callable[[Path, str], None]:
    """Compares a text with the snapshot in a file; under ``--renew``, writes the file."""

    def compare(file: Path, text: str) -> None:
        if request.config.getoption("--renew"):
            file.write_text(text, encoding="utf-8")
        expected = file.read_text(encoding="utf-8").splitlines()
        difference = difflib.unified_diff(expected, text.splitlines(), "snapshot", "now", lineterm="")
        lines = list(difference)
        assert not lines, "\n".join([f"{file} differs; `pytest --renew` writes it:", *lines])

    return compare
