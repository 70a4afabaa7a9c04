"""Kernels of C++ with a compiler, and the operations that they become."""

from __future__ import annotations

import re
import string
from pathlib import Path

import numpy as np
import pytest

import pto_dialect
from pto_dialect.cpp.compiler import INCLUDE
from pto_dialect.cpp.kernel import CppError, compile_kernel
from pto_dialect.cpp.options import CppOptions
from pto_dialect.targets.a2a3 import A2A3
from pto_dialect.targets.a5 import A5
from pto_dialect.targets.profile import Profile
from run_lines import run_command

HEAD = """\
#include <pto/pto-inst.hpp>
using namespace pto;
"""


def program(text: str, *defines: str) -> str:
    """The program of a kernel."""
    return compile_kernel(HEAD + text, "kernel.cpp", CppOptions(defines=defines)).text


def test_tile_at_the_address_of_another_that_moves_in_a_loop() -> None:
    text = program("""
using Row = Tile<TileType::Vec, float, 1, 256, BLayout::RowMajor, -1, -1>;
extern "C" __global__ AICORE void k(__gm__ float *x, int32_t n) {
  Row moving(1, 8);
  for (int i = 0; i < n; i++) {
    TASSIGN(moving, i * 64);
    Row same(1, 8);
    TASSIGN(same, (uint64_t)moving.data());
    TADDS(same, same, 1.f);
  }
}
""")
    loop = text.partition("scf.for")[2]
    assert loop.count("pto.alloc_tile") == 1
    address = loop.partition("pto.alloc_tile addr = ")[2].split()[0]
    assert f"{address} = arith.extsi" in loop
    assert "pto.tadds" in loop


BOTH_SIDES = """
extern "C" __global__ AICORE void k(__gm__ float *x) {
#ifdef __DAV_VEC__
  Tile<TileType::Vec, float, 1, 64> t;
  TASSIGN(t, 0);
  GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> g(x + INDEX * 64);
  TLOAD(t, g);
#endif
#ifdef __DAV_CUBE__
  WORK;
#endif
}
"""


@pytest.mark.parametrize(
    ("index", "work", "functions"),
    [
        ("get_block_idx()", "", ["k"]),
        ("get_block_idx()", "pipe_barrier(PIPE_M)", ["k_vector", "k_cube"]),
        ("(get_block_idx() * 2 + get_subblockid())", "", ["k_vector", "k_cube"]),
    ],
)
def test_kernel_is_mixed_where_both_cores_work_or_two_vector_cores_are_meant(
    index: str, work: str, functions: list[str]
) -> None:
    text = program(BOTH_SIDES, f"INDEX={index}", f"WORK={work}")
    assert re.findall(r"func\.func @(\w+)", text) == functions


ONE_SIDE = """
#if defined(__DAV_VEC__)
constexpr int OTHER = 1;
#elif defined(__DAV_CUBE__)
constexpr int OTHER = 2;
#endif
extern "C" __global__ AICORE void k(__gm__ float *x) {
  Tile<TileType::TYPE, float, 16, 16, LAYOUT> t;
  TASSIGN(t, 0);
  GlobalTensor<float, Shape<1, 1, 1, 16, 16>, Stride<256, 256, 256, 16, 1>> g(x);
  TLOAD(t, g);
}
"""


@pytest.mark.parametrize(
    ("type_", "layout", "kind"),
    [
        ("Vec", "BLayout::RowMajor, 16, 16", "vector"),
        ("Mat", "BLayout::ColMajor, 16, 16, SLayout::RowMajor, 512", "cube"),
    ],
)
def test_kernel_whose_headers_name_both_cores_is_for_the_one_that_can_execute_it(
    type_: str, layout: str, kind: str
) -> None:
    text = program(ONE_SIDE.replace("TYPE", type_).replace("LAYOUT", layout))
    assert re.findall(r"func\.func @(\w+)\(.*kernel_kind<(\w+)>", text) == [("k", kind)]


