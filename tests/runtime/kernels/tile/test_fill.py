"""Padding copies and concatenation, element by element (docs/reference/tiles.md, "Irregular operations")."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tile_run_helpers import DTYPES, run, tile
from tile_values import is_float, random_values, same

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.targets.backend import Backend

ELEMENTS = ("i8", "i16", "i32", "ui8", "ui16", "ui32", "f16", "bf16", "f32")


def pad(element: str, kind: int, backend: str | None = None) -> Any:
    """Pad value: 1 zero, 2 largest, 3 smallest; infinities for 16-bit floats, the largest finite value for f32."""
    dtype = np.dtype(DTYPES[element])
    if kind == 1:
        return dtype.type(0)
    sign = 1 if kind == 2 else -1
    if is_float(element):
        return dtype.type(sign * (float(ml_dtypes.finfo(dtype).max) if backend == "vpto" else np.inf))
    return dtype.type(np.iinfo(dtype).max if kind == 2 else np.iinfo(dtype).min)


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("element", ELEMENTS)
@pytest.mark.parametrize("valid", [(16, 32), (9, 13), (1, 1), (0, 0)])
def test_fill_pad(element: str, kind: int, valid: tuple[int, int]) -> None:
    rng = np.random.default_rng(20)
    a, before = (random_values(element, (16, 32), rng) for _ in range(2))
    rows, cols = valid
    backends: tuple[Backend | None, ...] = (None, "emitc", "vpto")
    for dynamic, backend in product((False, True), backends):
        wanted = np.full((16, 32), pad(element, kind, backend))
        wanted[:rows, :cols] = a[:rows, :cols]
        source = tile("a", element, a, valid, dynamic=dynamic)
        found = run(
            "pto.tfillpad ins(%a : {a}) outs(%d : {d})", source, tile("d", element, before, layout=f"pad={kind}"),
            backend=backend,
        )  # fmt: skip
        same(found["d"], wanted)
        same(found["a"], a)


@pytest.mark.parametrize(("backend", "cols"), [("emitc", 32), ("vpto", 20)])
def test_rows_after_the_valid_ones_keep_what_they_have(backend: Backend, cols: int) -> None:
    """Headers and templates fill up to the valid rows of the destination, headers whole rows."""
    a = np.ones((16, 32), np.float32)
    found = run(
        "pto.tfillpad ins(%a : {a}) outs(%d : {d})",
        tile("a", "f32", a, (4, 8)), tile("d", "f32", np.full((16, 32), 5), (10, 20), "pad=1"), backend=backend,
    )["d"]  # fmt: skip
    wanted = np.full((16, 32), 5, np.float32)
    wanted[:10, :cols] = 0
    wanted[:4, :8] = 1
    same(found, wanted)


def test_expanding_and_in_place() -> None:
    rng = np.random.default_rng(21)
    a = random_values("i16", (8, 16), rng)
    found = run(
        "pto.tfillpad_expand ins(%a : {a}) outs(%d : {d})",
        tile("a", "i16", a, (7, 11)), tile("d", "i16", np.zeros((16, 32)), layout="pad=3"),
    )["d"]  # fmt: skip
    wanted = np.full((16, 32), -32768, np.int16)
    wanted[:7, :11] = a[:7, :11]
    same(found, wanted)
    b = random_values("f32", (16, 32), rng)
    found = run(
        "pto.tfillpad_inplace ins(%a : {a}) outs(%d : {d})",
        tile("a", "f32", b, (5, 30)), tile("d", "f32", b, layout="pad=2", alias="a"),
    )["a"]  # fmt: skip
    wanted = np.full((16, 32), np.inf, np.float32)
    wanted[:5, :30] = b[:5, :30]
    same(found, wanted)


@pytest.mark.parametrize("layout", ["blayout=col_major", "blayout=col_major, slayout=row_major"])
def test_fill_pad_in_other_layouts(layout: str) -> None:
    rng = np.random.default_rng(22)
    a, before = (random_values("f16", (32, 32), rng) for _ in range(2))
    found = run(
        "pto.tfillpad ins(%a : {a}) outs(%d : {d})",
        tile("a", "f16", a, (20, 9), layout), tile("d", "f16", before, layout=f"{layout}, pad=1"), verify=False,
    )["d"]  # fmt: skip
    wanted = np.zeros((32, 32), np.float16)
    wanted[:20, :9] = a[:20, :9]
    same(found, wanted)


def test_same_size_elements_keep_their_bits() -> None:
    a = np.arange(512, dtype=np.int32).reshape(16, 32)
    found = run(
        "pto.tfillpad ins(%a : {a}) outs(%d : {d})",
        tile("a", "i32", a), tile("d", "f32", np.zeros((16, 32)), layout="pad=1"),
    )["d"]  # fmt: skip
    same(found.view(np.int32), a)


@pytest.mark.parametrize("element", ["i8", "i16", "i32", "f16", "bf16", "f32"])
@pytest.mark.parametrize(("first", "second"), [(32, 32), (13, 32), (1, 1), (31, 7)])
def test_concatenation(element: str, first: int, second: int) -> None:
    rng = np.random.default_rng(23)
    a, b = (random_values(element, (8, 32), rng) for _ in range(2))
    before = random_values(element, (8, 64), rng)
    found = run(
        "pto.tconcat ins(%a, %b : {a}, {b}) outs(%d : {d})",
        tile("a", element, a, (7, first)), tile("b", element, b, (7, second)),
        tile("d", element, before, (7, first + second)),
    )["d"]  # fmt: skip
    wanted = before.copy()
    for r in range(7):
        wanted[r, : first + second] = [*a[r, :first], *b[r, :second]]
    same(found, wanted)


def test_concatenation_needs_enough_columns() -> None:
    data = np.zeros((8, 32), np.float32)
    with pytest.raises(ProgramError) as error:
        run(
            "pto.tconcat ins(%a, %b : {a}, {b}) outs(%d : {d})",
            tile("a", "f32", data, (8, 20), dynamic=True), tile("b", "f32", data, (8, 20), dynamic=True),
            tile("d", "f32", data),
        )  # fmt: skip
    assert error.value.rule == "tconcat-cols"


@pytest.mark.parametrize("index", ["i8", "i16", "i32"])
@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
def test_counted_concatenation(element: str, index: str) -> None:
    """Counts have the unit of their own size and no sign; they end at the valid columns of the result."""
    rng = np.random.default_rng(24)
    a, b = (random_values(element, (8, 32), rng) for _ in range(2))
    before = random_values(element, (8, 32), rng)
    first, second = [0, 5, 80, 100, 127, -1, 121, 12], [7, 12, 20, 0, 32, 13, 1, 127]
    counts = [np.repeat(np.array(x).reshape(8, 1), 32, axis=1) for x in (first, second)]
    found = run(
        "pto.tconcatidx ins(%a, %b, %i, %j : {a}, {b}, {i}, {j}) outs(%d : {d})",
        tile("a", element, a, (8, 24)), tile("b", element, b, (8, 15)), tile("i", index, counts[0]),
        tile("j", index, counts[1]), tile("d", element, before, (8, 30)),
    )["d"]  # fmt: skip
    wanted = before.copy()
    for r in range(8):
        size = {"i8": 1, "i16": 2, "i32": 4}[index]
        n = min(first[r] % 2**32 // size, 30)
        m = min(second[r] // size, 30 - n)
        wanted[r, : n + m] = [*a[r, :n], *b[r, :m]]
    same(found, wanted)
