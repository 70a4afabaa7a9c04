"""Burst copies against a byte-by-byte model of the docs/reference/layouts.md, "Transfers"."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import product

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.dma import LoopGroup, Padding, copy_bursts, gap_copy, l1_to_bt, l1_to_fb
from pto_dialect.runtime.memory.spaces import Arena


def filled(space: str, size: int, seed: int) -> Arena:
    arena = Arena(space, size)
    arena.bytes[:] = np.random.default_rng(seed).integers(0, 256, size, np.uint8)
    return arena


def model(
    dst: bytearray,
    src: bytearray,
    dst_at: int,
    src_at: int,
    length: int,
    groups: Sequence[LoopGroup],
    pad: Padding | None = None,
) -> None:
    """``groups`` inner to outer, bursts first; later bursts see what earlier ones wrote."""
    for place in product(*(range(count) for count, _, _ in reversed(groups))):
        source = src_at + sum(i * s for i, (_, s, _) in zip(reversed(place), groups, strict=True))
        target = dst_at + sum(i * d for i, (_, _, d) in zip(reversed(place), groups, strict=True))
        row = bytes(src[source : source + length])
        if pad is not None:
            size = len(pad.element)
            row = pad.element * pad.left + row
            end = max(groups[0][2], len(row) + pad.right * size)
            row += (pad.element * end)[: end - len(row)]
        dst[target : target + len(row)] = row


@st.composite
def transfers(draw: st.DrawFn, unit: int) -> tuple[int, list[LoopGroup]]:
    length = draw(st.integers(1, 80))
    stride = st.integers(0, 6).map(lambda n: n * unit)
    groups = [(draw(st.integers(1, 4)), draw(stride), draw(stride)) for _ in range(draw(st.integers(1, 3)))]
    return length, groups


@given(transfers(32), st.integers(0, 3), st.integers(0, 40))
def test_gm_to_ub(case: tuple[int, list[LoopGroup]], blocks: int, src_at: int) -> None:
    """Also with overlapping destination bursts, where the last burst wins."""
    length, groups = case
    gm, ub = filled("gm", 4096, 1), filled("ub", 4096, 2)
    expected = bytearray(ub.bytes.tobytes())
    model(expected, bytearray(gm.bytes.tobytes()), 32 * blocks, src_at, length, groups)
    bursts, src_stride, dst_stride = groups[0]
    dst, src = ub.pointer(32 * blocks, np.uint8), gm.pointer(src_at, np.uint8)
    copy_bursts(dst, src, length, bursts, dst_stride, src_stride, groups[1:])
    assert ub.bytes.tobytes() == expected


@given(transfers(7), st.integers(0, 90), st.integers(0, 90))
def test_overlapping_source_and_destination(case: tuple[int, list[LoopGroup]], dst_at: int, src_at: int) -> None:
    """Within one memory a burst reads what earlier bursts wrote."""
    length, groups = case
    gm = filled("gm", 1024, 3)
    expected = bytearray(gm.bytes.tobytes())
    model(expected, expected, dst_at, src_at, length, groups)
    bursts, src_stride, dst_stride = groups[0]
    dst, src = gm.pointer(dst_at, np.uint8), gm.pointer(src_at, np.uint8)
    copy_bursts(dst, src, length, bursts, dst_stride, src_stride, groups[1:])
    assert gm.bytes.tobytes() == expected


@given(
    transfers(32),
    st.sampled_from([b"\x11", b"\x21\x22", b"\x41\x42\x43\x44"]),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_padding(case: tuple[int, list[LoopGroup]], element: bytes, left: int, right: int) -> None:
    length, groups = case
    pad = Padding(element, left, right)
    gm, ub = filled("gm", 4096, 4), filled("ub", 4096, 5)
    expected = bytearray(ub.bytes.tobytes())
    model(expected, bytearray(gm.bytes.tobytes()), 64, 3, length, groups, pad)
    bursts, src_stride, dst_stride = groups[0]
    dst, src = ub.pointer(64, np.uint8), gm.pointer(3, np.uint8)
    copy_bursts(dst, src, length, bursts, dst_stride, src_stride, groups[1:], pad=pad)
    assert ub.bytes.tobytes() == expected


def test_padding_examples() -> None:
    """100 of 128 f16 columns, and 224 bytes with eight f32 on the right."""
    gm, ub = filled("gm", 1024, 6), Arena("ub", 1024)
    pad = Padding(struct.pack("<e", 2.5))
    copy_bursts(ub.pointer(0, np.float16), gm.pointer(0, np.float16), 200, 2, 256, 200, pad=pad)
    rows = ub.bytes[:512].reshape(2, 256)
    assert (rows[:, :200] == gm.bytes[:400].reshape(2, 200)).all()
    assert (rows[:, 200:].copy().view(np.float16) == 2.5).all() and not ub.bytes[512:].any()

    pad = Padding(struct.pack("<f", -1.0), 0, 8)
    copy_bursts(ub.pointer(0, np.float32), gm.pointer(0, np.float32), 224, 1, 256, 224, pad=pad)
    assert (ub.bytes[224:256].view(np.float32) == -1.0).all() and ub.bytes[256] == rows[1, 0]
    assert Padding(pad.element, 0, 7).row_bytes(224, 0) == 252


def test_nothing_to_copy() -> None:
    gm, ub = filled("gm", 64, 7), Arena("ub", 64)
    dst, src = ub.pointer(10**9, np.uint8), gm.pointer(0, np.uint8)
    copy_bursts(dst, src, 32, 0, 0, 0)
    copy_bursts(dst, src, 0, 5, 0, 0)
    copy_bursts(dst, src, 32, 1, 0, 0, [(1, 0, 0), (0, 32, 32)])
    gap_copy(dst, src, 1, 0, 0, 0)
    l1_to_bt(Arena("bt", 64).pointer(0, np.float32), Arena("l1", 64).pointer(0, np.float16), 1, 0, 0, 0)
    assert not ub.bytes.any()


@pytest.mark.parametrize(
    ("length", "bursts", "dst_stride", "src_stride", "loops"),
    [
        (-1, 1, 0, 0, ()),
        (32, -1, 0, 0, ()),
        (32, 2, -32, 0, ()),
        (32, 2, 0, -32, ()),
        (32, 1, 0, 0, [(1, -1, 0)]),
    ],
)
def test_negative_operands(
    length: int, bursts: int, dst_stride: int, src_stride: int, loops: Sequence[LoopGroup]
) -> None:
    gm = Arena("gm", 256)
    with pytest.raises(Fault) as caught:
        pointer = gm.pointer(128, np.uint8)
        copy_bursts(pointer, pointer, length, bursts, dst_stride, src_stride, loops)
    assert caught.value.rule == "dma-nonneg"


def test_alignment_of_on_chip_bursts() -> None:
    gm, ub, l1 = Arena("gm", 1024), Arena("ub", 1024), Arena("l1", 1024)

    def rule(
        dst: Arena,
        dst_at: int,
        src: Arena,
        src_at: int,
        bursts: tuple[int, int, int],
        loops: Sequence[LoopGroup] = (),
    ) -> str:
        with pytest.raises(Fault) as caught:
            copy_bursts(dst.pointer(dst_at, np.uint8), src.pointer(src_at, np.uint8), 32, *bursts, loops)
        return caught.value.rule

    for chip in (ub, l1):
        assert rule(chip, 16, gm, 0, (1, 0, 0)) == "mem-align"
        assert rule(chip, 0, gm, 0, (2, 48, 32)) == "mem-align"
        assert rule(chip, 0, gm, 0, (1, 0, 0), [(2, 0, 40)]) == "mem-align"
        assert rule(gm, 0, chip, 8, (1, 0, 0)) == "mem-align"
        assert rule(gm, 0, chip, 0, (2, 32, 33)) == "mem-align"
    # The stride of a single burst is never used, and GM takes any address.
    copy_bursts(ub.pointer(0, np.uint8), gm.pointer(5, np.uint8), 17, 1, 3, 5, [(1, 7, 9)])
    copy_bursts(gm.pointer(3, np.uint8), ub.pointer(0, np.uint8), 17, 3, 19, 32)


def test_out_of_bounds_copies_nothing() -> None:
    gm, ub = filled("gm", 128, 8), Arena("ub", 96)
    for length, bursts, dst_stride, src_stride in [
        (32, 4, 32, 32),
        (32, 2, 32, 97),
        (97, 1, 0, 0),
        (129, 1, 0, 0),
    ]:
        with pytest.raises(Fault) as caught:
            copy_bursts(ub.pointer(0, np.uint8), gm.pointer(0, np.uint8), length, bursts, dst_stride, src_stride)
        assert caught.value.rule == "mem-oob"
    with pytest.raises(Fault):
        copy_bursts(ub.pointer(64, np.uint8), gm.pointer(0, np.uint8), 16, 1, 64, 0, pad=Padding(b"\1\1", 0, 0))
    assert not ub.bytes.any()


@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 3), st.integers(0, 3), st.sampled_from([32, 64, 128]))
def test_gap_copy(length: int, bursts: int, dst_gap: int, src_gap: int, unit: int) -> None:
    l1, ub = filled("l1", 8192, 9), filled("ub", 8192, 10)
    expected = bytearray(ub.bytes.tobytes())
    dst_at, src_at = 64, 32
    for _ in range(bursts):
        expected[dst_at : dst_at + length * unit] = l1.bytes[src_at : src_at + length * unit].tobytes()
        dst_at += (length + dst_gap) * unit
        src_at += (length + src_gap) * unit
    gap_copy(ub.pointer(64, np.uint8), l1.pointer(32, np.uint8), length, bursts, dst_gap, src_gap, unit=unit)
    assert ub.bytes.tobytes() == expected


def test_gap_copy_with_byte_loops() -> None:
    l1, ub = filled("l1", 4096, 11), Arena("ub", 4096)
    gap_copy(ub.pointer(0, np.uint8), l1.pointer(0, np.uint8), 2, 2, 1, 0, loops=[(3, 128, 256)])
    for turn in range(3):
        row = ub.bytes[256 * turn : 256 * turn + 160]
        assert (row[:64] == l1.bytes[128 * turn :][:64]).all()
        assert (row[96:160] == l1.bytes[128 * turn + 64 :][:64]).all()
        assert not row[64:96].any()


def test_gap_copy_inside_one_memory_runs_in_order() -> None:
    """A shift by one unit per burst spreads the first unit over all."""
    ub = filled("ub", 256, 12)
    first = ub.bytes[:32].copy()
    gap_copy(ub.pointer(32, np.uint8), ub.pointer(0, np.uint8), 1, 7, 0, 0)
    assert (ub.bytes.reshape(8, 32) == first).all()


def test_gap_copy_rejects_negative_gaps() -> None:
    l1 = Arena("l1", 1024)
    for numbers in [(-1, 1, 0, 0), (1, 1, -1, 0), (1, 1, 0, -1)]:
        with pytest.raises(Fault) as caught:
            gap_copy(l1.pointer(512, np.uint8), l1.pointer(0, np.uint8), *numbers)
        assert caught.value.rule == "dma-nonneg"


@pytest.mark.parametrize("unit", [64, 128])
def test_fixpipe_table_load(unit: int) -> None:
    l1, fb = filled("l1", 4096, 13), Arena("fb", 4096)
    l1_to_fb(fb.pointer(128, np.uint64), l1.pointer(32, np.uint64), 2, 2, 1, 0, unit=unit)
    assert (fb.bytes[128 : 128 + 2 * unit] == l1.bytes[32 : 32 + 2 * unit]).all()
    second = 128 + 3 * unit
    assert (fb.bytes[second : second + 2 * unit] == l1.bytes[32 + 2 * unit :][: 2 * unit]).all()
    assert not fb.bytes[128 + 2 * unit : second].any()
    with pytest.raises(Fault) as caught:
        l1_to_fb(fb.pointer(32, np.uint64), l1.pointer(0, np.uint64), 1, 1, 0, 0)
    assert caught.value.rule == "mem-align"
    with pytest.raises(Fault) as caught:
        l1_to_fb(fb.pointer(0, np.uint64), l1.pointer(0, np.uint64), 65, 1, 0, 0)
    assert caught.value.rule == "mem-oob"


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("unit", [32, 64])
def test_bias_load_widens(dtype: type, unit: int) -> None:
    """Two bursts of three units; source gap one unit, destination gap two units of the same element count."""
    l1, bt = Arena("l1", 1024), Arena("bt", 4096)
    values = np.array([0.0, -0.0, 1.5, np.inf, -np.inf, np.nan, 2.0**-14, -3.0] * 64, np.float32).astype(dtype)
    l1.bytes[:] = values.view(np.uint8)
    l1_to_bt(bt.pointer(64, np.float32), l1.pointer(0, dtype), 3, 2, 2, 1, unit=unit)
    per_unit = unit // 2
    out = bt.bytes[64:].view(np.float32)
    expected = np.zeros(out.size, np.float32)
    for burst in range(2):
        part = values[burst * 4 * per_unit :][: 3 * per_unit]
        expected[burst * 5 * per_unit :][: 3 * per_unit] = part.astype(np.float32)
    assert (out.view(np.uint32) == expected.view(np.uint32)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32])
def test_bias_load_copies_words(dtype: type) -> None:
    l1, bt = filled("l1", 256, 14), Arena("bt", 256)
    l1_to_bt(bt.pointer(0, dtype), l1.pointer(64, dtype), 2, 1, 0, 0)
    assert (bt.bytes[:64] == l1.bytes[64:128]).all() and not bt.bytes[64:].any()


@pytest.mark.parametrize(
    ("dst", "src"),
    [(np.float32, np.int32), (np.int32, np.float16), (np.float32, np.int16), (np.float16, np.float16)],
)
def test_bias_load_pairs(dst: type, src: type) -> None:
    with pytest.raises(Fault) as caught:
        l1_to_bt(Arena("bt", 256).pointer(0, dst), Arena("l1", 256).pointer(0, src), 1, 1, 0, 0)
    assert caught.value.rule == "bt-pair"


def test_bias_load_limits() -> None:
    l1, bt = Arena("l1", 4096), Arena("bt", 1024)

    def rule(dst_at: int, src_at: int, *numbers: int) -> str:
        length, bursts, dst_gap, src_gap = numbers
        with pytest.raises(Fault) as caught:
            dst, src = bt.pointer(dst_at, np.float32), l1.pointer(src_at, np.float16)
            l1_to_bt(dst, src, length, bursts, dst_gap, src_gap)
        return caught.value.rule

    assert rule(32, 0, 1, 1, 0, 0) == "mem-align"
    assert rule(0, 16, 1, 1, 0, 0) == "mem-align"
    assert rule(0, 0, 17, 1, 0, 0) == "mem-oob"
    assert rule(0, 0, 1, 2, -1, 0) == "dma-nonneg"
    l1_to_bt(bt.pointer(0, np.float32), l1.pointer(0, np.float16), 16, 1, 0, 0)
