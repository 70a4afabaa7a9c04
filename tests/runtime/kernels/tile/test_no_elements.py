"""Tiles of which no element is valid: nothing is computed, nothing is written, and nothing is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from groups import in_groups
from run_time_tiles import held, table, value
from tile_run_helpers import TileData, run, tile

from pto_dialect.runtime.kernels.tile.memory import Store
from pto_dialect.runtime.kernels.tile.table_gather import TableGather, TableScatter

EMPTY = [(0, 5), (3, 0), (0, 0)]
A = np.arange(256, dtype=np.float32).reshape(8, 32) + 1
TWO = "ins(%a, %b : {a}, {b})"
STATEMENTS = [
    f"pto.tadd {TWO} outs(%d : {{d}})",
    f"pto.tmax {TWO} outs(%d : {{d}})",
    f"pto.tpartadd {TWO} outs(%d : {{d}})",
    f"pto.tpartmin {TWO} outs(%d : {{d}})",
    "pto.tadds ins(%a, %s : {a}, f32) outs(%d : {d})",
    "pto.tabs ins(%a : {a}) outs(%d : {d})",
    "pto.texp ins(%a : {a}) outs(%d : {d})",
    "pto.tmov ins(%a : {a}) outs(%d : {d})",
    "pto.tcvt ins(%a : {a}) outs(%i : {i})",
    "pto.texpands ins(%s : f32) outs(%d : {d})",
    "pto.tsel ins(%m, %a, %b, %w : {m}, {a}, {b}, {w}) outs(%d : {d})",
    "pto.tcolmax ins(%a : {a}) outs(%c : {c})",
    "pto.trowexpand ins(%r : {r}) outs(%d : {d})",
    "pto.tcolexpand ins(%c : {c}) outs(%d : {d})",
    "pto.trowexpandmul ins(%a, %r : {a}, {r}) outs(%d : {d})",
    "pto.tcolexpandsub ins(%a, %c : {a}, {c}) outs(%d : {d})",
]


def tiles(valid: tuple[int, int]) -> tuple[TileData, ...]:
    rows, cols = valid
    return (
        *(tile(name, "f32", A + n, valid, dynamic=True) for n, name in enumerate("abdw")),
        tile("i", "i32", A, valid, dynamic=True),
        tile("m", "ui8", np.full((8, 32), 77), valid, dynamic=True),
        tile("r", "f32", np.full((8, 1), 7), (rows, 1), "blayout=col_major", dynamic=True),
        tile("c", "f32", np.full((1, 32), 7), (1, cols), dynamic=True),
    )


@pytest.mark.parametrize("valid", EMPTY)
@in_groups("statement", STATEMENTS)
def test_statements_change_no_byte(statement: str, valid: tuple[int, int]) -> None:
    given = tiles(valid)
    found = run(statement, *given, scalars={"s": ("f32", 2.0)}, verify=False)
    for item in given:
        assert found[item.name].tobytes() == item.data.tobytes(), item.name


@pytest.mark.parametrize("valid", EMPTY)
@pytest.mark.parametrize("coalesce", ["row", "elem"])
def test_tables_are_not_queried(coalesce: str, valid: tuple[int, int]) -> None:
    """The indices lie far outside, and the table is narrower than the tile: neither matters."""
    rows, cols = valid
    indices: Any = value(max(rows, 1), max(cols, 1), "i32", np.full(max(rows, 1) * max(cols, 1), 9999))
    memory = table(2, 1)
    before = memory.matrix().read().copy()
    dst = held(8, 32, valid=valid)
    TableGather(coalesce, "undefined")(memory, indices, dst)
    TableScatter(coalesce, "undefined", "none")(held(8, 32, valid=valid), indices, memory)
    assert (memory.matrix().read() == before).all()
    assert not dst.pointer.arena.bytes.any()


@pytest.mark.parametrize("valid", EMPTY)
def test_stores_are_not_checked(valid: tuple[int, int]) -> None:
    memory = table(4, 4, "i8")
    Store(None, "atomic_add")(held(8, 32, valid=valid), memory)
    assert memory.matrix().read().reshape(-1).tolist() == list(range(16))
