"""Groups of values that one call computes: which, in what order, and where their operands are."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import numpy as np
import pytest

from pto_dialect.accel.replay.batch import (
    Area,
    Operand,
    _beside,
    _even,
    _levels,
    _needed,
    _spacing,
    _stackable,
    _stacked,
)
from pto_dialect.accel.replay.graph import Graph
from pto_dialect.accel.replay.steps import Step, Style

F32 = np.dtype(np.float32)
OWN, GIVEN = Area(False, 0), Area(True, 0)


def operand(offset: int, area: Area = OWN, shape: tuple[int, ...] = (2, 4)) -> Operand:
    return Operand(area, offset, shape, (16, 4), F32)


def offsets_of(stacked: Operand, shape: tuple[int, ...]) -> list[int]:
    """Where the members of a stack begin, in its order."""
    outer = len(stacked.shape) - len(shape)
    steps = stacked.strides[:outer]
    assert (stacked.shape[outer:], stacked.strides[outer:]) == (shape, (16, 4))
    places = product(*(range(count) for count in stacked.shape[:outer]))
    return [stacked.offset + sum(i * s for i, s in zip(place, steps, strict=True)) for place in places]


@pytest.mark.parametrize(
    ("offsets", "inner", "distances"),
    [
        ([8], 1, (0, 0)), ([8, 40], 2, (0, 32)), ([8, 40], 1, (32, 0)), ([0, 4, 100, 104], 2, (100, 4)),
        ([0, 4, 100, 105], 2, None), ([0, 4, 8, 13], 4, None), ([0, 0, 0], 3, (0, 0)), ([12, 8, 4], 3, (0, -4)),
        ([0, 4, 8, 50, 54, 58, 100, 104, 108], 3, (50, 4)), ([0, 10, 20, 31], 1, None),
    ],
)  # fmt: skip
def test_distances_of_members(offsets: list[int], inner: int, distances: Any) -> None:
    assert _spacing(offsets, inner) == distances


def evenly(offsets: list[int], count: int) -> set[int]:
    """All numbers of members in a row under which the first ``count`` are a grid, by trying them."""
    found: set[int] = set()
    for inner in range(1, count + 1):
        if count % inner == 0:
            near = offsets[1] - offsets[0] if inner > 1 else 0
            far = offsets[inner] - offsets[0] if inner < count else 0
            grid = [offsets[0] + row * far + col * near for row in range(count // inner) for col in range(inner)]
            if grid == offsets[:count]:
                found.add(inner)
    return found


def line(rng: random.Random, count: int) -> list[int]:
    """Offsets of members: a grid with an end that may belong to another one."""
    inner, near, far = rng.choice((1, 2, 3, count)), rng.choice((0, 32, 64)), rng.choice((96, 256))
    found = [number // inner * far + number % inner * near for number in range(count)]
    if rng.random() < 0.5:
        found[rng.randrange(count) :] = []
        found += [1000 + 8 * number * number for number in range(count - len(found))]
    return found


@pytest.mark.parametrize("seed", range(4))
def test_a_stack_has_the_first_members_in_order(seed: int) -> None:
    rng = random.Random(seed)
    together = 0
    for _ in range(200):
        count = rng.randrange(1, 13)
        lines = [line(rng, count) for _ in range(rng.choice((1, 2)))]
        lines += [lines[0]] if rng.random() < 0.5 else []
        areas = [[GIVEN if rng.random() < 0.05 else OWN for _ in range(count)] for _ in lines]
        rows: list[Any] = [
            [2.5, *(operand(one[n], area[n]) for one, area in zip(lines, areas, strict=True))] for n in range(count)
        ]
        size = _stackable(rows)
        assert 1 <= size <= count
        alike = [next((n for n in range(count) if area[n] != area[0]), count) for area in areas]
        assert size <= min(alike)
        columns = [[row[1 + number] for row in rows] for number in range(len(lines))]
        wanted = [evenly(one, size) for one in lines]
        assert _even(columns, size) == max(set.intersection(*wanted), default=0) > 0
        if all(evenly(one, min(alike)) for one in lines) and set.intersection(
            *(evenly(one, min(alike)) for one in lines)
        ):
            assert size == min(alike)
        together += size > 1
        if size == 1:
            continue
        number, *found = _stacked(rows[:size])
        assert number == 2.5
        for stacked, one in zip(found, lines, strict=True):
            assert offsets_of(stacked, (2, 4)) == one[:size]
    assert together > 50


def test_operands_that_are_allowed_together() -> None:
    one = operand(0)
    assert _beside(one, operand(64))
    assert not _beside(one, operand(64, GIVEN)) and not _beside(one, operand(64, Area(False, 1)))
    assert not _beside(one, operand(64, shape=(4, 2)))
    assert not _beside(one, one._replace(strides=(32, 4)))
    assert not _beside(one, one._replace(dtype=np.dtype(np.int32)))


def test_values_are_computed_after_their_operands() -> None:
    """Values that are not stored are not needed; those of one key and depth are a group."""
    memory, inner = np.zeros(1024, np.uint8), np.zeros(1024, np.uint8)

    def given(number: int) -> Any:
        return memory[number * 32 : number * 32 + 32].view(F32)

    def own(number: int) -> Any:
        return inner[number * 32 : number * 32 + 32].view(F32)

    steps = [
        Step(Style.EACH, np.exp, [given(9)], own(9)),
        *(Step(Style.EACH, np.negative, [given(n)], own(n)) for n in (0, 1)),
        *(Step(Style.EACH, np.add, [own(n), given(n)], given(4 + n)) for n in (0, 1)),
        Step(Style.EACH, np.negative, [own(0)], given(7)),
    ]
    nodes = _needed(Graph([memory], [inner], steps))
    assert np.exp not in [node.function for node in nodes] and len(nodes) == 5
    for number, node in enumerate(nodes):
        before = nodes[:number]
        assert all(x.node in before or x.node.buffer >= 0 for x in node.inputs)
    groups = [[node.function for node in group] for group in _levels(nodes)]
    assert sorted(map(len, groups)) == [1, 2, 2] and groups[0] == [np.negative] * 2
    assert sorted(str(group[0]) for group in groups[1:]) == ["<ufunc 'add'>", "<ufunc 'negative'>"]
