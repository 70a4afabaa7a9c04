"""Products of matrices without rows, columns or depth: the sum of nothing is 0, and the rest of a tile is kept."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from run_time_tiles import held, value

from pto_dialect.runtime.kernels.cube.matmul import TileMatmul
from pto_dialect.runtime.memory.fractal_load import load_fractals
from pto_dialect.runtime.memory.spaces import Arena

EXTENTS = [extents for extents in product((0, 2), (0, 3), (0, 4)) if 0 in extents]


def _held(rows: int, cols: int, element: str, number: int) -> Any:
    tile = held(16, 16, element, valid=(16, 16))
    tile.view.write(np.full((16, 16), number, tile.fmt.storage))
    tile.set_valid(rows, cols)
    return tile


def _value(rows: int, cols: int, element: str, number: int) -> Any:
    return value(rows, cols, element, np.full(rows * cols, number))


@pytest.mark.parametrize("make", [_held, _value])
@pytest.mark.parametrize(("element", "result"), [("f16", "f32"), ("f32", "f32"), ("i8", "i32")])
@in_groups("extents", EXTENTS)
def test_what_an_empty_product_adds(
    extents: tuple[int, int, int], element: str, result: str, make: Callable[..., Any]
) -> None:
    for start, exact in product(("", "acc", "bias"), (False, True)):
        _check(*extents, element, result, start, exact, make)


def _check(
    m: int, k: int, n: int, element: str, result: str, start: str, exact: bool, make: Callable[..., Any]
) -> None:
    dst = make(m, n, result, 9)
    init = {"": None, "acc": make(m, n, result, 5), "bias": make(1, n, result, 5)}[start]
    operation = TileMatmul("pto.tmatmul", exact, bool(start), start == "bias", False)
    operation(make(m, k, element, 2), make(k, n, element, 3), dst, init)
    assert (dst.read() == (5 if start else 0)).all()
    if make is _held:
        dst.set_valid(16, 16)
        rest = dst.read().copy()
        rest[:m, :n] = 9
        assert (rest == 9).all()


@pytest.mark.parametrize("steps", [(0, 2), (2, 0), (0, 0)])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("first", [0, 1000])
@pytest.mark.parametrize("stride", [0, 8])
def test_loads_of_no_fractal_write_nothing(steps: tuple[int, int], transpose: bool, first: int, stride: int) -> None:
    """Also where the source would begin after the end of its memory."""
    target, source = Arena("l0a", 4096), Arena("l1", 4096)
    source.bytes[:] = 7
    addresses = target.pointer(0, np.uint16), source.pointer(0, np.uint16)
    load_fractals(*addresses, first, first, *steps, stride, stride, transpose)
    assert not target.bytes.any()
