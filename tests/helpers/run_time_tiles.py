"""Tiles and views as a run has them, made without a program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.layout import tile_layout
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import GmTensor, Tile, ValueTile
from pto_dialect.runtime.numerics.formats import format_of


def value(rows: int, cols: int, element: str = "f32", data: Any = None) -> ValueTile:
    """A tile value; by default the numbers 0, 1, .. row after row."""
    fmt = format_of(element)
    numbers = np.arange(rows * cols) if data is None else np.asarray(data)
    return ValueTile(rows, cols, fmt, numbers.reshape(rows, cols).astype(fmt.storage))


def held(
    rows: int,
    cols: int,
    element: str = "f32",
    valid: tuple[int, int] | None = None,
    pad: int = 0,
    layout: tuple[str, str, int] = ("row_major", "none_box", 512),
    room: int = 4096,
) -> Tile:
    """A tile at byte 64 of a memory of its own; its bytes are 0."""
    fmt = format_of(element)
    whole = tile_layout(rows, cols, fmt.bytes, *layout)
    arena = Arena("ub", room)
    return Tile(arena.pointer(64, fmt.storage), whole, fmt, "vec", rows, cols, *(valid or (rows, cols)), pad=pad)


def table(rows: int, cols: int, element: str = "f32") -> GmTensor:
    """A view of global memory with the numbers 0, 1, .. row after row."""
    fmt = format_of(element)
    arena = Arena.from_array(np.arange(rows * cols).astype(fmt.storage), name="a")
    return GmTensor(arena.pointer(0, fmt.storage), (rows, cols), (cols, 1), fmt)


def refused(rule: str, message: str, work: Callable[[], object]) -> None:
    """Runs what a fault of this rule, with this message, ends."""
    with pytest.raises(Fault) as caught:
        work()
    assert (caught.value.rule, caught.value.message) == (rule, message)
