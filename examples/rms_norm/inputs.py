"""Inputs of the normalised rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from examples.case import Case

ROWS, WIDTH, EPS = 32, 4096, 1e-5
PLAIN_ROWS, PLAIN_WIDTH = 8, 1024
PROGRAMS = {"rms_norm.pto": ("a2a3", "a5"), "rms_norm_instructions.pto": ("a5",)}
"""Tiles, and what is made of them for a5."""


def cases(seed: int = 6) -> list[Case]:
    """Rows of very different size, in f32 and in f16; two blocks share the panels, one runs the plain program."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, WIDTH)) * np.exp2(rng.uniform(-6, 6, (ROWS, 1)))
    weight = rng.uniform(0.5, 1.5, (1, WIDTH))
    types: dict[str, type[np.floating[Any]]] = {"f32": np.float32, "f16": np.float16}
    plain = {
        "x": x[:PLAIN_ROWS, :PLAIN_WIDTH].astype(np.float32),
        "weight": weight[:, :PLAIN_WIDTH].astype(np.float32),
        "y": np.zeros((PLAIN_ROWS, PLAIN_WIDTH), np.float32),
        "eps": EPS,
    }
    shapes = f"{PLAIN_ROWS}x{PLAIN_WIDTH}, f32"
    found = [
        Case(
            f"rms_norm_{name}",
            program,
            f"{ROWS}x{WIDTH}, {name}",
            {
                "x": x.astype(dtype),
                "weight": weight.astype(dtype),
                "y": np.zeros((ROWS, WIDTH), dtype),
                "rows": ROWS,
                "eps": EPS,
            },
            ("y",),
            targets,
            blocks=2,
        )
        for program, targets in PROGRAMS.items()
        for name, dtype in types.items()
    ]
    return [*found, Case("rms_norm_f32", "rms_norm_plain.pto", shapes, plain, ("y",), ("a2a3", "a5"))]
