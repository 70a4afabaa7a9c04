"""Arguments of the C++ kernels: rows of 256 numbers, and matrices of 64 rows and columns."""

from __future__ import annotations

import numpy as np

from examples.case import Case

ROWS, WIDTH, SIZE, STEPS = 8, 256, 64, 3


def cases(seed: int = 36) -> list[Case]:
    """One case for each kernel: a vector kernel, a cube kernel, and one for both cores."""
    rng = np.random.default_rng(seed)
    x, y = rng.uniform(-2, 2, (2, ROWS, WIDTH)).astype(np.float32)
    a = rng.standard_normal((SIZE, SIZE * STEPS)).astype(np.float16)
    b = rng.standard_normal((SIZE * STEPS, SIZE)).astype(np.float16)
    left, right = rng.standard_normal((2, SIZE, SIZE)).astype(np.float16)
    c = np.zeros((SIZE, SIZE), np.float32)
    row = {"x": x, "y": y, "z": np.zeros_like(x), "n": ROWS}
    both = {"area": np.zeros(64, np.uint64), "c": c, "a": left, "b": right}
    return [
        Case("add_exp", "add_exp.cpp", f"{ROWS} rows of {WIDTH}, f32", row, ("z",), ("a2a3", "a5")),
        Case("gemm", "gemm.cpp", "64x192x64, f16 -> f32", {"c": c, "a": a, "b": b}, ("c",), ("a2a3",)),
        Case("product_plus_one", "product_plus_one.cpp", "64x64x64, f16 -> f32", both, ("c",), ("a2a3",)),
    ]
