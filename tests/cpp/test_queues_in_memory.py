"""Queues whose entries are tensors in global memory: the cube core stores products, the vector cores load halves.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

import numpy as np
from sanitize_programs import diagnostics

from pto_dialect.cpp.kernel import compile_kernel
from pto_dialect.cpp.options import CppOptions

KERNEL = """\
#include <pto/pto-inst.hpp>
using namespace pto;
constexpr int M = 32, N = 32, DEPTH = 2;
using Products = TPipe<0, Direction::DIR_C2V, M * N * sizeof(float), DEPTH>;
using Slot = GlobalTensor<float, Shape<1, 1, 1, M, N>, Stride<1, 1, 1, N, 1>>;
using Half = GlobalTensor<float, Shape<1, 1, 1, M / 2, N>, Stride<1, 1, 1, N, 1>>;
using Mat = Tile<TileType::Mat, half, M, N, BLayout::ColMajor, M, N, SLayout::RowMajor>;

extern "C" __global__ AICORE void k(__gm__ half *a, __gm__ float *fifo, __gm__ float *out, int n) {
  Products products(fifo, 0x0, 0x0);
#ifdef __DAV_CUBE__
  Mat loaded;
  TileLeft<half, M, N, M, N> left;
  TileRight<half, M, N, M, N> right;
  TileAcc<float, M, N, M, N> acc;
  TASSIGN(loaded, 0);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  Slot slot;
  for (int i = 0; i < n; ++i) {
    GlobalTensor<half, Shape<1, 1, 1, M, N>, Stride<1, 1, 1, N, 1>> square(a + i * M * N);
    TLOAD(loaded, square);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(left, loaded);
    TMOV(right, loaded);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    TMATMUL<AccPhase::Final>(acc, left, right);
    TALLOC<Products, Slot, TileSplitAxis::TILE_UP_DOWN>(products, slot);
    Slot to(slot.data());
    TSTORE<STPhase::Final>(to, acc);
    TPUSH<Products, Slot, TileSplitAxis::TILE_UP_DOWN>(products, slot);
    pipe_barrier(PIPE_ALL);
  }
#endif
#ifdef __DAV_VEC__
  Tile<TileType::Vec, float, M / 2, N> rows;
  TASSIGN(rows, 0x8000);
  Half slot;
  for (int i = 0; i < n; ++i) {
    TPOP<Products, Half, TileSplitAxis::TILE_UP_DOWN>(products, slot);
    TLOAD(rows, slot);
    TFREE<Products, Half, TileSplitAxis::TILE_UP_DOWN>(products, slot);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADDS(rows, rows, 1.0f);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    Half to(out + (i * M + get_subblockid() * (M / 2)) * N);
    TSTORE(to, rows);
    pipe_barrier(PIPE_ALL);
  }
#endif
}
"""
STEPS, SIZE = 5, 32


def outcome(kernel: str) -> tuple[np.ndarray, np.ndarray, set[str]]:
    """The result of a sanitized run, the one of numpy, and the rules of the findings."""
    squares = np.random.default_rng(1).integers(-4, 5, (STEPS, SIZE, SIZE)).astype(np.float16)
    out = np.zeros((STEPS, SIZE, SIZE), np.float32)
    fifo = np.zeros(2 * SIZE * SIZE, np.float32)
    text = compile_kernel(kernel, "kernel.cpp", CppOptions()).text
    found = diagnostics(text, [squares.ravel(), fifo, out.ravel(), STEPS])
    wide = squares.astype(np.float32)
    return out, wide @ wide + 1, {one.rule for one in found}


def test_products_pass_through_the_queue() -> None:
    out, expected, rules = outcome(KERNEL)
    assert np.array_equal(out, expected) and not rules


def test_store_that_ignores_the_unit_flag_of_the_product_is_found() -> None:
    assert "l0c-handover" in outcome(KERNEL.replace("TSTORE<STPhase::Final>", "TSTORE"))[2]


def test_slot_that_is_freed_before_its_load_is_found() -> None:
    load, free = (
        f"    {line};\n"
        for line in ("TLOAD(rows, slot)", "TFREE<Products, Half, TileSplitAxis::TILE_UP_DOWN>(products, slot)")
    )
    assert "race-cross-core" in outcome(KERNEL.replace(load + free, free + load))[2]
