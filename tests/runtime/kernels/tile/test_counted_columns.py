"""Rows joined as far as counts say that lie in a single column (docs/reference/tiles.md, "Irregular operations")."""

from __future__ import annotations

import numpy as np
import pytest
from tile_run_helpers import run, tile
from tile_values import same


@pytest.mark.parametrize("single", [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("element", ["i32", "i16"])
def test_counts_of_a_single_column(single: tuple[bool, bool], element: str) -> None:
    """A count of 4 is one element in i32, two in i16."""
    rng = np.random.default_rng(7)
    size = 4 if element == "i32" else 2
    a, b = (rng.integers(-99, 99, (16, 16)).astype(np.float32) for _ in range(2))
    taken = [rng.integers(0, 17, (16, 1)) for _ in range(2)]
    counts = [
        tile(name, element, numbers * size, layout="blayout=col_major") if one
        else tile(name, element, np.repeat(numbers * size, 16, axis=1))
        for name, numbers, one in zip("mn", taken, single, strict=True)
    ]  # fmt: skip
    before = np.full((16, 32), 77, np.float32)
    found = run(
        "pto.tconcatidx ins(%a, %b, %m, %n : {a}, {b}, {m}, {n}) outs(%d : {d})", tile("a", "f32", a),
        tile("b", "f32", b), *counts, tile("d", "f32", before), verify=False,
    )["d"]  # fmt: skip
    wanted = before.copy()
    for row in range(16):
        first, second = (int(numbers[row, 0]) for numbers in taken)
        wanted[row, : first + second] = [*a[row, :first], *b[row, :second]]
    same(found, wanted)
