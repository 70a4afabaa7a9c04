"""Fractal loads and the operands of mad against the formulas of the docs/reference/layouts.md, "Loads with a change of
layout", "Loads into L0", "MX scales".
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.fractal_load import (
    gm_to_l1_frac,
    l0c_view,
    l1_to_l0,
    l1_to_l0_mx,
    load_fractals,
    load_mx_fragments,
    mad_view_a,
    mad_view_b,
    mx_scale_address,
    read_mx_scales_left,
    read_mx_scales_right,
)
from pto_dialect.runtime.memory.spaces import Arena

DTYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32}
SIZES = st.sampled_from([1, 2, 4])


def up(value: int, multiple: int) -> int:
    return multiple * ((value + multiple - 1) // multiple)


def filled(space: str, size: int, seed: int) -> Arena:
    arena = Arena(space, size)
    arena.bytes[:] = np.random.default_rng(seed).integers(0, 256, size, np.uint8)
    return arena


def random_matrix(rows: int, cols: int, size: int, seed: int = 0) -> npt.NDArray[Any]:
    raw = np.random.default_rng(seed).integers(0, 256, rows * cols * size, np.uint8)
    return raw.view(DTYPES[size]).reshape(rows, cols)


def nz_store(arena: Arena, matrix: npt.NDArray[Any], rows: int, base: int = 0) -> None:
    """Write a matrix as NZ (col blocks, ``rows``, C0), element by element."""
    size = matrix.itemsize
    lanes = 32 // size
    flat = arena.bytes[base:].view(matrix.dtype)
    for r in range(matrix.shape[0]):
        for c in range(matrix.shape[1]):
            flat[(c // lanes) * rows * lanes + r * lanes + c % lanes] = matrix[r, c]


# -- GM to L1 ------------------------------------------------------------------------------------------------


def test_nd2nz_worked_number() -> None:
    """A[40,50] f16: element (33,20) at byte 2600, lanes 50 to 63 zero, rows 40 to 47 untouched."""
    a = random_matrix(40, 50, 2)
    l1 = filled("l1", 8192, 1)
    before = l1.bytes.copy()
    gm = Arena.from_array(a.copy())
    gm_to_l1_frac(l1.pointer(0, np.uint16), gm.pointer(0, np.uint16), "nd2nz", 40, 50, 100, loop2=1, loop3=48)
    image = l1.bytes[: 4 * 48 * 32].view(np.uint16).reshape(4, 48, 16)
    assert l1.bytes[2600:2602].view(np.uint16)[0] == a[33, 20] == image.reshape(-1)[1300]
    assert (image[:, :40].transpose(1, 0, 2).reshape(40, 64)[:, :50] == a).all()
    assert not image[3, :40, 2:].any()
    assert (image[:, 40:] == before[: 4 * 48 * 32].view(np.uint16).reshape(4, 48, 16)[:, 40:]).all()
    assert (l1.bytes[4 * 48 * 32 :] == before[4 * 48 * 32 :]).all()


@given(
    st.sampled_from(["nd2nz", "dn2nz"]),
    SIZES,
    st.integers(1, 20),
    st.integers(1, 40),
    st.integers(0, 9),
    st.integers(1, 3),
    st.integers(0, 2),
    st.integers(1, 3),
    st.integers(0, 3),
)
def test_fractal_load_from_gm(
    mode: Any, size: int, n: int, d: int, gap: int, groups: int, spread: int, loop2: int, base: int
) -> None:
    lanes = 32 // size
    blocks = (d + lanes - 1) // lanes
    inner = (d if mode == "nd2nz" else n) * size + gap
    outer = inner * (n if mode == "nd2nz" else d) + gap
    loop3 = n * loop2 + spread
    loop4 = blocks * loop3 + spread
    gm = filled("gm", groups * outer + base, 2)
    l1 = filled("l1", 32 * (groups * loop4 + 2), 3)
    expected = l1.bytes.copy()
    for g in range(groups):
        for row in range(n):
            for block in range(blocks):
                for lane in range(lanes):
                    depth = block * lanes + lane
                    to = 32 + (g * loop4 + row * loop2 + block * loop3) * 32 + lane * size
                    at = base + g * outer
                    at += row * inner + depth * size if mode == "nd2nz" else depth * inner + row * size
                    value = gm.bytes[at : at + size] if depth < d else np.zeros(size, np.uint8)
                    expected[to : to + size] = value
    gm_to_l1_frac(
        l1.pointer(32, DTYPES[size]), gm.pointer(base, DTYPES[size]),
        mode, n, d, inner, outer, groups, loop2, loop3, loop4,
    )  # fmt: skip
    assert l1.bytes.tobytes() == expected.tobytes()


def test_fractal_load_limits() -> None:
    gm, l1 = Arena("gm", 100), Arena("l1", 1024)

    def rule(dst_at: int, *numbers: int) -> str:
        with pytest.raises(Fault) as caught:
            gm_to_l1_frac(l1.pointer(dst_at, np.uint16), gm.pointer(0, np.uint16), "nd2nz", *numbers)
        assert not l1.bytes.any()
        return caught.value.rule

    assert rule(16, 2, 25, 50) == "mem-align"
    assert rule(0, 2, 25, 52) == "mem-oob"
    assert rule(0, 2, 25, 50, 0, 1, 1, 32) == "mem-oob"
    assert rule(0, 2, -1, 50) == "frac-nonneg"
    gm_to_l1_frac(l1.pointer(0, np.uint16), gm.pointer(0, np.uint16), "nd2nz", 0, 25, 50)
    gm_to_l1_frac(l1.pointer(0, np.uint16), gm.pointer(0, np.uint16), "nd2nz", 2, 25, 50)


# -- L1 to L0 ------------------------------------------------------------------------------------------------


def test_l0b_worked_numbers() -> None:
    """B[50,24] f16: (k=33,n=20) at element 1556 of L1 and 1345 of L0B."""
    b = random_matrix(50, 24, 2)
    l1, l0b = Arena("l1", 8192), Arena("l0b", 8192)
    nz_store(l1, b, 64)
    assert l1.bytes.view(np.uint16)[1556] == b[33, 20]
    assert not l1_to_l0(False, l0b.pointer(0, np.uint16), l1.pointer(0, np.uint16), 50, 24, transpose=True)
    assert l0b.bytes.view(np.uint16)[1345] == b[33, 20]


@given(SIZES, st.integers(1, 50), st.integers(1, 70), st.booleans())
def test_l0a_image(size: int, m: int, k: int, transpose: bool) -> None:
    """Element (m,k) at (k//C0)·S·C0 + m·C0 + k%C0; S = up16(M), or up(M, max(16, C0)) for a transposed source."""
    lanes = 32 // size
    a = random_matrix(m, k, size)
    l1, l0a = filled("l1", 65536, 4), filled("l0a", 65536, 5)
    nz_store(l1, a.T if transpose else a, up(k, max(16, lanes)) if transpose else up(m, 16), 64)
    wide = l1_to_l0(True, l0a.pointer(512, DTYPES[size]), l1.pointer(64, DTYPES[size]), m, k, 0, 0, transpose=transpose)
    assert wide == (transpose and size == 1 and 0 < m % 32 <= 16)
    step = up(m, max(16, lanes)) if transpose else up(m, 16)
    flat = l0a.bytes[512:].view(DTYPES[size])
    for row in range(m):
        for col in range(k):
            assert flat[(col // lanes) * step * lanes + row * lanes + col % lanes] == a[row, col]
    pointer = l0a.pointer(512, DTYPES[size])
    if wide:
        return
    assert (mad_view_a(pointer, m, k, disable_gemv=True).read() == a).all()
    assert (mad_view_a(pointer, m, k, disable_gemv=True).read() == a).all()


@given(SIZES, st.integers(1, 70), st.integers(1, 50), st.booleans())
def test_l0b_image(size: int, k: int, n: int, transpose: bool) -> None:
    """Element (k,n) at ((k//C0)·S + n)·C0 + k%C0; S = up16(N), or up(N, max(16, C0)) for a source NZ of K x N."""
    lanes = 32 // size
    b = random_matrix(k, n, size)
    l1, l0b = filled("l1", 65536, 6), filled("l0b", 65536, 7)
    nz_store(l1, b if transpose else b.T, up(k, max(16, lanes)) if transpose else up(n, 16))
    wide = l1_to_l0(False, l0b.pointer(1024, DTYPES[size]), l1.pointer(0, DTYPES[size]), k, n, transpose=transpose)
    assert wide == (transpose and size == 1 and 0 < n % 32 <= 16)
    step = up(n, max(16, lanes)) if transpose else up(n, 16)
    flat = l0b.bytes[1024:].view(DTYPES[size])
    for row in range(k):
        for col in range(n):
            assert flat[((row // lanes) * step + col) * lanes + row % lanes] == b[row, col]
    if wide:
        return
    assert (mad_view_b(l0b.pointer(1024, DTYPES[size]), k, n).read() == b).all()
    assert (mad_view_b(l0b.pointer(1024, DTYPES[size]), k, n).read() == b).all()


def test_transposed_load_copies_the_padding_lanes_of_k() -> None:
    """8-bit with N % 32 = 0 keeps S = N, and the padding lanes of K are copied too."""
    b = random_matrix(64, 64, 1)
    l1, l0b = filled("l1", 65536, 8), filled("l0b", 65536, 9)
    nz_store(l1, b, 64)
    assert not l1_to_l0(False, l0b.pointer(0, np.uint8), l1.pointer(0, np.uint8), 40, 64, transpose=True)
    image = l0b.bytes[: 2 * 64 * 32].reshape(2, 64, 32)
    assert (image.transpose(0, 2, 1).reshape(64, 64) == b).all()


@given(
    SIZES,
    st.integers(0, 2),
    st.integers(0, 2),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(0, 2),
    st.booleans(),
)
def test_raw_fractal_copy(size: int, m0: int, k0: int, m_step: int, k_step: int, slack: int, transpose: bool) -> None:
    """Without transpose fractal for fractal; with it, the transposed element matrix."""
    lanes = 32 // size
    if transpose:
        m_step *= max(1, lanes // 16)
        k_step *= max(1, 16 // lanes)
    src_stride = m0 + m_step + slack
    l1, l0 = filled("l1", 65536, 10), filled("l0a", 65536, 11)
    expected = l0.bytes.copy()
    source = l1.bytes.view(DTYPES[size])
    target = expected.view(DTYPES[size])
    rows, cols = m_step * 16, k_step * lanes
    dst_stride = (cols // 16 if transpose else m_step) + slack
    for r in range(rows):
        for c in range(cols):
            block = k0 + c // lanes
            value = source[(block * src_stride + m0) * 16 * lanes + r * lanes + c % lanes]
            i, j = (c, r) if transpose else (r, c)
            target[(j // lanes) * dst_stride * 16 * lanes + i * lanes + j % lanes] = value
    dst, src = l0.pointer(0, DTYPES[size]), l1.pointer(0, DTYPES[size])
    load_fractals(dst, src, m0, k0, m_step, k_step, src_stride, dst_stride, transpose)
    assert l0.bytes.tobytes() == expected.tobytes()


def test_transposed_copy_with_short_destination_stride_keeps_the_later_column() -> None:
    """Two by two fractals of 16 x 16 with one fractal per destination column."""
    l1, l0 = filled("l1", 8192, 25), Arena("l0a", 8192)
    load_fractals(l0.pointer(0, np.uint16), l1.pointer(0, np.uint16), 0, 0, 2, 2, 2, 1, True)
    fractals = l1.bytes[:2048].view(np.uint16).reshape(4, 16, 16)
    stored = l0.bytes[:1536].view(np.uint16).reshape(3, 16, 16)
    assert (stored == fractals[[0, 1, 3]].transpose(0, 2, 1)).all()


def test_raw_copy_with_short_destination_stride_keeps_the_later_column() -> None:
    l1, l0 = filled("l1", 8192, 12), Arena("l0a", 8192)
    load_fractals(l0.pointer(0, np.uint16), l1.pointer(0, np.uint16), 0, 0, 2, 3, 2, 1)
    fractals = l1.bytes[: 6 * 512].reshape(6, 512)
    assert (l0.bytes[: 4 * 512].reshape(4, 512) == fractals[[0, 2, 4, 5]]).all()


@pytest.mark.parametrize("left", [True, False])
def test_start_counts_fractals(left: bool) -> None:
    """The window starts start_row fractals of 16 rows and start_col fractals of 32 bytes into the source."""
    l1, l0 = filled("l1", 65536, 13), Arena("l0a", 65536)
    extents = (32, 48) if left else (48, 32)
    l1_to_l0(left, l0.pointer(0, np.uint16), l1.pointer(0, np.uint16), *extents, 1, 2)
    fractals = l1.bytes.reshape(-1, 512)
    for j in range(3):
        for i in range(2):
            assert (l0.bytes[(j * 2 + i) * 512 :][:512] == fractals[(2 + j) * 2 + 1 + i]).all()


@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize(("k", "n"), [(64, 64), (128, 80), (192, 16), (70, 33)])
def test_packed_operand(k: int, n: int, transpose: bool) -> None:
    """4-bit elements, two per byte along the row of a block: the L0B image pairs neighbours along K."""
    b = np.random.default_rng(14).integers(0, 16, (up(k, 64), up(n, 64)), np.uint8)
    source = b if transpose else b.T[: up(n, 16)]
    l1, l0b = Arena("l1", 65536), Arena("l0b", 65536)
    nz_store(l1, source[:, ::2] | source[:, 1::2] << 4, len(source))
    wide = l1_to_l0(False, l0b.pointer(0, np.uint8), l1.pointer(0, np.uint8), k, n, transpose=transpose, packed=True)
    assert wide == (transpose and up(n, 16) % 64 != 0)
    if wide:
        return
    pairs = mad_view_b(l0b.pointer(0, np.uint8), (k + 1) // 2, n).read()
    assert (pairs & 15 == b[:k:2, :n]).all()
    assert (pairs[: k // 2] >> 4 == b[1:k:2, :n]).all()


def test_packed_start_column_is_halved() -> None:
    l1, l0a = filled("l1", 65536, 15), Arena("l0a", 65536)
    l1_to_l0(True, l0a.pointer(0, np.uint8), l1.pointer(0, np.uint8), 16, 128, 0, 2, packed=True)
    assert (l0a.bytes[:1024] == l1.bytes[512:1536]).all() and not l0a.bytes[1024:].any()


def test_loader_limits() -> None:
    l1, l0a = Arena("l1", 65536), Arena("l0a", 4096)
    dst, src = l0a.pointer(0, np.uint16), l1.pointer(0, np.uint16)

    def rule(call: Any, *arguments: Any, **options: Any) -> str:
        with pytest.raises(Fault) as caught:
            call(*arguments, **options)
        return caught.value.rule

    assert rule(l1_to_l0, True, dst, src, 0, 16) == "l1l0-extent"
    assert rule(l1_to_l0, False, dst, src, 4096, 16) == "l1l0-extent"
    assert rule(l1_to_l0, True, dst, src, 16, 16, -1, 0) == "l1l0-start-nonneg"
    assert rule(l1_to_l0, True, dst.shifted(16), src, 16, 16) == "mem-align"
    assert rule(l1_to_l0, True, dst, src.shifted(2), 16, 16) == "mem-align"
    assert rule(l1_to_l0, True, dst, src, 16, 144) == "mem-oob"
    assert rule(load_fractals, dst, src, 0, -1, 1, 1, 1, 1) == "l1l0-raw-range"
    byte = (l0a.pointer(0, np.uint8), l1.pointer(0, np.uint8))
    assert rule(load_fractals, *byte, 0, 0, 1, 1, 1, 2, transpose=True) == "unmodelled"
    word = (l0a.pointer(0, np.uint32), l1.pointer(0, np.uint32))
    assert rule(load_fractals, *word, 0, 0, 1, 1, 1, 1, transpose=True) == "unmodelled"
    l1_to_l0(True, dst, src, 16, 128)
    load_fractals(dst.shifted(10**6), src, 0, 0, 0, 4, 1, 1)


# -- operands ------------------------------------------------------------------------------------------------


@given(SIZES, st.integers(1, 100))
def test_gemv_reads_contiguous_elements(size: int, k: int) -> None:
    l0a = filled("l0a", 4096, 16)
    pointer = l0a.pointer(512, DTYPES[size])
    flat = l0a.bytes[512:].view(DTYPES[size])
    assert (mad_view_a(pointer, 1, k).read() == flat[:k]).all()
    lanes = 32 // size
    if up(k, lanes) * 16 * size <= 3584:
        blocked = [flat[(i // lanes) * 16 * lanes + i % lanes] for i in range(k)]
        assert mad_view_a(pointer, 1, k, disable_gemv=True).read().tolist() == [blocked]


def test_footprints() -> None:
    def rule(call: Any, *arguments: Any, **options: Any) -> str:
        with pytest.raises(Fault) as caught:
            call(*arguments, **options)
        return caught.value.rule

    l0a, l0c = Arena("l0a", 65536), Arena("l0c", 262144)
    f16, i8 = l0a.pointer(0, np.float16), l0a.pointer(0, np.int8)
    assert rule(mad_view_a, f16, 4095, 16) == "mad-l0-footprint"
    assert rule(mad_view_b, f16, 16, 2049) == "mad-l0-footprint"
    assert mad_view_b(f16, 16, 2048).read().shape == (16, 2048)
    assert mad_view_a(i8, 16, 4095).read().shape == (16, 4095)
    assert mad_view_a(f16, 1, 4095).read().shape == (1, 4095)
    assert rule(mad_view_a, f16, 1, 4095, disable_gemv=True) == "mad-l0-footprint"
    assert rule(mad_view_a, f16.shifted(512), 16, 2048) == "mem-oob"
    assert rule(l0c_view, l0c.pointer(0, np.float32), 4095, 17) == "mad-l0-footprint"
    assert rule(l0c_view, l0c.pointer(1024, np.float32), 256, 256) == "mem-oob"
    l0c_view(l0c.pointer(0, np.float32), 256, 256).read()


@given(st.integers(1, 50), st.integers(1, 50), st.sampled_from([np.float32, np.int32, np.float16]))
def test_accumulator(m: int, n: int, dtype: type) -> None:
    """Element (m,n) in slot (n//16)·up16(M)·16 + m·16 + n%16 of four bytes, nothing else written."""
    l0c = filled("l0c", 32768, 17)
    before = l0c.bytes.copy()
    matrix = np.arange(m * n).reshape(m, n).astype(dtype)
    size = matrix.itemsize
    l0c_view(l0c.pointer(1024, dtype), m, n).write(matrix)
    for row in range(m):
        for col in range(n):
            slot = 1024 + 4 * ((col // 16) * up(m, 16) * 16 + row * 16 + col % 16)
            assert l0c.bytes[slot : slot + size].tobytes() == matrix[row, col].tobytes()
            before[slot : slot + size] = l0c.bytes[slot : slot + size]
    assert (l0c.bytes == before).all()
    assert (l0c_view(l0c.pointer(1024, dtype), m, n).read() == matrix).all()


# -- MX scales -----------------------------------------------------------------------------------------------


def fragment_offset(outer: int, group: int, k: int) -> int:
    """((m//16)·(K/64) + g//2)·32 + (m%16)·2 + g%2."""
    return ((outer // 16) * ((k + 63) // 64) + group // 2) * 32 + (outer % 16) * 2 + group % 2


def test_scale_worked_numbers() -> None:
    assert mx_scale_address(4096) == 256
    ram = Arena("scale_left", 4096)
    ram.bytes[256 + 35] = 131
    assert read_mx_scales_left(ram, 4096, 32, 64)[17, 1] == 131
    assert fragment_offset(17, 1, 64) == 35


def test_scales_of_two_groups_are_plain_rows() -> None:
    l1, ram = filled("l1", 4096, 18), Arena("scale_left", 4096)
    l1_to_l0_mx(ram, 0, l1.pointer(96, np.uint8), 16, 64)
    assert (read_mx_scales_left(ram, 0, 16, 64) == l1.bytes[96:128].reshape(16, 2)).all()


@given(st.integers(1, 70), st.integers(1, 300), st.integers(0, 4))
def test_scale_load_and_read(outer: int, k: int, slot: int) -> None:
    l1, ram = filled("l1", 8192, 19), filled("scale_right", 4096, 20)
    data_address = 512 * slot
    l1_to_l0_mx(ram, data_address, l1.pointer(64, np.uint8), outer, k)
    groups = (k + 31) // 32
    expected = [[l1.bytes[64 + fragment_offset(m, g, k)] for g in range(groups)] for m in range(outer)]
    assert read_mx_scales_right(ram, data_address, k, outer).T.tolist() == expected
    if outer == 1:
        # The scales of a single row on the left have no boxes.
        expected = [[l1.bytes[64 + g] for g in range(groups)]]
    assert read_mx_scales_left(ram, data_address, outer, k).tolist() == expected


@given(*[st.integers(0, 3)] * 2, *[st.integers(1, 4)] * 2, *[st.integers(0, 3)] * 2)
def test_raw_scale_fragments(x0: int, y0: int, x_step: int, y_step: int, wide: int, narrow: int) -> None:
    l1, ram = filled("l1", 8192, 21), filled("scale_left", 4096, 22)
    expected = ram.bytes.copy()
    src_stride, dst_stride = y0 + y_step + wide, max(1, y_step - narrow)
    for x in range(x_step):
        for y in range(y_step):
            source = ((x0 + x) * src_stride + y0 + y) * 32
            expected[48 + (x * dst_stride + y) * 32 :][:32] = l1.bytes[source : source + 32]
    load_mx_fragments(ram, 48, l1.pointer(0, np.uint8), x0, y0, x_step, y_step, src_stride, dst_stride)
    assert ram.bytes.tobytes() == expected.tobytes()


def test_scale_limits() -> None:
    l1 = Arena("l1", 8192)
    ram = Arena("scale_left", 4096)
    with pytest.raises(Fault) as caught:
        l1_to_l0_mx(ram, 0, l1.pointer(16, np.uint8), 16, 64)
    assert caught.value.rule == "mem-align"
    with pytest.raises(Fault) as caught:
        l1_to_l0_mx(ram, 65536 - 512, l1.pointer(0, np.uint8), 32, 64)
    assert caught.value.rule == "mem-oob"
    with pytest.raises(Fault) as caught:
        read_mx_scales_left(Arena("scale_left", 0), 0, 16, 64)
    assert caught.value.rule == "mem-oob"
    with pytest.raises(Fault) as caught:
        load_mx_fragments(ram, 0, l1.pointer(0, np.uint8), 0, 0, 1, -1, 1, 1)
    assert caught.value.rule == "l1l0-raw-range"
