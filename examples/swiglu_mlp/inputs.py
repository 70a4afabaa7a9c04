"""Inputs of the gated feed-forward layer."""

from __future__ import annotations

import numpy as np

from examples.case import Case

TOKENS, WIDTH, HIDDEN = 128, 256, 512
BLOCKS = 2
SLOT_ELEMENTS = 10_240


def cases(seed: int = 10) -> list[Case]:
    """Normally distributed tokens; the weights keep that size. One gate is far negative, so that exp overflows."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((TOKENS, WIDTH))
    wg, wu = (rng.standard_normal((WIDTH, HIDDEN)) / WIDTH**0.5 for _ in range(2))
    wd = rng.standard_normal((HIDDEN, WIDTH)) / HIDDEN**0.5
    x[0], wg[:, 0] = 1, -0.5
    data = {
        "x": x.astype(np.float16),
        "wg": wg.astype(np.float16),
        "wu": wu.astype(np.float16),
        "wd": wd.astype(np.float16),
        "y": np.zeros((TOKENS, WIDTH), np.float32),
        "slots": np.zeros(BLOCKS * SLOT_ELEMENTS, np.float32),
        "tokens": TOKENS,
    }
    shapes = f"{TOKENS}x{WIDTH} · 2x {WIDTH}x{HIDDEN} · {HIDDEN}x{WIDTH}"
    return [Case("swiglu_mlp", "swiglu_mlp.pto", shapes, data, ("y",), ("a2a3", "a5"), blocks=BLOCKS)]
