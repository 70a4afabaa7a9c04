"""Queues whose pushes convert, and whose tiles have valid sizes that are known at run time, against numpy.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import diagnostics

from pto_dialect.cpp.kernel import CppError, compile_kernel
from pto_dialect.cpp.options import CppOptions

ROWS, COLS = 16, 32
KERNEL = """\
#include <pto/pto-inst.hpp>
#include <pto/common/fixpipe.hpp>
using namespace pto;
using Pipe = TPipe<0, Direction::DIR_C2V, 16 * 32 * sizeof(float), 2>;
using Config = FixpipeParams<LayoutMode_t::NZ2ND, QuantMode_t::QUANT, ReluPreMode::RELU>;

extern "C" __global__ AICORE void k(
    __gm__ IN *a, __gm__ IN *b, __gm__ uint64_t *scales, __gm__ uint8_t *fifo, __gm__ OUT *out, int rows) {
  Pipe pipe(fifo, 0x0, 0x0);
#ifdef __DAV_CUBE__
  Tile<TileType::Mat, IN, 16, 32, BLayout::ColMajor, 16, 32, SLayout::RowMajor> left_mat;
  Tile<TileType::Mat, IN, 32, 32, BLayout::ColMajor, 32, 32, SLayout::RowMajor> right_mat;
  TileLeft<IN, 16, 32> left;
  TileRight<IN, 32, 32> right;
  TileAcc<ACC, 16, 32> acc;
  TASSIGN(left_mat, 0);
  TASSIGN(right_mat, 0x10000);
  TASSIGN(left, 0);
  TASSIGN(right, 0);
  TASSIGN(acc, 0);
  GlobalTensor<IN, Shape<1, 1, 1, 16, 32>, Stride<512, 512, 512, 32, 1>> first(a);
  GlobalTensor<IN, Shape<1, 1, 1, 32, 32>, Stride<1024, 1024, 1024, 32, 1>> second(b);
  TLOAD(left_mat, first);
  TLOAD(right_mat, second);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  TMOV(left, left_mat);
  TMOV(right, right_mat);
  set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
  TMATMUL(acc, left, right);
  set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
  SCALE;
  PUSH;
  pipe_barrier(PIPE_ALL);
#endif
#ifdef __DAV_VEC__
  POP;
#endif
}
"""
SCALES = """\
Tile<TileType::Mat, uint64_t, 1, 32> words;
Tile<TileType::Scaling, uint64_t, 1, 32> scaling;
TASSIGN(words, 0x20000);
TASSIGN(scaling, 0);
GlobalTensor<uint64_t, Shape<1, 1, 1, 1, 32>, Stride<32, 32, 32, 32, 1>> given(scales);
TLOAD(words, given);
set_flag(PIPE_MTE2, PIPE_FIX, EVENT_ID1);
wait_flag(PIPE_MTE2, PIPE_FIX, EVENT_ID1);
TMOV(scaling, words);
SET_QUANT_VECTOR(scaling)"""
WHOLE = """\
Tile<TileType::Vec, OUT, 16, 32> all;
TPOP<Pipe, decltype(all), TileSplitAxis::TILE_NO_SPLIT>(pipe, all);
GlobalTensor<OUT, Shape<1, 1, 1, 16, 32>, Stride<512, 512, 512, 32, 1>> result(out);
set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
if (get_subblockid() == 0)
  TSTORE(result, all);
