"""A matrix product through all cube memories: GM, L1, L0A and L0B, L0C, and back to GM and UB."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pto_dialect.runtime.memory.acc_store import AccStore, acc_store, acc_store_split
from pto_dialect.runtime.memory.dma import copy_bursts, gap_copy
from pto_dialect.runtime.memory.fractal_load import (
    gm_to_l1_frac,
    l0c_view,
    l1_to_l0,
    mad_view_a,
    mad_view_b,
)
from pto_dialect.runtime.memory.spaces import Arena, CoreMemory

SIZES = {"l1": 524288, "l0a": 65536, "l0b": 65536, "l0c": 262144, "ub": 262144}


def up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple


@pytest.mark.parametrize(("m", "k", "n"), [(40, 50, 60), (16, 16, 16), (1, 32, 16), (33, 70, 64)])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8])
def test_product(m: int, k: int, n: int, dtype: Any) -> None:
    """Memories start poisoned, so a padding lane that reached the sum would show."""
    size = np.dtype(dtype).itemsize
    k_rows = up(k, max(16, 32 // size))
    rng = np.random.default_rng(0)
    a = rng.integers(-9, 9, (m, k)).astype(dtype)
    b = rng.integers(-9, 9, (k, n)).astype(dtype)
    product = a.astype(np.float32) @ b.astype(np.float32)
    cube = CoreMemory("aic", SIZES, fill="poison")
    l1_a, l1_b = cube["l1"].pointer(0, dtype), cube["l1"].pointer(65536, dtype)
    gm_to_l1_frac(l1_a, Arena.from_array(a).pointer(0, dtype), "nd2nz", m, k, k * size, loop3=up(m, 16))
    gm_to_l1_frac(l1_b, Arena.from_array(b).pointer(0, dtype), "nd2nz", k, n, n * size, loop3=k_rows)
    left, right = cube["l0a"].pointer(0, dtype), cube["l0b"].pointer(0, dtype)
    l1_to_l0(True, left, l1_a, m, k)
    l1_to_l0(False, right, l1_b, k, n, transpose=True)

    lhs, rhs = np.empty((m, k), np.float32), np.empty((k, n), np.float32)
    mad_view_a(left, m, k, disable_gemv=True).read_into(lhs)
    mad_view_b(right, k, n).read_into(rhs)
    acc = cube["l0c"].pointer(0, np.float32)
    l0c_view(acc, m, n).write(lhs @ rhs)

    out = np.zeros((m, n), np.float32)
    acc_store(acc, Arena.from_array(out).pointer(0, np.float32), AccStore(m, n, up(m, 16), n), lambda values: values)
    assert (out == product).all()
    flipped = np.zeros((n, m), np.float32)
    acc_store(
        acc,
        Arena.from_array(flipped).pointer(0, np.float32),
        AccStore(m, n, up(m, 16), m, "nz2dn"),
        lambda values: values,
    )
    assert (flipped == product.T).all()


def test_dual_store_and_l1_round_trip() -> None:
    """40 x 64 results split by rows to two UBs, and as f16 over L1 to UB and GM."""
    rng = np.random.default_rng(1)
    result = rng.integers(-99, 99, (40, 64)).astype(np.float32)
    cube = CoreMemory("aic", SIZES, fill="poison")
    vector = [CoreMemory("aiv", SIZES, name=f"aiv{index}", fill="poison") for index in range(2)]
    acc = cube["l0c"].pointer(0, np.float32)
    l0c_view(acc, 40, 64).write(result)
    halves = (vector[0]["ub"].pointer(512, np.float32), vector[1]["ub"].pointer(512, np.float32))
    acc_store_split(acc, halves, AccStore(40, 64, 48, 64), "m", lambda values: values)
    out = np.zeros((2, 20, 64), np.float32)
    for index, half in enumerate(halves):
        target = Arena.from_array(out).pointer(index * 20 * 256, np.float32)
        copy_bursts(target, half, 256, 20, 256, 256)
    assert (out.reshape(40, 64) == result).all()

    l1_out = cube["l1"].pointer(0, np.float16)
    acc_store(acc, l1_out, AccStore(40, 64, 48, 64), lambda values: values.astype(np.float16))
    ub_out = vector[1]["ub"].pointer(32768, np.float16)
    gap_copy(ub_out, l1_out, 4, 40, 2, 0)
    assert (vector[1]["ub"].bytes[32768:][: 40 * 192].view(np.float16).reshape(40, 96)[:, :64] == result).all()
