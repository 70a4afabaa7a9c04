"""Inputs of the single-token projection."""

from __future__ import annotations

import ml_dtypes
import numpy as np

from examples.case import Case

K, N = 512, 256


def cases(seed: int = 3) -> list[Case]:
    """A normally distributed token and weights, f16 without and bf16 with a bias."""
    rng = np.random.default_rng(seed)
    x, w = rng.standard_normal((1, K)), rng.standard_normal((K, N))
    bias = rng.standard_normal((1, N)).astype(np.float32)
    y = np.zeros((1, N), np.float32)
    half = {"x": x.astype(np.float16), "w": w.astype(np.float16), "y": y}
    brain = {"x": x.astype(ml_dtypes.bfloat16), "w": w.astype(ml_dtypes.bfloat16), "bias": bias, "y": y}
    program, targets = "gemv_decode.pto", ("a2a3", "a5")
    return [
        Case("project", program, f"1x{K} · {K}x{N}, f16", half, ("y",), targets),
        Case("project_bias", program, f"1x{K} · {K}x{N} + bias, bf16", brain, ("y",), targets),
    ]
