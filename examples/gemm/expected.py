"""C = A B + bias."""

from __future__ import annotations

from examples.case import Data
from examples.expectation import Accumulate, Wanted, sums


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``c`` [M, N] for ``a`` [M, K], ``b`` [K, N] and, if ``with_bias``, ``bias`` [1, N]."""
    bias = data["bias"] if data["with_bias"] else None
    return sums(lambda product: {"c": product(data["a"], data["b"], bias)}, accumulate)
