"""Arrays of structures in local memory: copies of whole structures, and members that an index selects."""

from __future__ import annotations

import numpy as np
import pytest

import pto_dialect
from pto_dialect.cpp.errors import CppError

HEAD = "#include <pto/pto-inst.hpp>\n"
PAIR = np.dtype([("a", "<i4"), ("b", "<i2"), ("c", "<i2")])
COPIES = """
struct Pair { int a; short b, c; };
extern "C" __global__ AICORE void k(__gm__ Pair *in, __gm__ Pair *out, int n) {
  Pair p[32];
  for (int i = 0; i < 32; ++i) p[i] = in[i];
  for (int i = 0; i < n; ++i) p[i] = Pair{7, 8, -9};
  for (int i = 0; i < 16; ++i) { Pair kept = p[i]; p[i] = p[31 - i]; p[31 - i] = kept; }
  for (int i = 0; i < n; ++i) p[i].b += p[i + 3].a;
  for (int i = 0; i < 32; ++i) out[i] = p[i];
}
"""
MEMBERS = """
struct Row { short v[4]; };
extern "C" __global__ AICORE void k(__gm__ short *x, __gm__ short *z, int n) {
  Row r[32];
  for (int i = 0; i < 32; ++i) { r[i].v[0] = x[i]; r[i].v[1] = 1; r[i].v[2] = 2; r[i].v[3] = 3; }
  for (int i = 0; i < n; ++i) r[i].v[x[i] & 3] += 5;
  for (int i = 0; i < 32; ++i) z[i] = r[i].v[0] + 10 * r[i].v[1] + 100 * r[i].v[2] + 1000 * r[i].v[3];
}
"""
HALVES = """
extern "C" __global__ AICORE void k(__gm__ int *x, __gm__ int *z, int n) {
  short s[64];
  for (int i = 0; i < 64; ++i) s[i] = x[i];
  for (int i = 0; i < n; ++i) ((int *)s)[i] = x[i];
  for (int i = 0; i < 64; ++i) z[i] = s[i];
}
"""


def low(value: int) -> int:
    """The low 16 bits, with a sign."""
    return (value + 2**15) % 2**16 - 2**15


@pytest.mark.parametrize("count", [0, 1, 13, 29])
def test_structures_are_copied_whole(count: int) -> None:
    """From global memory, as a constant, between elements, and back; members are still what is computed with."""
    module = pto_dialect.compile_cpp(HEAD + COPIES, filename="kernel.cpp").module
    rng = np.random.default_rng(count)
    data = np.zeros(32, PAIR)
    for name in ("a", "b", "c"):
        limits = np.iinfo(data[name].dtype)
        data[name] = rng.integers(limits.min, limits.max, 32)
    out = np.zeros(32 * 4, np.int16)
    pto_dialect.run(module, {"in": data.view(np.int16), "out": out, "n": count})
    rows = [tuple(int(number) for number in row) for row in data]
    rows = ([(7, 8, -9)] * count + rows[count:])[::-1]
    for i in range(count):
        a, b, c = rows[i]
        rows[i] = a, low(b + rows[i + 3][0]), c
    assert [tuple(row) for row in out.view(PAIR).tolist()] == rows


@pytest.mark.parametrize("count", [0, 8, 32])
def test_a_member_selected_by_an_index_is_the_one_with_a_name(count: int) -> None:
    """Members by name and by index have the same memory, although their distances differ."""
    module = pto_dialect.compile_cpp(HEAD + MEMBERS, filename="kernel.cpp").module
    x, z = np.arange(32, dtype=np.int16), np.zeros(32, np.int16)
    pto_dialect.run(module, {"x": x, "z": z, "n": count})
    rows = [[i, 1, 2, 3] for i in range(32)]
    for i in range(count):
        rows[i][i & 3] += 5
    assert z.tolist() == [a + 10 * b + 100 * c + 1000 * d for a, b, c, d in rows]


def test_elements_of_two_sizes_at_the_same_bytes_are_refused() -> None:
    with pytest.raises(CppError, match="the elements of a local array are accessed with two sizes"):
        pto_dialect.compile_cpp(HEAD + HALVES, filename="kernel.cpp")


FIELDS = """
using namespace pto;
struct Buffers {
  Tile<TileType::Vec, float, 1, 64> first[2];
  Tile<TileType::Vec, float, 1, 128, BLayout::RowMajor, 1, 64> second[3];
  int32_t numbers[2];
};
__global__ AICORE void k(__gm__ float *x, int32_t n) {
  Buffers all;
  for (int i = 0; i < 2; ++i) { TASSIGN(all.first[i], i * 0x100); all.numbers[i] = 1 - i; }
  for (int i = 1; i < 4; ++i) TASSIGN(all.second[i - 1], i * 0x1000);
  for (int i = 0; i < n; ++i) {
    auto &from = all.first[i & 1];
    auto &to = all.second[all.numbers[i & 1] + 1];
    GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> line(x + i * 64);
    TLOAD(from, line);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADDS(to, from, 2.f);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(line, to);
    pipe_barrier(PIPE_ALL);
  }
}
"""


def test_a_structure_has_several_arrays_of_tiles() -> None:
    """Constructors run over each of them; the second begins where the first ends."""
    kernel = pto_dialect.compile_cpp(HEAD + FIELDS)
    numbers = np.arange(256, dtype=np.float32)
    pto_dialect.run(kernel.module, {"x": numbers, "n": 4})
    np.testing.assert_array_equal(numbers, np.arange(256, dtype=np.float32) + 2)


def test_an_array_of_tiles_of_convolutions_is_named() -> None:
    text = """
using namespace pto;
using Map = ConvTile<TileType::Mat, half, 4096, Layout::NC1HWC0, ConvTileShape<1, 1, 8, 16, 16>>;
__global__ AICORE void k(int32_t n) {
  Map maps[2];
  for (int i = 0; i < 2; ++i) TASSIGN(maps[i], i * 4096);
  for (int i = 0; i < n; ++i) TEXPANDS(maps[i & 1], (half)1);
}
"""
    with pytest.raises(CppError, match=r"kernel\.cpp:6:7: error: an array of ConvTile has no counterpart"):
        pto_dialect.compile_cpp(HEAD + text, filename="kernel.cpp")
