"""C = A B + bias; Y = relu(scale · (X W)); Y = softmax(X)."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import F16_ROUNDING, TOLERANCE, Accumulate, Wanted, sums


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``c`` [M, N] of ``gemm``; ``y`` [M, N] of ``int8``, whose sums are exact and rounded once; ``y`` of
    ``softmax`` [rows, columns]."""
    if entry == "gemm":
        return sums(lambda product: {"c": product(data["a"], data["b"], data["bias"])}, accumulate)
    if entry == "softmax":
        x = data["x"].astype(np.float64)
        weights = np.exp(x - x.max(axis=1, keepdims=True))
        weights /= weights.sum(axis=1, keepdims=True)
        return {"y": Wanted(weights, weights, TOLERANCE)}
    whole = data["x"].astype(np.int64) @ data["w"].astype(np.int64)
    scaled = whole * data["table"].astype(np.uint32).view(np.float32).astype(np.float64)
    return {"y": Wanted(np.maximum(scaled, 0), np.abs(scaled) + F16_ROUNDING, F16_ROUNDING)}
