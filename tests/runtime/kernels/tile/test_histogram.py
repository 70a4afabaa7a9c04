"""Cumulative byte counts, element by element (docs/reference/tiles.md, "Irregular operations")."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tile_run_helpers import run, tile
from tile_values import same

from pto_dialect.runtime.errors import ProgramError


def cumulative(values: list[int], byte: int) -> list[int]:
    """How many bytes are at most 0, 1 … 255."""
    found = [value >> (8 * byte) & 0xFF for value in values]
    return [sum(1 for b in found if b <= limit) for limit in range(256)]


@pytest.mark.parametrize("byte", [0, 1])
@pytest.mark.parametrize("valid", [(4, 128), (3, 77)])
def test_16_bit_sources(byte: int, valid: tuple[int, int]) -> None:
    rng = np.random.default_rng(48)
    source = rng.integers(0, 1024, (4, 128), np.uint16)
    filters = rng.integers(0, 4, (32, 1), np.uint8)
    rows, cols = valid
    found = run(
        f"pto.thistogram ins(%a, %i : {{a}}, {{i}}) outs(%d : {{d}}) {{byte = {byte} : i32}}",
        tile("a", "ui16", source, valid), tile("i", "ui8", filters, (rows, 1), "blayout=col_major"),
        tile("d", "ui32", np.full((4, 256), 9), (rows, 256)), verify=False,
    )["d"]  # fmt: skip
    wanted = np.full((4, 256), 9, np.uint32)
    for r in range(rows):
        line = [int(v) for v in source[r, :cols]]
        wanted[r] = cumulative([v for v in line if byte == 1 or v >> 8 == filters[r, 0]], byte)
    same(found, wanted)


@pytest.mark.parametrize("byte", [0, 1, 2, 3])
def test_32_bit_sources(byte: int) -> None:
    """Each row of the filter holds one byte for all rows of the source: byte 3, then 2, then 1."""
    rng = np.random.default_rng(49)
    parts = rng.integers(0, 3, (4, 4, 64), np.uint32)
    source = parts[0] | parts[1] << 8 | parts[2] << 16 | parts[3] << 24
    depth = 3 - byte
    filters = np.repeat(rng.integers(0, 3, (max(depth, 1), 1), np.uint8), 64, axis=1)
    found = run(
        f"pto.thistogram ins(%a, %i : {{a}}, {{i}}) outs(%d : {{d}}) {{byte = {byte} : i32}}",
        tile("a", "ui32", source), tile("i", "ui8", filters), tile("d", "ui32", np.zeros((4, 256))), verify=False,
    )["d"]  # fmt: skip
    wanted = np.zeros((4, 256), np.uint32)
    for r in range(4):
        kept = [v for v in map(int, source[r]) if all(v >> (24 - 8 * k) & 0xFF == filters[k, 0] for k in range(depth))]
        wanted[r] = cumulative(kept, byte)
    same(found, wanted)


@pytest.mark.parametrize("backend", ["emitc", "vpto"])
@pytest.mark.parametrize("valid", [256, 300, 512])
def test_counts_of_the_rows_follow_each_other_in_a_wider_tile(backend: Any, valid: int) -> None:
    source = np.random.default_rng(50).integers(0, 1 << 16, (4, 128), np.uint16)
    found = run(
        "pto.thistogram ins(%a, %i : {a}, {i}) outs(%d : {d}) {byte = 1 : i32}",
        tile("a", "ui16", source), tile("i", "ui8", np.zeros((32, 1)), (4, 1), "blayout=col_major"),
        tile("d", "ui32", np.full((4, 512), 9), (4, valid)), verify=False, target="a5", backend=backend,
    )["d"]  # fmt: skip
    wanted = [count for row in source for count in cumulative([int(v) for v in row], 1)]
    same(found.reshape(-1), np.array(wanted + [9] * 1024, np.uint32))


def test_counts_that_do_not_fit_are_an_error() -> None:
    """Whose number of columns only a run knows."""
    tiles = (tile("a", "ui16", np.zeros((8, 128))), tile("i", "ui8", np.zeros((32, 1)), (8, 1), "blayout=col_major"))
    statement = "pto.thistogram ins(%a, %i : {a}, {i}) outs(%d : {d}) {byte = 1 : i32}"
    with pytest.raises(ProgramError, match="256 counts for each of 8 rows do not fit into 3x512"):
        run(statement, *tiles, tile("d", "ui32", np.zeros((3, 512))), verify=False, target="a5")


@pytest.mark.parametrize(
    ("element", "byte"),
    [("ui8", 0), ("i8", 0), ("i64", 0), ("i64", 3), ("f16", 0), ("f32", 0), ("bf16", 1), ("ui16", 2), ("ui16", -1),
     ("ui32", 4), ("ui32", -1)],
)  # fmt: skip
def test_elements_without_such_a_byte_are_refused(element: str, byte: int) -> None:
    with pytest.raises(ProgramError, match=f"byte {byte} of {element} elements cannot be counted"):
        run(
            f"pto.thistogram ins(%a, %i : {{a}}, {{i}}) outs(%d : {{d}}) {{byte = {byte} : i32}}",
            tile("a", element, np.zeros((1, 32))), tile("i", "ui8", np.zeros((32, 1)), None, "blayout=col_major"),
            tile("d", "ui32", np.zeros((1, 256))), verify=False,
        )  # fmt: skip
