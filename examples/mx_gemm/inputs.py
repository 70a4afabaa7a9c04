"""Inputs of the microscaling products."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from examples.case import Array, Case

M, N, OUT, GROUP = 32, 64, 48, 32
E4M3, E5M2 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2


def values(rng: np.random.Generator, rows: int, cols: int, dtype: type = E4M3) -> Array:
    """Normally distributed fp8 elements."""
    return (8 * rng.standard_normal((rows, cols))).astype(dtype)


def scales(rng: np.random.Generator, rows: int, cols: int) -> Array:
    """Scales of 2^-8 to 2^8, as bytes."""
    return rng.integers(119, 136, (rows, cols), dtype=np.uint8)


def blocked(table: Array) -> Array:
    """Scales [rows, groups] as matrix tiles take them from global memory: blocks of 16 rows and 2 groups in a row."""
    rows, groups = table.shape
    return table.reshape(rows // 16, 16, groups // 2, 2).transpose(0, 2, 1, 3).reshape(rows, groups)


def cases(seed: int = 5) -> list[Case]:
    """Both levels with K = 64 and K = 128."""
    rng = np.random.default_rng(seed)
    program = "mx_gemm.pto"
    found: list[Case] = []
    for k in (64, 128):
        groups = k // GROUP
        left = {"a": values(rng, M, k), "a_scale": scales(rng, M, groups)}
        right = {"b": values(rng, k, N), "b_scale": blocked(scales(rng, N, groups)).reshape(groups, N)}
        weights = {"w": values(rng, OUT, k), "w_scale": scales(rng, OUT, groups)}
        tile = {**left, **right, "c": np.zeros((M, N), np.float32), "k": k}
        tile["a_scale"] = blocked(left["a_scale"])
        micro = {**left, **weights, "c": np.zeros((M, OUT), np.float32), "k": k}
        found.append(Case("tile_steps", program, f"{M}x{k} · {k}x{N}, e4m3", tile, ("c",)))
        found.append(Case("micro", program, f"{M}x{k} · {k}x{OUT}, e4m3", micro, ("c",)))
    data = {
        "a": values(rng, M, 128),
        "a_scale": blocked(scales(rng, M, 4)),
        "b": values(rng, 128, N, E5M2),
        "b_scale": blocked(scales(rng, N, 4)).reshape(4, N),
        "bias": (1000 * rng.standard_normal((1, N))).astype(np.float32),
        "c": np.zeros((M, N), np.float32),
    }
    found.append(Case("tile_k128", program, f"{M}x128 · 128x{N} + bias, e4m3 · e5m2", data, ("c",)))
    return found
