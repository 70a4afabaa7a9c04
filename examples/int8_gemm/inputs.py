"""Inputs of the requantised integer product."""

from __future__ import annotations

import numpy as np

from examples.case import Array, Case

M, K, N = 64, 256, 96


def channel_table(scale: Array, zero_point: Array) -> Array:
    """Entries [N] of the write-back table for scales and zero points −256 … 255, with signed results.

    Scale in bits 31:13 (the low 13 bits of the f32 are lost), zero point in bits 45:37, sign in bit 46
    (docs/reference/layouts.md, "Write-back addresses").
    """
    bits = scale.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF_E000)
    offset = (zero_point.astype(np.int64) & 0x1FF) << 37
    return bits.astype(np.int64) | offset | 1 << 46


def cases(seed: int = 4) -> list[Case]:
    """Operands over the whole range of i8; some results saturate."""
    rng = np.random.default_rng(seed)
    a = rng.integers(-128, 128, (M, K), dtype=np.int8)
    b = rng.integers(-128, 128, (K, N), dtype=np.int8)
    a[0], b[:, 0] = -128, -128  # the largest sum there is
    bias = rng.integers(-50_000, 50_000, N, dtype=np.int32)
    c = np.zeros((M, N), np.int8)
    scales = np.exp2(rng.uniform(-12, -9, N))
    table = channel_table(scales, rng.integers(-20, 21, N))
    operands = {"a": a, "b": b, "bias": bias}
    shapes = f"{M}x{K} · {K}x{N} + bias, i8"
    scalar = {**operands, "c": c, "scale": float(np.float32(1 / 1400))}
    return [
        Case("requant_scalar", "int8_gemm.pto", shapes, scalar, ("c",)),
        Case("requant_channel", "int8_gemm.pto", shapes, {**operands, "table": table, "c": c}, ("c",)),
    ]
