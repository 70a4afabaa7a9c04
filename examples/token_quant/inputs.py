"""Inputs of the quantised tokens."""

from __future__ import annotations

import numpy as np

from examples.case import Case

TOKENS, WIDTH = 20, 1000


def cases(seed: int = 11) -> list[Case]:
    """Tokens of very different size, one of zeros and one whose largest number is negative; two blocks share them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((TOKENS, WIDTH)) * np.exp2(rng.uniform(-8, 8, (TOKENS, 1)))
    x[3] = 0
    x[4, 999] = -2000
    data = {
        "x": x.astype(np.float16),
        "q": np.zeros((TOKENS, WIDTH), np.int8),
        "scale": np.zeros((TOKENS, 8), np.float32),
        "tokens": TOKENS,
        "width": WIDTH,
    }
    return [Case("token_quant", "token_quant.pto", f"{TOKENS}x{WIDTH}, f16 to i8", data, ("q", "scale"), blocks=2)]
