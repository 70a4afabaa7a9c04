"""A launch that runs again under its number finds the slots of work-items as they were (docs/reference/work-items.md,
"Launches")."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.run.machine import Block, Core, RunOptions
from pto_dialect.runtime.simt.launch import launch, launch_stored, next_launch, store_dims
from pto_dialect.runtime.simt.slots import keep, resume
from pto_dialect.targets.choice import get_profile

I32 = np.dtype(np.int32)


def core() -> Core:
    return Block(0, 1, get_profile("a5"), RunOptions(), False).cores[0]


def adding(core: Core, items: Any, mask: Any, seen: list[list[int]]) -> None:
    """Adds one to what every work-item has in slot 3, and states what it was."""
    before = resume(core, items, 3, I32).copy()
    seen.append(before.tolist())
    keep(core, items, mask, 3, before + 1)


def test_the_same_number_is_the_same_launch() -> None:
    one, seen = core(), []
    for number in (1, 1, 1, 2, 2, 3):
        launch(one, number, adding, 2, 1, 1, seen)
    assert seen == [[0, 0]] * 3 + [[1, 1]] * 2 + [[2, 2]]


@pytest.mark.parametrize("kind", [np.int16, np.int32, np.float32, np.int64, np.float64])
def test_work_items_that_do_not_run_keep_what_they_had(kind: Any) -> None:
    one, items = core(), SimpleNamespace(count=4, spread=lambda value: value)
    first, second = np.array([1, -2, 3, -4], kind), np.array([50, 60, -70, 80], kind)
    keep(one, items, None, 3, first)  # type: ignore[arg-type]
    assert resume(one, items, 3, np.dtype(kind)).tolist() == [1, -2, 3, -4]  # type: ignore[arg-type]
    keep(one, items, np.array([True, False, True, False]), 3, second)  # type: ignore[arg-type]
    assert resume(one, items, 3, np.dtype(kind)).tolist() == [50, -2, -70, -4]  # type: ignore[arg-type]


def test_launches_are_counted() -> None:
    one = core()
    assert [next_launch(one) for _ in range(3)] == [1, 2, 3]
    assert next_launch(core()) == 1


def test_dimensions_that_were_stored_count_for_all_calls_that_follow() -> None:
    one, shapes = core(), []

    def body(_: Core, items: Any, mask: Any, name: str) -> None:
        assert mask is None
        shapes.append((name, items.count))

    with pytest.raises(Fault, match=r"before pto\.store_vfsimt_info") as caught:
        launch_stored(one, 1, body, "early")
    assert caught.value.rule == "unmodelled"
    store_dims(one, 2, 3, 4)
    for number, name in ((1, "a"), (2, "b")):
        launch_stored(one, number, body, name)
    assert shapes == [("a", 24), ("b", 24)]
    assert one.state["simt_dims"] == (4, 3, 2)


def test_no_work_items_run_nothing() -> None:
    one, seen = core(), []
    launch(one, 1, adding, 0, 4, 1, seen)
    assert seen == []


@pytest.mark.parametrize("instrumented", [True, False])
def test_the_end_of_a_launch_is_a_meeting(instrumented: bool) -> None:
    one, told = core(), []

    class Observer:
        """Somebody who watches work-items."""

        def synchronise(self) -> None:
            told.append("met")

    def observe(items: Any) -> None:
        told.append("seen")
        items.observer = Observer() if instrumented else None

    one.observe = observe
    launch(one, 1, lambda *_: told.append("ran"), 1, 1, 1)
    assert told == (["seen", "ran", "met"] if instrumented else ["seen", "ran"])
