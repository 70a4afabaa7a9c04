"""O = softmax(scale · q Kᵀ) V over the keys and values that the block table names."""

from __future__ import annotations

import numpy as np

from examples.case import Array, Data
from examples.expectation import ATTENTION, Accumulate, Wanted


def gathered(cache: Array, table: Array, length: int) -> Array:
    """Keys or values of a sequence [heads, length, width] from ``cache`` [pages, heads, page, width]."""
    page = cache.shape[2]
    tokens = [cache[table[token // page], :, token % page] for token in range(length)]
    return np.stack(tokens, axis=1).astype(np.float64)


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``o`` [sequences, heads, width] for ``q`` of that shape, the two caches, ``block_table`` and ``lengths``;
    neighbouring queries share a key head."""
    shape = data["q"].shape
    values, scales = np.empty(shape), np.empty(shape)
    for sequence, length in enumerate(data["lengths"]):
        q = data["q"][sequence].astype(np.float64).reshape(data["kv_heads"], -1, shape[-1])
        k, v = (gathered(data[name], data["block_table"][sequence], length) for name in ("k_cache", "v_cache"))
        scores = data["scale"] * q @ k.swapaxes(1, 2)
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights /= weights.sum(axis=2, keepdims=True)
        values[sequence] = (weights @ v).reshape(shape[1:])
        scales[sequence] = (weights @ np.abs(v)).reshape(shape[1:])
    return {"o": Wanted(values, scales, ATTENTION)}
