"""Operations whose headers continue on the scalar unit and return to the vector unit: indexed scatters, merges."""

from __future__ import annotations

import numpy as np
import pytest
from sanitize_programs import diagnostics

from pto_dialect.cpp.kernel import compile_kernel
from pto_dialect.cpp.options import CppOptions

HEAD = """\
#include <pto/pto-inst.hpp>
using namespace pto;
template <typename T, int N> using Line = GlobalTensor<T, Shape<1, 1, 1, 1, N>, Stride<N, N, N, N, 1>>;
template <typename T, int N> using Row = Tile<TileType::Vec, T, 1, N>;
"""
SCATTER = """
__global__ AICORE void k(__gm__ float *x, __gm__ int32_t *at, __gm__ float *out) {
  Line<float, 8> source(x); Line<int32_t, 8> places(at); Line<float, 16> result(out);
  Row<float, 8> values; Row<int32_t, 8> indexes; Row<float, 16> spread;
  TASSIGN(values, 0x0); TASSIGN(indexes, 0x100); TASSIGN(spread, 0x200);
  TLOAD(values, source);
  TLOAD(indexes, places);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  TEXPANDS(spread, 7.f);
  pipe_barrier(PIPE_V);
  TSCATTER(spread, values, indexes);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(result, spread);
}
"""
MERGE = """
__global__ AICORE void k(__gm__ float *x, __gm__ float *y, __gm__ float *out, __gm__ int32_t *counts) {
  Line<float, 64> first(x), second(y); Line<float, 128> result(out);
  Row<float, 64> a, b; Row<float, 128> merged, scratch;
  TASSIGN(a, 0x0); TASSIGN(b, 0x100); TASSIGN(merged, 0x200); TASSIGN(scratch, 0x400);
  TLOAD(a, first);
  TLOAD(b, second);
  set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
  MrgSortExecutedNumList taken;
  TMRGSORT<Row<float, 128>, Row<float, 128>, Row<float, 64>, Row<float, 64>, true>(merged, taken, scratch, a, b);
  set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
  TSTORE(result, merged);
  counts[0] = taken.mrgSortList0;
  counts[1] = taken.mrgSortList1;
}
"""


@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_an_indexed_scatter_clears_its_destination(target: str) -> None:
    """Flags between the vector unit and the transfers are enough: the header orders the scalar unit itself."""
    text = compile_kernel(HEAD + SCATTER, "kernel.cpp", CppOptions(target=target)).text
    data, places = np.arange(1, 9, dtype=np.float32), np.array([0, 2, 4, 6, 9, 11, 13, 15], np.int32)
    out = np.zeros(16, np.float32)
    assert diagnostics(text, [data, places, out], target=target) == []
    expected = np.zeros(16, np.float32)
    for place, value in zip(places, data, strict=True):
        expected[place] = value
    assert out.tolist() == expected.tolist()


def records(scores: list[int]) -> np.ndarray:
    """Pairs of a score and its index, 32 of them."""
    pairs = np.zeros((32, 2), np.float32)
    pairs[:, 0] = scores
    pairs[:, 1] = np.arange(32, dtype=np.uint32).view(np.float32)
    return pairs.reshape(-1)


def merged(first: list[int], second: list[int]) -> tuple[list[int], list[int]]:
    """Scores in falling order until one list is empty, and how many were taken of each."""
    taken, scores = [0, 0], []
    lists = [first, second]
    while taken[0] < len(first) and taken[1] < len(second):
        largest = 0 if first[taken[0]] >= second[taken[1]] else 1
        scores.append(lists[largest][taken[largest]])
        taken[largest] += 1
    return scores, taken


@pytest.mark.parametrize("shift", [-40, -11, 0, 11, 40])
def test_a_merge_states_how_many_records_it_took(shift: int) -> None:
    first, second = list(range(96, 0, -3)), [score + shift for score in range(64, 0, -2)]
    out, counts = np.zeros(128, np.float32), np.zeros(2, np.int32)
    text = compile_kernel(HEAD + MERGE, "kernel.cpp", CppOptions()).text
    found = diagnostics(text, [records(first), records(second), out, counts])
    scores, taken = merged(first, second)
    assert [one.message.partition(" receive")[0] for one in found] == [f"bytes [{8 * len(scores)}, 512) of gm 'out'"]
    assert counts.tolist() == taken
    assert out[::2].tolist()[: len(scores)] == scores
