"""Inputs of the expert routing."""

from __future__ import annotations

import numpy as np

from examples.case import Case

TOKENS, EXPERTS, K = 48, 128, 8


def cases(seed: int = 8) -> list[Case]:
    """Logits of which some are equal; the last of the two blocks has fewer tokens."""
    rng = np.random.default_rng(seed)
    logits = rng.standard_normal((TOKENS, EXPERTS)).astype(np.float32) * 3
    logits[:16] = np.round(logits[:16])
    data = {
        "logits": logits,
        "experts": np.zeros((TOKENS, K), np.int32),
        "weights": np.zeros((TOKENS, K), np.float32),
        "tokens": TOKENS,
    }
    shapes = f"{TOKENS}x{EXPERTS}, best {K}, f32"
    return [Case("topk_routing", "topk_routing.pto", shapes, data, ("experts", "weights"), ("a2a3", "a5"), blocks=2)]
