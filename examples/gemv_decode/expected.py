"""y = x W (+ bias)."""

from __future__ import annotations

from examples.case import Data
from examples.expectation import Accumulate, Wanted, sums


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``y`` [1, N] for ``x`` [1, K], ``w`` [K, N] and, where the kernel takes one, ``bias`` [1, N]."""
    return sums(lambda product: {"y": product(data["x"], data["w"], data.get("bias"))}, accumulate)
