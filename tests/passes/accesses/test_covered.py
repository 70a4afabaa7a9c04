"""Which accesses later ones stand for. Source: docs/reference/synchronisation.md, "Dependences"."""

import pytest

from pto_dialect.analysis.affine import AffineExpr
from pto_dialect.api import parse
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.areas import Areas
from pto_dialect.passes.accesses.items import NUMBER, Leaf, Users
from pto_dialect.passes.accesses.locations import Extent, MemoryLocation
from pto_dialect.passes.accesses.state import Access, State

V, MTE2, MTE3 = (NUMBER[pipe] for pipe in (Pipe.V, Pipe.MTE2, Pipe.MTE3))
OP = next(op for op in walk(parse("func.func @f() {\nreturn\n}")) if op.name == "func.return")
LEAF = Leaf(OP, 1, (), ())
PART = MemoryLocation("gm", "a", frame="v", sides=(Extent(AffineExpr(0), AffineExpr(8)),))
OTHER = PART._replace(sides=(Extent(AffineExpr(4), AffineExpr(8)),))


def kept(*accesses: tuple[MemoryLocation, bool, int]) -> list[int]:
    """The numbers of the accesses that still count after all were recorded: (place, is it a write, iteration)."""
    state = State()
    for number, (place, writes, turn) in enumerate(accesses):
        state.record(Access(LEAF, number, writes, place, turn), keep_reads=False)
    return [access.number for all_ in state.accesses.values() for access in all_]


def test_a_write_of_the_same_rectangle_stands_for_earlier_accesses():
    assert kept((PART, True, 0), (PART, False, 0), (PART, True, 0)) == [2]
    assert kept((PART, True, 0), (OTHER, True, 0)) == [0, 1]


def test_a_read_stands_for_reads():
    assert kept((PART, True, 0), (PART, False, 0), (PART, False, 0)) == [0, 2]


def test_the_rectangle_of_another_iteration_may_be_another():
    assert kept((PART, True, 0), (PART, True, 1)) == [0, 1]


def test_bytes_that_are_not_known_stand_for_nothing():
    somewhere = MemoryLocation("ub", "bytes", 64, None)
    assert kept((somewhere, True, 0), (somewhere, True, 0)) == [0, 1]
    assert kept((MemoryLocation("ub", "bytes", 64, 96), True, 0), (MemoryLocation("ub", "bytes", 0, 128), True, 0)) == [
        1
    ]


def test_what_everybody_knows_to_be_done_is_forgotten():
    """Only V and MTE2 touch this memory: V knows the loads up to number 3, MTE2 only those up to 2 of its own."""
    state = State(Users({"ub": frozenset((V, MTE2))}, frozenset((V, MTE2)), False, Areas()))
    state.few = 4
    for number in range(1, 5):
        place = MemoryLocation("ub", "bytes", 64 * number, 64 * number + 64)
        state.record(Access(Leaf(OP, MTE2, (), ()), number, True, place, 0), keep_reads=False)
    state.clock[V][MTE2], state.clock[MTE2][MTE2] = 3, 2
    state.record(Access(LEAF, 5, False, MemoryLocation("ub", "bytes", 0, 32), 0), keep_reads=False)
    assert [access.number for access in state.earlier(MemoryLocation("ub", "bytes", 0, 999))] == [3, 4, 5]


def test_nothing_is_forgotten_of_which_another_pipe_does_not_know():
    state = State(Users({"ub": frozenset((V, MTE2, MTE3))}, frozenset((V, MTE2, MTE3)), False, Areas()))
    state.few = 1
    for number in range(1, 4):
        place = MemoryLocation("ub", "bytes", 64 * number, 64 * number + 64)
        state.clock[V][MTE2] = state.clock[MTE2][MTE2] = number - 1
        state.record(Access(Leaf(OP, MTE2, (), ()), number, True, place, 0), keep_reads=False)
    assert [access.number for access in state.earlier(MemoryLocation("ub", "bytes", 0, 999))] == [1, 2, 3]


@pytest.mark.parametrize(("streams", "remembered"), [(False, [3]), (True, [1, 2, 3])])
def test_vector_unit_depends_on_its_own_writes_where_it_streams(streams: bool, remembered: list[int]):
    """MTE2 knows both writes of V to be done, V does not: only on a chip whose vector operations overlap it matters."""
    state = State(Users({"ub": frozenset((V, MTE2))}, frozenset((V, MTE2)), streams, Areas()))
    state.few = 2
    for number in range(1, 4):
        place = MemoryLocation("ub", "bytes", 64 * number, 64 * number + 64)
        state.clock[MTE2][V] = number - 1
        state.record(Access(Leaf(OP, V, (), ()), number, True, place, 0), keep_reads=streams)
    assert [access.number for access in state.earlier(MemoryLocation("ub", "bytes", 0, 999))] == remembered
