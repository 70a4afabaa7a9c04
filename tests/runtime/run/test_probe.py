"""How much memory a program wants: buffers that grow to what is touched."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parse_helpers import parsed

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.run import probe
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.machine import RunOptions
from pto_dialect.runtime.run.per_core import InParts
from pto_dialect.runtime.run.probe import GrowingArena, wanted_bytes

I32 = np.dtype(np.int32)


def test_a_buffer_grows_to_the_end_of_what_is_touched() -> None:
    arena = GrowingArena("x", I32, 0)
    assert (arena.capacity, arena.bytes.size, arena.space, arena.name) == (0, 0, "gm", "x")
    for low, high, size in ((0, 4, 4), (2, 4, 4), (8, 9, 12), (4, 12, 12), (400, 401, 404)):
        assert arena.reaches(low, high)
        arena.check(low, high, "a load")
        assert arena.capacity == arena.bytes.size == size
    assert not arena.bytes.any()


@pytest.mark.parametrize(("low", "high"), [(-1, 4), (0, (1 << 29) + 1)])
def test_some_locations_never_exist(low: int, high: int) -> None:
    arena = GrowingArena("x", I32, 0)
    assert not arena.reaches(low, high) and arena.capacity == 0
    with pytest.raises(Fault) as caught:
        arena.check(low, high, "a load")
    assert caught.value.rule == "mem-oob"


def test_all_of_the_largest_buffer_is_there() -> None:
    assert GrowingArena("x", I32, 0).reaches(0, 1 << 29)
    assert probe.MOST_BYTES == 1 << 29


@pytest.mark.parametrize("ends", [(4, 40), (40,), (1, 2, 3, 17, 18, 40), (8, 16, 24, 40)])
def test_elements_begin_with_the_number(ends: tuple[int, ...]) -> None:
    arena = GrowingArena("x", I32, 7)
    for end in ends:
        assert arena.reaches(0, end)
        assert arena.bytes.view(I32).tolist() == [7] * (-(-end // 4))
        # What was written stays.
    arena.bytes.view(I32)[0] = 3
    assert arena.reaches(0, 80) and arena.bytes.view(I32).tolist() == [3, *[7] * 19]


TEXT = """module attributes {pto.target_arch = "a5"} {
func.func @k(%a: !pto.ptr<f32>, %i: !pto.ptr<i32>, %y: !pto.ptr<f32>, %n: index, %l: !pto.ptr<f32, ub>) {
  %c0 = arith.constant 0 : index
  %at = pto.load_scalar %i[%n] : !pto.ptr<i32> -> i32
  %place = arith.index_cast %at : i32 to index
  %x = pto.load_scalar %a[%place] : !pto.ptr<f32> -> f32
  pto.store_scalar %x, %y[%c0] : !pto.ptr<f32>, f32
  return
}
}"""


@pytest.mark.parametrize("number", [0, 5])
@pytest.mark.parametrize("place", [0, 9])
def test_what_a_program_touches(number: int, place: int) -> None:
    module, found = parsed(TEXT)
    assert found == []
    kernel = Kernel(module, None, None, RunOptions())
    given: list[Any] = [np.ones(1, np.float32), np.ones(1, np.int32), np.ones(1, np.float32), place]
    values = [*given, np.zeros(8, np.float32)]
    expected = {0: 4 * (number + 1), 1: 4 * (place + 1), 2: 4}
    assert wanted_bytes(kernel, values, number=number) == expected
    # Nothing was written to what was given, and parts of a buffer say how large it is.
    assert [array.tolist() for array in given[:3]] == [[1.0], [1], [1.0]]
    values[2] = InParts(np.zeros(8, np.float32))
    del expected[2]
    assert wanted_bytes(kernel, values, 2, number=number) == expected