TFREE<Pipe, TileSplitAxis::TILE_NO_SPLIT>(pipe)"""


def results(
    parts: dict[str, str], left: np.ndarray, right: np.ndarray, scales: np.ndarray, out: np.ndarray, rows: int
) -> list[str]:
    """Runs the kernel under the sanitizers on a2a3, and returns what they report."""
    text = KERNEL
    for name, part in parts.items():
        text = text.replace(name, part)
    kernel = compile_kernel(text, "k.cpp", CppOptions())
    arrays = [left.ravel(), right.ravel(), scales, np.zeros(8192, np.uint8), out.ravel(), rows]
    return [one.rule for one in diagnostics(kernel.text, arrays)]


def products(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    left = (np.arange(ROWS * 32).reshape(ROWS, 32) * 7 % 11 - 5).astype(dtype)
    right = (np.arange(32 * COLS).reshape(32, COLS) * 5 % 13 - 6).astype(dtype)
    return left, right


HALVES = {"IN": "half", "ACC": "float", "OUT": "half", "RELU": "NoRelu"}
BYTES = {"IN": "int8_t", "ACC": "int32_t", "OUT": "half", "RELU": "NoRelu"}
PUSH = "TPUSH<Pipe, decltype(acc), Config>(pipe, acc)"


@pytest.mark.parametrize("relu", [False, True])
def test_a_push_converts_to_halves(relu: bool) -> None:
    left, right = products(np.float16)
    out = np.zeros((ROWS, COLS), np.float16)
    parts = {**HALVES, "QUANT": "F322F16", "SCALE;": "", "PUSH": PUSH, "POP": WHOLE.replace("OUT", "half")}
    if relu:
        parts["RELU"] = "NormalRelu"
    assert not results(parts, left, right, np.zeros(32, np.uint64), out, 0)
    wanted = left.astype(np.float32) @ right.astype(np.float32)
    assert (out == (np.maximum(wanted, 0) if relu else wanted).astype(np.float16)).all()


def test_a_push_takes_one_scale() -> None:
    left, right = products(np.int8)
    out = np.zeros((ROWS, COLS), np.float16)
    parts = {**BYTES, "QUANT": "DEQF16", "SCALE;": "SET_QUANT_SCALAR<half>(0.5f);", "PUSH": PUSH}
    assert not results({**parts, "POP": WHOLE.replace("OUT", "half")}, left, right, np.zeros(32, np.uint64), out, 0)
    assert (out == (left.astype(np.int32) @ right.astype(np.int32) * np.float32(0.5)).astype(np.float16)).all()


def test_a_push_takes_a_scale_for_each_column() -> None:
    left, right = products(np.int8)
    out = np.zeros((ROWS, COLS), np.float16)
    factors = (1 + np.arange(32, dtype=np.float32)) / 8
    parts = {**BYTES, "QUANT": "VDEQF16", "SCALE": SCALES, "PUSH": PUSH, "POP": WHOLE.replace("OUT", "half")}
    assert not results(parts, left, right, factors.view(np.uint32).astype(np.uint64), out, 0)
    assert (out == (left.astype(np.int32) @ right.astype(np.int32) * factors).astype(np.float16)).all()


@pytest.mark.parametrize("rows", [9, 15, 3])
def test_an_odd_number_of_rows_is_popped_in_uneven_halves(rows: int) -> None:
    left, right = products(np.float16)
    out = np.zeros((ROWS, COLS), np.float32)
    push = "TPUSH<Pipe, Part, TileSplitAxis::TILE_UP_DOWN_ODD>(pipe, part)"
    part = "using Part = TileAcc<float, 16, 32, -1, 32>; Part part(rows); TASSIGN(part, 0)"
    pop = """\
using Half = Tile<TileType::Vec, float, 8, 32, BLayout::RowMajor, -1, 32>;
const int upper = (rows + 1) / 2, mine = get_subblockid() == 0 ? upper : rows - upper;
Half half_tile(mine);
TPOP<Pipe, Half, TileSplitAxis::TILE_UP_DOWN_ODD>(pipe, half_tile);
using Rows = GlobalTensor<float, Shape<1, 1, 1, -1, 32>, Stride<512, 512, 512, 32, 1>>;
Rows result(out + get_subblockid() * upper * 32, Rows::Shape(mine));
set_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
wait_flag(PIPE_MTE2, PIPE_MTE3, EVENT_ID0);
TSTORE(result, half_tile);
TFREE<Pipe, TileSplitAxis::TILE_UP_DOWN_ODD>(pipe)"""
    parts = {**HALVES, "OUT": "float", "QUANT": "NoQuant", "SCALE": part, "PUSH": push, "POP": pop}
    assert not results(parts, left, right, np.zeros(32, np.uint64), out, rows)
    wanted = left.astype(np.float32) @ right.astype(np.float32)
    assert (out[:rows] == wanted[:rows]).all()
    assert not out[rows:].any()


def test_a_conversion_that_the_dialect_does_not_have_is_refused() -> None:
    parts = {**HALVES, "QUANT": "QF162B8_PRE", "SCALE;": "", "PUSH": PUSH, "POP": WHOLE.replace("OUT", "half")}
    text = KERNEL
    for name, part in parts.items():
        text = text.replace(name, part)
    with pytest.raises(CppError) as error:
        compile_kernel(text, "k.cpp", CppOptions())
    assert error.value.diagnostics[0].message == "this conversion of TPUSH has no counterpart in .pto"
