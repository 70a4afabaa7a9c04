"""The bit-exact product model against rational arithmetic."""

from __future__ import annotations

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from examples.fma_model import sequential_fma


def nearest_f32(x: Fraction) -> Fraction:
    """The f32 value nearest to ``x``, ties to the even one, without upper limit."""
    size = abs(x)
    exponent = -126
    while size >= Fraction(2) ** (exponent + 1):
        exponent += 1
    step = Fraction(2) ** (exponent - 23)
    steps, rest = divmod(size, step)
    steps += 2 * rest > step or (2 * rest == step and steps % 2)
    return (1 if x > 0 else -1) * steps * step


def rational_fma(a: np.ndarray, b: np.ndarray, init: np.ndarray | None) -> np.ndarray:
    rows, cols = a.shape[0], b.shape[1]
    start = np.broadcast_to(np.zeros((1, 1)) if init is None else init, (rows, cols))
    result = np.zeros((rows, cols), np.float32)
    for i in range(rows):
        for j in range(cols):
            total = Fraction(float(start[i, j]))
            for k in range(a.shape[1]):
                total = nearest_f32(total + Fraction(float(a[i, k])) * Fraction(float(b[k, j])))
            result[i, j] = float(total)
    return result


def same_bits(a: np.ndarray, b: np.ndarray, init: np.ndarray | None = None) -> bool:
    got, want = sequential_fma(a, b, init), rational_fma(a, b, init)
    return got.dtype == np.float32 and bool((got.view(np.uint32) == want.view(np.uint32)).all())


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("spread", [0, 6])
def test_random(dtype: type, spread: int) -> None:
    """Operands of like and of very different sizes (the latter need integers of any length)."""
    rng = np.random.default_rng(spread)
    sizes = np.exp2(rng.integers(-spread, spread + 1, (4, 16)))
    a = (rng.standard_normal((4, 16)) * sizes).astype(dtype)
    b = rng.standard_normal((16, 3)).astype(dtype)
    for init in (None, rng.standard_normal((1, 3)), 1e6 * rng.standard_normal((4, 3))):
        assert same_bits(a, b, None if init is None else init.astype(np.float32))


TERMS = st.lists(st.tuples(st.integers(-7, 7), st.integers(-30, 30)), min_size=1, max_size=8)


@given(TERMS, st.integers(-9, 9))
def test_cancellation_and_ties(terms: list[tuple[int, int]], start: int) -> None:
    """Small integers times distant powers of two: sums lie on ties and cancel."""
    a = np.array([[float(factor) for factor, _ in terms]], np.float32)
    b = np.array([[2.0**exponent] for _, exponent in terms], np.float32)
    assert same_bits(a, b, np.array([[start]], np.float32))


def test_ties_go_to_even() -> None:
    one = np.ones((1, 1), np.float32)
    limit = 2**24
    for start, step, total in ((0, 1, 0), (2, 1, 4), (0, 1.5, 2), (2, 0.5, 2)):
        for sign in (1, -1):
            first = one * np.float32(sign * (limit + start))
            assert sequential_fma(one * np.float32(sign * step), one, first).item() == sign * (limit + total)


def test_subnormal_sums() -> None:
    tiny = np.array([[2.0**-75, 3 * 2.0**-76]], np.float32)
    assert same_bits(tiny, np.array([[2.0**-70], [2.0**-72]], np.float32))


def test_what_it_does_not_model_is_an_error() -> None:
    large, tiny = np.full((1, 1), 2.0**64, np.float32), np.full((1, 1), 2.0**-100, np.float32)
    with pytest.raises(ValueError, match="range"):
        sequential_fma(large, large)
    with pytest.raises(ValueError, match="zero"):
        sequential_fma(tiny, tiny)
