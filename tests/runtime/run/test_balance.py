"""When blocks are shared among processes."""

from __future__ import annotations

import os
from threading import Lock
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.runtime.run import balance, launch, sharing
from pto_dialect.runtime.run.balance import FIRST_ESTIMATE, POOL_ESTIMATE, Balance
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions

EMPTY = "func.func @k(%x: !pto.ptr<f32>) {\n  return\n}"


@pytest.fixture(autouse=True)
def four_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance, "processors", lambda: 4)


def test_what_is_saved_must_be_more_than_what_is_paid() -> None:
    assert Balance().pays(0.01, 24, 2, 0)
    assert not Balance().pays(0.002, 24, 2, 0)
    # Copying 50 MB takes about as long as starting.
    assert Balance().pays(0.0025, 24, 2, 0) and not Balance().pays(0.0025, 24, 2, 50 << 20)
    # One block cannot be shared, and two save one.
    assert not Balance().pays(9, 1, 4, 0)
    assert Balance().pays(0.03, 2, 4, 0) and not Balance().pays(0.02, 2, 4, 0)


def test_one_processor_saves_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(balance, "processors", lambda: 1)
    assert not Balance().pays(1, 24, 8, 0)


def test_processes_that_are_there_pay_for_less() -> None:
    assert Balance(POOL_ESTIMATE).pays(0.0005, 24, 2, 0) and not Balance().pays(0.0005, 24, 2, 0)
    found = Balance(POOL_ESTIMATE)
    for _ in range(20):
        found.learn(took=0.005, each=0.0005, blocks=20, jobs=2, nbytes=0)
    assert found.seconds == pytest.approx(POOL_ESTIMATE / 2)


def test_costs_are_learnt_and_forgotten() -> None:
    found = Balance()
    found.learn(took=1.2, each=0.1, blocks=20, jobs=2, nbytes=0)
    assert found.seconds == pytest.approx((FIRST_ESTIMATE + 0.2) / 2)
    assert not found.pays(0.01, 20, 2, 0)
    for _ in range(300):
        found.pays(1e-6, 20, 2, 0)
    assert found.pays(0.01, 20, 2, 0)


class Launches:
    """A kernel whose blocks take as long as ``seconds`` says, and what was run where."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *seconds: float) -> None:
        self.now = 0.0
        self.seconds = list(seconds)
        self.log: list[Any] = []
        monkeypatch.setattr(sharing, "perf_counter", lambda: self.now)
        monkeypatch.setattr(launch, "can_fork", lambda: True)
        monkeypatch.setattr(sharing, "BALANCE", Balance())
        monkeypatch.setattr(sharing, "run_blocks", self.shared)
        # tests/runtime/run/test_worker_pool.py has the processes that stay.
        monkeypatch.setattr(sharing, "acquire_pool", lambda *_: None)
        module, _ = parsed(EMPTY)
        self.kernel = Kernel(module, None, None, RunOptions())
        monkeypatch.setattr(self.kernel, "run_block", self.one)

    def one(self, bound: list[Any], index: int, count: int) -> list[Any]:
        self.now += self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0]
        self.log.append(index)
        return [index]

    def hired(self, *_: Any) -> Any:
        self.log.append("hired")
        return SimpleNamespace(lock=Lock(), run=self.kept, nbytes=16, suits=lambda *_: True)

    def kept(self, kernel: Kernel, bound: list[Any], first: int, blocks: int) -> list[Any]:
        return self.shared(kernel, bound, first, blocks, 2)

    def shared(self, kernel: Kernel, bound: list[Any], first: int, blocks: int, jobs: int) -> list[Any]:
        self.log.append((first, blocks, jobs))
        return [first]

    def run(self, blocks: int) -> list[Any]:
        self.log.clear()
        assert self.kernel.run([np.zeros(4, np.float32)], blocks=blocks, jobs=2) == [0]
        return self.log


def test_short_blocks_stay_here(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Launches(monkeypatch, 0.03, 0.0001).run(24) == list(range(24))


def test_long_blocks_are_shared_after_two(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = Launches(monkeypatch, 0.05)
    assert launches.run(24) == [0, 1, (2, 24, 2)]
    # Now their time is known.
    assert launches.run(24) == [(0, 24, 2)]


def test_processes_that_stay_come_though_starting_some_has_been_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = Launches(monkeypatch, 0.005)
    monkeypatch.setattr(sharing, "POOL_BALANCE", Balance(POOL_ESTIMATE))
    monkeypatch.setattr(sharing, "acquire_pool", launches.hired)
    assert launches.run(24) == [0, 1, (2, 24, 2)]
    sharing.BALANCE.seconds = 0.2
    assert launches.run(24) == ["hired", (0, 24, 2)]
    assert launches.run(24) == [(0, 24, 2)]


def test_where_none_can_stay_starting_some_must_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    launches = Launches(monkeypatch, 0.005)
    assert launches.run(24) == [0, 1, (2, 24, 2)]
    assert launches.run(24) == [(0, 24, 2)]
    sharing.BALANCE.seconds = 0.2
    assert launches.run(24) == list(range(24))


def test_few_blocks_do_not_wait_for_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Launches(monkeypatch, 0.2).run(4) == [0, (1, 4, 2)]
    assert Launches(monkeypatch, 0.05).run(4) == [0, 1, (2, 4, 2)]


def test_launches_that_are_not_worth_sharing_may_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """As those of one process are, which would be faster otherwise."""
    for seconds, kept in ((0.0001, True), (0.05, False)):
        launches = Launches(monkeypatch, seconds)
        asked: list[int] = []
        monkeypatch.setattr(launches.kernel, "_spent", 1.0)
        monkeypatch.setattr(launches.kernel, "_run_again", lambda values, blocks, asked=asked: asked.append(blocks))
        launches.run(24)
        assert asked == []
        launches.run(24)
        assert asked == ([24] if kept else [])


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system does not tell")
def test_processors_are_those_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert balance.processors() == len(os.sched_getaffinity(0))
