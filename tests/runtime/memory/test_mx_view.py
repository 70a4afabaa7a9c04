"""Views of MX scales in blocks of 16 x 2, wholes and parts (docs/reference/layouts.md, "MX scales")."""

from __future__ import annotations

import numpy as np
import pytest

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.gm_view import gm_matrix_index
from pto_dialect.runtime.memory.mx_view import MxTensor
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.numerics.formats import format_of


def place(layout: str, r: int, c: int, rows: int, cols: int) -> int:
    if layout == "mx_a_zz":
        return (r // 16) * (cols * 16) + (c // 2) * 32 + (r % 16) * 2 + c % 2
    return (c // 16) * (rows * 16) + (r // 2) * 32 + (c % 16) * 2 + r % 2


def tensor(layout: str, rows: int, cols: int, data: np.ndarray) -> MxTensor:
    pointer = Arena.from_array(data).pointer(0, np.uint8)
    return MxTensor(pointer, (rows, cols), (cols, 1), format_of("f8E8M0"), layout)


@pytest.mark.parametrize(("layout", "rows", "cols"), [("mx_a_zz", 48, 6), ("mx_b_nn", 6, 48)])
def test_wholes_and_parts(layout: str, rows: int, cols: int) -> None:
    data = np.random.default_rng(1).integers(0, 255, rows * cols).astype(np.uint8)
    wanted = np.array([[data[place(layout, r, c, rows, cols)] for c in range(cols)] for r in range(rows)])
    view = tensor(layout, rows, cols, data)
    assert (view.matrix().read() == wanted).all()
    assert view.elements() is None
    for first, sizes in (((0, 0), (rows, cols)), ((3, 1), (2, 5)), ((rows // 2, cols // 2), (rows // 3, cols // 3))):
        part = view.part(first, sizes)
        area = np.s_[first[0] : first[0] + sizes[0], first[1] : first[1] + sizes[1]]
        assert (part.matrix().read() == wanted[area]).all()
        inner = part.part((1, 1), (1, 1))
        assert (inner.matrix().read() == wanted[area][1:2, 1:2]).all()
        out = np.zeros(sizes, np.float32)
        part.matrix().read_into(out)
        assert (out == wanted[area]).all()
        part.matrix().write(wanted[area] + 1)
        assert (view.matrix().read()[area] == (wanted[area] + 1).astype(np.uint8)).all()
        part.matrix().write(wanted[area])


def test_an_odd_number_of_groups_fills_its_last_block() -> None:
    data = np.arange(64, dtype=np.uint8)
    view = tensor("mx_a_zz", 16, 3, data)
    assert view.matrix().read()[2].tolist() == [4, 5, 36]


def test_locations_outside_of_the_buffer() -> None:
    with pytest.raises(Fault) as fault:
        tensor("mx_a_zz", 16, 4, np.zeros(63, np.uint8)).matrix()
    assert fault.value.rule == "mem-oob"


@pytest.mark.parametrize(("layout", "order"), [("mx_a_zz", (1, 2)), ("mx_b_nn", (2, 1))])
def test_views_of_five_dims_state_the_blocks_themselves(layout: str, order: tuple[int, int]) -> None:
    shape = (1, 3, 2, 16, 2)
    matrix = gm_matrix_index(shape, layout)
    long, short = 3 * 16, 2 * 2
    assert (matrix.rows, matrix.cols) == ((long, short) if layout == "mx_a_zz" else (short, long))
    blocks = ((0, 1, 3), (2, 4))
    assert (matrix.row_dims, matrix.col_dims) == (blocks if layout == "mx_a_zz" else blocks[::-1])
