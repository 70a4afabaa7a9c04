"""y = (x − mean(x)) / sqrt(variance(x) + eps) · weight + bias."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import TOLERANCE, Accumulate, Wanted


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``y`` [rows, width] for ``x`` [rows, width], ``weight`` and ``bias`` [1, width].

    The mean in f32 is off by a few roundings of the largest value of the row, and so is each difference from it.
    """
    x, weight, bias = (data[name].astype(np.float64) for name in ("x", "weight", "bias"))
    centred = x - x.mean(axis=1, keepdims=True)
    root = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + data["eps"])
    scale = np.abs(x).max(axis=1, keepdims=True) / root * weight + np.abs(bias)
    return {"y": Wanted(centred / root * weight + bias, scale, TOLERANCE)}
