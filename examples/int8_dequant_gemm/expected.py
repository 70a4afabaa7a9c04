"""Y = X (scale · w)."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import F16_ROUNDING, TOLERANCE, Accumulate, Wanted


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``y`` [M, N] for ``x`` [M, K], ``w`` [K, N] and either ``scale`` [K/group, N] or ``table`` [N].

    Weights with the scales of groups are rounded to f16 before the product; scales of columns come after it.
    """
    x, w = data["x"].astype(np.float64), data["w"].astype(np.float64)
    if entry == "per_group":
        weights = w * np.repeat(data["scale"], w.shape[0] // data["scale"].shape[0], axis=0)
        tolerance = F16_ROUNDING + TOLERANCE
    else:
        weights = w * data["table"].astype(np.uint32).view(np.float32)
        tolerance = TOLERANCE
    return {"y": Wanted(x @ weights, np.abs(x) @ np.abs(weights), tolerance)}
