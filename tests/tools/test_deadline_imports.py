"""Limits of time do not cut off imports, whose modules would stay incomplete, nor finalizers, which would lose them."""

import gc
import importlib
import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import pytest

from pto_dialect.deadline import TimedOut, deadline
from pto_dialect.runtime.kernels import registry

SLOW = """from time import monotonic
end = monotonic() + 0.6
while monotonic() < end:
    pass
registered = True
"""
LIMITED = """from time import monotonic
from pto_dialect.deadline import TimedOut, deadline
cut_off = False
def busy():
    end = monotonic() + 30
    while monotonic() < end:
        pass
try:
    with deadline(0.05):
        busy()
except TimedOut:
    cut_off = True
"""


def in_thread(work: Callable[[], None]) -> None:
    failures: list[BaseException] = []

    def run() -> None:
        try:
            work()
        except BaseException as error:
            failures.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join(60)
    if failures:
        raise failures[0]


def here(work: Callable[[], None]) -> None:
    work()


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.parametrize("run", [here, in_thread])
def test_an_import_ends_before_the_limit_holds(run: Callable[[Callable[[], None]], None], modules: Path) -> None:
    name = f"slow_module_of_{run.__name__}"
    (modules / f"{name}.py").write_text(SLOW, encoding="utf-8")
    behind = False

    def work() -> None:
        nonlocal behind
        with deadline(0.05):
            importlib.import_module(name)
            busy(30)
            behind = True

    with pytest.raises(TimedOut):
        run(work)
    assert not behind
    assert sys.modules[name].registered


class Finalized:
    """Takes longer than the limit to be finalized."""

    def __del__(self) -> None:
        busy(0.2)


class Watched:
    """Something that weak references refer to."""


def busy(seconds: float) -> None:
    end = monotonic() + seconds
    while monotonic() < end:
        pass


def finalize() -> None:
    Finalized()


def collect() -> None:
    def callback(phase: str, information: dict[str, int]) -> None:
        busy(0.2)

    gc.callbacks.append(callback)
    try:
        gc.collect(0)
    finally:
        gc.callbacks.remove(callback)


@pytest.mark.parametrize("run", [here, in_thread])
@pytest.mark.parametrize("forgets", [finalize, collect])
def test_code_whose_errors_are_only_printed_does_not_lose_the_limit(
    run: Callable[[Callable[[], None]], None], forgets: Callable[[], None]
) -> None:
    began = monotonic()

    def work() -> None:
        with deadline(0.1):
            forgets()
            busy(10)

    with pytest.raises(TimedOut):
        run(work)
    assert monotonic() - began < 1


def test_a_limit_that_a_callback_has_lost_is_raised_again() -> None:
    watched = Watched()
    began = monotonic()
    reference = weakref.ref(watched, lambda _: busy(0.2))
    with pytest.raises(TimedOut), deadline(0.1):
        del watched
        busy(10)
    assert reference() is None
    assert monotonic() - began < 1


@pytest.mark.parametrize("run", [here, in_thread])
def test_a_limit_inside_of_an_import_holds(run: Callable[[Callable[[], None]], None], modules: Path) -> None:
    name = f"limited_module_of_{run.__name__}"
    (modules / f"{name}.py").write_text(LIMITED, encoding="utf-8")
    run(lambda: importlib.import_module(name) and None)
    assert sys.modules[name].cut_off


def test_kernels_whose_import_failed_are_imported_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def import_module(name: str) -> None:
        asked.append(name)
        if len(asked) == 1:
            raise TimedOut
        registry.KERNELS["pto.tadd"] = lambda op, generator: None

    monkeypatch.setattr(registry, "KERNELS", {})
    monkeypatch.setattr(registry, "_imported", set())
    monkeypatch.setattr(registry, "import_module", import_module)
    with pytest.raises(TimedOut):
        registry.find("pto.tadd")
    assert registry.find("pto.tadd") is not None
    assert asked[0] == asked[1]
