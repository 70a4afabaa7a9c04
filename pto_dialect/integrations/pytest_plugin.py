"""The pytest plug-in: kernels of a test session under the sanitizers, and PyPTO on this toolchain.

`--pto-sanitize` sanitizes every kernel that a test launches through a client of `pto_dialect.integrations` or a
function of `pto_dialect`; findings fail the test. `--pto-report=DIR` writes what each test has run. `--pto-pypto` makes
PyPTO run on numpy (as the environment variable `PTO_PYPTO=1` does), `--pto-builders` programs for MLIR's bindings run
on this package (as `PTO_BUILDERS=1` does). pytest loads this module by itself where the package is installed, so other
imports are deferred until an option needs them. See docs/integrations.md.
"""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from .session import Session

MARK = "pto_allow"
PYPTO = "PTO_PYPTO"
"""Environment variable that has PyPTO run on this toolchain."""

BUILDERS = "PTO_BUILDERS"
"""Environment variable that has programs for MLIR's bindings run on this package."""

_session: pytest.StashKey[Session] = pytest.StashKey()
_stack = pytest.StashKey[ExitStack]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of the plug-in."""
    group = parser.getgroup("pto", "PTO kernels (pto-dialect)")
    group.addoption("--pto-sanitize", action="store_true", help="sanitize every kernel; findings fail the test")
    group.addoption("--pto-checks", metavar="CHECKS", default="all", help="which checks watch, as in race,init")
    group.addoption(
        "--pto-allow", metavar="RULE", action="append", default=[], help="leave out the findings of a rule; repeatable"
    )
    group.addoption("--pto-report", metavar="DIR", help="folder for what each test has run, one JSON file each")
    group.addoption(
        "--pto-builders", action="store_true", help="programs for MLIR's bindings are built with pto-dialect"
    )
    group.addoption("--pto-pypto", action="store_true", help="PyPTO compiles and runs its programs with pto-dialect")


def _runs_pypto(config: pytest.Config) -> bool:
    return bool(config.option.pto_pypto) or os.environ.get(PYPTO) == "1"


def pytest_configure(config: pytest.Config) -> None:
    """Starts what the options ask for."""
    config.addinivalue_line("markers", f"{MARK}(rule, ...): findings of these rules do not fail the test")
    if config.option.pto_builders or os.environ.get(BUILDERS, "") in ("1", "force"):
        from .builders import install_as_wanted  # deferred: start-up

        install_as_wanted()
    pypto = _runs_pypto(config)
    if pypto:
        from .pypto import install  # deferred: start-up

        try:
            install()
        except ImportError as error:
            raise pytest.UsageError(f"--pto-pypto: PyPTO cannot be imported: {error}") from None
    sanitize, report = config.option.pto_sanitize, config.option.pto_report
    if getattr(config.option, "forked", False) and (pypto or sanitize):
        from .ahead import load_ahead  # deferred: start-up

        load_ahead(sanitize)
        if pypto:
            from .pypto.platform import compute_on_one_thread  # deferred: start-up

            compute_on_one_thread()
    if not sanitize and not report:
        return
    from pto_dialect.sanitize.options import UnknownCheckError  # deferred: start-up

    from .session import Session  # deferred: start-up

    try:
        session = Session(config.option.pto_checks if sanitize else None, report, config.option.pto_allow)
    except UnknownCheckError as error:
        raise pytest.UsageError(f"--pto-checks: {error}") from None
    except OSError as error:
        raise pytest.UsageError(f"--pto-report: {error}") from None
    config.stash[_session] = session
    config.stash[_stack] = ExitStack()
    config.stash[_stack].enter_context(session.open())


def pytest_collection_finish(session: pytest.Session) -> None:
    """Leaves the choice of the chip to the tests."""
    if _runs_pypto(session.config):
        from .pypto.platform import forget_chip  # deferred: start-up

        forget_chip()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Ends the watch."""
    if _stack in config.stash:
        config.stash[_stack].close()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """One test: its events begin here."""
    session = item.config.stash.get(_session, None)
    if session is None:
        return (yield)
    session.begin(item.nodeid)
    return (yield)


def _found(item: pytest.Item, phase: str) -> str:
    """Returns the errors since the last call, empty for none; warnings become a section of the report."""
    session = item.config.stash.get(_session, None)
    if session is None:
        return ""
    allowed = {str(rule) for mark in item.iter_markers(MARK) for rule in mark.args}
    errors, warnings = session.judge(allowed)
    if warnings:
        item.add_report_section(phase, "pto warnings", warnings)
    return errors


def _judged(item: pytest.Item, phase: str) -> Generator[None, object, object]:
    """Findings fail a phase of a test. Where it fails by itself, they are a section of its report."""
    try:
        result = yield
    except BaseException:
        errors = _found(item, phase)
        if errors:
            item.add_report_section(phase, "pto findings", errors)
        raise
    errors = _found(item, phase)
    if errors:
        pytest.fail(errors, pytrace=False)
    return result


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Generator[None, object, object]:
    """Findings of fixtures fail the test as errors of its set-up."""
    return (yield from _judged(item, "setup"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Findings fail the test."""
    return (yield from _judged(item, "call"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Writes the report, in the process that has run the test, which is a child of this one under `--forked`."""
    result = yield
    session = item.config.stash.get(_session, None)
    if session is not None:
        session.end()
    return result
