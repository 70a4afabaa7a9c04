"""Instrumented memories: when their bytes are made, and what an access is known by."""

import numpy as np

from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.sanitize.instrument.observer import RunObserver
from pto_dialect.sanitize.options import SanitizeOptions
from pto_dialect.sanitize.state.arena import InstrumentedArena


def arena(capacity: int = 256) -> tuple[Arena, InstrumentedArena]:
    original = Arena("ub", capacity, fill="poison")
    return original, InstrumentedArena(original, RunObserver(SanitizeOptions(), False))


def test_bytes_are_made_on_demand() -> None:
    original, instrumented = arena()
    assert original._bytes is None
    window = instrumented.array((4,), np.dtype(np.uint8), 32, (1,))
    assert original._bytes is not None and window.data.tolist() == [255] * 4
    assert np.shares_memory(window.data, original.bytes)


def test_other_attributes_are_missing_as_ever() -> None:
    _, instrumented = arena()
    assert not hasattr(instrumented, "nothing")


def test_a_window_is_the_same_region_with_and_without_its_location() -> None:
    _, instrumented = arena()
    data = instrumented.array((4, 8), np.dtype(np.float32), 32, (64, -4)).data
    assert instrumented.region(data) is instrumented.region(data, 32)
    region = instrumented.region(data, 32)
    assert region is not None and (region.offset, region.run, region.dims) == (4, 32, ((4, 64),))


def test_content_is_the_memory_of_a_region() -> None:
    _, instrumented = arena()
    region = instrumented.region(instrumented.array((2, 4), np.dtype(np.uint8), 16, (32, 1)).data)
    assert region is not None
    region.content(instrumented.memory)[...] = 7
    assert np.flatnonzero(instrumented.memory == 7).tolist() == region.offsets().tolist()
    assert region.content(instrumented.memory) is region.content(instrumented.memory)
