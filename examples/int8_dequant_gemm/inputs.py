"""Inputs of the products with int8 weights."""

from __future__ import annotations

import numpy as np

from examples.case import Case

TOKENS, K, N, GROUP = 32, 512, 256, 64
BLOCKS = 2
SLOT_ELEMENTS = 8192
GROUPS = {
    "per_group.pto": ("a2a3", "a5"),
    "per_group_by_hand.pto": ("a2a3", "a5"),
    "per_group_instructions.pto": ("a5",),
}
COLUMNS = ("per_column.pto", "per_column_instructions.pto")
"""Tiles, and what is made of them for a5."""


def cases(seed: int = 12) -> list[Case]:
    """Weights over the whole range of i8, scales over a factor of 16; those of columns have 10 bits after the
    leading one, as a table entry holds."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((TOKENS, K)).astype(np.float16)
    w = rng.integers(-128, 128, (K, N), dtype=np.int8)
    group_scales = np.exp2(rng.uniform(-12, -8, (K // GROUP, N))).astype(np.float32)
    column_scales = np.exp2(rng.uniform(-12, -8, N)).astype(np.float16).astype(np.float32)
    table = column_scales.view(np.uint32).astype(np.int64)
    y, slots = np.zeros((TOKENS, N), np.float32), np.zeros(BLOCKS * SLOT_ELEMENTS, np.float32)
    group = {"x": x, "w": w, "scale": group_scales, "y": y, "slots": slots}
    column = {"x": x, "w": w, "table": table, "y": y, "slots": slots}
    shapes = f"{TOKENS}x{K} · {K}x{N}, f16 · i8"
    return [
        *(Case("per_group", program, shapes, group, ("y",), chips, blocks=BLOCKS) for program, chips in GROUPS.items()),
        *(Case("per_column", program, shapes, column, ("y",), blocks=BLOCKS) for program in COLUMNS),
    ]
