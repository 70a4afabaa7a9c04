"""``tcmp`` into a packed mask: a row for each row of the sources, and a bit for each column, on both targets."""

from __future__ import annotations

import numpy as np
import pytest
from tile_run_helpers import run, tile


@pytest.mark.parametrize("target", ["a2a3", "a5"])
@pytest.mark.parametrize("cols", [256, 512])
def test_a_packed_mask_has_a_bit_for_each_column(cols: int, target: str) -> None:
    rng = np.random.default_rng(cols)
    first, second = (rng.standard_normal((4, cols)).astype(np.float32) for _ in range(2))
    mask = np.zeros((4, cols // 8), np.int8)
    found = run(
        "pto.tcmp ins(%a, %b {cmpMode = #pto<cmp lt>} : {a}, {b}) outs(%m : {m})",
        tile("a", "f32", first), tile("b", "f32", second), tile("m", "i8", mask), target=target,
    )["m"]  # fmt: skip
    bits = (first < second).reshape(4, cols // 8, 8)
    wanted = [[sum(int(bit) << place for place, bit in enumerate(byte)) for byte in row] for row in bits]
    assert found.view(np.uint8).tolist() == wanted
