"""Inputs of the decode step."""

from __future__ import annotations

import numpy as np

from examples.case import Case

LENGTHS = (200, 64, 1, 131)
KV_HEADS, GROUP, WIDTH = 2, 16, 128
PAGE, PAGES, TABLE_WIDTH = 64, 12, 5
BLOCKS = 2
SLOT_ELEMENTS = 7168


def cases(seed: int = 13) -> list[Case]:
    """Sequences of very different length in pages of random order. Whatever no sequence owns is NaN, and entries of
    the block table after the last page of a sequence lead out of the cache."""
    rng = np.random.default_rng(seed)
    counts = [-(-length // PAGE) for length in LENGTHS]
    numbers = rng.permutation(PAGES)
    table = np.full((len(LENGTHS), TABLE_WIDTH), 1 << 30, np.int32)
    caches = [np.full((PAGES, KV_HEADS, PAGE, WIDTH), np.nan, np.float16) for _ in range(2)]
    for sequence, (length, count) in enumerate(zip(LENGTHS, counts, strict=True)):
        table[sequence, :count], numbers = numbers[:count], numbers[count:]
        for token in range(length):
            for cache in caches:
                cache[table[sequence, token // PAGE], :, token % PAGE] = rng.standard_normal((KV_HEADS, WIDTH))
    shape = (len(LENGTHS), KV_HEADS * GROUP, WIDTH)
    data = {
        "q": (2 * rng.standard_normal(shape)).astype(np.float16),
        "k_cache": caches[0],
        "v_cache": caches[1],
        "block_table": table,
        "lengths": np.array(LENGTHS, np.int32),
        "o": np.zeros(shape, np.float32),
        "slots": np.zeros(BLOCKS * SLOT_ELEMENTS, np.float32),
        "sequences": len(LENGTHS),
        "kv_heads": KV_HEADS,
        "pages": PAGES,
        "table_width": TABLE_WIDTH,
        "scale": WIDTH**-0.5,
    }
    shapes = f"{len(LENGTHS)} sequences, {KV_HEADS}x{GROUP} heads, f16"
    return [Case("paged_attention", "paged_attention.pto", shapes, data, ("o",), ("a2a3", "a5"), blocks=BLOCKS)]
