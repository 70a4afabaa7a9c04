"""Gathers and scatters inside the unified buffer, element by element (docs/reference/tiles.md, "Irregular
operations").
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from tile_run_helpers import DTYPES, run, tile
from tile_values import random_values, same

from pto_dialect.runtime.errors import ProgramError
from pto_dialect.runtime.kernels.tile.gather import GatherMask
from pto_dialect.runtime.memory.values import ValueTile
from pto_dialect.runtime.numerics.formats import format_of

PATTERNS = {
    "P1111": (1, 0), "P0101": (2, 0), "P1010": (2, 1), "P0001": (4, 0), "P0010": (4, 1), "P0100": (4, 2),
    "P1000": (4, 3),
}  # fmt: skip
ELEMENTS = ("i8", "i16", "i32", "f16", "bf16", "f32")


def values_of(element: str, shape: tuple[int, int], seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    if element in ("f8E4M3FN", "f8E5M2", "!pto.hif8"):
        return rng.integers(0, 100, shape, np.uint8).view(DTYPES[element])
    return random_values(element, shape, rng)


@pytest.mark.parametrize(
    ("element", "index"),
    [("i8", "i16"), ("i16", "i16"), ("i32", "i32"), ("f16", "i16"), ("f16", "i32"), ("f32", "i32"), ("f8E5M2", "i16")],
)
def test_gather_by_index(element: str, index: str) -> None:
    rng = np.random.default_rng(25)
    source = values_of(element, (16, 64), 26)
    indices = rng.integers(0, 16 * 64, (8, 32))
    indices[0, :4] = 0, 1, 1023, 64
    before = values_of(element, (8, 32), 27)
    found = run(
        "pto.tgather ins(%a, %i, %t : {a}, {i}, {t}) outs(%d : {d})",
        tile("a", element, source), tile("i", index, indices, (7, 32)), tile("t", index, indices),
        tile("d", element, before, (7, 32)),
    )["d"]  # fmt: skip
    wanted = before.copy()
    for r, c in np.ndindex(7, 32):
        row, col = divmod(int(indices[r, c]), 64)
        wanted[r, c] = source[row, col]
    same(found, wanted)


def test_indices_are_unsigned() -> None:
    """i16 index −1 is element 65535."""
    source = np.arange(1 << 16, dtype=np.uint16).view(np.int16).reshape(16, 4096)
    indices = np.array([[0, -1, -32768, 5] * 4], np.int16)
    found = run(
        "pto.tgather ins(%a, %i, %t : {a}, {i}, {t}) outs(%d : {d})",
        tile("a", "i16", source), tile("i", "i16", indices), tile("t", "i16", indices), tile("d", "i16", indices),
    )["d"]  # fmt: skip
    same(found.view(np.uint16), indices.view(np.uint16))


def test_gather_over_its_source() -> None:
    data = np.arange(64, dtype=np.float32).reshape(2, 32)
    indices = np.arange(63, -1, -1).reshape(2, 32)
    found = run(
        "pto.tgather ins(%a, %i, %t : {a}, {i}, {t}) outs(%a : {a})",
        tile("a", "f32", data), tile("i", "i32", indices), tile("t", "i32", indices),
    )["a"]  # fmt: skip
    same(found, data[::-1, ::-1])


def test_an_index_outside_the_memory_is_an_error() -> None:
    data = np.zeros((2, 32), np.float32)
    indices = np.full((2, 32), 1 << 20)
    with pytest.raises(ProgramError) as error:
        run(
            "pto.tgather ins(%a, %i, %t : {a}, {i}, {t}) outs(%d : {d})",
            tile("a", "f32", data), tile("i", "i32", indices), tile("t", "i32", indices), tile("d", "f32", data),
        )  # fmt: skip
    assert error.value.rule == "mem-oob"


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("element", [*ELEMENTS, "f8E4M3FN"])
def test_gather_by_pattern(element: str, pattern: str) -> None:
    source = values_of(element, (8, 128), 28)
    step, first = PATTERNS[pattern]
    count = 128 // step
    for axis in ("", ', "row"'):
        found = run(
            f"pto.tgather ins(%a, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {{a}}{axis}) outs(%d : {{d}})",
            tile("a", element, source, (5, 128)), tile("d", element, np.zeros_like(source[:, :count]), (5, count)),
        )["d"]  # fmt: skip
        wanted = np.zeros_like(found)
        for r in range(5):
            wanted[r] = [source[r, c] for c in range(128) if c % step == first]
        same(found, wanted)


@pytest.mark.parametrize("pattern", PATTERNS)
def test_gather_of_rows_by_pattern(pattern: str) -> None:
    source = values_of("f32", (16, 32), 29)
    step, first = PATTERNS[pattern]
    found = run(
        f'pto.tgather ins(%a, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {{a}}, "col") outs(%d : {{d}})',
        tile("a", "f32", source), tile("d", "f32", np.zeros((16 // step, 32))),
    )["d"]  # fmt: skip
    same(found, np.array([source[r] for r in range(16) if r % step == first]))


def test_gathered_rows_begin_at_the_rows_of_a_wider_tile() -> None:
    source = values_of("f32", (8, 16), 29)
    f32 = format_of("f32")
    dst = ValueTile(4, 64, f32, np.full((4, 64), 7, np.float32))
    GatherMask("P0010", by_rows=True)(ValueTile(8, 16, f32, source), dst)
    wanted = np.full((4, 64), 7, np.float32)
    wanted[0, :16], wanted[1, :16] = source[1], source[5]
    same(dst.array, wanted)


def test_packed_rows_follow_each_other() -> None:
    """Without an axis, selected elements that do not fill the rows of dst are stored one after the other."""
    source = values_of("f32", (4, 24), 30)
    found = run(
        "pto.tgather ins(%a, {maskPattern = #pto.mask_pattern<P1010>} : {a}) outs(%d : {d})",
        tile("a", "f32", source, (3, 15)), tile("d", "f32", np.full((4, 8), 7)),
    )["d"]  # fmt: skip
    wanted = np.full(32, 7, np.float32)
    wanted[:21] = source[:3, 1:15:2].reshape(-1)
    same(found, wanted.reshape(4, 8))


@pytest.mark.parametrize("element", ["i16", "i32", "f16", "f32"])
@pytest.mark.parametrize("mode", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_gather_of_positions(element: str, mode: str) -> None:
    rng = np.random.default_rng(31)
    source = rng.integers(0, 9, (8, 64)).astype(DTYPES[element])
    number: Any = 5.0 if element[0] == "f" else 5
    found = run(
        f"pto.tgather ins(%a, %k, %t : {{a}}, {element}, {{t}}) outs(%d, %n : {{d}}, {{n}}) "
        f"{{cmpMode = #pto<cmp {mode}>, offset = 100 : i32}}",
        tile("a", element, source, (8, 60)), tile("t", "ui8", np.zeros((8, 1024))),
        tile("d", "i32", np.full((8, 64), -1)), tile("n", "i32", np.full((1, 8), -1)),
        scalars={"k": (element, number)}, verify=False,
    )  # fmt: skip
    wanted = np.full((8, 64), -1, np.int32)
    counts = np.zeros((1, 8), np.int32)
    for r in range(8):
        hits = [c for c in range(60) if getattr(operator, mode)(float(source[r, c]), 5.0)]
        wanted[r, : len(hits)] = [r * 64 + c + 100 for c in hits]
        counts[0, r] = len(hits)
    same(found["d"], wanted)
    same(found["n"], counts)


@pytest.mark.parametrize(("target", "valid", "pitch"), [("a2a3", 60, 256), ("a5", 60, 64), ("a5", 65, 128)])
def test_positions_count_the_columns_of_the_tile_or_whole_repeats(target: str, valid: int, pitch: int) -> None:
    source = np.zeros((2, 256))
    source[:, [1, valid - 1, valid]] = 5
    found = run(
        "pto.tgather ins(%a, %k, %t : {a}, f32, {t}) outs(%d, %n : {d}, {n}) {cmpMode = #pto<cmp gt>}",
        tile("a", "f32", source, (2, valid)), tile("t", "i8", np.zeros((8, 1024))),
        tile("d", "i32", np.full((2, 8), -1)), tile("n", "i32", np.zeros((1, 8))),
        scalars={"k": ("f32", 4.0)}, target=target, verify=False,
    )  # fmt: skip
    assert found["d"][:, :3].tolist() == [[1, valid - 1, -1], [pitch + 1, pitch + valid - 1, -1]]
    assert found["n"][0, :2].tolist() == [2, 2]


def test_positions_that_do_not_fit_are_dropped_but_counted() -> None:
    found = run(
        "pto.tgather ins(%a, %k, %t : {a}, f32, {t}) outs(%d, %n : {d}, {n}) {cmpMode = #pto<cmp gt>}",
        tile("a", "f32", np.ones((2, 64))), tile("t", "ui8", np.zeros((2, 1024))),
        tile("d", "i32", np.full((2, 16), -1)), tile("n", "i32", np.zeros((2, 8)), (2, 1)),
        scalars={"k": ("f32", 0.0)}, verify=False,
    )  # fmt: skip
    assert found["d"].tolist() == [list(range(16)), list(range(64, 80))]
    assert found["n"][:, 0].tolist() == [64, 64]


@pytest.mark.parametrize("element", ELEMENTS)
def test_gather_of_blocks(element: str) -> None:
    source = values_of(element, (16, 64), 32)
    size = source.dtype.itemsize
    per_block = 32 // size
    raw = source.tobytes()
    rng = np.random.default_rng(33)
    offsets = rng.integers(0, len(raw) // 32, (4, 8)) * 32
    before = np.zeros((4, 4 * per_block), source.dtype)
    found = run(
        "pto.tgatherb ins(%a, %o : {a}, {o}) outs(%d : {d})",
        tile("a", element, source), tile("o", "ui32", offsets), tile("d", element, before, (3, 4 * per_block)),
    )["d"]  # fmt: skip
    wanted = before.copy()
    for r, b in np.ndindex(3, 4):
        start = int(offsets[r, b])
        wanted[r, b * per_block : (b + 1) * per_block] = np.frombuffer(raw[start : start + 32], source.dtype)
    same(found, wanted)


@pytest.mark.parametrize(
    ("element", "index"), [("i8", "i16"), ("i16", "i16"), ("i32", "i32"), ("f16", "i16"), ("f32", "i32")]
)
def test_scatter_by_index(element: str, index: str) -> None:
    rng = np.random.default_rng(34)
    source, before = values_of(element, (8, 32), 35), values_of(element, (16, 64), 36)
    indices = rng.integers(0, 200, (8, 32))
    found = run(
        "pto.tscatter ins(%a, %i : {a}, {i}) outs(%d : {d})",
        tile("a", element, source, (7, 30)), tile("i", index, indices, (7, 30)), tile("d", element, before, (10, 60)),
    )["d"]  # fmt: skip
    wanted = np.zeros_like(before)
    for r, c in np.ndindex(7, 30):  # later elements win
        row, col = divmod(int(indices[r, c]), 64)
        wanted[row, col] = source[r, c]
    same(found, wanted)


@pytest.mark.parametrize("axis", ["", ', "row"'])
@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("element", ["i16", "i32", "f16", "f32"])
def test_scatter_by_pattern(element: str, pattern: str, axis: str) -> None:
    """The rest of the tile becomes 0, also outside of its valid region; a pattern of all elements is a move."""
    source = values_of(element, (8, 32), 37)
    step, first = PATTERNS[pattern]
    found = run(
        f"pto.tscatter ins(%a, {{maskPattern = #pto.mask_pattern<{pattern}>}} : {{a}}{axis}) outs(%d : {{d}})",
        tile("a", element, source, (5, 32)), tile("d", element, np.ones((8, 32 * step)), (5, 32 * step)),
    )["d"]  # fmt: skip
    wanted = np.full_like(found, step == 1)
    for r, c in np.ndindex(5, 32):
        wanted[r, step * c + first] = source[r, c]
    same(found, wanted)


@pytest.mark.parametrize(("axis", "rest"), [("row", 1), ("col", 0)])
def test_the_template_clears_whole_tiles_for_rows_alone(axis: str, rest: int) -> None:
    source = values_of("f32", (4, 32), 38)
    shape = (4, 64) if axis == "row" else (8, 32)
    valid = (3, 64) if axis == "row" else (6, 32)
    found = run(
        f'pto.tscatter ins(%a, {{maskPattern = #pto.mask_pattern<P1010>}} : {{a}}, "{axis}") outs(%d : {{d}})',
        tile("a", "f32", source, (3, 32)), tile("d", "f32", np.ones(shape), valid), target="a5", backend="vpto",
    )["d"]  # fmt: skip
    wanted = np.full(shape, rest, np.float32)
    wanted[: valid[0]] = 0
    wanted[np.s_[:3, 1::2] if axis == "row" else np.s_[1:6:2]] = source[:3]
    same(found, wanted)


def test_scatter_of_rows_by_pattern() -> None:
    source = values_of("f32", (4, 32), 38)
    found = run(
        'pto.tscatter ins(%a, {maskPattern = #pto.mask_pattern<P0100>} : {a}, "col") outs(%d : {d})',
        tile("a", "f32", source), tile("d", "f32", np.ones((16, 32))),
    )["d"]  # fmt: skip
    wanted = np.zeros((16, 32), np.float32)
    for r in range(4):
        wanted[4 * r + 2] = source[r]
    same(found, wanted)


def test_gather_undoes_scatter() -> None:
    source = values_of("f32", (4, 32), 39)
    found = run(
        "pto.tscatter ins(%a, {maskPattern = #pto.mask_pattern<P1000>} : {a}) outs(%w : {w})\n"
        "pto.tgather ins(%w, {maskPattern = #pto.mask_pattern<P1000>} : {w}) outs(%d : {d})",
        tile("a", "f32", source), tile("w", "f32", np.ones((4, 128))), tile("d", "f32", np.zeros((4, 32))),
    )["d"]  # fmt: skip
    same(found, source)


def test_scatter_into_columns() -> None:
    """Positions count elements row by row, also where the columns lie one after the other."""
    source, before = values_of("f32", (8, 8), 3), np.zeros((8, 8), np.float32)
    places = np.random.default_rng(4).permutation(64).reshape(8, 8)
    found = run(
        "pto.tscatter ins(%a, %i : {a}, {i}) outs(%d : {d})",
        tile("a", "f32", source), tile("i", "i32", places), tile("d", "f32", before, layout="blayout=col_major"),
        verify=False,
    )["d"]  # fmt: skip
    memory = np.zeros(64, np.float32)
    memory[places.reshape(-1)] = source.reshape(-1)
    same(found, memory.reshape(8, 8))
