"""Y = (silu(X Wg) · (X Wu)) Wd."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import F16_ROUNDING, TOLERANCE, Accumulate, Wanted


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``y`` [tokens, width] for ``x`` [tokens, width], ``wg`` and ``wu`` [width, hidden], ``wd`` [hidden, width].

    The activations are rounded to f16 on the way; everything else is f32.
    """
    x, wg, wu, wd = (data[name].astype(np.float64) for name in ("x", "wg", "wu", "wd"))
    gate = x @ wg
    hidden = gate / (1 + np.exp(-gate)) * (x @ wu)
    return {"y": Wanted(hidden @ wd, np.abs(hidden) @ np.abs(wd), F16_ROUNDING + TOLERANCE)}
