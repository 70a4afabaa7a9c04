"""Inputs of the rotary embedding."""

from __future__ import annotations

import numpy as np

from examples.case import Case

TOKENS, HEADS, WIDTH, POSITIONS = 16, 32, 128, 256
BASE = 10_000.0


def cases(seed: int = 7) -> list[Case]:
    """Tokens at positions in any order, the last one among them; two blocks share the tokens."""
    rng = np.random.default_rng(seed)
    positions = rng.permutation(POSITIONS)[:TOKENS].astype(np.int32)
    positions[:2] = 0, POSITIONS - 1
    frequencies = BASE ** (-np.arange(WIDTH // 2) / (WIDTH // 2))
    angles = np.arange(POSITIONS)[:, None] * frequencies
    shape = (TOKENS, HEADS, WIDTH)
    data = {
        "x": rng.standard_normal(shape).astype(np.float16),
        "cos": np.cos(angles).astype(np.float32),
        "sin": np.sin(angles).astype(np.float32),
        "positions": positions,
        "y": np.zeros(shape, np.float16),
        "tokens": TOKENS,
        "table_rows": POSITIONS,
    }
    shapes = f"{TOKENS}x{HEADS}x{WIDTH}, f16"
    return [
        Case("rotary", f"rotary{kind}.pto", shapes, data, ("y",), ("a2a3", "a5"), blocks=2) for kind in ("", "_by_hand")
    ]
