"""Inputs of the tiled matrix product."""

from __future__ import annotations

import numpy as np

from examples.case import Case

M, K, N = 256, 512, 256


def cases(seed: int = 1) -> list[Case]:
    """Normally distributed operands, with and without a bias; two blocks share the row panels."""
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((M, K)).astype(np.float16)
    b = rng.standard_normal((K, N)).astype(np.float16)
    bias = rng.standard_normal((1, N)).astype(np.float32)
    return [
        Case(
            "gemm",
            "gemm.pto",
            f"{M}x{K} · {K}x{N}{' + bias' if with_bias else ''}, f16",
            {"a": a, "b": b, "bias": bias, "c": np.zeros((M, N), np.float32), "with_bias": with_bias},
            ("c",),
            ("a2a3", "a5"),
            blocks=2,
        )
        for with_bias in (True, False)
    ]
