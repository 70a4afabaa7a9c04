"""Places of a shadow memory: what is noted for bytes is found again for them, against one number for each byte."""

from __future__ import annotations

import numpy as np
import pytest

from pto_dialect.sanitize.state import shadow as module
from pto_dialect.sanitize.state.regions import MAX_GRAIN, Bytes, Elements, Region, grain_of
from pto_dialect.sanitize.state.shadow import OWNER, VICTIM, WRITER, WRITTEN, Shadow, ShadowRange

SIZE = 1024


def any_region(rng: np.random.Generator) -> Bytes:
    """A run, runs at regular distances that may overlap, or single elements."""
    kind = rng.integers(4)
    unit = int(rng.choice([4, 16, 64]))
    if kind == 0:
        return Region(unit * int(rng.integers(0, 8)), unit * int(rng.integers(1, 4)))
    if kind == 1:
        return Region(unit * int(rng.integers(0, 3)), unit, ((3, 2 * unit),))
    if kind == 2:
        return Region(unit * int(rng.integers(0, 3)), 2 * unit, ((3, unit), (2, 4 * unit)))
    return Elements(rng.integers(0, SIZE // 8, 5) * 4, 4)


@pytest.mark.parametrize("places", [1024, 6])
@pytest.mark.parametrize("seed", range(8))
def test_what_is_noted_for_bytes(seed: int, places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a memory has had too many locations, from when on each cell has a record."""
    monkeypatch.setattr(module, "MAX_RANGES", places)
    rng = np.random.default_rng(seed)
    memory = Shadow(SIZE)
    wanted = {name: np.zeros(SIZE, int) for name in (WRITER, OWNER, VICTIM, WRITTEN)}
    read = np.zeros((3, SIZE), int)
    for number in range(1, 30):
        region = any_region(rng)
        found = memory.locate(region)
        name, thread = str(rng.choice([WRITER, OWNER, VICTIM, WRITTEN])), int(rng.integers(3))
        if found is None:
            region.set(memory.layer(name), memory.grain, number)
            region.set(memory.reader(thread), memory.grain, number)
        for place in found or ():
            setattr(place, name, number)
            place.readers[thread] = number
        wanted[name][region.offsets()] = number
        read[thread, region.offsets()] = number
        for start in range(0, SIZE // 2, 64):
            probe = Region(start, 4)
            (one,) = memory.locate(probe) or [None]
            for key, numbers in wanted.items():
                got = getattr(one, key) if one is not None else int(probe.cells(memory.layer(key), memory.grain)[0])
                assert got == numbers[start]
            for who in range(3):
                got = one.readers.get(who, 0) if one is not None else int(memory.reader(who)[start // memory.grain])
                assert got == read[who, start]
    assert memory.spread == (places == 6)


def test_a_region_computes_its_locations_again_when_some_were_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_RANGES", 4)
    memory = Shadow(SIZE)
    seen: list[int] = []
    for start in range(0, 256, 64):
        region = Region(start, 64)
        memory.locate(region)
        assert region.version == memory.version
        seen.append(memory.version)
    assert memory.spread and seen == sorted(set(seen)) and len(seen) == 4
    same = Region(64, 64)
    memory.locate(same)
    assert same.places is None and memory.version == seen[-1]


def test_the_same_bytes_again_cut_nothing() -> None:
    memory = Shadow(SIZE)
    first = memory.locate(Region(64, 128))
    version = memory.version
    assert memory.locate(Region(64, 128)) == first and memory.version == version
    assert [place.size for place in first or ()] == [2]


def test_a_location_that_is_cut_keeps_what_is_known() -> None:
    place = ShadowRange(3, 10)
    place.writer, place.owner, place.victim, place.written = 4, 5, 6, 1
    place.readers = {2: 9}
    part = place.cut(7, 4)
    assert (part.number, part.size, part.writer, part.owner, part.victim, part.written) == (7, 4, 4, 5, 6, 1)
    assert part.readers == {2: 9} and part.readers is not place.readers and place.size == 6


@pytest.mark.parametrize("finer", [1, 2, 32])
def test_cells_become_finer(finer: int) -> None:
    memory = Shadow(100)
    (place,) = memory.locate(Region(0, 64)) or [None]
    assert place is not None and memory.grain == MAX_GRAIN and place.size == 1
    place.writer = 8
    memory.fit(Region(64, finer))
    assert memory.grain == finer and place.size == 64 // finer
    (rest,) = memory.locate(Region(64, finer)) or [None]
    assert rest is not None and rest is not place and rest.size == 1


def test_bytes_of_some_locations() -> None:
    memory = Shadow(256)
    memory.locate(Region(64, 64))
    whole = Region(0, 192)
    places = memory.locate(whole) or []
    inner = [place for place in places if place.size == 1]
    assert len(places) == 2 and len(inner) == 1
    assert memory.bytes_of(whole, inner).tolist() == list(range(64, 128))
    assert memory.runs_of(whole, inner) == [(64, 128)]
    assert memory.runs_of(whole, [place for place in places if place not in inner]) == [(0, 64), (128, 192)]
    assert memory.runs_of(whole, places) == [(0, 192)]
    alone = Region(64, 64)
    assert memory.bytes_of(alone, memory.locate(alone) or []).tolist() == list(range(64, 128))


def test_bytes_of_some_cells() -> None:
    memory = Shadow(256)
    region = Region(0, 64, ((2, 128),))
    memory.fit(region)
    chosen = np.array([False, True])
    assert memory.bytes_where(region, chosen).tolist() == list(range(128, 192))
    assert memory.runs_where(region, ~chosen) == [(0, 64)]


@pytest.mark.parametrize(("elements", "spread"), [(32, False), (33, True)])
def test_scattered_elements(elements: int, spread: bool) -> None:
    memory = Shadow(4096)
    memory.locate(Elements(np.arange(elements) * 64, 4))
    assert memory.spread == spread


@pytest.mark.parametrize(("count", "spread"), [(128, False), (129, True)])
def test_an_access_of_many_locations(count: int, spread: bool) -> None:
    memory = Shadow(64 * 200)
    for number in range(count):
        memory.locate(Region(64 * number, 64))
    assert not memory.spread
    memory.locate(Region(0, 64 * count))
    assert memory.spread == spread


def test_the_grain_divides_everything() -> None:
    for numbers in ((0,), (64, 128), (32, 64), (6,), (7, 64), ()):
        expected = max(n for n in (1, 2, 4, 8, 16, 32, 64) if all(number % n == 0 for number in numbers))
        assert grain_of(*numbers) == expected