def test_kernel_of_scalars_alone_is_for_one_core() -> None:
    text = program("""
#if defined(__DAV_VEC__) || defined(__DAV_CUBE__)
#endif
extern "C" __global__ AICORE void k(__gm__ float *x) { x[0] = 1.f; }
""")
    assert re.findall(r"func\.func @(\w+)", text) == ["k"]


def test_no_header_uses_the_short_names_of_macros_of_a_kernel() -> None:
    folders = (Path(INCLUDE), Path(INCLUDE, "fallback"))
    headers = [path.relative_to(folders["fallback" in path.parts]) for path in folders[0].rglob("*.h*")]
    includes = "".join(f'#include "{header.as_posix()}"\n' for header in sorted(headers))
    kernel = """
extern "C" __global__ AICORE void k(__gm__ float *x) {
  Tile<TileType::Vec, float, 1, N> t;
  TASSIGN(t, 0);
  TADDS(t, t, 1.f);
}
"""
    text = program(includes + kernel, *(f"{letter}=64" for letter in string.ascii_uppercase))
    assert "pto.tadds" in text and "1x64xf32" in text


def test_definition_may_have_a_name_that_headers_use() -> None:
    kernel = """
extern "C" __global__ AICORE void k(__gm__ float *p) {
  Tile<TileType::Vec, float, rows, n> t;
  TASSIGN(t, 0);
  TADDS(t, t, 1.f);
}
"""
    assert "4x64xf32" in program(kernel, "n=64", "rows=4", "x", "value=3", "Tile_size=7")


def test_number_of_the_arguments_of_a_run_time_has_its_type() -> None:
    text = program("""
#include "tensor.h"
extern "C" __global__ AICORE void kernel_entry(__gm__ int64_t *args) {
  Tile<TileType::Vec, float, 1, 64> t;
  TASSIGN(t, 0);
  TADDS(t, t, from_u64<float>(static_cast<uint64_t>(args[0])));
}
""")
    assert "(%args_0: i64)" in text
    assert re.search(r"arith\.bitcast %\w+ : i32 to f32", text)


@pytest.mark.parametrize("word", ["asm", "__asm__", "__asm"])
def test_assembly_outside_of_functions_is_refused_at_its_line(word: str) -> None:
    with pytest.raises(CppError) as caught:
        program(f'{word}("other:");\nextern "C" __global__ AICORE void k(__gm__ float *x) {{}}\n')
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.message == "assembly outside of functions cannot be translated"
    assert diagnostic.span is not None and diagnostic.span.line == 3


def test_symbol_that_a_library_declares_in_assembly_is_no_assembly_of_the_kernel() -> None:
    declared = program('asm(".globl other");\nextern "C" __global__ AICORE void k(__gm__ float *x) {}\n')
    assert "func.func @k(" in declared


CHECKED = """
#include <cassert>
constexpr int twice(int n) { assert(n > 0); return 2 * n; }
static_assert(twice(2) == 4);
extern "C" __global__ AICORE void k(__gm__ int32_t *x, int n) {
  assert(n > 3 && "small");
  PTO_ASSERT(n % 8 == 0, "the number must be a multiple of 8");
  if (n > 90)
    __builtin_trap();
  x[0] = n;
}
"""


def test_checks_and_traps_of_a_kernel_stay() -> None:
    text = program(CHECKED)
    assert re.search(r'cf\.assert %\w+, "n > 3 && \\"small\\""', text)
    assert re.search(r'cf\.assert %\w+, "the number must be a multiple of 8"', text)
    assert text.count("pto.trap") == 1


def test_assertions_are_left_out_where_a_definition_says_so() -> None:
    text = program(CHECKED, "NDEBUG")
    assert "n > 3" not in text and "the number must be a multiple of 8" in text


def test_a_side_with_operations_of_both_cores_stays() -> None:
    text = program("""
extern "C" __global__ AICORE void k(__gm__ float *x) {
  Tile<TileType::Mat, float, 16, 64> boxed;
  TASSIGN(boxed, 0);
  Tile<TileType::Vec, float, 16, 64> rows;
  TASSIGN(rows, 0);
  GlobalTensor<float, Shape<1, 1, 1, 16, 64>, Stride<1024, 1024, 1024, 64, 1>> g(x);
  TLOAD(boxed, g);
#ifdef __DAV_CUBE__
  set_intra_block(PIPE_MTE2, 0);
#endif
#ifdef __DAV_VEC__
  wait_intra_block(PIPE_MTE3, 0);
  TSTORE(g, rows);
#endif
}
""")
    assert re.findall(r"func\.func @(\w+)", text) == ["k_vector", "k_cube"]


