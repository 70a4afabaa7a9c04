"""C = (A with its scales) (B with its scales) + bias (numerics page, sections 1 and 3)."""

from __future__ import annotations

import numpy as np

from examples.case import Array, Data
from examples.expectation import Accumulate, Wanted, sums

GROUP = 32


def scaled(values: Array, scale_bytes: Array) -> Array:
    """``values`` [rows, K] · 2^(b − 127), b being the byte [rows, K/32] of the group; exact in float64."""
    factors = np.exp2(scale_bytes.astype(np.float64) - 127)
    return values.astype(np.float64) * np.repeat(factors, GROUP, axis=1)


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``c`` [M, N] for ``a`` [M, K] with its scales [M, K/32], and for either ``b`` [K, N] with its scales
    [K/32, N] or its transpose ``w`` [N, K] with its scales [N, K/32]."""
    left = scaled(data["a"], data["a_scale"])
    weights = (data["w"], data["w_scale"]) if "w" in data else (data["b"].T, data["b_scale"].T)
    right = scaled(*weights).T
    return sums(lambda product: {"c": product(left, right, data.get("bias"))}, accumulate)
