"""O = softmax(scale · Q Kᵀ) V."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import ATTENTION, Accumulate, Wanted


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``o`` [heads, seq, width] for ``q``, ``k`` and ``v`` of that shape."""
    q, k, v = (data[name].astype(np.float64) for name in "qkv")
    scores = data["scale"] * q @ k.swapaxes(1, 2)
    if data["causal"]:
        scores[:, np.triu(np.ones(scores.shape[1:], bool), 1)] = -np.inf
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    return {"o": Wanted(weights @ v, weights @ np.abs(v), ATTENTION)}
