"""Matrix multiply: error bound and aliasing of the fast path, integers, exception modes, MX scales."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from pto_dialect.runtime.numerics import matmul as module
from pto_dialect.runtime.numerics.formats import FORMATS, decode, encode
from pto_dialect.runtime.numerics.matmul import (
    ExceptionMode,
    apply_exception_mode,
    apply_mx_scale,
    matmul,
    matmul_int,
    sanitize_inputs,
)

F32_MAX = np.finfo(np.float32).max
INF, NAN = math.inf, math.nan


def f32(rows: object) -> np.ndarray:
    return np.array(rows, np.float32)


def operands(m: int, k: int, n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    a, b, c = (rng.standard_normal(shape).astype(np.float32) for shape in ((m, k), (k, n), (m, n)))
    return a, b, c


@pytest.mark.parametrize("exact", [False, True])
@pytest.mark.parametrize(("m", "k", "n"), [(1, 1, 1), (1, 300, 7), (5, 17, 1), (16, 16, 16), (33, 130, 65)])
def test_error_bound(m, k, n, exact):
    a, b, c = operands(m, k, n)
    for init in (None, c, c[:1], c[0]):
        wide = a.astype(np.float64) @ b.astype(np.float64)
        bound = np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64)
        if init is not None:
            wide, bound = wide + init, bound + np.abs(init)
        result = matmul(a, b, init=init, exact=exact)
        assert result.dtype == np.float32
        assert (np.abs(result - wide) <= (k + 1) * 2.0**-24 * bound).all()


@pytest.mark.parametrize("exact", [False, True])
def test_destinations(exact):
    a, b, c = operands(6, 40, 9)
    want = matmul(a, b, exact=exact)
    with_init = matmul(a, b, init=c, exact=exact)
    fresh = np.full((6, 9), np.nan, np.float32)
    strided = np.full((6, 20), np.nan, np.float32)[:, 1:19:2]
    for out in (fresh, strided):
        assert matmul(a, b, out=out, exact=exact) is out
        np.testing.assert_array_equal(out, want)
        matmul(a, b, init=c, out=out, exact=exact)
        np.testing.assert_array_equal(out, with_init)
    accumulator = c.copy()
    matmul(a, b, init=accumulator, out=accumulator, exact=exact)
    np.testing.assert_array_equal(accumulator, with_init)
    shared = c.copy()
    matmul(a, b, init=shared[0], out=shared, exact=exact)
    np.testing.assert_array_equal(shared, matmul(a, b, init=c[0], exact=exact))


@pytest.mark.parametrize("exact", [False, True])
def test_operands_of_any_stride(exact):
    a, b, _ = operands(12, 40, 18)
    want = matmul(a, b, exact=exact)
    views = [np.repeat(np.repeat(x, 2, 0), 3, 1)[1::2, 2::3] for x in (a, b)]
    np.testing.assert_array_equal(matmul(*views, exact=exact), want)
    columns = [np.asfortranarray(x) for x in (a, b)]
    np.testing.assert_allclose(matmul(*columns, exact=exact), want, rtol=1e-5, atol=1e-5)
    flipped = matmul(a[::-1], b[:, ::-1], exact=exact)[::-1, ::-1]
    np.testing.assert_allclose(flipped, want, rtol=1e-5, atol=1e-5)


def test_exact_starts_from_init_and_keeps_order():
    a, b = f32([[2.0**24, 1, -(2.0**24)]]), f32([[1], [1], [1]])
    assert matmul(a, b, exact=True)[0, 0] == 0
    # 1 + 2**24 is a tie that goes to even, one more is lost again; a bias added at the end would give 2.
    assert matmul(a, b, init=f32([[1]]), exact=True)[0, 0] == 0
    assert matmul(f32([[1, 2.0**24, -(2.0**24)]]), b, init=f32([[1]]), exact=True)[0, 0] == 2
    assert matmul(f32([[2.0**-24, 2.0**-24]]), f32([[1], [1]]), init=f32([[1]]), exact=True)[0, 0] == 1


def test_small_integers_take_the_fast_path_and_agree(monkeypatch):
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-9, 10, s).astype(np.float32) for s in ((8, 64), (64, 8)))
    c = rng.integers(-9, 10, (8, 8)).astype(np.float32)
    slow = c.copy()
    module.accumulate_fma(a, b, slow)
    monkeypatch.setattr(module, "accumulate_fma", None)
    np.testing.assert_array_equal(matmul(a, b, init=c, exact=True), slow)
    zero = matmul(f32([[-0.0, -1]]), f32([[1], [0]]), exact=True)
    assert zero[0, 0] == 0
    assert not np.signbit(zero[0, 0])
    with pytest.raises(TypeError):  # too large for every order to be exact, so the chain is needed
        matmul(a * 2.0**12, b, exact=True)
    with pytest.raises(TypeError):  # a chain from -0 may keep its sign
        matmul(f32([[-1]]), f32([[0]]), init=f32([[-0.0]]), exact=True)


def test_shapes_that_do_not_fit():
    for exact in (False, True):
        with pytest.raises(ValueError):
            matmul(np.ones((2, 3), np.float32) / 3, np.ones((4, 2), np.float32), exact=exact)
    np.testing.assert_array_equal(matmul(np.ones((2, 0), np.float32), np.ones((0, 3), np.float32)), np.zeros((2, 3)))


@given(
    shape=st.tuples(st.integers(1, 5), st.integers(1, 40), st.integers(1, 5)),
    kinds=st.tuples(st.sampled_from(["i1", "u1"]), st.sampled_from(["i1", "u1"])),
    data=st.data(),
)
def test_integers_wrap(shape, kinds, data):
    m, k, n = shape
    a = data.draw(hnp.arrays(kinds[0], (m, k)))
    b = data.draw(hnp.arrays(kinds[1], (k, n)))
    init = data.draw(st.none() | hnp.arrays(np.int32, (m, n)))
    exact = a.astype(np.int64) @ b.astype(np.int64) + (0 if init is None else init.astype(np.int64))
    want = ((exact + 2**31) % 2**32 - 2**31).astype(np.int32)
    np.testing.assert_array_equal(matmul_int(a, b, init=init), want)


@pytest.mark.parametrize("k", [1024, 1025, 1100, 4095, 140000])
def test_integer_extremes(k):
    a, b = np.full((2, k), -128, np.int8), np.full((k, 3), -128, np.int8)
    total = 16384 * k
    assert (matmul_int(a, b) == (total + 2**31) % 2**32 - 2**31).all()
    # One unit short of the largest sum: the odd value shows that nothing was rounded.
    b[0, :] = 1
    b[1, :] = 1
    a[:, 1] = 1
    assert (matmul_int(a, b) == (total - 2 * 16384 - 127 + 2**31) % 2**32 - 2**31).all()


def test_integer_destinations():
    a, b = np.array([[100, -3]], np.int8), np.array([[100], [7]], np.int8)
    accumulator = np.array([[2**31 - 1]], np.int32)
    assert matmul_int(a, b, init=accumulator, out=accumulator) is accumulator
    assert accumulator[0, 0] == -(2**31) + 9978
    assert matmul_int(a, b, init=np.array([1], np.int32))[0, 0] == 9980
    assert matmul_int(a, b, out=accumulator)[0, 0] == accumulator[0, 0] == 9979
    nibbles = decode(np.array([[0x8F, 0x71]], np.uint8), "i4")
    assert matmul_int(nibbles, nibbles.T)[0, 0] == 1 + 64 + 1 + 49
    with pytest.raises(ValueError, match="8-bit integer operands"):
        matmul_int(a.astype(np.int16), b)


def test_sanitize():
    x = f32([[1, INF], [-INF, NAN]])
    for name, largest in (("f16", 65504), ("f8E5M2", 57344), ("hif8", 32768), ("f32", F32_MAX)):
        np.testing.assert_array_equal(sanitize_inputs(x, name), f32([[1, largest], [-largest, 0]]))
    finite = f32([[1, -0.0]])
    assert sanitize_inputs(finite, "f16") is finite
    assert sanitize_inputs(x, "bf16")[0, 1] == np.float32(FORMATS["bf16"].max_finite)


def mad(
    a: object, b: object, mode: ExceptionMode, init: object = None, exact: bool = False, name: str = "f16"
) -> tuple[list[list[float]], bool]:
    start = None if init is None else f32(init)
    result, mattered = apply_exception_mode(f32(a), f32(b), mode, a_format=name, b_format=name, init=start, exact=exact)
    return result.tolist(), mattered


@pytest.mark.parametrize("exact", [False, True])
def test_exceptional_inputs(exact):
    a, b = [[INF, 1.5], [1.25, 2]], [[2, NAN], [1, 1]]
    saturated = [[2 * 65504 + 1.5, 1.5], [4.5, 2]]
    assert mad(a, b, "sat", exact=exact) == (saturated, False)
    assert mad(a, b, "default", exact=exact) == (saturated, True)
    result, mattered = mad(a, b, "nosat", exact=exact)
    assert not mattered
    assert result[0][0] == INF
    assert math.isnan(result[0][1])
    assert math.isnan(result[1][1])
    assert result[1][0] == 4.5


@pytest.mark.parametrize("exact", [False, True])
def test_overflow(exact):
    a, b = [[3e38, 3e38, -3e38]], [[1], [1], [0]]
    assert mad(a, b, "nosat", exact=exact, name="f32") == ([[INF]], False)
    assert mad(a, b, "sat", exact=exact, name="f32") == ([[F32_MAX]], False)
    assert mad(a, b, "default", exact=exact, name="f32") == ([[F32_MAX]], True)
    assert mad(a, b, "sat", init=[[-INF]], exact=exact, name="f32") == ([[-F32_MAX]], False)
    # An infinite partial sum in both directions still has a true sum.
    both = mad([[3e38, -3e38]], [[3e38], [3e38]], "sat", init=[[2]], exact=exact, name="f32")
    assert both == ([[2]], False)
    assert math.isnan(mad(a, b, "sat", init=[[NAN]], exact=exact, name="f32")[0][0][0])


def test_finite_data_is_the_same_in_every_mode():
    a, b, c = operands(16, 16, 16)
    for exact in (False, True):
        want = matmul(a, b, init=c, exact=exact)
        for mode in ("sat", "nosat", "default"):
            result, mattered = apply_exception_mode(a, b, mode, a_format="f32", b_format="f32", init=c, exact=exact)
            np.testing.assert_array_equal(result, want)
            assert not mattered


@pytest.mark.parametrize("mode", ["sat", "nosat", "default"])
@pytest.mark.parametrize("exceptional", [False, True])
def test_in_place_accumulation_uses_the_old_accumulator_once(mode, exceptional):
    a, b, c = operands(4, 8, 4)
    if exceptional:
        a[1, 1] = np.inf
    want, _ = apply_exception_mode(a, b, mode, a_format="f16", b_format="f16", init=c.copy())
    accumulator = c.copy()
    result, _ = apply_exception_mode(a, b, mode, a_format="f16", b_format="f16", init=accumulator, out=accumulator)
    assert result is accumulator
    np.testing.assert_array_equal(accumulator, want)
    plain = np.empty((4, 4), np.float32)
    assert apply_exception_mode(a, b, mode, a_format="f16", b_format="f16", out=plain)[0] is plain


@pytest.mark.parametrize(("m", "n"), [(1, 4), (4, 1), (1, 1), (4, 4)])
def test_an_infinity_times_zero_is_noticed(m, n):
    a, b = np.zeros((m, 3), np.float32), np.ones((3, n), np.float32)
    b[1, n - 1] = np.inf
    result, mattered = apply_exception_mode(a, b, "default", a_format="f16", b_format="f16")
    assert mattered
    assert (result == 0).all()


def test_a_blas_that_skips_zeros_does_not_hide_an_infinity(monkeypatch):
    monkeypatch.setattr(module, "matmul", lambda a, b, **_: np.zeros((1, 1), np.float32))
    for a, b in (([[INF, 0]], [[0], [0]]), ([[0, 0]], [[INF], [0]])):
        assert apply_exception_mode(f32(a), f32(b), "default", a_format="f16", b_format="f16")[1]


def test_large_finite_results_are_not_taken_for_overflow():
    a, b = f32([[1e30, 1], [1, 1]]), f32([[1, 1], [1, 1]])
    result, mattered = apply_exception_mode(a, b, "default", a_format="f32", b_format="f32")
    assert not mattered
    assert result[0, 0] == np.float32(1e30)
    with pytest.raises(ValueError, match="unknown exception mode"):
        apply_exception_mode(a, b, "ieee", a_format="f32", b_format="f32")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("k", [32, 64, 96, 40])
def test_mx_scales(axis, k):
    rng = np.random.default_rng(2)
    codes = rng.integers(0, 127, (3, k)).astype(np.uint8)
    scales = rng.integers(60, 190, (3, -(-k // 32))).astype(np.uint8)
    values = decode(codes, "f8E4M3FN")
    want = np.array([[values[r, i] * 2.0 ** (int(scales[r, i // 32]) - 127) for i in range(k)] for r in range(3)])
    values, scales, want = (x if axis else x.T for x in (values, scales, want))
    got = apply_mx_scale(values, scales, axis)
    assert got.dtype == np.float32
    np.testing.assert_array_equal(got, want)


def test_mx_scale_limits():
    values = np.ones((1, 96), np.float32) * 2
    got = apply_mx_scale(values, np.array([[0, 255, 254]], np.uint8), 1)
    np.testing.assert_array_equal(got[0, ::32], [2.0**-126, np.nan, 2.0**128])
    small = apply_mx_scale(f32([[2.0**-16]]), np.zeros((1, 1), np.uint8), 1)
    assert small.dtype == np.float32
    assert small[0, 0] == 2.0**-143
    with pytest.raises(ValueError, match="scales of shape"):
        apply_mx_scale(values, np.zeros((1, 2), np.uint8), 1)


@pytest.mark.parametrize("exact", [False, True])
def test_mx_products_use_both_scales(exact):
    rng = np.random.default_rng(5)
    a, b = (encode(rng.standard_normal(s), "f8E4M3FN", saturate=True) for s in ((4, 64), (64, 5)))
    a, b = decode(a, "f8E4M3FN"), decode(b, "f8E4M3FN")
    sa, sb = (rng.integers(120, 134, s).astype(np.uint8) for s in ((4, 2), (2, 5)))
    wide_a = a * 2.0 ** (np.repeat(sa, 32, 1).astype(float) - 127)
    wide_b = b * 2.0 ** (np.repeat(sb, 32, 0).astype(float) - 127)
    for mode in ("sat", "nosat", "default"):
        result, mattered = apply_exception_mode(
            a, b, mode, a_format="f8E4M3FN", b_format="f8E4M3FN", a_scale=sa, b_scale=sb, exact=exact
        )
        assert not mattered
        np.testing.assert_allclose(result, wide_a @ wide_b, rtol=1e-4, atol=1e-5)
    # A scale beyond float32 on one side is made good by the other side.
    huge, tiny = np.full((4, 2), 254, np.uint8), np.zeros((2, 5), np.uint8)
    result, mattered = apply_exception_mode(
        a, b, "default", a_format="f8E4M3FN", b_format="f8E4M3FN", a_scale=huge, b_scale=tiny, exact=exact
    )
    assert not mattered
    np.testing.assert_allclose(result, a.astype(float) @ b.astype(float), rtol=1e-4, atol=1e-5)


def test_mx_exceptions():
    a, b = f32([[NAN] + [0.0] * 31 + [1.0] * 32, [1.0] * 64]), np.ones((64, 1), np.float32)
    sa = np.array([[128, 127], [127, 255]], np.uint8)
    result, mattered = apply_exception_mode(a, b, "default", a_format="f8E4M3FN", b_format="f8E4M3FN", a_scale=sa)
    assert mattered
    assert result[0, 0] == 32
    assert math.isnan(result[1, 0])
    # An infinite input becomes the largest value of its type, then it is scaled.
    a[0, 0] = INF
    result, _ = apply_exception_mode(a, b, "sat", a_format="f8E5M2", b_format="f8E5M2", a_scale=sa)
    assert result[0, 0] == 57344 * 2 + 32
