"""Which parts of the memories may overlap. Source: docs/reference/synchronisation.md, "Dependences"."""

from pto_dialect.passes.accesses.areas import Areas
from pto_dialect.passes.accesses.locations import MemoryLocation


def part(space: str, root: str | None, start: int = 0, stop: int | None = None) -> MemoryLocation:
    """An access to part of a memory."""
    return MemoryLocation(space, root, start, stop)


FIRST, SECOND = part("ub", "bytes", 0, 64), part("ub", "bytes", 64, 128)
BOTH = part("ub", "bytes", 32, 96)
OPEN = part("ub", "bytes", 100)
TILE = part("ub", "%tile")
ANYWHERE = part("ub", None)


def met(*locations: MemoryLocation) -> list[list[int]]:
    """For each location the numbers of those that it meets, all of them known."""
    areas = Areas()
    own = [areas.meeting(location)[0] for location in locations]
    return [sorted(own.index(area) for area in areas.meeting(location)) for location in locations]


def test_bytes_meet_where_they_overlap():
    assert met(FIRST, SECOND, BOTH) == [[0, 2], [1, 2], [0, 1, 2]]


def test_bytes_without_a_known_end_meet_all_that_end_after_them():
    assert met(FIRST, SECOND, OPEN) == [[0], [1, 2], [1, 2]]


def test_an_object_on_the_chip_has_bytes_of_its_own():
    assert met(FIRST, TILE, ANYWHERE) == [[0, 2], [1, 2], [0, 1, 2]]


def test_a_number_as_an_address_may_be_anywhere_in_global_memory():
    assert met(part("gm", "%a"), part("gm", "%b"), part("gm", "bytes", 0, 64)) == [[0, 2], [1, 2], [0, 1, 2]]


def test_memories_are_apart():
    assert met(FIRST, part("l1", "bytes", 0, 64), part("l1", None)) == [[0], [1, 2], [1, 2]]


def test_an_area_stays_the_first_of_its_own():
    areas = Areas()
    first = areas.meeting(FIRST)
    areas.meeting(ANYWHERE)
    assert areas.meeting(FIRST) is first
    own = first[0]
    assert (own.space, own.root, own.start, own.stop) == FIRST[:4]
