"""Accesses of work-items that disturb nobody: agreement of values, kinds, and who made them, against plain loops."""

from __future__ import annotations

from itertools import product
from typing import Any, cast

import numpy as np
import pytest

from pto_dialect.sanitize.checks.alignment import alignment, base_operand
from pto_dialect.sanitize.checks.item_races import _PLACES, READ, WRITE, ItemRaces, _Access, _agree, _cells, _harmless


@pytest.mark.parametrize("seed", range(12))
def test_values_that_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = rng.integers(0, 5, rng.integers(1, 8)) * 4
    values = rng.integers(0, 2 if seed % 3 else 1, starts.size).astype(np.int32)
    pairs = [(i, j) for i in range(starts.size) for j in range(i) if starts[i] == starts[j]]
    assert _agree(starts, values) == (bool(pairs) and all(values[i] == values[j] for i, j in pairs))


def test_equal_numbers_of_other_bits_do_not_agree() -> None:
    starts = np.array([0, 0])
    assert not _agree(starts, np.array([0.0, -0.0], np.float32))
    assert _agree(starts, np.array([np.nan, np.nan], np.float32))
    assert _agree(starts, np.array([[1, 2], [1, 2]], np.int16)) and not _agree(starts, np.array([[1, 2], [1, 3]]))
    assert not _agree(np.array([0, 4]), np.array([1, 1])) and not _agree(np.array([4]), np.array([1]))


def access(kind: str, items: set[int], agrees: bool = False) -> tuple[_Access, set[int]]:
    numbers = np.array(sorted(items))
    return _Access(kind, 1, (), numbers, numbers * 4, 4, agrees), items


def test_what_disturbs_nobody() -> None:
    """Two reads, two updates of one kind; one work-item alone; a read by those who stored one value."""
    kinds = (READ, WRITE, "atomic_add", "atomic_max")
    groups = ({1}, {2}, {1, 2}, {1, 2, 3})
    for first, second, one, two, agrees in product(kinds, kinds, groups, groups, (False, True)):
        wanted = first == second != WRITE
        wanted |= len(one) == 1 and one == two
        wanted |= agrees and second == READ and two <= one
        assert _harmless(access(first, one, agrees), access(second, two)) == wanted, (first, second, one, two, agrees)


def test_cells_of_accesses() -> None:
    first = _Access(WRITE, 1, (), np.array([7, 9]), np.array([8, 32]), 8, False)
    second = _Access(READ, 2, (), np.array([3]), np.array([4]), 4, False)
    found = [(cells.tolist(), items.tolist(), numbers.tolist()) for cells, items, numbers in _cells([first, second], 4)]
    assert found == [([2, 3, 8, 9], [7, 7, 9, 9], [0, 0, 0, 0]), ([1], [3], [1])]


ALIGNED = {"": 32, "NORM": 32, "BRC_B8": 1, "BRC_B16": 2, "BRC_B32": 4, "1PT_B8": 1, "1PT_B32": 4, "BRC_BLK": 32,
           "DINTLV_B32": 32, "BRC_B": 32, "US_B8": 32}  # fmt: skip
OPERATIONS = {"vlds": "source", "vldsx2": "source", "vsldb": "source", "vsts": "destination", "vstsx2": "destination",
              "vsstb": "destination", "vldus": None, "vgather2": None}  # fmt: skip


class Stated:
    """An operation with a distribution."""

    def __init__(self, name: str, dist: str) -> None:
        from xdsl.dialects.builtin import StringAttr

        self.name = name
        self.attributes = {"dist": StringAttr(dist)} if dist else {}


@pytest.mark.parametrize("dist", ALIGNED)
def test_alignments(dist: str) -> None:
    assert alignment(Stated("pto.vlds", dist)) == ALIGNED[dist]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", OPERATIONS)
def test_operands_that_are_aligned(name: str) -> None:
    assert base_operand(Stated(f"pto.{name}", "")) == OPERATIONS[name]  # type: ignore[arg-type]


class Reported(ItemRaces):
    """Keeps the pairs of accesses instead of telling of them."""

    def __init__(self) -> None:
        self.pairs: list[tuple[str, set[int], str, set[int]]] = []

    def _report(self, arena: Any, before: Any, now: Any) -> None:
        self.pairs.append((before[0].kind, before[1], now[0].kind, now[1]))


def conflicts(*accesses: tuple[str, list[int], list[int]]) -> list[tuple[str, set[int], str, set[int]]]:
    """What is reported of accesses of 4 bytes: the kind, the work-items, the first bytes."""
    races = Reported()
    races._compare(
        cast(Any, None),
        [_Access(kind, n, (), np.array(who), np.array(at), 4, False) for n, (kind, who, at) in enumerate(accesses)],
    )
    return races.pairs


def test_cells_that_several_touch_and_one_changes() -> None:
    assert conflicts((WRITE, [1, 2], [0, 4]), (READ, [2, 1], [0, 4])) == [
        (WRITE, {1}, READ, {2}), (WRITE, {2}, READ, {1}),
    ]  # fmt: skip
    assert conflicts((WRITE, [1, 2], [8, 8])) == [(WRITE, {1, 2}, WRITE, {1, 2})]
    assert conflicts((READ, [1], [0]), (READ, [2], [0]), (WRITE, [3], [0])) == [
        (READ, {1}, WRITE, {3}), (READ, {2}, WRITE, {3}),
    ]  # fmt: skip
    assert conflicts((READ, [1, 2], [0, 0]), (WRITE, [1, 2], [4, 8])) == []
    assert conflicts((WRITE, [1, 2], [0, 4]), (READ, [1, 2], [0, 4])) == []
    assert conflicts(("atomic_add", [1, 2], [0, 0])) == [] and conflicts((READ, [1, 2], [0, 0])) == []
    assert conflicts(("atomic_add", [1], [0]), ("atomic_max", [2], [0])) == [("atomic_add", {1}, "atomic_max", {2})]


def test_many_cells_without_a_conflict_hide_none() -> None:
    """Only so many cells are looked at closely; those that one work-item has to itself do not count."""
    own = list(range(_PLACES + 5))
    far = 4 * len(own)
    private = (WRITE, own, [4 * n for n in own])
    reads = (READ, [0, 1], [0, far])
    assert conflicts(private, reads, (WRITE, [5], [far])) == [(READ, {1}, WRITE, {5})]
    everybody = [4 * n for n in own for _ in range(2)]
    assert conflicts((READ, [0, 1] * len(own), everybody), (WRITE, [5], [far]), (READ, [6], [far])) == [
        (WRITE, {5}, READ, {6})
    ]  # fmt: skip


def test_so_many_cells_are_looked_at_closely() -> None:
    count = _PLACES + 5
    wrong = [4 * n for n in range(count)]
    assert len(conflicts((WRITE, [0] * count, wrong), (WRITE, [1] * count, wrong))) == _PLACES
