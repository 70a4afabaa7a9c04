"""Ends of queues that are initialised again, and entries as views of what holds them. Source:
docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pto_dialect.analysis.queues import C2V, V2C
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import GmTensor
from pto_dialect.runtime.numerics.formats import format_of
from pto_dialect.runtime.queues.fifo import EntryMaker, open_end
from pto_dialect.runtime.queues.plan import FifoFacts
from pto_dialect.runtime.queues.run import QueueCore
from pto_dialect.runtime.run.machine import Block, RunOptions
from pto_dialect.targets.choice import get_profile


def core() -> Any:
    (found,) = Block(0, 1, get_profile("a5"), RunOptions(), False, ("all",), core_class=QueueCore).cores
    return found


def facts(mask: int, number: int = 0) -> FifoFacts:
    return FifoFacts(
        ("number", number), f"queue {number}", mask, 1024, 2, 2, False, False, {C2V: 1024, V2C: 1024}, None
    )


def test_an_end_keeps_its_position_unless_it_has_other_directions() -> None:
    one = core()
    first = open_end(one, facts(C2V), False, None, {})
    first.made[C2V] = 5
    assert open_end(one, facts(C2V), False, None, {}) is first
    assert open_end(one, facts(C2V, 1), False, None, {}) is not first
    both = open_end(one, facts(C2V | V2C), False, None, {})
    assert both is not first and both.made[C2V] == 0
    assert open_end(one, facts(C2V | V2C), False, None, {}) is both


FMT = format_of("f32")


@pytest.mark.parametrize(("base", "shape", "strides"), [
    (None, (4, 8), (8, 1)), ((64, 8), (4, 8), (16, 1)), ((2, 4, 8), (4, 8), (8, 1)), ((64, 8), (2, 4, 8), (32, 8, 1)),
    (None, (2, 4, 8), (32, 8, 1)), ((64, 8), (8,), (1,)),
])  # fmt: skip
def test_strides_of_entries(base: Any, shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    """Those of the tensor that holds the slots, where it has as many; else rows lie one after the other."""
    arena = Arena.from_array(np.arange(2048, dtype=np.float32))
    steps = (32, 16, 1)[-len(base) :] if base else ()
    gm = (
        arena.pointer(0, FMT.storage)
        if base is None
        else GmTensor(arena.pointer(0, FMT.storage), base, steps, FMT, "dn")
    )
    end: Any = SimpleNamespace(
        gm=gm, core=SimpleNamespace(index=0), gm_address=lambda direction, number, fmt: arena.pointer(64, fmt.storage)
    )
    found = EntryMaker(shape, FMT, C2V, 0, False)(end, 3)
    assert (tuple(found.shape), tuple(found.strides)) == (shape, strides)
    assert found.layout == ("nd" if base is None else "dn") and found.pointer.offset == 64


@pytest.mark.parametrize(("split", "part", "vector", "first"), [
    (0, True, 1, 0), (1, True, 1, 32), (2, True, 1, 8), (1, False, 1, 0), (1, True, 0, 0), (1, True, None, 32),
])  # fmt: skip
def test_parts_of_vector_cores_are_consecutive(split: int, part: bool, vector: int | None, first: int) -> None:
    """Half of the rows, or of the columns, is that of the second core."""
    arena = Arena.from_array(np.arange(2048, dtype=np.float32))
    end: Any = SimpleNamespace(
        gm=None, core=SimpleNamespace(index=1), gm_address=lambda direction, number, fmt: arena.pointer(0, fmt.storage)
    )
    found = EntryMaker((4, 8), FMT, C2V, split, part)(end, 0, vector)
    assert found.pointer.offset == 4 * first
