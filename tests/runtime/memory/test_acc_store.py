"""Accumulator write-back against the index formulas of the docs/reference/layouts.md, "Write-back addresses"."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.acc_store import AccStore, acc_store, acc_store_split
from pto_dialect.runtime.memory.spaces import Arena

Matrix = npt.NDArray[Any]


def keep(values: Matrix) -> Matrix:
    return values


def accumulator(size: int = 65536) -> Arena:
    arena = Arena("l0c", size)
    arena.bytes.view(np.int32)[:] = np.arange(size // 4) * 3 + 1
    return arena


def source_value(l0c: Arena, store: AccStore, m: int, n: int, base: int = 0) -> int:
    byte = base + ((n // 16) * store.src_stride + m * store.loop0) * 64 + (n % 16) * 4
    return int(l0c.bytes[byte : byte + 4].view(np.int32)[0])


def target_index(store: AccStore, m: int, n: int, item_bytes: int) -> int:
    if store.mode == "nz2dn":
        return n * store.dst_stride + m
    if store.mode == "nz2nz":
        c0 = 8 if store.split else 32 if item_bytes == 1 else 16
        return (n // c0) * store.dst_stride + m * c0 + n % c0
    return m * store.dst_stride + n


@pytest.mark.parametrize(("mode", "dst_stride", "index"), [("nz2nd", 24, 426), ("nz2dn", 20, 377), ("nz2nz", 512, 786)])
def test_worked_numbers(mode: Any, dst_stride: int, index: int) -> None:
    """M = N = 20, source stride 32: element (17,18) from byte 3144."""
    l0c, gm = Arena("l0c", 8192), Arena("gm", 8192)
    l0c.bytes[3144:3148].view(np.float32)[0] = 7.5
    store = AccStore(20, 20, 32, dst_stride, mode)
    acc_store(l0c.pointer(0, np.float32), gm.pointer(0, np.float32), store, keep)
    assert np.flatnonzero(gm.bytes.view(np.float32)).tolist() == [index]
    assert gm.bytes.view(np.float32)[index] == 7.5


@st.composite
def stores(draw: st.DrawFn) -> AccStore:
    mode: Any = draw(st.sampled_from(["nz2nd", "nz2dn", "nz2nz"]))
    m, n = draw(st.integers(1, 40)), draw(st.integers(1, 40))
    loop0 = draw(st.integers(0, 3)) if mode == "nz2dn" else 1
    split = mode == "nz2nz" and draw(st.booleans())
    atomic: Any = draw(st.sampled_from([None, "add", "max", "min"]))
    loop3 = (
        (1, 7, 9) if mode == "nz2nz" else (draw(st.integers(0, 3)), draw(st.integers(0, 30)), draw(st.integers(0, 900)))
    )
    dense = {"nz2nd": n, "nz2dn": m, "nz2nz": m * 16}[mode]
    dst_stride = draw(st.one_of(st.integers(dense, dense + 9), st.integers(0, dense)))
    return AccStore(m, n, draw(st.integers(0, 60)), dst_stride, mode, loop0, split, loop3, atomic)


@given(stores(), st.sampled_from([np.int32, np.int16, np.int8]), st.integers(0, 5))
def test_any_store(store: AccStore, dtype: Any, base: int) -> None:
    """Overlapping destinations included: plain stores keep the last element, atomics combine all."""
    size = np.dtype(dtype).itemsize
    l0c, gm = accumulator(), Arena("gm", 16384)
    gm.bytes[:] = np.random.default_rng(0).integers(0, 256, 16384, np.uint8)
    expected = gm.bytes.copy()
    count, src_step, dst_step = store.loop3
    for turn in range(count):
        for m in range(store.m):
            for n in range(store.n):
                value = source_value(l0c, store, m, n, 1024 + turn * src_step * 64)
                at = base + (turn * dst_step + target_index(store, m, n, size)) * size
                old = int.from_bytes(expected[at : at + size].tobytes(), "little", signed=True)
                wrapped = (value + 2 ** (8 * size - 1)) % 2 ** (8 * size) - 2 ** (8 * size - 1)
                if store.atomic == "add":
                    wrapped += old
                elif store.atomic == "max":
                    wrapped = max(wrapped, old)
                elif store.atomic == "min":
                    wrapped = min(wrapped, old)
                new = (wrapped % 2 ** (8 * size)).to_bytes(size, "little")
                expected[at : at + size] = np.frombuffer(new, np.uint8)
    acc_store(l0c.pointer(1024, np.int32), gm.pointer(base, dtype), store, lambda values: values.astype(dtype))
    assert gm.bytes.tobytes() == expected.tobytes()


@pytest.mark.parametrize("axis", ["m", "n"])
def test_split_between_two_vector_cores(axis: Any) -> None:
    """Rows or columns in halves, both halves at the same address and from index 0."""
    l0c, first, second = accumulator(), Arena("ub", 16384, name="0"), Arena("ub", 16384, name="1")
    store = AccStore(40, 64, 48, 64)
    whole = [[source_value(l0c, store, m, n) for n in range(64)] for m in range(40)]
    targets = (first.pointer(256, np.int32), second.pointer(256, np.int32))
    seen: list[tuple[int, ...]] = []

    def convert(values: Matrix) -> Matrix:
        seen.append(values.shape)
        return values + 1

    acc_store_split(l0c.pointer(0, np.int32), targets, store, axis, convert)
    rows, cols = (20, 64) if axis == "m" else (40, 32)
    for core, arena in enumerate((first, second)):
        stored = arena.bytes[256:].view(np.int32)
        expected = np.zeros_like(stored)
        for m in range(rows):
            for n in range(cols):
                source = (m + 20 * core, n) if axis == "m" else (m, n + 32 * core)
                expected[m * 64 + n] = whole[source[0]][source[1]] + 1
        assert (stored == expected).all()
    assert seen == [(40, 64)]


def test_split_rules() -> None:
    l0c, ub = accumulator(), Arena("ub", 16384)
    targets = (ub.pointer(0, np.int32), ub.pointer(8192, np.int32))
    with pytest.raises(Fault) as caught:
        acc_store_split(l0c.pointer(0, np.int32), targets, AccStore(15, 32, 16, 32), "m", keep)
    assert caught.value.rule == "fixp-ub-split-m-even"
    with pytest.raises(Fault) as caught:
        acc_store_split(l0c.pointer(0, np.int32), targets, AccStore(16, 48, 16, 48), "n", keep)
    assert caught.value.rule == "fixp-ub-split-n-32"


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16])
@pytest.mark.parametrize("op", ["add", "max", "min"])
def test_float_atomics(dtype: Any, op: Any) -> None:
    l0c, gm = Arena("l0c", 4096), Arena("gm", 4096)
    acc = l0c.bytes.view(np.float32)
    acc[:] = np.resize([1.5, -2.0, 0.25, 8.0, -0.5], acc.size)
    target = gm.bytes.view(dtype)
    target[:] = np.resize(np.array([0.5, 4.0, -3.0], np.float32), target.size).astype(dtype)
    before = target.astype(np.float32)
    store = AccStore(3, 20, 16, 24, atomic=op)
    acc_store(l0c.pointer(0, np.float32), gm.pointer(0, dtype), store, lambda values: values.astype(dtype))
    after = target.astype(np.float32)
    combine = {"add": lambda a, b: a + b, "max": max, "min": min}[op]
    for m in range(3):
        for n in range(24):
            old = before[m * 24 + n]
            source = acc[((n // 16) * 16 + m) * 16 + n % 16]
            assert after[m * 24 + n] == (combine(old, source) if n < 20 else old)


def test_packed_destination() -> None:
    """4-bit elements: columns in pairs, the even one in the low half; strides count elements."""
    l0c, gm = Arena("l0c", 8192), Arena("gm", 512)
    values = np.random.default_rng(1).integers(-8, 8, (5, 20))
    view = l0c.bytes.view(np.int32)
    for m in range(5):
        for n in range(20):
            view[((n // 16) * 16 + m) * 16 + n % 16] = values[m, n]

    def pack(matrix: Matrix) -> Matrix:
        low = (matrix & 15).astype(np.uint8)
        return low[:, ::2] | low[:, 1::2] << 4

    store = AccStore(5, 20, 16, 26, packed=True)
    acc_store(l0c.pointer(0, np.int32), gm.pointer(3, np.uint8), store, pack)
    for m in range(5):
        for n in range(20):
            index = m * 26 + n
            nibble = gm.bytes[3 + index // 2] >> (4 * (index % 2)) & 15
            assert nibble == values[m, n] & 15
    for odd in (
        AccStore(5, 19, 16, 26, packed=True),
        AccStore(5, 20, 16, 25, packed=True),
        AccStore(5, 20, 16, 26, "nz2dn", packed=True),
        AccStore(5, 20, 16, 26, loop3=(2, 0, 3), packed=True),
        AccStore(5, 20, 16, 26, atomic="add", packed=True),
    ):
        with pytest.raises(Fault) as caught:
            acc_store(l0c.pointer(0, np.int32), gm.pointer(0, np.uint8), odd, pack)
        assert caught.value.rule == "unmodelled"


def test_repeated_packed_destination() -> None:
    l0c, gm = Arena("l0c", 8192), Arena("gm", 512)
    store = AccStore(1, 2, 16, 2, loop3=(2, 1, 10), packed=True)
    acc_store(l0c.pointer(0, np.int32), gm.pointer(0, np.uint8), store, lambda _: np.full((1, 1), 0x21, np.uint8))
    assert np.flatnonzero(gm.bytes).tolist() == [0, 5]


@pytest.mark.parametrize(
    "store",
    [
        AccStore(0, 16, 16, 16),
        AccStore(16, 0, 16, 16),
        AccStore(16, 16, -1, 16),
        AccStore(16, 16, 16, -1),
        AccStore(16, 16, 16, 16, "nz2dn", -1),
        AccStore(16, 16, 16, 16, loop3=(1, -1, 0)),
    ],
)
def test_extents(store: AccStore) -> None:
    with pytest.raises(Fault) as caught:
        acc_store(accumulator().pointer(0, np.int32), Arena("gm", 4096).pointer(0, np.int32), store, keep)
    assert caught.value.rule == "fixp-extent"


def test_bounds_and_alignment() -> None:
    l0c = accumulator(4096)
    store = AccStore(16, 32, 16, 32)

    def rule(src_at: int, dst: Arena, dst_at: int, chosen: AccStore = store) -> str:
        before = dst.bytes.copy()
        with pytest.raises(Fault) as caught:
            acc_store(l0c.pointer(src_at, np.int32), dst.pointer(dst_at, np.int32), chosen, keep)
        assert (dst.bytes == before).all()
        return caught.value.rule

    gm, ub, l1 = Arena("gm", 2048), Arena("ub", 4096), Arena("l1", 4096)
    assert rule(1024 * 3, gm, 0) == "mem-oob"
    assert rule(0, gm, 4) == "mem-oob"
    assert rule(0, gm, 0, AccStore(16, 32, 16, 33)) == "mem-oob"
    assert rule(0, gm, 0, AccStore(16, 32, 16, 32, "nz2dn", atomic="add")) == "mem-oob"
    assert rule(16, gm, 0) == "mem-align"
    assert rule(0, ub, 16) == "mem-align"
    assert rule(0, l1, 8) == "mem-align"
    acc_store(l0c.pointer(0, np.int32), gm.pointer(0, np.int32), store, keep)
    acc_store(l0c.pointer(0, np.int32), gm.pointer(2, np.int32), AccStore(15, 32, 16, 32), keep)
