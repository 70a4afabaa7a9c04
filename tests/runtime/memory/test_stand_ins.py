"""Memory that a handle does not have, views of packed numbers as arrays, and dense strides."""

from __future__ import annotations

import numpy as np
import pytest

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.layout import tile_layout
from pto_dialect.runtime.memory.memref import MemRef, dense_strides
from pto_dialect.runtime.memory.packed_view import PackedView
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import Unusable
from pto_dialect.runtime.numerics.formats import format_of


def test_memory_that_is_not_there_refuses_every_use() -> None:
    nothing = Unusable("mem-oob", "no memory yet")
    for use in (lambda: nothing.array, lambda: setattr(nothing, "rows", 3), lambda: np.asarray(nothing)):
        with pytest.raises(Fault, match="no memory yet") as caught:
            use()
        assert caught.value.rule == "mem-oob"


def test_packed_numbers_as_arrays() -> None:
    layout = tile_layout(16, 32, 1, "col_major", "row_major")
    view = PackedView(layout, Arena("l1", layout.nbytes).pointer(0, np.uint8), 16, 64)
    numbers = np.random.default_rng(1).integers(0, 16, (16, 64), np.uint8)
    view.write(numbers)
    part = np.zeros((5, 7), np.uint8)
    view.read_into(part)
    assert (part == numbers[:5, :7]).all() and view.dtype == np.uint8
    view.fill(9, 4, 6)
    numbers[:4, :6] = 9
    assert (view.read() == numbers).all()
    view.fill(3)
    assert (view.read() == 3).all()


@pytest.mark.parametrize(("shape", "strides"), [((5,), (1,)), ((2, 3, 4), (12, 4, 1)), ((), ())])
def test_dense_strides(shape: tuple[int, ...], strides: tuple[int, ...]) -> None:
    assert dense_strides(shape) == strides


def test_a_memref_as_a_matrix() -> None:
    memory = np.arange(24, dtype=np.float32)
    matrix = MemRef(Arena.from_array(memory).pointer(0, np.float32), (4, 6), (6, 1), format_of("f32"))
    part = np.zeros((3, 2), np.float32)
    matrix.read_into(part)
    assert (part == memory.reshape(4, 6)[:3, :2]).all()
    assert matrix.loc == "gm"