SIZES = {
    **{"UBUF": "ub", "CBUF": "l1", "L0A": "l0a", "L0B": "l0b", "L0C": "l0c", "BIAS": "bt", "FBUF": "fb"},
    **{"SCALELEFT": "scale_left", "SCALERIGHT": "scale_right"},
}


@pytest.mark.parametrize("target", [A2A3, A5], ids=lambda target: target.name)
def test_sizes_of_memories_are_those_of_the_target(target: Profile) -> None:
    states = (f"static_assert(PTO_{macro}_SIZE_BYTES == {target.capacity[space]});" for macro, space in SIZES.items())
    text = HEAD + "\n".join(states) + '\nextern "C" __global__ AICORE void k(__gm__ float *x) {}\n'
    compile_kernel(text, "kernel.cpp", CppOptions(target=target.name))


def test_size_of_a_memory_may_be_defined() -> None:
    kernel = 'extern "C" __global__ AICORE void k(__gm__ int *x) { x[0] = PTO_UBUF_SIZE_BYTES; }'
    assert "arith.constant 4096 : i32" in program(kernel, "PTO_UBUF_SIZE_BYTES=4096")


PING_PONG = """
template <class T> AICORE int next(T &tile, int seed = -1) {
  static int turn = 0;
  if (seed >= 0) turn = seed;
  int taken = turn;
  TASSIGN(tile, taken == 0 ? 0 : 0x4000);
  turn ^= 1;
  return taken;
}
AICORE int count() { static int calls = 10; return calls++; }
extern "C" __global__ AICORE void k(__gm__ int *out, int n) {
  for (int i = 0; i < n; ++i) {
    Tile<TileType::Vec, float, 1, 64> tile;
    int taken = next(tile, i == 4 ? 0 : -1);
    out[i] = taken + count() * 100;
  }
}
"""


def test_static_variable_of_a_function_keeps_its_value_in_a_launch() -> None:
    kernel = pto_dialect.compile(pto_dialect.parse(program(PING_PONG)))
    for _ in range(2):  # Each launch starts with the initial value.
        out = np.zeros(7, np.int32)
        kernel(out, 7)
        assert out.tolist() == [1000, 1101, 1200, 1301, 1400, 1501, 1600]


CALLED = """
template <typename T, int N>
AICORE void scaled(Tile<TileType::Vec, T, 1, N> &tile) { TMULS(tile, tile, T(2)); }

template <typename T, int N>
AICORE void twice(__gm__ T *out, __gm__ T *in) {
  Tile<TileType::Vec, T, 1, N> tile;
  GlobalTensor<T, Shape<1, 1, 1, 1, N>, Stride<N, N, N, N, 1>> source(in), target(out);
  TASSIGN(tile, 0);
  TLOAD(tile, source);
  scaled<T, N>(tile);
  TSTORE(target, tile);
}
"""
LAUNCHES = """
template <typename T, int N>
void launch(T *out, T *in, void *stream) {
  if constexpr (std::is_same_v<T, aclFloat16>) twice<half, N>((half *)out, (half *)in);
  else twice<T, N>(out, in);
}
template void launch<float, 64>(float *, float *, void *);
template void launch<aclFloat16, 128>(aclFloat16 *, aclFloat16 *, void *);
"""


