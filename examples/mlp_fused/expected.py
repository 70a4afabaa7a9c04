"""Y = H W2 with H = relu(scale · X W1) rounded to f16."""

from __future__ import annotations

import numpy as np

from examples.case import Array, Data
from examples.expectation import Accumulate, Wanted, sums

F16_MAX = 65504.0


def hidden(x: Array, w1: Array, scale: float) -> Array:
    """H [M, H]: sum in f32, times ``scale`` in f32, relu, nearest f16, saturated (docs/reference/numerics.md,
    "Write-back").

    The sum is taken in float64, which is right where it is exact in f32, as for the inputs of this example.
    """
    total = (x.astype(np.float64) @ w1.astype(np.float64)).astype(np.float32)
    active = np.maximum(total * np.float32(scale), 0)
    return np.minimum(active, F16_MAX).astype(np.float16)


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``y`` [M, N] for ``x`` [M, K], ``w1`` [K, H], ``w2`` [H, N] and the number ``scale``."""
    h = hidden(data["x"], data["w1"], data["scale"])
    return sums(lambda product: {"y": product(h, data["w2"], None)}, accumulate)
