"""Inputs of the fused two-layer perceptron."""

from __future__ import annotations

import numpy as np

from examples.case import Case

ROWS, IN, HIDDEN, OUT = 256, 128, 256, 128


def cases(seed: int = 2) -> list[Case]:
    """Operands of the first product on a coarse grid, of the second normally distributed.

    The first product is rounded to f16 on the chip, and a sum that lies next to a rounding limit may fall on
    either side of it when its terms are added in another order. On the grid (multiples of 1/16 and 1/32)
    every partial sum is exact in f32, so the hidden activations do not depend on the order. One row of ``x``
    is so large that some of its activations saturate.
    """
    rng = np.random.default_rng(seed)
    x = (rng.integers(-31, 32, (ROWS, IN)) / 16).astype(np.float16)
    x[37] *= 32768
    data = {
        "x": x,
        "w1": (rng.integers(-16, 17, (IN, HIDDEN)) / 32).astype(np.float16),
        "w2": rng.standard_normal((HIDDEN, OUT)).astype(np.float16),
        "y": np.zeros((ROWS, OUT), np.float32),
        "scale": float(np.float32(0.37)),
    }
    shapes = f"{ROWS}x{IN} · {IN}x{HIDDEN} · {HIDDEN}x{OUT}, f16"
    return [Case("mlp_fused", "mlp_fused.pto", shapes, data, ("y",))]
