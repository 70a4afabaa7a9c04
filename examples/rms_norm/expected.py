"""y = x / sqrt(mean(x²) + eps) · weight."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import F16_NORMAL, F16_ROUNDING, TOLERANCE, Accumulate, Wanted


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``y`` [rows, width] for ``x`` [rows, width] and ``weight`` [1, width].

    A sum of n squares in f32 is off by n · 2^-24 at most, of which the root halves the relative size; the errors
    of 4096 roundings cancel to much less than that. Results in f16 are rounded once more.
    """
    x = data["x"].astype(np.float64)
    root = np.sqrt((x * x).mean(axis=1, keepdims=True) + data["eps"])
    y = x / root * data["weight"].astype(np.float64)
    if entry == "rms_norm_f32":
        return {"y": Wanted(y, np.abs(y), TOLERANCE)}
    return {"y": Wanted(y, np.maximum(np.abs(y), F16_NORMAL), TOLERANCE + F16_ROUNDING)}
