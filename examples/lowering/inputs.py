"""Inputs of two products and of a softmax, each as tiles and as the instructions made of them."""

from __future__ import annotations

import numpy as np

from examples.case import Case

M, K, N = 128, 192, 128
TOKENS, DEPTH, CHANNELS = 32, 128, 96
ROWS, WIDTH = 64, 200


def cases(seed: int = 15) -> list[Case]:
    """Normally distributed operands with a bias; integers over the whole range of i8, with scales that have 10 bits
    after the leading one, as an entry holds; rows of which the largest number is far from 0."""
    rng = np.random.default_rng(seed)
    gemm = {
        "a": rng.standard_normal((M, K)).astype(np.float16),
        "b": rng.standard_normal((K, N)).astype(np.float16),
        "bias": rng.standard_normal((1, N)).astype(np.float32),
        "c": np.zeros((M, N), np.float32),
    }
    scales = np.exp2(rng.uniform(-12, -8, (1, CHANNELS))).astype(np.float16).astype(np.float32)
    int8 = {
        "x": rng.integers(-128, 128, (TOKENS, DEPTH), dtype=np.int8),
        "w": rng.integers(-128, 128, (DEPTH, CHANNELS), dtype=np.int8),
        "table": scales.view(np.uint32).astype(np.int64),
        "y": np.zeros((TOKENS, CHANNELS), np.float16),
    }
    values = rng.standard_normal((ROWS, WIDTH)) * 4 + rng.uniform(-50, 50, (ROWS, 1))
    softmax = {"x": values.astype(np.float32), "y": np.zeros((ROWS, WIDTH), np.float32)}
    forms = ("tiles", "instructions")
    shapes = f"{M}x{K} · {K}x{N} + bias, f16"
    whole = f"{TOKENS}x{DEPTH} · {DEPTH}x{CHANNELS}, i8"
    return [
        *(Case("gemm", f"gemm_{form}.pto", shapes, gemm, ("c",)) for form in forms),
        *(Case("softmax", f"softmax_{form}.pto", f"{ROWS}x{WIDTH}, f32", softmax, ("y",)) for form in forms),
        *(Case("int8", f"int8_{form}.pto", whole, int8, ("y",)) for form in forms),
    ]
