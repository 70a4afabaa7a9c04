"""Rows joined as far as counts say that lie in a single column (docs/reference/tiles.md, "Irregular operations")."""

from __future__ import annotations

import numpy as np
import pytest
from tile_run_helpers import run, tile
from tile_values import same

from pto_dialect.runtime.errors import ProgramError


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


def joined(first: int, second: int, width: int) -> np.ndarray:
    """One row of ``first`` numbers from 0 on and ``second`` from 100 on, in ``width`` columns that held 77; 8 of 16
    columns of both sources are valid."""
    row = np.arange(16, dtype=np.float32).reshape(1, 16)
    counts = [tile(name, "i32", np.full((1, 8), count * 4)) for name, count in zip("mn", (first, second), strict=True)]
    return run(
        "pto.tconcatidx ins(%a, %b, %m, %n : {a}, {b}, {m}, {n}) outs(%d : {d})",
        tile("a", "f32", row, (1, 8)), tile("b", "f32", row + 100, (1, 8)), *counts,
        tile("d", "f32", np.full((1, 32), 77, np.float32), (1, width)),
    )["d"][0]  # fmt: skip


def test_counts_end_at_the_destination() -> None:
    """Sources are read after their valid columns, a count that is negative takes all."""
    assert joined(10, 2, 32).tolist() == [*range(10), 100, 101, *[77] * 20]
    assert joined(5, 9, 12).tolist() == [*range(5), *range(100, 107), *[77] * 20]
    assert joined(14, 3, 12).tolist() == [*range(12), *[77] * 20]
    assert joined(-1, 3, 12).tolist() == [*range(12), *[77] * 20]


def test_counts_that_leave_the_source() -> None:
    with pytest.raises(ProgramError, match="a count of 17 elements of a source with 16 columns"):
        joined(17, 2, 32)
