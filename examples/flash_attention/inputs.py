"""Inputs of the attention."""

from __future__ import annotations

import numpy as np

from examples.case import Case

HEADS, SEQ, WIDTH = 2, 256, 128
BLOCKS = 2
SLOT_ELEMENTS = 32_768
PROGRAMS = {
    "flash_attention.pto": ("a2a3", "a5"),
    "flash_attention_plain.pto": ("a2a3", "a5"),
    "flash_attention_instructions.pto": ("a5",),
}
"""Tiles, with the cube core ahead and plain, and what is made of the first for a5."""


def cases(seed: int = 9) -> list[Case]:
    """Queries that resemble one key each, so that the weights are far from even; with and without the mask."""
    rng = np.random.default_rng(seed)
    shape = (HEADS, SEQ, WIDTH)
    k, v = rng.standard_normal(shape), rng.standard_normal(shape)
    q = 0.5 * np.stack([head[rng.permutation(SEQ)] for head in k]) + rng.standard_normal(shape)
    tensors = {"q": q.astype(np.float16), "k": k.astype(np.float16), "v": v.astype(np.float16)}
    return [
        Case(
            "flash_attention",
            program,
            f"{HEADS}x{SEQ}x{WIDTH}, f16{', causal' if causal else ''}",
            {
                **tensors,
                "o": np.zeros(shape, np.float32),
                "slots": np.zeros(BLOCKS * SLOT_ELEMENTS, np.float32),
                "heads": HEADS,
                "seq": SEQ,
                "scale": WIDTH**-0.5,
                "causal": causal,
            },
            ("o",),
            targets,
            blocks=BLOCKS,
        )
        for program, targets in PROGRAMS.items()
        for causal in ((True,) if "plain" in program else (False, True))
    ]
