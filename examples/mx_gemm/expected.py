"""C = (A with its scales) (B with its scales) + bias (docs/reference/numerics.md, "Formats", "Matrix products")."""

from __future__ import annotations

import numpy as np

from examples.case import Array, Data
from examples.expectation import Accumulate, Wanted, sums

GROUP = 32


def scaled(values: Array, scale_bytes: Array) -> Array:
    """``values`` [rows, K] · 2^(b − 127), b being the byte [rows, K/32] of the group; exact in float64."""
    factors = np.exp2(scale_bytes.astype(np.float64) - 127)
    return values.astype(np.float64) * np.repeat(factors, GROUP, axis=1)


def rows_of(blocks: Array, rows: int) -> Array:
    """Scales [rows, K/32] from blocks of 16 rows and 2 groups, one after the other."""
    return blocks.reshape(rows // 16, -1, 16, 2).transpose(0, 2, 1, 3).reshape(rows, -1)


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``c`` [M, N] for ``a`` [M, K] with its scales [M, K/32], and for either ``b`` [K, N] or its transpose
    ``w`` [N, K], with scales [N, K/32]; beside ``b`` all scales lie in blocks."""
    if "w" in data:
        left, right = scaled(data["a"], data["a_scale"]), scaled(data["w"], data["w_scale"]).T
    else:
        left = scaled(data["a"], rows_of(data["a_scale"], len(data["a"])))
        right = scaled(data["b"].T, rows_of(data["b_scale"], data["b"].shape[1])).T
    return sums(lambda product: {"c": product(left, right, data.get("bias"))}, accumulate)
