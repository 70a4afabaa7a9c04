"""Tiles of different valid regions combined, element by element (docs/reference/tiles.md, "Broadcasts and
reductions").
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from tile_run_helpers import DTYPES, run, tile
from tile_values import is_float, pairs, same, wrapped

FULL = ("i8", "i16", "i32", "ui8", "ui16", "ui32", "f16", "bf16", "f32")


def nan_max(a: Any, b: Any) -> Any:
    return np.float32(np.nan) if np.isnan(a) or np.isnan(b) else max(a, b)


def nan_min(a: Any, b: Any) -> Any:
    return np.float32(np.nan) if np.isnan(a) or np.isnan(b) else min(a, b)


OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "mul": lambda a, b: a * b,
    "max": nan_max,
    "min": nan_min,
}
REGIONS = [
    ((16, 32), (16, 32)),
    ((16, 32), (9, 32)),
    ((5, 32), (16, 32)),
    ((16, 32), (3, 7)),
    ((16, 11), (16, 32)),
    ((16, 32), (0, 0)),
    ((16, 10), (4, 32)),
]


def absent(name: str, element: str) -> Any:
    """Where neither source is valid: 0, or the neutral element of an extremum."""
    dtype = np.dtype(DTYPES[element])
    info = ml_dtypes.finfo(dtype) if is_float(element) else np.iinfo(dtype)
    return {"max": info.min, "min": info.max}.get(name, 0)


@cache
def both(name: str, element: str) -> np.ndarray:
    """The results of an operation where both sources are valid, in any region the same."""
    a, b = pairs(element)
    found = np.empty_like(a)
    with np.errstate(all="ignore"):
        for place in np.ndindex(a.shape):
            if is_float(element):
                value = OPERATIONS[name](np.float32(a[place]), np.float32(b[place]))
                found[place] = np.float32(value).astype(a.dtype)
            else:
                found[place] = wrapped(OPERATIONS[name](int(a[place]), int(b[place])), element)
    return found


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("element", FULL)
@pytest.mark.parametrize("name", OPERATIONS)
def test_partial(name: str, element: str, dynamic: bool) -> None:
    a, b = pairs(element)
    for first, second in REGIONS:
        found = run(
            f"pto.tpart{name} ins(%a, %b : {{a}}, {{b}}) outs(%d : {{d}})",
            tile("a", element, a, first, dynamic=dynamic), tile("b", element, b, second, dynamic=dynamic),
            tile("d", element, np.ones_like(a), (16, 32), dynamic=dynamic),
        )["d"]  # fmt: skip
        rows, cols = np.ogrid[:16, :32]
        in_a, in_b = ((rows < valid[0]) & (cols < valid[1]) for valid in (first, second))
        alone = np.where(in_a, a, np.where(in_b, b, np.full_like(a, absent(name, element))))
        wanted = np.where(in_a & in_b, both(name, element), alone)
        same(found, wanted)


@pytest.mark.parametrize("target", ["a", "b"])
def test_in_place(target: str) -> None:
    rng = np.random.default_rng(14)
    a, b = (rng.integers(-99, 99, (16, 32)).astype(np.float32) for _ in range(2))
    whole = np.s_[:9, :20]
    first, second = ((16, 32), (9, 20)) if target == "a" else ((9, 20), (16, 32))
    found = run(
        f"pto.tpartadd ins(%a, %b : {{a}}, {{b}}) outs(%{target} : {{{target}}})",
        tile("a", "f32", a, first), tile("b", "f32", b, second),
    )[target]  # fmt: skip
    wanted = (a if target == "a" else b).copy()
    wanted[whole] = a[whole] + b[whole]
    same(found, wanted)


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("element", ["i16", "i32", "f16", "bf16", "f32"])
def test_positions(name: str, element: str) -> None:
    """The index of the first source for equal values; beside a NaN that of the second on a2a3, of the first on a5."""
    a, b = pairs(element)
    ia, ib = np.arange(512).reshape(16, 32), 1000 + np.arange(512).reshape(16, 32)
    for (first, second), target in product(REGIONS, ("a5", "a2a3")):
        found = run(
            f"pto.tpartarg{name} ins(%a, %b, %i, %j : {{a}}, {{b}}, {{i}}, {{j}}) outs(%d, %e : {{d}}, {{e}})",
            tile("a", element, a, first), tile("b", element, b, second),
            tile("i", "i32", ia, first), tile("j", "i32", ib, second),
            tile("d", element, a), tile("e", "i32", ia), target=target,
            verify=target == "a5" and (first, second) in REGIONS[:5],
        )  # fmt: skip
        values, positions = np.empty_like(a), np.empty((16, 32), np.int32)
        for r, c in np.ndindex(16, 32):
            in_a, in_b = r < first[0] and c < first[1], r < second[0] and c < second[1]
            x, y = float(a[r, c]), float(b[r, c])
            not_worse = x == y or (np.isnan(x - y) and x != y and target == "a5" and (np.isnan(x) or np.isnan(y)))
            wins = in_a and (not in_b or not_worse or (x > y if name == "max" else x < y))
            values[r, c] = a[r, c] if wins else b[r, c] if in_b else 0
            positions[r, c] = ia[r, c] if wins else ib[r, c] if in_b else 0
        same(found["d"], values)
        same(found["e"], positions)
