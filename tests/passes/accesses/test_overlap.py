"""Whether rectangles of one view may share bytes, against counting. Source: docs/reference/synchronisation.md,
"Dependences".
"""

from itertools import product
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pto_dialect import parse
from pto_dialect.analysis.affine import AffineAnalysis, AffineExpr
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.locations import Extent, MemoryLocation
from pto_dialect.passes.accesses.overlap import may_overlap
from pto_dialect.passes.accesses.setting import ANY, Iteration, Setting

FUNCTION = next(op for op in walk(parse("func.func @f(%i: index, %a: index) {\nreturn\n}")) if op.name == "func.func")
INDEX, OTHER = FUNCTION.regions[0].block.args
SUMS = AffineAnalysis()


def place(*sides: tuple[int, int, int, int], root: object = "a", frame: object = "v") -> MemoryLocation:
    """Sides are (constant, factor of the index, factor of the other value, size)."""
    found: list[Extent] = []
    for constant, index, other, size in sides:
        terms = {((INDEX,), index), ((OTHER,), other)}
        found.append(Extent(AffineExpr(constant, frozenset(term for term in terms if term[1])), AffineExpr(size)))
    return MemoryLocation("gm", root, frame=frame, sides=tuple(found))


def setting(turn: Iteration | None = None, limits: tuple[float, float] = ANY) -> Setting:
    return Setting(lambda value: turn is None or value is not INDEX, turn, lambda value: limits, SUMS)


SIDE = st.tuples(st.integers(-4, 4), st.integers(-2, 2), st.just(0), st.integers(1, 4))


@settings(max_examples=400, deadline=None)
@given(SIDE, SIDE, st.integers(1, 3), st.integers(2, 5))
def test_iterations_that_share_an_element_overlap(earlier, later, step: int, trips: int):
    """Against all pairs of iterations: what shares an element may overlap; with one factor the answer is exact."""
    one, other = place(earlier), place(later)
    found = may_overlap(one, other, setting(Iteration(INDEX, step, trips), (0, (trips - 1) * step)))
    shared = False
    for first, second in product(range(trips), repeat=2):
        if first < second:
            a, b = (side[0] + side[1] * turn * step for side, turn in ((earlier, first), (later, second)))
            shared |= a < b + later[3] and b < a + earlier[3]
    assert found or not shared
    if earlier[1] == later[1] == 0:
        assert found == shared


@pytest.mark.parametrize(("factor", "overlap"), [(3, True), (4, False), (-4, False), (-3, True)])
def test_neighbours_are_apart_from_one_size_on(factor: int, overlap: bool):
    side = (0, factor, 0, 4)
    assert may_overlap(place(side), place(side), setting(Iteration(INDEX, 1, inf))) == overlap


def test_one_dimension_apart_is_enough():
    assert not may_overlap(place((0, 0, 0, 4), (0, 0, 0, 4)), place((0, 0, 0, 4), (4, 0, 0, 4)), setting())
    assert may_overlap(place((0, 0, 0, 4), (0, 0, 0, 4)), place((3, 0, 0, 4), (3, 0, 0, 4)), setting())


def test_what_is_the_same_for_both_falls_out():
    assert not may_overlap(place((0, 0, 5, 4)), place((4, 0, 5, 4)), setting())
    assert may_overlap(place((0, 0, 5, 4)), place((4, 0, 6, 4)), setting())


def test_memories_roots_and_bytes():
    here = MemoryLocation("ub", "bytes", 0, 64)
    assert may_overlap(here, MemoryLocation("ub", "bytes", 63, 64), setting())
    assert not may_overlap(here, MemoryLocation("ub", "bytes", 64, 128), setting())
    assert may_overlap(here, MemoryLocation("ub", "bytes", 32, None), setting())
    assert may_overlap(here, MemoryLocation("ub", None), setting())
    assert not may_overlap(here, MemoryLocation("l1", None), setting())
    assert not may_overlap(here, MemoryLocation("ub", "a tile"), setting())
    assert not may_overlap(place(), place(root="b"), setting())
    assert may_overlap(place(), MemoryLocation("gm", "bytes", 0), setting())
    assert may_overlap(place((0, 0, 0, 4)), place((9, 0, 0, 4), frame="other"), setting())


ENDS = (0, 32, 64, 96, None)


@pytest.mark.parametrize("known", [(32, 64), (0, 32), (64, 96)])
def test_bytes_overlap_as_numbers_do(known: tuple[int, int]) -> None:
    """Against each range of bytes, those whose end is not known included, from both sides."""
    for start, stop in product(ENDS[:-1], ENDS):
        if stop is None or start < stop:
            end = inf if stop is None else stop
            expected = known[0] < end and start < known[1]
            one, other = MemoryLocation("ub", "bytes", *known), MemoryLocation("ub", "bytes", start, stop)
            assert may_overlap(one, other, setting()) == expected == may_overlap(other, one, setting())


def test_a_value_that_may_differ_outside_of_any_loop() -> None:
    """Without a loop between them, nothing relates the index of one access to that of the other."""
    one = place((0, 4, 0, 4))
    free = Setting(lambda value: False, None, lambda value: ANY, SUMS)
    assert may_overlap(one, one, free)
    assert not may_overlap(one, place((4, 4, 0, 4)), setting())
