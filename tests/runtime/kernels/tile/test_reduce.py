"""Reductions against loops over single numbers (docs/reference/tiles.md, "Broadcasts and reductions")."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from tile_run_helpers import DTYPES, TileData, tile
from tile_run_helpers import run as run_default
from tile_values import is_float, pairs, random_values, same, wrapped

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.kernels.tile.reduce import InOrder

run = partial(run_default, accumulate="exact")
"""Sums in increasing order; the default may take another one."""

BASIC = ("i16", "i32", "ui16", "ui32", "f16", "f32")
FULL = ("i8", "ui8", *BASIC, "bf16")
TYPES: dict[str, tuple[str, ...]] = {
    "trowsum": BASIC,
    "trowprod": BASIC,
    "trowmax": BASIC,
    "trowmin": BASIC,
    "tcolsum": FULL,
    "tcolprod": (*BASIC, "bf16"),
    "tcolmax": FULL,
    "tcolmin": FULL,
}


def fold(name: str, element: str, values: list[Any]) -> Any:
    """One reduced number: floats in float32, index increasing, rounded to the type at the end; integers wrap."""
    if is_float(element):
        total = np.float32(values[0])
        for value in map(np.float32, values[1:]):
            if name in ("max", "min"):
                larger = value > total if name == "max" else value < total
                total = value if larger or np.isnan(value) else total
            else:
                total = np.float32(total + value) if name == "sum" else np.float32(total * value)
        return total
    numbers = [int(v) for v in values]
    if name in ("max", "min"):
        return max(numbers) if name == "max" else min(numbers)
    total = 0 if name == "sum" else 1
    for value in numbers:
        total = total + value if name == "sum" else total * value
    return wrapped(total, element)


def sum_of_halves(values: list[Any]) -> Any:
    """Sum in index order, every step rounded to half; exact sums of two halves fit into float32."""
    total = np.float16(values[0])
    for value in values[1:]:
        total = np.float32(np.float32(total) + np.float32(value)).astype(np.float16)
    return total


def reduced(op: str, element: str, data: np.ndarray) -> np.ndarray:
    """The reduced row or column of a matrix."""
    dtype = np.dtype(DTYPES[element])
    with np.errstate(all="ignore"):
        lines = data if op.startswith("trow") else data.T
        by_halves = op == "tcolsum" and element == "f16"
        column = np.array([sum_of_halves(x) if by_halves else fold(op[4:], element, x) for x in map(list, lines)])
        column = column.astype(np.float32).astype(dtype) if is_float(element) else column.astype(dtype)
    return column.reshape(-1, 1) if op.startswith("trow") else column.reshape(1, -1)


def destination(op: str, element: str, rows: int, cols: int, form: str, valid: tuple[int, int]) -> TileData:
    """A tile for the result, all elements 7."""
    if op.startswith("trow"):
        if form == "dn":
            return tile("d", element, np.full((rows, 1), 7), (valid[0], 1), "blayout=col_major")
        return tile("d", element, np.full((rows, 32), 7), (valid[0], 1))
    return tile("d", element, np.full((1, cols), 7), (1, valid[1]))


def reduce(op: str, element: str, data: np.ndarray, valid: tuple[int, int], form: str = "nd") -> np.ndarray:
    """Result tile of a reduction of the valid region of ``data``."""
    extra, types, more = "", "{a}", ()
    if op.startswith("trow"):
        extra, types, more = ", %t", "{a}, {t}", (tile("t", element, data),)
    rows, cols = data.shape
    target = destination(op, element, rows, cols, form, valid)
    found = run(f"pto.{op} ins(%a{extra} : {types}) outs(%d : {{d}})", tile("a", element, data, valid), target, *more)
    return found["d"]


@pytest.mark.parametrize(("op", "element"), [(op, e) for op, types in TYPES.items() for e in types])
def test_whole_tiles_with_edge_values(op: str, element: str) -> None:
    data, other = pairs(element)
    data = np.vstack([data, other])
    result = reduce(op, element, data, data.shape)
    wanted = reduced(op, element, data)
    same(result[:, :1] if op.startswith("trow") else result, wanted)
    if op.startswith("trow"):
        assert (result[:, 1:] == 7).all()


@pytest.mark.parametrize("op", TYPES)
@pytest.mark.parametrize("valid", [(1, 1), (1, 64), (32, 1), (13, 37), (3, 5), (32, 4)])
@in_groups("form", ["nd", "dn"])
def test_partial_regions(op: str, valid: tuple[int, int], form: str) -> None:
    rng = np.random.default_rng(11)
    for element in ("i32", "f16", "f32"):
        data = random_values(element, (32, 64), rng)
        result = reduce(op, element, data, valid, form)
        part = data[: valid[0], : valid[1]]
        wanted = np.full(result.shape, 7, data.dtype)
        values = reduced(op, element, part)
        wanted[: values.shape[0], : values.shape[1]] = values
        same(result, wanted)


@pytest.mark.parametrize("op", ["trowsum", "tcolsum", "trowmax", "tcolprod"])
def test_regions_known_at_run_time(op: str) -> None:
    rng = np.random.default_rng(12)
    data = random_values("f32", (16, 32), rng)
    rows, cols = 11, 19
    row_form = op.startswith("trow")
    shape, valid = ((16, 8), (rows, 1)) if row_form else ((1, 32), (1, cols))
    result = tile("d", "f32", np.full(shape, 7), valid, dynamic=True)
    extra, types, more = (", %t", "{a}, {t}", (tile("t", "f32", data),)) if row_form else ("", "{a}", ())
    found = run(
        f"pto.{op} ins(%a{extra} : {types}) outs(%d : {{d}})",
        tile("a", "f32", data, (rows, cols), dynamic=True), result, *more,
    )["d"]  # fmt: skip
    wanted = reduced(op, "f32", data[:rows, :cols])
    same(found[:rows, :1] if row_form else found[:, :cols], wanted)


def summed(data: np.ndarray, axis: int) -> np.ndarray:
    """Sums as the reduction of f32 tiles computes them."""
    out = np.empty(data.shape[1 - axis], np.float32)
    InOrder(np.add, axis)(data, out)
    return out


@given(
    hnp.arrays(
        np.float32,
        st.tuples(st.integers(1, 70), st.integers(1, 70)),
        elements=st.floats(-1e6, 1e6, width=32).map(lambda x: x if abs(x) > 1e-3 else 0.0)
        | st.sampled_from([np.inf, -np.inf, np.nan, -0.0]),
    ),
    st.sampled_from([0, 1]),
    st.sampled_from(["C", "F"]),
)
def test_sums_are_in_order(values: np.ndarray, axis: int, order: Any) -> None:
    """Bit for bit one addition after the other, whatever the layout of the array."""
    data = np.array(values, order=order)
    with np.errstate(all="ignore"):
        found = summed(data, axis)
        lines = data if axis else data.T
        wanted = np.empty(len(lines), np.float32)
        for index, line in enumerate(lines):
            total = line[0]
            for value in line[1:]:
                total = np.float32(total + value)
            wanted[index] = total
    same(found, wanted)


@pytest.mark.parametrize("shape", [(4096, 8), (3000, 5), (5, 3000), (2, 9000), (9000, 1), (1, 9000)])
@pytest.mark.parametrize("axis", [0, 1])
def test_long_sums_are_in_order(shape: tuple[int, int], axis: int) -> None:
    data = np.random.default_rng(13).standard_normal(shape).astype(np.float32)
    wanted = np.asarray(np.cumsum(data, axis=axis, dtype=np.float32).take(-1, axis=axis))
    same(summed(data, axis), wanted)


def test_f16_sums_are_rounded_once() -> None:
    """2048 ones and a 1: in f16 steps the sum would stop at 2048."""
    data = np.ones((1, 4096), np.float16)
    assert reduce("trowsum", "f16", data, (1, 4095))[0, 0] == np.float16(4095.0)


POSITIONS: dict[str, Callable[[Any, Any], bool]] = {"max": lambda x, y: x > y, "min": lambda x, y: x < y}


def first_extremum(name: str, values: list[Any]) -> int:
    """Index of the first extremum; a NaN counts as one."""
    for index, value in enumerate(values):
        if value != value:
            return index
    best = 0
    for index, value in enumerate(values):
        if POSITIONS[name](value, values[best]):
            best = index
    return best


@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("element", ["i16", "i32", "ui32", "f16", "f32"])
@pytest.mark.parametrize("valid", [(16, 32), (9, 13)])
def test_row_positions(name: str, element: str, valid: tuple[int, int]) -> None:
    data = np.round(pairs(element)[0] / 4) if is_float(element) else pairs(element)[0] // 1000
    data = np.array(data, DTYPES[element])
    rows, cols = valid
    for kind in ("i32", "ui32"):
        found = run(
            f"pto.trowarg{name} ins(%a, %t : {{a}}, {{t}}) outs(%d : {{d}})",
            tile("a", element, data, valid), tile("t", element, data),
            tile("d", kind, np.full((16, 8), 99), (rows, 1)),
        )["d"]  # fmt: skip
        wanted = np.full((16, 8), 99, DTYPES[kind])
        wanted[:rows, 0] = [first_extremum(name, list(line)) for line in data[:rows, :cols].astype(np.float64)]
        same(found, wanted)


@pytest.mark.parametrize("name", POSITIONS)
@pytest.mark.parametrize("element", ["i8", "i16", "i32", "ui8", "f16", "bf16", "f32"])
@pytest.mark.parametrize("valid", [(16, 32), (9, 13)])
def test_column_positions(name: str, element: str, valid: tuple[int, int]) -> None:
    data = pairs(element)[1]
    rows, cols = valid
    found = run(
        f"pto.tcolarg{name} ins(%a, %t : {{a}}, {{t}}) outs(%d : {{d}})",
        tile("a", element, data, valid), tile("t", element, data), tile("d", "i32", np.full((1, 32), 99), (1, cols)),
    )["d"]  # fmt: skip
    wanted = np.full((1, 32), 99, np.int32)
    wanted[0, :cols] = [first_extremum(name, list(line)) for line in data[:rows, :cols].T.astype(np.float64)]
    same(found, wanted)


def test_a_sum_over_its_own_source() -> None:
    """dst is the first row of src."""
    data = np.arange(16 * 32, dtype=np.float32).reshape(16, 32)
    found = run(
        "pto.tcolsum ins(%a : {a}) outs(%d : {d})", tile("a", "f32", data), tile("d", "f32", data[:1], alias="a")
    )["a"]
    same(found, np.vstack([data.sum(axis=0, keepdims=True), data[1:]]))
    found = run(
        "pto.tcolmax ins(%a : {a}) outs(%d : {d})", tile("a", "f32", data), tile("d", "f32", data[:1], alias="a")
    )["a"]
    same(found, np.vstack([data[-1:], data[1:]]))


def test_nothing_to_reduce() -> None:
    data = np.ones((16, 32), np.float32)
    empty = tile("a", "f32", data, (16, 0), dynamic=True)
    with pytest.raises(ProgramError) as error:
        run(
            "pto.trowsum ins(%a, %t : {a}, {t}) outs(%d : {d})",
            empty, tile("t", "f32", data), tile("d", "f32", np.ones((16, 8)), (16, 1)),
        )  # fmt: skip
    assert error.value.rule == "reduce-nonempty"
    found = run(
        "pto.trowsum ins(%a, %t : {a}, {t}) outs(%d : {d})",
        empty, tile("t", "f32", data), tile("d", "f32", np.full((16, 8), 7), (0, 0), dynamic=True),
    )  # fmt: skip
    assert (found["d"] == 7).all()


@pytest.mark.parametrize("rows", [1, 2, 3, 7, 8, 13, 32])
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_pairwise_sums_of_halves(target: str, rows: int) -> None:
    """Rows i and i + 1, then their sums; one without a neighbour goes to the first sum on a2a3, to the last on a5."""
    data = (np.random.default_rng(9).standard_normal((32, 32)) * 100).astype(np.float16)

    def tree(numbers: list[Any]) -> Any:
        while len(numbers) > 1:
            sums = [np.float16(x + y) for x, y in zip(numbers[::2], numbers[1::2], strict=False)]
            if len(numbers) % 2:
                place = 0 if target == "a2a3" else -1
                sums[place] = np.float16(sums[place] + numbers[-1])
            numbers = sums
        return numbers[0]

    wanted = np.array([[tree(list(column)) for column in data[:rows].T]], np.float16)
    found = run_default(
        "pto.tcolsum ins(%a, %t {isBinary = true} : {a}, {t}) outs(%d : {d})",
        tile("a", "f16", data, (rows, 32)), tile("t", "f16", np.zeros((32, 32))),
        tile("d", "f16", np.zeros((1, 32))), target=target,
    )["d"]  # fmt: skip
    same(found, wanted)


@pytest.mark.parametrize("element", ["f32", "f16"])
@pytest.mark.parametrize("op", ["trowsum", "tcolsum"])
def test_default_order_stays_within_the_tolerance(op: str, element: str) -> None:
    """1e-6 times the number of summands, relative to the sum of the magnitudes; then one rounding to the type."""
    data = np.random.default_rng(8).standard_normal((48, 48)).astype(DTYPES[element])
    axis = 1 if op == "trowsum" else 0
    result = np.zeros((48, 32) if axis else (8, 48), DTYPES[element])
    valid = (48, 1) if axis else (1, 48)
    extra = ", %a : {a}, {a}" if axis else " : {a}"
    found = run_default(
        f"pto.{op} ins(%a{extra}) outs(%d : {{d}})",
        tile("a", element, data),
        TileData("d", element, result, valid),
    )
    got = (found["d"][:, 0] if axis else found["d"][0]).astype(np.float64)
    wide = data.astype(np.float64)
    roundings = 48 if op == "tcolsum" else 1
    bound = 48e-6 * np.abs(wide).sum(axis) + np.abs(wide).sum(axis) * {"f32": 0, "f16": roundings * 2.0**-11}[element]
    assert (np.abs(got - wide.sum(axis)) <= bound).all()


@pytest.mark.parametrize("results", [2, 9])
def test_a_sum_of_nothing_but_negative_zeros_is_one_for_any_number_of_results(results):
    out = np.ones(results, np.float32)
    InOrder(np.add, 1)(np.full((results, 5), -0.0, np.float32), out)
    assert np.signbit(out).all()
