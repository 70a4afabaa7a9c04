"""C = requantise(A B + bias), in exact integers up to the scaling (docs/reference/numerics.md, "Write-back": req8)."""

from __future__ import annotations

import numpy as np

from examples.case import Array, Data
from examples.expectation import Accumulate, Wanted


def requantised(total: Array, scale: Array, zero_point: Array) -> Array:
    """clip(rint(clip(f32(total) · scale, −256, 255)) + zero_point, −128, 127), the product in f32.

    ``total`` is [M, N]; ``scale`` (f32) and ``zero_point`` are [N] or [1].
    """
    scaled = total.astype(np.float32) * scale
    whole = np.rint(np.clip(scaled, -256, 255)).astype(np.int64)
    return np.clip(whole + zero_point, -128, 127)


def table_entries(table: Array) -> tuple[Array, Array]:
    """Scales and zero points of table entries with signed results."""
    scale = (table & 0xFFFF_E000).astype(np.uint32).view(np.float32)
    offset = (table >> 37) & 0x1FF
    return scale, np.where(offset >= 256, offset - 512, offset)


def expected(entry: str, data: Data, accumulate: Accumulate) -> dict[str, Wanted]:
    """``c`` [M, N] for ``a`` [M, K], ``b`` [K, N], ``bias`` [N] and either ``scale`` or ``table`` [N]."""
    total = data["a"].astype(np.int64) @ data["b"].astype(np.int64) + data["bias"]
    if entry == "requant_scalar":
        return {"c": Wanted(requantised(total, np.array([data["scale"]], np.float32), np.array([0])))}
    return {"c": Wanted(requantised(total, *table_entries(data["table"])))}
