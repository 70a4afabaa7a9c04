"""scale = max |x| / 127 of each token, q = round(x / scale), in the arithmetic of the hardware."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import F16_NORMAL, Accumulate, Wanted


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``q`` [tokens, width] and ``scale`` [tokens, 8] (equal in a row) for ``x`` [tokens, width].

    Quotients are rounded to f32 once and then to the nearest integer, ties to even; both results are exact.
    """
    x = data["x"].astype(np.float32)
    largest = np.maximum(np.abs(x).max(axis=1, keepdims=True), np.float32(F16_NORMAL))
    scale = largest / np.float32(127)
    q = np.rint(x / scale).astype(np.int64)
    return {"q": Wanted(q), "scale": Wanted(np.repeat(scale, 8, axis=1))}