def test_functions_of_the_device_that_host_code_calls_are_kernels() -> None:
    whole = compile_kernel(HEAD + CALLED + LAUNCHES, "kernel.cpp", CppOptions(), every=True)
    assert re.findall(r"func\.func @(\w+)", whole.text) == ["twice_float_64", "twice_half_128"]
    with pytest.raises(CppError) as error:
        program(CALLED + LAUNCHES)
    [found] = error.value.diagnostics
    assert found.help == "name one: --entry 'twice<float, 64>', --entry 'twice<half, 128>'"
    assert found.span is not None and found.span.line == 5
    one = compile_kernel(HEAD + CALLED + LAUNCHES, "kernel.cpp", CppOptions("twice<half, 128>")).text
    assert "func.func @twice(%out: !pto.ptr<f16>" in one and "pto.tmuls" in one


def test_a_function_of_the_device_that_nothing_calls_is_a_kernel() -> None:
    text = CALLED + "AICORE void k(__gm__ float *out, __gm__ float *in) { twice<float, 64>(out, in); }\n"
    assert "func.func @k(" in program(text)


def test_arrays_of_two_types_in_a_struct_hold_the_bits_of_both() -> None:
    kernel = pto_dialect.compile_cpp(
        HEAD
        + """
struct Cache { int32_t rows[64]; float weights[64]; };
__global__ AICORE void k(__gm__ float *out, __gm__ float *in, int n) {
  Cache cache;
  for (int i = 0; i < n; ++i) {
    cache.rows[i] = n - 1 - i;
    cache.weights[i] = in[i];
  }
  for (int i = 0; i < n; ++i) out[i] = cache.weights[cache.rows[i]] + cache.rows[0];
}
"""
    )
    given, out = np.linspace(-1, 1, 9, dtype=np.float32), np.zeros(9, np.float32)
    pto_dialect.run(kernel.module, {"out": out, "in": given, "n": 9})
    np.testing.assert_array_equal(out, given[::-1] + np.float32(8))


def test_launcher_may_name_a_stream_without_headers_of_the_host() -> None:
    launcher = "void launch(aclrtStream stream, float *x);\n"
    assert "func.func @k" in program(f'{launcher}extern "C" __global__ AICORE void k(__gm__ float *x) {{ x[0] = 1; }}')


def test_arrays_of_tiles_without_addresses() -> None:
    kernel = pto_dialect.compile_cpp(
        HEAD
        + """
using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
__global__ AICORE void k(__gm__ float *x, int n) {
  Tile<TileType::Vec, float, 1, 64> rows[3];
  for (int i = 0; i < n; ++i) {
    Row first(x + i * 128), second(x + i * 128 + 64);
    TLOAD(rows[0], first);
    TLOAD(rows[1], second);
    TADD(rows[2], rows[0], rows[1]);
    TSTORE(first, rows[2]);
  }
}
"""
    )
    assert kernel.text.count("pto.alloc_tile") == 3
    x = np.arange(4 * 64, dtype=np.float32)
    expected = x.reshape(2, 2, 64).copy()
    expected[:, 0] += expected[:, 1]
    pto_dialect.run(kernel.module, {"x": x, "n": 2})
    np.testing.assert_array_equal(x, expected.ravel())


def test_element_of_an_array_of_tiles_without_addresses() -> None:
    kernel = pto_dialect.compile_cpp(
        HEAD
        + """
using Row = GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>>;
__global__ AICORE void k(__gm__ float *x, int n) {
  Tile<TileType::Vec, float, 1, 64> rows[3];
  for (int i = 0; i < 3; ++i) {
    Row row(x + i * 64);
    TLOAD(rows[i], row);
  }
  for (int i = 0; i < n; ++i) {
    Row row(x + i * 64);
    TADD(rows[i % 3], rows[i % 3], rows[(i + 1) % 3]);
    TSTORE(row, rows[i % 3]);
  }
}
"""
    )
    assert kernel.text.count("pto.alloc_tile") == 3
    x = np.arange(7 * 64, dtype=np.float32)
    expected, rows = x.reshape(7, 64).copy(), x.reshape(7, 64)[:3].copy()
    for i in range(7):
        rows[i % 3] += rows[(i + 1) % 3]
        expected[i] = rows[i % 3]
    pto_dialect.run(kernel.module, {"x": x, "n": 7})
    np.testing.assert_array_equal(x, expected.ravel())


