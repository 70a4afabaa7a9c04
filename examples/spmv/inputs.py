"""Inputs of the sparse product."""

from __future__ import annotations

import numpy as np

from examples.case import Case

ROWS, COLUMNS, LONGEST = 150, 1024, 200


def cases(seed: int = 9) -> list[Case]:
    """Rows of 0 to 200 numbers; three blocks share them, and the last teams have fewer rows."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, LONGEST + 1, ROWS)
    lengths[:4] = 0, 1, 32, 33
    columns = [np.sort(rng.choice(COLUMNS, length, replace=False)) for length in lengths]
    data = {
        "starts": np.concatenate(([0], np.cumsum(lengths))).astype(np.int32),
        "columns": np.concatenate(columns).astype(np.int32),
        "values": rng.standard_normal(int(lengths.sum())).astype(np.float32),
        "x": rng.standard_normal(COLUMNS).astype(np.float32),
        "y": np.zeros(ROWS, np.float32),
        "rows": ROWS,
    }
    return [Case("spmv", "spmv.pto", f"{ROWS}x{COLUMNS} sparse, f32", data, ("y",), blocks=3)]
