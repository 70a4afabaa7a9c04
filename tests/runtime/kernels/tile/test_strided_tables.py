"""Gathers and scatters of tables whose view has gaps between its rows: instructions count elements in memory, and
work-items of a5 rows without gaps (docs/reference/tiles.md, "Irregular operations").
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from function_programs import run

from pto_dialect.runtime.errors import ProgramError

COLS, PITCH, FIRST = 16, 40, 5
TABLE = f"!pto.partition_tensor_view<6x{COLS}xf32>"
DATA = f"!pto.tile_buf<vec, 8x{COLS}xf32>"
COALESCE = {"row": "!pto.tile_buf<vec, 1x8xi32>", "elem": f"!pto.tile_buf<vec, 8x{COLS}xi32>"}


def execute(name: str, coalesce: str, clauses: str, arrays: dict[str, Any], target: str) -> None:
    """Runs an operation on a table of 6 rows, 40 elements apart, from element 5 on of memory ``m``."""
    index = COALESCE[coalesce]
    inputs, out = ("%t, %i", "%d") if name == "mgather" else ("%d, %i", "%t")
    types = (f"{TABLE}, {index}", DATA) if name == "mgather" else (f"{DATA}, {index}", TABLE)
    body = f"""%v = pto.make_tensor_view %m, shape = [%c7, %c40], strides = [%c40, %c1] : !pto.tensor_view<7x40xf32>
    %t = pto.partition_view %v, offsets = [%c0, %c5], sizes = [%c6, %c16] : !pto.tensor_view<7x40xf32> -> {TABLE}
    pto.{name} ins({inputs} : {types[0]}) outs({out} : {types[1]}) {{coalesce = #pto<coalesce {coalesce}>{clauses}}}"""
    kinds = {"m": "!pto.ptr<f32, gm>", "d": DATA, "i": index}
    run(body, {key: (kinds[key], array) for key, array in arrays.items()}, target=target)


def given(coalesce: str, limit: int) -> dict[str, Any]:
    rng = np.random.default_rng(7)
    memory, data = (rng.integers(-99, 99, shape).astype(np.float32) for shape in (7 * PITCH, (8, COLS)))
    shape = (1, 8) if coalesce == "row" else (8, COLS)
    return {"m": memory, "d": data, "i": rng.integers(-3, limit, shape, np.int32)}


def places(coalesce: str, index: np.ndarray, target: str) -> np.ndarray:
    """The element of memory that each element of the data belongs to, -1 for none."""
    if coalesce == "elem":
        return np.where((index >= 0) & (index < 6 * COLS), FIRST + index, -1)
    rows = index.reshape(8, 1)
    pitch = COLS if target == "a5" else PITCH
    return np.where((rows >= 0) & (rows < 6), FIRST + rows * pitch + np.arange(COLS), -1)


@pytest.mark.parametrize("coalesce", COALESCE)
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_gather(target: str, coalesce: str) -> None:
    arrays = given(coalesce, 9 if coalesce == "row" else 120)
    at = places(coalesce, arrays["i"], target)
    execute("mgather", coalesce, ", gatherOob = #pto<gather_oob zero>", arrays, target)
    assert (arrays["d"] == np.where(at < 0, 0, arrays["m"][at])).all()


@pytest.mark.parametrize("atomic", ["none", "add"])
@pytest.mark.parametrize("coalesce", COALESCE)
@pytest.mark.parametrize("target", ["a2a3", "a5"])
def test_scatter(target: str, coalesce: str, atomic: str) -> None:
    """In row order; the last one wins, or all are added."""
    arrays = given(coalesce, 9 if coalesce == "row" else 120)
    at, wanted = places(coalesce, arrays["i"], target), arrays["m"].copy()
    for place in np.ndindex(8, COLS):
        if at[place] >= 0:
            wanted[at[place]] = arrays["d"][place] + (wanted[at[place]] if atomic == "add" else 0)
    clauses = f", scatterAtomicOp = #pto<scatter_atomic_op {atomic}>, scatterOob = #pto<scatter_oob skip>"
    execute("mscatter", coalesce, clauses, arrays, target)
    assert (arrays["m"] == wanted).all()


@pytest.mark.parametrize("name", ["mgather", "mscatter"])
def test_indices_count_the_elements_of_the_table(name: str) -> None:
    arrays = given("elem", 9)
    arrays["i"][...] = 6 * COLS
    with pytest.raises(ProgramError) as caught:
        execute(name, "elem", "", arrays, "a5")
    assert caught.value.rule == "mem-oob"


@pytest.mark.parametrize(("target", "rows"), [("a2a3", 12), ("a5", 6)])
def test_rows_of_outer_extents(target: str, rows: int) -> None:
    """Work-items of a5 limit the indices of rows to those of the innermost matrix."""
    table, data = np.arange(12 * COLS, dtype=np.float32), np.zeros((8, COLS), np.float32)
    kinds = {"m": "!pto.ptr<f32, gm>", "d": DATA, "i": COALESCE["row"]}
    view = f"!pto.tensor_view<2x6x{COLS}xf32>"
    part = view.replace("tensor_view", "partition_tensor_view")
    body = f"""%v = pto.make_tensor_view %m, shape = [%c2, %c6, %c16], strides = [%c96, %c16, %c1] : {view}
    %t = pto.partition_view %v, offsets = [%c0, %c0, %c0], sizes = [%c2, %c6, %c16] : {view} -> {part}
    pto.mgather ins(%t, %i : {part}, {kinds["i"]}) outs(%d : {DATA})
      {{coalesce = #pto<coalesce row>, gatherOob = #pto<gather_oob clamp>}}"""
    index = np.array([[0, 3, 5, 6, 7, 11, 12, -1]], np.int32)
    run(body, {"m": (kinds["m"], table), "d": (DATA, data), "i": (kinds["i"], index)}, target=target)
    unsigned = index.reshape(-1).view(np.uint32)
    assert (data == table.reshape(12, COLS)[np.minimum(unsigned, rows - 1)]).all()
