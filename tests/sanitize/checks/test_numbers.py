"""Infinities and NaNs are reported where they come up, and not where they are passed on."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pto_dialect.sanitize.checks import numbers as module
from pto_dialect.sanitize.checks.numbers import Numbers
from pto_dialect.sanitize.report.findings import Finding, Findings

INF, NAN = np.inf, np.nan


@pytest.fixture(autouse=True)
def _names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "operation_text", lambda site, loops, thread: f"{site.name} there")


class Run:
    """Instructions one after the other; each is an operation of its own unless ``site`` is given."""

    def __init__(self) -> None:
        self.sites: dict[int, Any] = {}
        self.findings = Findings()
        observer: Any = SimpleNamespace(sites=self.sites, findings=self.findings)
        self.numbers = Numbers(observer)
        self.events = 0

    def step(self, read: list[Any], written: list[Any], moves: bool = False, site: int = 0) -> list[Finding]:
        self.events += 1
        number = site or self.events
        self.sites[number] = SimpleNamespace(number=number, name=f"op{number}", moves=moves, span=None)
        context: Any = SimpleNamespace(mark=SimpleNamespace(site=number, loops=()), thread=None, event=self.events)
        self.numbers.start()
        for values in read:
            self.numbers.read(np.asarray(values))
        for values in written:
            self.numbers.write(np.asarray(values))
        before = len(self.findings.all)
        self.numbers.settle(context)
        return self.findings.all[before:]


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ([[1.0, INF]], "infinity"),
        ([[1.0, -INF]], "infinity"),
        ([[NAN, 0.0]], "NaN"),
        ([[NAN, INF]], "NaN and infinity"),
        ([[1.0], [NAN], [INF]], "NaN and infinity"),
    ],
)
def test_what_comes_up(written: list[list[float]], kinds: str) -> None:
    run = Run()
    (found,) = run.step([[1.0]], written)
    assert found.message == f"op1 produces {kinds} from numbers"
    assert (found.rule, found.event, found.notes) == ("numeric-nan-inf", 1, [("op1 there", None)])


def test_numbers_and_what_is_passed_on() -> None:
    run = Run()
    assert not run.step([[1.0]], [[2.0]])
    assert not run.step([[1.0], [INF]], [[INF]])
    assert not run.step([[NAN], [1.0]], [[NAN]])
    assert not run.step([], [np.array([1 << 30], np.int32)])
    assert not run.step([[1.0]], [])
    assert not run.step([[1.0]], [[INF]], moves=True)


def test_integers_beside_them_are_numbers() -> None:
    assert Run().step([np.array([5], np.int32)], [[INF]])


def test_each_instruction_is_looked_at_by_itself() -> None:
    """What the one before has read or written says nothing about the next."""
    run = Run()
    assert not run.step([[INF]], [[INF]])
    assert run.step([[1.0]], [[INF]])
    assert not run.step([[1.0]], [[2.0]])


def test_one_operation_is_reported_once_with_its_count() -> None:
    run = Run()
    (found,) = run.step([[1.0]], [[INF]], site=7)
    assert not run.step([[1.0]], [[INF]], site=7)
    assert found.count == 2
