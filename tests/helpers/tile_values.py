"""Values and comparisons that the tests of tile operations share."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
from tile_run_helpers import DTYPES

FLOATS = ("f16", "bf16", "f32")


def is_float(element: str) -> bool:
    """True for the ordinary float elements."""
    return element in FLOATS


def edges(element: str) -> np.ndarray:
    """Values at which arithmetic of an element type goes wrong, 16 of them."""
    dtype = np.dtype(DTYPES[element])
    if is_float(element):
        info = ml_dtypes.finfo(dtype)
        numbers: list[Any] = [
            0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, info.max, -info.max, info.smallest_subnormal,
            -info.tiny, 0.1, -3.5, 7.25, 1e-3, float(info.max) / 3,
        ]  # fmt: skip
    else:
        limits = np.iinfo(dtype)
        low, high = int(limits.min), int(limits.max)
        numbers = [0, 1, 2, 3, 5, 7, 100, high, high - 1, high // 2, high // 3, low, low + 1]
        numbers += [-1, -3, -7] if low else [high - 2, high - 6, 9]
    with np.errstate(all="ignore"):
        return np.array(numbers, dtype)


def pairs(element: str) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of edge values as two 16 x 32 matrices; the right halves hold random values."""
    values = edges(element)
    rng = np.random.default_rng(len(element) + values.dtype.itemsize)
    a, b = np.meshgrid(values, values, indexing="ij")
    noise = [random_values(element, (16, 16), rng) for _ in range(2)]
    return np.hstack([a, noise[0]]), np.hstack([b, noise[1]])


def random_values(element: str, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Ordinary values: integers of the whole range, floats of moderate size."""
    dtype = np.dtype(DTYPES[element])
    if is_float(element):
        return (rng.standard_normal(shape) * 4).astype(dtype)
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max, shape, dtype, endpoint=True)


def wrapped(number: int, element: str) -> int:
    """An integer reduced to the range of an integer element type."""
    dtype = np.dtype(DTYPES[element])
    bits = dtype.itemsize * 8
    number &= (1 << bits) - 1
    return number - (1 << bits) if dtype.kind == "i" and number >> (bits - 1) else number


def elementwise(function: Any, element: str, *arrays: np.ndarray) -> np.ndarray:
    """``function`` applied element by element: to Python integers, wrapping the result, or to float32 numbers."""
    dtype = np.dtype(DTYPES[element])
    out = np.empty(arrays[0].shape, dtype)
    with np.errstate(all="ignore"):
        for index in np.ndindex(*out.shape):
            if is_float(element):
                out[index] = np.float32(function(*(np.float32(a[index]) for a in arrays))).astype(dtype)
            else:
                out[index] = wrapped(int(function(*(int(a[index]) for a in arrays))), element)
    return out


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    """Equal elements; NaN equals NaN and the sign of zero does not count (docs/reference/numerics.md, "Accuracy")."""
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    if found.dtype.kind in "iub":
        differs = found != wanted
    else:
        x, y = found.astype(np.float64), wanted.astype(np.float64)
        differs = ~((x == y) | (np.isnan(x) & np.isnan(y)))
    if differs.any():
        places = np.argwhere(differs)[:5]
        details = [(tuple(map(int, p)), found[tuple(p)], wanted[tuple(p)]) for p in places]
        raise AssertionError(f"{int(differs.sum())} of {differs.size} elements differ: {details}")
