"""What fits into a destination whose sizes only a run knows, and the first size that does not: results, messages, and
what is beside the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from groups import in_groups
from run_time_tiles import held, refused, table, value

from pto_dialect.runtime.kernels.tile import compare, convert, fill, gather, operands, partial, sort
from pto_dialect.runtime.kernels.tile.element import element
from pto_dialect.runtime.kernels.tile.move import ScaleOrder
from pto_dialect.runtime.kernels.tile.quant import QuantizeBlocks, zz_order
from pto_dialect.runtime.kernels.tile.table_gather import TableGather, TableScatter, bounded, index_list
from pto_dialect.runtime.memory.memref import MemRef
from pto_dialect.runtime.memory.spaces import Arena
from pto_dialect.runtime.memory.values import ValueTile
from pto_dialect.runtime.numerics.formats import format_of

# --- comparisons and selections ---------------------------------------------------------------------------


@pytest.mark.parametrize("make", [value, held])
def test_bits_of_rows(make: Callable[..., Any]) -> None:
    compared = compare.CompareRows(np.greater, format_of("f32"), "tcmp")
    a = value(2, 17)
    for cols in (3, 4):
        dst = make(2, cols, "ui8")
        compared(a, 16.0, dst)
        wanted = np.zeros((2, cols), np.uint8)
        wanted[:, :3] = np.packbits(np.arange(34).reshape(2, 17) > 16, axis=1, bitorder="little")
        assert (dst.read() == wanted).all()
    refused("tile-cmp-dst", "2x17 bits do not fit into 2x2 bytes", lambda: compared(a, 16.0, make(2, 2, "ui8")))
    refused("tile-cmp-dst", "2x17 bits do not fit into 1x3 bytes", lambda: compared(a, 16.0, make(1, 3, "ui8")))
    # Two bytes are in one element.
    dst = make(2, 2, "ui16")
    compared(a, value(2, 17, data=np.full(34, 16)), dst)
    assert dst.read().view(np.uint8)[1].tolist() == [255, 255, 1, 0]
    refused("tile-cmp-dst", "2x17 bits do not fit into 2x2 bytes", lambda: compared(a, 16.0, make(2, 1, "ui16")))


def test_bits_of_repeats() -> None:
    compared = compare.CompareRepeats(np.greater, format_of("f32"))
    dst = value(1, 5, "ui8", np.full(5, 9))
    compared(value(2, 20), 30.0, dst)
    assert dst.array.tolist() == [np.packbits(np.arange(40) > 30, bitorder="little").tolist()]
    refused(
        "tile-cmp-dst", "40 bits do not fit into 2x2 elements of 1 bytes",
        lambda: compared(value(2, 20), 30.0, value(2, 2, "ui8")),
    )  # fmt: skip
    dst = value(1, 3, "ui16")
    compared(value(2, 20), 30.0, dst)
    assert dst.array.view(np.uint8)[0, :5].tolist() == np.packbits(np.arange(40) > 30, bitorder="little").tolist()
    refused(
        "tile-cmp-dst", "40 bits do not fit into 1x2 elements of 2 bytes",
        lambda: compared(value(2, 20), 30.0, value(1, 2, "ui16")),
    )  # fmt: skip


def test_bits_of_a_mask() -> None:
    raw = np.array([[0b1010_0101, 0b1], [0b1111_0000, 0b0]], np.uint8)
    mask = ValueTile(2, 2, format_of("ui8"), raw)
    wanted = [[bool(raw[r, c // 8] >> c % 8 & 1) for c in range(9)] for r in range(2)]
    assert compare.mask_bits(mask, 2, 9).tolist() == wanted
    assert compare.mask_bits(mask, 1, 8).tolist() == [row[:8] for row in wanted[:1]]
    wide = ValueTile(2, 1, format_of("ui16"), raw.view(np.uint16))
    assert (
        compare.mask_bits(wide, 2, 16).tolist() == np.unpackbits(raw, axis=1, bitorder="little").astype(bool).tolist()
    )
    for rows, cols in ((3, 8), (2, 17)):
        refused(
            "tile-sel-mask", f"a mask 2x2xui8 has no bits for {rows}x{cols} elements",
            lambda rows=rows, cols=cols: compare.mask_bits(mask, rows, cols),
        )  # fmt: skip
    refused(
        "tile-sel-mask", "a mask 2x1xui16 has no bits for 2x17 elements", lambda: compare.mask_bits(wide, 2, 17)
    )  # fmt: skip


def test_an_empty_selection_looks_at_nothing() -> None:
    none = held(4, 4, valid=(0, 4))
    compare.Select("tsel")(value(1, 1, "ui8"), value(1, 1), value(1, 1), none)
    assert not none.view.read(4, 4).any()


# --- parts of tiles ---------------------------------------------------------------------------------------


def test_regions_of_sources() -> None:
    for make in (value, held):
        tile = make(3, 8)
        assert operands.region(tile, 3, 8).shape == (3, 8) and operands.region(tile, 2, 1).shape == (2, 1)
        refused("tile-valid-rows", "4 rows of a tile with 3 rows", lambda tile=tile: operands.region(tile, 4, 8))
        refused("tile-valid-cols", "9 columns of a tile with 8 columns", lambda tile=tile: operands.region(tile, 3, 9))


@pytest.mark.parametrize("count", range(25))
@in_groups("kind", ["value", "tile", "memref"])
def test_lists_are_written_row_after_row(kind: str, count: int) -> None:
    """Over the valid region where that is large enough, else over the whole tile."""
    fmt = format_of("f32")
    if kind == "memref":
        arena = Arena("ub", 4096)
        dst: Any = MemRef(arena.pointer(64, fmt.storage), (3, 8), (8, 1), fmt)
    else:
        dst = value(3, 8, data=np.zeros(24)) if kind == "value" else held(3, 8, valid=(2, 5))
    operands.write_linear(dst, np.arange(1, count + 1, dtype=np.float32))
    wanted, width = np.zeros((3, 8)), 5 if kind == "tile" and count <= 10 else 8
    for number in range(count):
        wanted[divmod(number, width)] = number + 1
    found = dst.view.read(3, 8) if kind == "tile" else dst.array
    assert (found == wanted).all()


def test_single_elements() -> None:
    for make in (value, lambda rows, cols: held(rows, cols, room=64 + 4 * 12)):
        tile = make(3, 4)
        for number in (0, 5, 11):
            element(tile, number)[...] = number + 1
        assert tile.array.reshape(-1)[[0, 5, 11]].tolist() == [1, 6, 12]
    refused("mem-oob", "element 12 of a 3x4 tile", lambda: element(value(3, 4), 12))
    refused("mem-oob", "element -1 of a 3x4 tile", lambda: element(value(3, 4), -1))
    message = "element 12 of a 3x4 tile: bytes [112, 116) are outside ub, which has 112 bytes"
    refused("mem-oob", message, lambda: element(held(3, 4, room=112), 12))
    message = "element -17 of a 3x4 tile: bytes [-4, 0) are outside ub, which has 112 bytes"
    refused("mem-oob", message, lambda: element(held(3, 4, room=112), -17))


# --- gathers ----------------------------------------------------------------------------------------------


def test_elements_of_a_pattern() -> None:
    by_cols, by_rows = gather.GatherMask("P0101", False), gather.GatherMask("P1010", True)
    src = value(4, 6)
    even = np.arange(24).reshape(4, 6)[:, ::2]
    for shape, wanted in (((4, 3), even), ((2, 6), even.reshape(2, 6)), ((1, 12), even.reshape(1, 12))):
        dst = value(*shape)
        by_cols(src, dst)
        assert (dst.array == wanted).all()
    refused(
        "gather-mask-count", "12 selected elements do not fit into 1x11", lambda: by_cols(src, value(1, 11))
    )  # fmt: skip
    dst = value(3, 7, data=np.zeros(21))
    by_rows(src, dst)
    assert (dst.array[:2, :6] == np.arange(24).reshape(4, 6)[1::2]).all() and not dst.array[2:].any()
    for rows, cols in ((1, 6), (2, 5)):
        message = f"2x6 selected elements do not fit into {rows}x{cols}"
        refused("gather-mask-count", message, lambda r=rows, c=cols: by_rows(src, value(r, c)))


def test_positions_of_matches() -> None:
    found = gather.GatherMatches(np.greater, format_of("f32"), 100, repeats=False)
    src = value(2, 4, data=[5, 0, 6, 7, 0, 8, 0, 0])
    dst, counts = value(2, 3, "i32", np.full(6, -1)), value(1, 2, "i32")
    found(src, 1.0, dst, counts)
    assert dst.array.tolist() == [[100, 102, 103], [105, -1, -1]] and counts.array.tolist() == [[3, 1]]
    narrow = value(3, 1, "i32", np.full(3, -1))
    found(src, 1.0, narrow, value(2, 1, "i32"))
    assert narrow.array.tolist() == [[100], [105], [-1]]
    message = "positions of 2 rows do not fit into 1 rows"
    refused("tile-valid-rows", message, lambda: found(src, 1.0, value(1, 4, "i32"), counts))
    message = "2 counts do not fit into 1x1"
    refused("tile-valid-rows", message, lambda: found(src, 1.0, dst, value(1, 1, "i32")))


def test_offsets_end_before_the_limit() -> None:
    gather.check_offsets(np.array([[0, 7]]), 8, "tgather")
    gather.check_offsets(np.zeros((0, 4), np.int64), 0, "tgather")
    message = "tgather: index 8 leaves the 8 elements of the memory"
    refused("mem-oob", message, lambda: gather.check_offsets(np.array([[0, 8, 3]]), 8, "tgather"))


@pytest.mark.parametrize("whole", [True, False])
def test_tables(whole: bool) -> None:
    """Rows or single elements, into tiles as wide as the table and one column wider."""
    load, store = (
        TableGather("row" if whole else "elem", "clamp"),
        TableScatter("row" if whole else "elem", "clamp", ""),
    )
    numbers = np.arange(32, dtype=np.float32).reshape(4, 8)
    idx = value(1, 2, "i32", [3, 1]) if whole else value(2, 8, "i32", np.arange(16) * 5)
    dst = value(2, 8)
    load(table(4, 8), idx, dst)
    assert (dst.array == (numbers[[3, 1]] if whole else np.minimum(np.arange(16) * 5, 31).reshape(2, 8))).all()
    mem = table(4, 8)
    store(value(2, 8, data=np.full(16, -1)), idx, mem)
    changed = numbers.copy()
    if whole:
        changed[[3, 1]] = -1
    else:
        changed.reshape(-1)[np.minimum(np.arange(16) * 5, 31)] = -1
    assert (mem.matrix().read() == changed).all()
    if whole:
        wide = value(2, 9)
        for work in (lambda: load(table(4, 8), idx, wide), lambda: store(wide, idx, table(4, 8))):
            refused("mem-oob", "9 columns of a table with 8", work)
        refused("mgs-index", "2 indices for 3 rows", lambda: index_list(idx, 3))
        assert index_list(idx, 2).tolist() == [3, 1] and index_list(idx, 1).tolist() == [3]


def test_empty_parts_of_tables() -> None:
    mem = table(4, 8)
    for shape in ((0, 8), (2, 0)):
        empty = held(2, 8, valid=shape)
        TableGather("row", "undefined")(mem, value(1, 1, "i32", [99]), empty)
        TableScatter("row", "undefined", "")(empty, value(1, 1, "i32", [99]), mem)
        assert not empty.view.read(2, 8).any()
    assert (mem.matrix().read() == np.arange(32).reshape(4, 8)).all()


def test_elements_of_another_type_are_stored_as_they_are() -> None:
    mem = table(2, 4, "i32")
    TableScatter("row", "clamp", "")(value(1, 4, "f32", [1, 2, 3, 4]), value(1, 1, "i32", [1]), mem)
    assert mem.matrix().read()[1].view(np.float32).tolist() == [1, 2, 3, 4]


MODES = {
    "clamp": ([0, 4, 4, 4], [True] * 4), "wrap": ([0, 4, 0, (2**32 - 1) % 5], [True] * 4),
    "zero": ([0, 4, 4, 0], [True, True, False, False]), "skip": ([0, 4, 4, 0], [True, True, False, False]),
}  # fmt: skip


@pytest.mark.parametrize("mode", MODES)
def test_indices_outside_of_a_table(mode: str) -> None:
    at, inside = bounded(np.array([0, 4, 5, -1], np.int32), 5, mode)
    assert (at.tolist(), inside.tolist()) == MODES[mode]


def test_indices_outside_of_a_table_are_errors_where_no_mode_says_what_they_mean() -> None:
    at, inside = bounded(np.array([0, 4], np.int32), 5, "undefined")
    assert at.tolist() == [0, 4] and inside.all()
    for index in (5, -1):
        message = f"index {index} of a table with 5 entries"
        refused("mem-oob", message, lambda index=index: bounded(np.array([1, index], np.int32), 5, "undefined"))


# --- conversions, fills, partial operations, sorting ------------------------------------------------------


def test_pairs_of_packed_numbers() -> None:
    packs = convert.PackedConversion(convert.Conversion(format_of("bf16"), format_of("f4E2M1x2"), "R", True))
    dst = value(2, 3, "f4E2M1x2")
    packs(value(2, 6, "bf16", [0, 1, 2, 3, 4, 6, 6, 4, 3, 2, 1, 0]), dst)
    codes = [[0, 2, 4, 5, 6, 7], [7, 6, 5, 4, 2, 0]]
    assert dst.array.tolist() == [[a | b << 4 for a, b in zip(row[::2], row[1::2], strict=True)] for row in codes]
    message = "2x5 elements cannot be packed in pairs"
    refused("tcvt-shape", message, lambda: packs(value(2, 5, "bf16"), dst))
    for rows, cols in ((2, 2), (2, 4), (1, 3), (3, 3)):
        message = f"source and destination hold different numbers of elements: 2x3 and {rows}x{cols}"
        refused("tcvt-shape", message, lambda r=rows, c=cols: packs(value(2, 6, "bf16"), value(r, c, "f4E2M1x2")))


def test_pairs_lie_along_columns_of_column_major_tiles() -> None:
    packs = convert.PackedConversion(convert.Conversion(format_of("bf16"), format_of("f4E2M1x2"), "R", True))
    dst = held(2, 3, "f4E2M1x2", layout=("col_major", "none_box", 512))
    packs(value(4, 3, "bf16", [0, 1, 2, 1, 2, 3, 2, 3, 4, 3, 4, 6]), dst)
    assert dst.read().tolist() == [[0x20, 0x42, 0x54], [0x54, 0x65, 0x76]]


def test_the_rest_of_a_filled_tile() -> None:
    filled = fill.FillPad(None)
    for layout in (("row_major", "none_box", 512), ("row_major", "row_major", 512)):
        dst = held(16, 16, "f16", pad=2, layout=layout)
        filled(value(3, 5, "f16"), dst)
        wanted = np.full((16, 16), np.inf)
        wanted[:3, :5] = np.arange(15).reshape(3, 5)
        assert (dst.view.read(16, 16) == wanted).all()
    for rows, cols in ((2, 5), (3, 4)):
        message = f"3x5 valid elements do not fit into {rows}x{cols}"
        refused("fillpad-shape", message, lambda r=rows, c=cols: filled(value(3, 5), value(r, c)))
    same = value(3, 5)
    filled(value(3, 5, "i32"), same)
    assert (same.array.view(np.int32) == np.arange(15).reshape(3, 5)).all()


def test_consecutive_columns() -> None:
    dst = value(2, 7)
    fill.concatenate(value(2, 3), value(2, 4), dst)
    assert dst.array.tolist() == [[0, 1, 2, 0, 1, 2, 3], [3, 4, 5, 4, 5, 6, 7]]
    refused(
        "tconcat-cols",
        "3 + 4 columns do not fit into 6",
        lambda: fill.concatenate(value(2, 3), value(2, 4), value(2, 6)),
    )


def test_sources_of_partial_operations_lie_inside() -> None:
    dst = held(4, 8, valid=(3, 5))
    assert partial._inside(value(3, 5), dst).shape == (3, 5)
    for rows, cols in ((4, 5), (3, 6)):
        message = f"a source of a partial operation must lie inside dst, found {rows}x{cols} in 3x5"
        refused("part-valid", message, lambda r=rows, c=cols: partial._inside(value(r, c), dst))


@pytest.mark.parametrize("block", [-2, 0, 1, 3])
def test_blocks_of_records(block: int) -> None:
    merged = sort.MergeBlocks(format_of("f32"), True)
    message = f"a block of {block} elements holds no whole records"
    refused("mrgsort-form", message, lambda: merged(value(1, 64), block, value(1, 64)))


# --- scales -----------------------------------------------------------------------------------------------


def quantized(axis: int, interleave: bool = False) -> QuantizeBlocks:
    return QuantizeBlocks(format_of("f16"), False, False, axis, interleave, False)


def of_scales(tile: ValueTile) -> list[list[float]]:
    """Scales of halves are stored as bits of bf16, the upper halves of those of f32."""
    return (tile.array.view(np.uint16).astype(np.uint32) << 16).view(np.float32).tolist()


def test_groups_of_scales() -> None:
    quantize = quantized(1)
    outs = [value(2, 64, "ui8"), value(2, 2, "ui8"), value(2, 2, "f16"), value(2, 2, "f16")]
    quantize(value(2, 64, "f16", np.ones(128)), *outs)
    assert outs[1].array.tolist() == [[119, 119]] * 2 and of_scales(outs[2]) == [[1, 1]] * 2
    assert of_scales(outs[3]) == [[256, 256]] * 2
    # The same numbers one after the other.
    flat = [value(2, 64, "ui8"), value(1, 5, "ui8", [9] * 5), value(1, 4, "f16"), value(4, 1, "f16")]
    quantize(value(2, 64, "f16", np.ones(128)), *flat)
    assert flat[1].array.tolist() == [[119] * 4 + [9]] and of_scales(flat[3]) == [[256]] * 4
    short = [value(2, 64, "ui8"), value(1, 3, "ui8"), value(1, 4, "f16"), value(1, 4, "f16")]
    message = "4 groups do not fit into 1x3"
    refused("quant-mx-shape", message, lambda: quantize(value(2, 64, "f16"), *short))
    for cols in (31, 33, 63):
        message = f"2x{cols} elements are no whole groups of 32"
        refused("quant-mx-shape", message, lambda cols=cols: quantize(value(2, cols, "f16"), *outs))
    message = "33x4 elements are no whole groups of 32"
    refused("quant-mx-shape", message, lambda: quantized(0)(value(33, 4, "f16"), *outs))
    odd = [value(96, 4, "ui8"), value(2, 8, "ui8"), value(3, 4, "f16"), value(3, 4, "f16")]
    message = "3 group rows cannot be interleaved in pairs"
    refused("quant-mx-shape", message, lambda: quantized(0, True)(value(96, 4, "f16"), *odd))


@pytest.mark.parametrize(("rows", "groups"), [(16, 2), (32, 4), (16, 6)])
def test_order_of_left_scales(rows: int, groups: int) -> None:
    codes = np.arange(rows * groups).reshape(rows, groups)
    wanted = [codes[16 * r + i, 2 * g + k] for r in range(rows // 16) for g in range(groups // 2)
              for i in range(16) for k in range(2)]  # fmt: skip
    assert zz_order(codes).tolist() == [wanted]


@pytest.mark.parametrize(("rows", "groups"), [(15, 2), (17, 2), (16, 1), (16, 3)])
def test_scales_fill_boxes(rows: int, groups: int) -> None:
    message = f"{rows}x{groups} exponents do not fill boxes of 16x2"
    refused("quant-mx-shape", message, lambda: zz_order(np.zeros((rows, groups), np.uint8)))


@pytest.mark.parametrize(("rows", "cols"), [(16, 2), (5, 2), (16, 3), (17, 4)])
def test_scales_in_order(rows: int, cols: int) -> None:
    """Rows up to the next 16 and columns up to the next 2 are 0."""
    high, wide = -(-rows // 16) * 16, -(-cols // 2) * 2
    full = np.zeros((high, wide), np.uint8)
    full[:rows, :cols] = np.arange(1, rows * cols + 1).reshape(rows, cols)
    layout = ("row_major", "row_major", 32)
    dst = held(high, wide, "ui8", layout=layout)
    ScaleOrder(1)(value(rows, cols, "ui8", full[:rows, :cols]), dst)
    assert (dst.read() == full).all()
    dst = held(high, wide, "ui8", layout=layout)
    ScaleOrder(0)(value(cols, rows, "ui8", full[:rows, :cols].T), dst)
    assert (dst.read() == full).all()
    plain = value(high, wide, "ui8")
    ScaleOrder(1)(value(rows, cols, "ui8", full[:rows, :cols]), plain)
    assert plain.array.reshape(-1).tolist() == zz_order(full)[0].tolist()
    if high > 16:
        message = f"{high * wide} scales do not fit into 16x{wide}"
        small = held(16, wide, "ui8", layout=layout)
        refused("extract-bounds", message, lambda: ScaleOrder(1)(value(rows, cols, "ui8"), small))
