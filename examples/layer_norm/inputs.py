"""Inputs of the layer norm."""

from __future__ import annotations

import numpy as np

from examples.case import Case

ROWS, WIDTH, EPS = 32, 256, 1e-5
PROGRAMS = {"layer_norm.pto": 2, "layer_norm_plain.pto": 1}
"""By hand and plain, with the blocks that share the rows."""


def cases(seed: int = 19) -> list[Case]:
    """Rows of very different size around means of about that size."""
    rng = np.random.default_rng(seed)
    size = np.exp2(rng.uniform(-4, 4, (ROWS, 1)))
    data = {
        "x": ((rng.standard_normal((ROWS, WIDTH)) + rng.uniform(-1, 1, (ROWS, 1))) * size).astype(np.float32),
        "weight": rng.uniform(0.5, 1.5, (1, WIDTH)).astype(np.float32),
        "bias": rng.uniform(-1, 1, (1, WIDTH)).astype(np.float32),
        "y": np.zeros((ROWS, WIDTH), np.float32),
        "eps": EPS,
    }
    return [
        Case("layer_norm", program, f"{ROWS}x{WIDTH}, f32", data, ("y",), ("a2a3", "a5"), blocks)
        for program, blocks in PROGRAMS.items()
    ]
