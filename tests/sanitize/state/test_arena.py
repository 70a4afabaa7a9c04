"""Watched memories: when their bytes are made, and what an access is known by."""

import numpy as np

from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.state.arena import WatchedArena
from pto_dialect.sanitize.watch.watch import Watch


def arena(capacity: int = 256) -> tuple[Arena, WatchedArena]:
    original = Arena("ub", capacity, fill="poison")
    return original, WatchedArena(original, Watch(SanitizeOptions(), False))


def test_bytes_are_made_when_somebody_asks() -> None:
    original, watched = arena()
    assert original._bytes is None
    window = watched.array((4,), np.dtype(np.uint8), 32, (1,))
    assert original._bytes is not None and window.data.tolist() == [255] * 4
    assert np.shares_memory(window.data, original.bytes)


def test_other_attributes_are_missing_as_ever() -> None:
    _, watched = arena()
    assert not hasattr(watched, "nothing")


def test_a_window_is_the_same_region_with_and_without_its_place() -> None:
    _, watched = arena()
    data = watched.array((4, 8), np.dtype(np.float32), 32, (64, -4)).data
    assert watched.region(data) is watched.region(data, 32)
    region = watched.region(data, 32)
    assert region is not None and (region.offset, region.run, region.dims) == (4, 32, ((4, 64),))


def test_content_is_the_memory_of_a_region() -> None:
    _, watched = arena()
    region = watched.region(watched.array((2, 4), np.dtype(np.uint8), 16, (32, 1)).data)
    assert region is not None
    region.content(watched.memory)[...] = 7
    assert np.flatnonzero(watched.memory == 7).tolist() == region.offsets().tolist()
    assert region.content(watched.memory) is region.content(watched.memory)
