"""Numbers that kernels keep in tables, in tiles and in structures of global memory."""

from __future__ import annotations

import numpy as np

import pto_dialect

HEAD = "#include <pto/pto-inst.hpp>\nusing namespace pto;\n"
WAIT = "set_flag(PIPE_V, PIPE_S, EVENT_ID0); wait_flag(PIPE_V, PIPE_S, EVENT_ID0);"


def run(text: str, out: np.ndarray, **numbers: int) -> list[int]:
    """What a kernel stores in ``out``."""
    kernel = pto_dialect.compile_cpp(HEAD + text, filename="kernel.cpp")
    pto_dialect.run(kernel.module, {"out": out, **numbers})
    return out.tolist()


def test_element_of_a_table_of_bytes() -> None:
    text = """
constexpr uint8_t weights[6] = {1, 2, 4, 8, 16, 200};
__global__ AICORE void k(__gm__ int32_t *out, int32_t n) {
  const int8_t signs[3] = {-1, 0, 1};
  out[0] = weights[n];
  out[1] = signs[n % 3];
  for (int i = 0; i < 6; ++i) out[2 + i] = weights[5 - i];
}
"""
    assert run(text, np.zeros(8, np.int32), n=5) == [200, 1, 200, 16, 8, 4, 2, 1]


def test_adjacent_numbers_of_global_memory_that_become_zero() -> None:
    text = """
__global__ AICORE void k(__gm__ float *out, float last) {
  out[0] = 0; out[1] = 0; out[2] = 0; out[3] = 0; out[4] = 0; out[5] = 0; out[6] = last;
}
"""
    assert run(text, np.full(8, 9, np.float32), last=2) == [0, 0, 0, 0, 0, 0, 2, 9]


def test_structures_that_are_copied_within_global_memory() -> None:
    text = """
struct Entry { int64_t key, left, right; };
__global__ AICORE void k(__gm__ int64_t *out, int32_t n) {
  __gm__ Entry *entries = (__gm__ Entry *)out;
  entries[0] = entries[n];
  entries[n] = Entry{};
}
"""
    assert run(text, np.arange(9, dtype=np.int64), n=2) == [6, 7, 8, 3, 4, 5, 0, 0, 0]


def test_elements_of_a_tile_by_the_pointer_to_its_data() -> None:
    text = f"""
__global__ AICORE void k(__gm__ int32_t *out, int32_t n) {{
#ifdef __DAV_VEC__
  Tile<TileType::Vec, int32_t, 8, 8> tile;
  for (int i = 0; i < 2; ++i) {{
    TASSIGN(tile, i * n);
    TEXPANDS(tile, n + i);
    {WAIT}
    __ubuf__ int32_t *numbers = tile.data();
    numbers[1] = 7;
    out[2 * i] = numbers[1];
    out[2 * i + 1] = numbers[63];
  }}
#endif
}}
"""
    assert run(text, np.zeros(4, np.int32), n=512) == [7, 512, 7, 513]


def test_array_of_many_elements_keeps_its_initial_values() -> None:
    text = """
__global__ AICORE void k(__gm__ int64_t *out, int32_t n) {
  int32_t values[18] = {3, 1, 4, 1, 5, 9, 2, 6};
  int8_t small[17] = {-1, -2, -3, -4, -5, -6};
  values[17] = n;
  small[n % 17] = 100;
  out[0] = values[n];
  out[1] = values[17];
  out[2] = small[n - 1];
  out[3] = small[n];
}
"""
    assert run(text, np.zeros(4, np.int64), n=5) == [9, 5, -5, 100]


def test_bytes_of_an_array_that_are_one_number() -> None:
    text = """
__global__ AICORE void k(__gm__ int64_t *out, int32_t n) {
  uint8_t bytes[20] = {1, 2, 3, 4, 5, 6, 7, 8};
  bytes[n] = 0xff;
  out[0] = bytes[4] | bytes[5] << 8 | bytes[6] << 16 | (int64_t)bytes[7] << 24;
  const int64_t word = 0x0102030405060708;
  __builtin_memcpy(bytes + 8, &word, 8);
  out[1] = bytes[n + 4];
}
"""
    assert run(text, np.zeros(2, np.int64), n=5) == [0x0807FF05, 0x07]


def test_structures_of_six_bytes_change_no_bytes_after_them() -> None:
    text = """
struct Corner { uint16_t x, y, z; };
AICORE inline Corner corner(int n) { return Corner{(uint16_t)n, (uint16_t)(2 * n), (uint16_t)(3 * n)}; }
__global__ AICORE void k(__gm__ uint16_t *out, int32_t n) {
  Corner corners[2];
  for (int i = 1; i >= 0; --i) corners[i] = corner(n + i);
  corners[n & 1] = corners[0];
  out[6] = corners[0].z;
  out[7] = corners[1].x;
  *(__gm__ Corner *)(out + 3) = corner(7);
  *(__gm__ Corner *)out = corner(n);
}
"""
    assert run(text, np.zeros(8, np.uint16), n=4) == [4, 8, 12, 7, 14, 21, 12, 5]


def test_structures_of_16_bytes_by_an_index() -> None:
    text = """
struct Range { int64_t begin, end; };
__global__ AICORE void k(__gm__ int64_t *out, int32_t n) {
  Range ranges[2];
  for (int i = 0; i < 2; ++i) ranges[i] = Range{};
  ranges[n & 1].end = n;
  Range last = ranges[1];
  out[0] = ranges[0].end;
  out[1] = last.end - last.begin;
}
"""
    assert run(text, np.zeros(2, np.int64), n=5) == [0, 5]
