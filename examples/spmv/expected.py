"""y = A x with A [rows, columns] in compressed rows."""

from __future__ import annotations

import numpy as np

from examples.case import Data
from examples.expectation import TOLERANCE, Accumulate, Wanted


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``y`` [rows]. The scale is that of the sums, Σ|a·x|: at most 7 fused sums in a lane and 31 over the lanes."""
    rows = np.repeat(np.arange(data["rows"]), np.diff(data["starts"]))
    matrix = np.zeros((data["rows"], data["x"].size))
    matrix[rows, data["columns"]] = data["values"]
    x = data["x"].astype(np.float64)
    return {"y": Wanted(matrix @ x, np.abs(matrix) @ np.abs(x), TOLERANCE)}
