"""Broadcasts of rows and columns against formulas on single numbers (docs/reference/tiles.md, "Broadcasts and
reductions").
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from tile_run_helpers import DTYPES, run, tile
from tile_values import edges, elementwise, pairs, random_values, same

import pto_dialect
from pto_dialect.targets.backend import Backend

FULL = ("i8", "i16", "i32", "ui8", "f16", "bf16", "f32")
BASIC8 = ("i8", "i16", "i32", "f16", "f32")


def nan_max(a: Any, b: Any) -> Any:
    return np.float32(np.nan) if np.isnan(a) or np.isnan(b) else max(a, b)


def nan_min(a: Any, b: Any) -> Any:
    return np.float32(np.nan) if np.isnan(a) or np.isnan(b) else min(a, b)


def divide(a: Any, b: Any) -> Any:
    if isinstance(a, int):
        return 0 if b == 0 else math.trunc(a / b)
    return np.divide(a, b)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": divide,
    "max": nan_max,
    "min": nan_min,
}


def column(values: np.ndarray, element: str, form: str) -> Any:
    """A column vector: one column-major column, or 32 bytes of row-major copies in each row."""
    if form == "col":
        return tile("v", element, values.reshape(-1, 1), layout="blayout=col_major")
    copies = 32 // values.dtype.itemsize
    return tile("v", element, np.repeat(values.reshape(-1, 1), copies, axis=1))


@pytest.mark.parametrize("element", BASIC8)
@pytest.mark.parametrize("name", OPERATIONS)
def test_row_vector(name: str, element: str) -> None:
    a, b = pairs(element)
    row = b[3:4]
    found = run(
        f"pto.tcolexpand{name} ins(%a, %v : {{a}}, {{v}}) outs(%d : {{d}})",
        tile("a", element, a), tile("v", element, row), tile("d", element, a),
    )  # fmt: skip
    same(found["d"], elementwise(OPERATIONS[name], element, a, np.repeat(row, 16, axis=0)))


@pytest.mark.parametrize("form", ["row", "col"])
@pytest.mark.parametrize("element", BASIC8)
@pytest.mark.parametrize("name", OPERATIONS)
def test_column_vector(name: str, element: str, form: str) -> None:
    a, _ = pairs(element)
    a = np.vstack([a, a])
    vector = np.concatenate([edges(element), edges(element)[::-1]])
    found = run(
        f"pto.trowexpand{name} ins(%a, %v : {{a}}, {{v}}) outs(%d : {{d}})",
        tile("a", element, a), column(vector, element, form), tile("d", element, a),
    )  # fmt: skip
    wanted = np.repeat(vector.reshape(-1, 1), a.shape[1], axis=1)
    same(found["d"], elementwise(OPERATIONS[name], element, a, wanted))


@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("element", ["f16", "f32", "i32"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_different_values_in_a_row_of_the_vector(name: str, element: str, first: bool) -> None:
    """emitc: column c takes value c modulo their number; vpto: value 0."""
    rng = np.random.default_rng(4)
    lanes = 32 // np.dtype(DTYPES[element]).itemsize
    a, v = random_values(element, (16, 48), rng), random_values(element, (16, lanes), rng)
    cyclic = np.stack([v[:, c % lanes] for c in range(48)], axis=1)
    cases: tuple[tuple[str, Backend | None, np.ndarray], ...] = (
        ("a5", None, cyclic), ("a5", "emitc", cyclic), ("a2a3", "vpto", cyclic),
        ("a5", "vpto", np.repeat(v[:, :1], 48, axis=1)),
    )  # fmt: skip
    for target, backend, wanted in cases:
        for valid, dynamic in (((16, 48), False), ((16, 48), True), ((16, 21), True)):
            names = ("%v, %a", "{v}, {a}") if first else ("%a, %v", "{a}, {v}")
            before = np.zeros_like(a)
            found = run(
                f"pto.trowexpand{name} ins({names[0]} : {names[1]}) outs(%d : {{d}})",
                tile("a", element, a, valid, dynamic=dynamic), tile("v", element, v),
                tile("d", element, before, valid, dynamic=dynamic), target=target, backend=backend,
                verify=target == "a5",
            )["d"]  # fmt: skip
            operands = (wanted, a) if first else (a, wanted)
            result = elementwise(OPERATIONS[name], element, *operands)
            same(found, np.where(np.arange(48) < valid[1], result, before))


@pytest.mark.parametrize("name", ["max", "min", "expdif", "add", "sub", "mul", "div"])
@pytest.mark.parametrize("form", ["row", "col"])
@pytest.mark.parametrize("dynamic", [False, True])
def test_the_first_operand_may_be_the_vector(name: str, form: str, dynamic: bool) -> None:
    rng = np.random.default_rng(5)
    a, vector = random_values("f32", (16, 32), rng), random_values("f32", (16,), rng)
    valid = (16, 24)
    found = run(
        f"pto.trowexpand{name} ins(%v, %a : {{v}}, {{a}}) outs(%d : {{d}})",
        tile("a", "f32", a, valid, dynamic=dynamic), column(vector, "f32", form),
        tile("d", "f32", np.zeros_like(a), valid, dynamic=dynamic),
    )  # fmt: skip
    functions = {
        "max": np.maximum, "min": np.minimum, "expdif": lambda x, y: np.exp(x - y),
        "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    }  # fmt: skip
    wanted = np.zeros_like(a)
    wanted[:, :24] = functions[name](vector.reshape(-1, 1), a[:, :24])
    np.testing.assert_allclose(found["d"], wanted, rtol=1e-6)


@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("axis", ["row", "col"])
def test_exponential_of_difference(axis: str, element: str) -> None:
    rng = np.random.default_rng(6)
    a = random_values(element, (16, 32), rng) / 4
    vector = random_values(element, (16,) if axis == "row" else (1, 32), rng) / 4
    v = column(vector, element, "col") if axis == "row" else tile("v", element, vector)
    found = run(
        f"pto.t{axis}expandexpdif ins(%a, %v : {{a}}, {{v}}) outs(%d : {{d}})",
        tile("a", element, a), v, tile("d", element, a),
    )  # fmt: skip
    b = vector.reshape(-1, 1) if axis == "row" else vector
    # The difference of halves is a half.
    difference = (a.astype(np.float32) - b.astype(np.float32)).astype(a.dtype).astype(np.float64)
    wide = np.array([[math.exp(x) for x in row] for row in difference])
    tolerance = 1e-5 if element == "f32" else 2.0**-11
    np.testing.assert_allclose(found["d"].astype(np.float64), wide, rtol=tolerance, atol=2.0**-25)


@pytest.mark.parametrize("element", FULL)
@pytest.mark.parametrize("valid", [(16, 32), (7, 32), (16, 9), (3, 5)])
@pytest.mark.parametrize("dynamic", [False, True])
def test_plain_broadcasts(element: str, valid: tuple[int, int], dynamic: bool) -> None:
    rng = np.random.default_rng(8)
    source = random_values(element, (16, 32), rng)
    before = random_values(element, (16, 32), rng)
    rows, cols = valid
    for op, part, wanted in (
        ("tcolexpand", (1, cols), np.repeat(source[:1, :cols], rows, axis=0)),
        ("trowexpand", (rows, 32), np.repeat(source[:rows, :1], cols, axis=1)),
    ):
        found = run(
            f"pto.{op} ins(%s : {{s}}) outs(%d : {{d}})",
            tile("s", element, source, part, dynamic=dynamic), tile("d", element, before, valid, dynamic=dynamic),
        )  # fmt: skip
        whole = before.copy()
        whole[:rows, :cols] = wanted
        same(found["d"], whole)


def test_a_vector_that_the_result_overwrites() -> None:
    """The vector lies in the first row of the destination."""
    rng = np.random.default_rng(9)
    data = random_values("f32", (16, 32), rng)
    found = run(
        "pto.tcolexpandadd ins(%d, %v : {d}, {v}) outs(%d : {d})",
        tile("d", "f32", data), tile("v", "f32", data[:1], alias="d"),
    )  # fmt: skip
    same(found["d"], data + data[:1])


def test_partial_regions_of_arithmetic() -> None:
    rng = np.random.default_rng(10)
    a, v, before = (random_values("f16", shape, rng) for shape in ((16, 32), (16, 1), (16, 32)))
    for dynamic in (False, True):
        found = run(
            "pto.trowexpandmul ins(%a, %v : {a}, {v}) outs(%d : {d})",
            tile("a", "f16", a, (9, 21), dynamic=dynamic),
            tile("v", "f16", v, (9, 1), "blayout=col_major", dynamic=dynamic),
            tile("d", "f16", before, (9, 21), dynamic=dynamic),
        )  # fmt: skip
        wanted = before.copy()
        wanted[:9, :21] = (a[:9, :21].astype(np.float32) * v[:9].astype(np.float32)).astype(np.float16)
        same(found["d"], wanted)


def test_an_empty_valid_region_takes_nothing():
    """No element counts, so nothing is computed and nothing written."""
    whole, column = "vec, 16x16xf32, valid=0x0", "vec, 16x1xf32, valid=0x0, blayout=col_major"
    text = f"""module attributes {{pto.target_arch = "a5"}} {{
  func.func @f(%p: !pto.ptr<f32>) attributes {{pto.entry}} {{
    %a = pto.alloc_tile : !pto.tile_buf<{whole}>
    %b = pto.alloc_tile : !pto.tile_buf<{column}>
    pto.trowexpandmax ins(%a, %b : !pto.tile_buf<{whole}>, !pto.tile_buf<{column}>) outs(%a : !pto.tile_buf<{whole}>)
    return
  }}
}}"""
    kernel = pto_dialect.compile(pto_dialect.parse(text))
    kernel(np.zeros(1, np.float32))
