"""How the calls of a kept launch are bound to its arguments, and in which order they come."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from groups import in_groups

from pto_dialect.accel.replay import batch
from pto_dialect.accel.replay.batch import Area, Call, Layout, Operand
from pto_dialect.accel.replay.graph import Graph
from pto_dialect.accel.replay.plan import Plan, _in_series, _ordered, _span
from pto_dialect.accel.replay.steps import Step, Style

F32 = np.dtype(np.float32)
GIVEN = Area(True, 0)


def test_the_bytes_of_an_array() -> None:
    for shape, strides in (
        ((2, 3), (16, 4)),
        ((2, 3), (-16, 4)),
        ((4,), (-8,)),
        ((1, 5), (-1000, 4)),
        ((3, 2), (0, 4)),
    ):
        places = [0]
        for extent, stride in zip(shape, strides, strict=True):
            places = [place + index * stride for place in places for index in range(extent)]
        assert _span(Operand(GIVEN, 400, shape, strides, F32)) == (400 + min(places), 404 + max(places))


@in_groups("seed", range(20))
def test_arrays_in_series_are_those_of_the_operands(seed: int) -> None:
    """Each part of a larger array has the elements of its operand, and every location gets exactly one."""
    rng = random.Random(seed)
    memory = np.arange(4096, dtype=np.uint8)
    memory[:] = np.random.default_rng(seed).integers(0, 256, 4096)
    kinds = [((2, 4), (16, 4)), ((2, 4), (64, 4)), ((3,), (-4,)), ((1, 2), (8, 4))]
    offsets = [*range(64, 64 + 8 * 48, 48), *rng.sample(range(512, 3000, 4), rng.randrange(1, 9))]
    places: dict[Operand, list[Any]] = {}
    for number, offset in enumerate(rng.choices(offsets, k=60)):
        shape, strides = rng.choice(kinds)
        places.setdefault(Operand(GIVEN, offset, shape, strides, F32), []).append(number)
    bound: dict[Any, list[Any]] = {}
    for whole, slots in _in_series(places):
        arrays = np.ndarray(whole.shape, whole.dtype, memory, whole.offset, whole.strides)
        for array, numbers in zip(arrays, slots, strict=True):
            for number in numbers:
                bound.setdefault(number, []).append(array)
    assert sorted(bound) == list(range(60)) and all(len(found) == 1 for found in bound.values())
    for operand, numbers in places.items():
        wanted = np.ndarray(operand.shape, F32, memory, operand.offset, operand.strides)
        for number in numbers:
            (array,) = bound[number]
            assert (array.shape, array.strides, array.tobytes()) == (wanted.shape, wanted.strides, wanted.tobytes())
            assert array.ctypes.data == wanted.ctypes.data


def test_even_distances_are_one_array() -> None:
    places = {Operand(GIVEN, offset, (2, 4), (16, 4), F32): [] for offset in (96, 0, 32, 64, 500, 540, 590)}
    found = [(whole.offset, whole.shape[0], whole.strides[0]) for whole, _ in _in_series(places)]
    assert found == [(0, 4, 32), (500, 2, 40), (590, 1, 0)]


ROWS, COLS, PARTS = 2, 32, 6


def normalised(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Call], Plan, list[Any], Any]:
    """Rows divided by their sums, part by part, where groups have one part; what is wanted beside it."""
    monkeypatch.setattr(batch, "MOST_BYTES", ROWS * COLS * 4)
    values = np.random.default_rng(3).random((ROWS * PARTS, COLS)).astype(np.float32)
    result = np.zeros_like(values)
    tiles = np.zeros((2 * PARTS, ROWS, COLS), np.float32)
    sums = np.zeros((PARTS, ROWS, 1), np.float32)
    steps: list[Step] = []
    for part in range(PARTS):
        rows = slice(part * ROWS, part * ROWS + ROWS)
        steps += [
            Step(Style.EACH, np.exp, [values[rows]], tiles[part]),
            Step(Style.ROWS, np.add, [tiles[part]], sums[part]),
            Step(Style.EACH, np.divide, [tiles[part], sums[part]], tiles[PARTS + part]),
            Step(Style.SAME, None, [tiles[PARTS + part]], result[rows]),
        ]
    contents = [values.reshape(-1).view(np.uint8), result.reshape(-1).view(np.uint8)]
    memories = [tiles.reshape(-1).view(np.uint8), sums.reshape(-1).view(np.uint8)]
    layout = Layout(Graph(contents, memories, steps))
    powers = np.exp(values)
    return layout.calls, Plan(layout), contents, powers / np.add.reduce(powers, 1, keepdims=True)


def names(calls: Sequence[Call]) -> list[str]:
    return [call.function.__name__ for call in calls]


def test_a_part_is_stored_before_the_next_one_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Values are reduced in the parts in which they are computed, however small the results are."""
    calls, plan, contents, wanted = normalised(monkeypatch)
    assert names(calls) == ["exp"] * PARTS + ["add"] * PARTS + ["divide"] * PARTS
    assert names(_ordered(calls)) == ["exp", "add", "divide"] * PARTS
    assert plan.count == 3 * PARTS
    plan.run(contents)
    assert (contents[1].view(np.float32).reshape(wanted.shape) == wanted).all()


def test_a_call_waits_for_those_that_write_what_it_reads_and_not_for_others_of_the_area() -> None:
    line, whole = ((1, 4), (16, 4), F32), ((2, 4), (16, 4), F32)
    own = Area(False, 0)
    first, second = (Call(Style.EACH, np.exp, [Operand(GIVEN, at, *line), Operand(own, at, *line)]) for at in (0, 16))

    def stored(at: int, parts: tuple[Any, ...], to: int) -> Call:
        return Call(Style.EACH, np.sqrt, [Operand(own, at, *parts), Operand(Area(True, 1), to, *parts)])

    one, other, both = stored(0, line, 0), stored(16, line, 16), stored(0, whole, 64)
    assert _ordered([first, second, one, other]) == [first, one, second, other]
    assert _ordered([second, first, one, other]) == [first, one, second, other]
    assert _ordered([first, second, both, one]) in ([first, second, both, one], [second, first, both, one])
