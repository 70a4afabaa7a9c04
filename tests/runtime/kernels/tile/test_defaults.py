"""What tile operations do where no attribute says it: rows or elements, fillers, indices outside. Source:
docs/reference/tiles.md, "Irregular operations".
"""

from __future__ import annotations

import math
from itertools import product
from typing import Any

import numpy as np
import pytest
from groups import in_groups

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.tile.memory import pad_value
from pto_dialect.runtime.kernels.tile.table_gather import bounded, whole_rows
from pto_dialect.runtime.memory.values import ValueTile
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import format_of

SIZES = (1, 2, 3, 8)


@pytest.mark.parametrize("coalesce", ["", "row", "elem"])
def test_an_index_names_a_row_where_there_is_one_for_each(coalesce: str) -> None:
    for rows, cols, lines, width in product(SIZES, repeat=4):
        idx: Any = ValueTile(rows, cols, format_of("i32"))
        data: Any = ValueTile(lines, width, format_of("f32"))
        one_each = (rows, cols) in ((lines, 1), (1, lines)) and (rows, cols) != (lines, width)
        assert whole_rows(coalesce, idx, data) == (one_each if not coalesce else coalesce == "row")


@pytest.mark.parametrize("mode", ["clamp", "wrap", "zero", "skip", "undefined"])
@pytest.mark.parametrize("dtype", [np.int32, np.int16, np.uint16])
@pytest.mark.parametrize("size", [1, 5, 100])
def test_indices_outside_of_a_table(mode: str, dtype: Any, size: int) -> None:
    bits = np.dtype(dtype).itemsize * 8
    given = np.array([0, 1, size - 1, size, size + 3, np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    exact = [int(number) for number in given]
    if mode == "undefined":
        with pytest.raises(Fault, match=f"index {next(n for n in exact if not 0 <= n < size)} of a table with {size}"):
            bounded(given, size, mode)
        given = given[:1]
        exact = exact[:1]
    moved, counts = bounded(given, size, mode)
    for number, place, counted in zip(exact, moved, counts, strict=True):
        unsigned = number % (1 << bits)
        if mode == "clamp":
            assert (int(place), bool(counted)) == (min(unsigned, size - 1), True)
        elif mode == "wrap":
            assert (int(place), bool(counted)) == (unsigned % size, True)
        else:
            assert bool(counted) == (0 <= number < size)
            assert int(place) == number or not counted
        assert 0 <= int(place) < size


@pytest.mark.parametrize("backend", [None, "emitc", "vpto"])
@in_groups(
    ("name", "greatest", "finite"),
    [
        ("f32", math.inf, (2 - 2**-23) * 2.0**127),
        ("f16", math.inf, 65504.0),
        ("bf16", math.inf, (2 - 2**-7) * 2.0**127),
        ("i8", 127, 127),
        ("ui8", 255, 255),
        ("i16", 32767, 32767),
        ("ui16", 65535, 65535),
        ("i32", 2**31 - 1, 2**31 - 1),
        ("ui32", 2**32 - 1, 2**32 - 1),
    ],
)
def test_fillers(name: str, greatest: float, finite: float, backend: Any) -> None:
    fmt = format_of(name)
    zero, most, least = (pad_value(fmt, pad, backend) for pad in (1, 2, 3))
    assert zero == 0 and np.asarray(zero).dtype.itemsize == fmt.bytes
    wanted = finite if backend == "vpto" else greatest
    lowest = -wanted if fmt.is_float else -wanted - 1 if name.startswith("i") else 0
    assert [float(decode(np.array([value], fmt.storage), fmt)[0]) for value in (most, least)] == [wanted, lowest]


@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "hif8", "f8E8M0", "f4E1M2x2", "f4E2M1x2"])
@pytest.mark.parametrize("pad", [1, 2, 3])
@pytest.mark.parametrize("backend", [None, "vpto"])
def test_small_floats_are_filled_with_zeros(name: str, pad: int, backend: Any) -> None:
    fmt = format_of(name)
    assert np.asarray(pad_value(fmt, pad, backend)).tobytes() == bytes(fmt.bytes)
