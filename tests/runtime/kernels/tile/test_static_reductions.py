"""Reductions of regions that types state: other sizes than those of the result, and none (docs/reference/tiles.md,
"Broadcasts and reductions").
"""

from __future__ import annotations

import numpy as np
import pytest
from tile_run_helpers import run, tile


@pytest.mark.parametrize("element", ["i32", "f32"])
@pytest.mark.parametrize(("valid", "kept"), [((16, 24), 9), ((9, 24), 9), ((16, 1), 16), ((16, 24), 0)])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_result_says_how_many_are_reduced(axis: int, valid: tuple[int, int], kept: int, element: str) -> None:
    """Rows or columns beyond those of the result are not looked at."""
    a = np.random.default_rng(5).integers(-50, 50, (32, 32))
    rows, cols = valid if axis else valid[::-1]
    before = np.full((32, 8) if axis else (8, 32), 77)
    result = tile("d", element, before, (kept, 1) if axis else (1, kept))
    text = "pto.trowmax ins(%a, %a : {a}, {a}) outs(%d : {d})" if axis else "pto.tcolmax ins(%a : {a}) outs(%d : {d})"
    found = run(text, tile("a", element, a, (rows, cols)), result, verify=False)["d"]
    wanted = before.copy()
    if axis:
        wanted[:kept, 0] = a[:kept, :cols].max(axis=1)
    else:
        wanted[0, :kept] = a[:rows, :kept].max(axis=0)
    assert (found == wanted).all()
