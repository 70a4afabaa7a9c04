"""Products of MX operands in C++, with scales in rows and columns of global memory, against numpy."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import pto_dialect
from pto_dialect.cpp.errors import CppError

ROWS, DEPTH, COLS, STEP = 32, 256, 48, 128
KERNEL = f"""\
#include <pto/pto-inst.hpp>
using namespace pto;
constexpr int M = {ROWS}, K = {DEPTH}, N = {COLS}, KT = {STEP}, G = K / 32, GT = KT / 32;
using F = float8_e4m3_t;
using S = float8_e8m0_t;

__global__ AICORE void product(__gm__ float *c, __gm__ F *a, __gm__ F *b, __gm__ S *sa, __gm__ S *sb) {{
  GlobalTensor<F, Shape<1, 1, 1, M, K>, Stride<M * K, M * K, M * K, K, 1>> ga(a);
  GlobalTensor<F, Shape<1, 1, 1, K, N>, Stride<K * N, K * N, K * N, 1, K>, Layout::DN> gb(b);
  constexpr Layout LA = Layout::LEFT, LB = Layout::RIGHT;
  GlobalTensor<S, TileShape2D<S, M, G, LA>, BaseShape2D<S, M, G, LA>, LA> gsa(sa);
  GlobalTensor<S, TileShape2D<S, G, N, LB>, BaseShape2D<S, G, N, LB>, LB> gsb(sb);
  GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<M * N, M * N, M * N, N, 1>> gc(c);
  Tile<TileType::Mat, F, M, K, BLayout::ColMajor, M, K, SLayout::RowMajor, 512> ma;
  Tile<TileType::Mat, F, K, N, BLayout::RowMajor, K, N, SLayout::ColMajor, 512> mb;
  Tile<TileType::Mat, S, M, G, BLayout::RowMajor, M, G, SLayout::RowMajor, 32> msa;
  Tile<TileType::Mat, S, G, N, BLayout::ColMajor, G, N, SLayout::ColMajor, 32> msb;
  TileLeft<F, M, KT> la;
  TileRight<F, KT, N> rb;
  TileLeftScale<S, M, GT> lsa;
  TileRightScale<S, GT, N> rsb;
  TileAcc<float, M, N> acc;
  TASSIGN(ma, 0x0);
  TASSIGN(mb, 0x8000);
  TASSIGN(msa, 0x10000);
  TASSIGN(msb, 0x11000);
  TASSIGN(la, 0x0);
  TASSIGN(rb, 0x0);
  TASSIGN(lsa, GetScaleAddr(la.data()));
  TASSIGN(rsb, GetScaleAddr(rb.data()));
  TASSIGN(acc, 0x0);
  TLOAD(ma, ga);
  TLOAD(mb, gb);
  TLOAD(msa, gsa);
  TLOAD(msb, gsb);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  for (int i = 0; i < K / KT; ++i) {{
    wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
    TEXTRACT(la, ma, 0, i * KT);
    TEXTRACT(rb, mb, i * KT, 0);
    TEXTRACT(lsa, msa, 0, i * GT);
    TEXTRACT(rsb, msb, i * GT, 0);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    if (i == 0) TMATMUL_MX(acc, la, lsa, rb, rsb);
    else TMATMUL_MX(acc, acc, la, lsa, rb, rsb);
    set_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  }}
  wait_flag(PIPE_M, PIPE_MTE1, EVENT_ID0);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  TSTORE(gc, acc);
}}
"""


def in_pairs(scales: np.ndarray) -> np.ndarray:
    """The scales of lines with the pairs of all lines one after the other."""
    return scales.reshape(len(scales), -1, 2).transpose(1, 0, 2).copy()


@pytest.mark.parametrize(("left", "right"), [("MX_A_ND", "MX_B_DN"), ("MX_A_DN", "MX_B_ND")])
def test_product_with_scales_in_rows_and_columns(left: str, right: str) -> None:
    rng = np.random.default_rng(5)
    numbers = [rng.integers(-4, 5, (lines, DEPTH)).astype(np.float32) for lines in (ROWS, COLS)]
    exponents = [rng.integers(-3, 4, (lines, DEPTH // 32)) for lines in (ROWS, COLS)]
    a, b = (one * np.repeat(2.0**exponent, 32, axis=1) for one, exponent in zip(numbers, exponents, strict=True))
    scales = [np.exp2(exponent).astype(ml_dtypes.float8_e8m0fnu) for exponent in exponents]
    given = [
        one if way in ("MX_A_ND", "MX_B_DN") else in_pairs(one) for one, way in zip(scales, (left, right), strict=True)
    ]
    c = np.full((ROWS, COLS), np.nan, np.float32)
    operands = [one.astype(ml_dtypes.float8_e4m3fn) for one in numbers]
    kernel = pto_dialect.compile_cpp(KERNEL.replace("LEFT", left).replace("RIGHT", right), target="a5")
    pto_dialect.run(kernel.module, dict(zip(("c", "a", "b", "sa", "sb"), (c, *operands, *given), strict=True)))
    np.testing.assert_array_equal(c, (a @ b.T).astype(np.float32))


def test_scales_whose_pairs_are_apart_are_refused() -> None:
    apart = KERNEL.replace("BaseShape2D<S, M, G, LA>", "Stride<M * G, M * G, G, 4, 1>")
    with pytest.raises(CppError, match="only if its pairs follow one another"):
        pto_dialect.compile_cpp(apart.replace("LEFT", "MX_A_ND").replace("RIGHT", "MX_B_DN"), target="a5")
