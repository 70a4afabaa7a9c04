"""Memory of windows: where buffers lie, what their context says, and what is outside."""

from __future__ import annotations

import numpy as np
import pytest

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Pointer, strided_view
from pto_dialect.runtime.run.machine import AddressMap
from pto_dialect.runtime.run.windows import WindowArena, World

F32 = np.dtype(np.float32)


def test_every_rank_has_memory_of_its_own() -> None:
    world = World(3, {"a": 40, "b": 4})
    for rank in range(3):
        world.array("a", rank, (10,), F32)[:] = rank
        world.array("b", rank, (1,), F32)[:] = -rank
    assert [world.array("a", rank, (10,), F32).tolist() for rank in range(3)] == [[rank] * 10 for rank in range(3)]
    assert [world.array("b", rank, (1,), F32)[0] for rank in range(3)] == [0, -1, -2]


def test_the_context_has_rank_and_addresses() -> None:
    world = World(3, {"a": 40, "b": 4})
    context = world.context(2)
    assert (context.dtype, context.size * 8) == (np.int64, 1056)
    assert (int(context[2]) & 0xFFFFFFFF, int(context[2]) >> 32) == (2, 3)
    assert context[4] == AddressMap.GAP
    steps = np.diff(context[4:7])
    assert (steps == steps[0]).all() and steps[0] >= 44
    assert (context[4:68] == context[68:132]).all() and not context[7:68].any()
    # The distance leads from a buffer of one rank to the same one of another.
    places = [world.layout.extent("b", rank).low for rank in range(3)]
    assert np.diff(places).tolist() == steps.tolist()


@pytest.mark.parametrize(
    ("start", "count", "inside"), [(0, 10, True), (36, 1, True), (36, 2, False), (-4, 1, False), (40, 1, False)]
)
def test_accesses_stay_in_one_buffer(start: int, count: int, inside: bool) -> None:
    world = World(2, {"a": 40, "b": 4})
    arena = WindowArena(world.layout, world.content)
    offset = world.layout.extent("a", 1).low + start
    pointer = Pointer(arena, offset, F32)
    if inside:
        strided_view(pointer, (count,), (4,))[:] = 7
        assert (world.array("a", 1, (10,), F32) == 7).sum() == count
        arena.put(np.array([offset]), np.zeros((1, 4), np.uint8))
        assert (arena.take(np.array([offset]), 4) == 0).all()
        return
    for access in (
        lambda: strided_view(pointer, (count,), (4,)),
        lambda: arena.take(np.array([offset]), 4 * count),
        lambda: arena.put(np.array([offset]), np.zeros((1, 4 * count), np.uint8)),
    ):
        with pytest.raises(Fault, match="mem-oob"):
            access()


def test_there_is_a_limit() -> None:
    with pytest.raises(ValueError, match="1 to 64 ranks, found 65"):
        World(65, {})
    with pytest.raises(ValueError, match="2 GiB"):
        World(64, {"a": 1 << 26})