FILLED = """
using Image = ConvTile<TileType::Mat, half, SIZE, Layout::NC1HWC0, ConvTileShape<2, 3, 1, 5, 16>>;
extern "C" __global__ AICORE void k(__gm__ half *out, half value) {
  Tile<TileType::Vec, half, 30, 16> lines;
  TASSIGN(lines, 0);
#ifdef __DAV_CUBE__
  Image image;
  TASSIGN(image, 0);
  TEXPANDS(image, value);
  set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
  copy_cbuf_to_ubuf((__ubuf__ void *)lines.data(), (__cbuf__ void *)image.data(), 0, 1, 30, 0, 0);
  set_intra_block(PIPE_MTE1, 0);
#endif
#ifdef __DAV_VEC__
  if (get_subblockid() == 0) {
    wait_intra_block(PIPE_MTE3, 0);
    GlobalTensor<half, Shape<1, 1, 1, 30, 16>, Stride<480, 480, 480, 16, 1>> all(out);
    TSTORE(all, lines);
  }
#endif
}
"""


def test_tile_of_a_convolution_is_filled_in_every_layout() -> None:
    kernel = pto_dialect.compile_cpp(HEAD + FILLED, target="a5", defines={"SIZE": 2 * 3 * 5 * 32})
    out = np.zeros(480, np.float16)
    pto_dialect.run(kernel.module, {"out": out, "value": np.float16(2.5)})
    assert out.tolist() == [2.5] * 480


def test_columns_of_packed_numbers_have_pairs_along_the_rows() -> None:
    kernel = pto_dialect.compile_cpp(
        HEAD
        + """
__global__ AICORE void k(__gm__ float4_e1m2x2_t *out, __gm__ float4_e1m2x2_t *in) {
  GlobalTensor<float4_e1m2x2_t, Shape<1, 1, 1, 6, 3>, pto::Stride<30, 30, 30, 1, 10>, Layout::DN> from(in), to(out);
  Tile<TileType::Vec, float4_e1m2x2_t, 32, 3, BLayout::ColMajor, -1, -1> tile(6, 3);
  TASSIGN(tile, 0);
  TLOAD(tile, from);
  TSTORE(to, tile);
}
""",
        target="a5",
    )
    given, out = np.arange(1, 16, dtype=np.uint8), np.zeros(15, np.uint8)
    pto_dialect.run(kernel.module, {"out": out, "in": given})
    assert out.reshape(3, 5).tolist() == [[1, 2, 3, 0, 0], [6, 7, 8, 0, 0], [11, 12, 13, 0, 0]]


SCALARS = """
__global__ AICORE void k(__gm__ int32_t *out, int n) {
  __ubuf__ int32_t *line = (__ubuf__ int32_t *)ADDRESS;
  for (int i = 0; i < 8; ++i) line[i] = n + i;
  line[3] += line[2];
  set_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  wait_flag(PIPE_S, PIPE_MTE3, EVENT_ID0);
  copy_ubuf_to_gm((__gm__ void *)out, (__ubuf__ void *)line, 0, 1, 1, 0, 0);
}
"""


@pytest.mark.parametrize("address", ["0x0", "0x400"])
def test_scalars_at_a_constant_address_of_the_vector_core(address: str, tmp_path: Path) -> None:
    (tmp_path / "k.cpp").write_text(HEAD + SCALARS, encoding="utf-8")
    checked = run_command("pto-opt", [str(tmp_path / "k.cpp"), "-D", f"ADDRESS={address}", "--verify-only"])
    assert (checked.exit_code, checked.stderr) == (0, b"")
    kernel = pto_dialect.compile_cpp(tmp_path / "k.cpp", defines={"ADDRESS": address})
    out = np.zeros(8, np.int32)
    pto_dialect.run(kernel.module, {"out": out, "n": 5})
    assert out.tolist() == [5, 6, 7, 15, 9, 10, 11, 12]


def test_null_pointer_of_global_memory_is_refused() -> None:
    with pytest.raises(CppError, match="null pointer"):
        program("__global__ AICORE void k(__gm__ int *out) { __gm__ int *none = nullptr; out[0] = none[1]; }")
