"""Bytes of tiles against the elements that a run touches. Source: docs/reference/layouts.md, "Tile layouts"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pto_dialect import parse
from pto_dialect.ir.core.extents import buffer_extent, slot_pitch, tile_extent
from pto_dialect.ir.core.types import MultiTileBufType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.kernels.buffers.tile_maker import tile_maker
from pto_dialect.targets.choice import get_profile

CHIPS = ("a2a3", "a5")


def tile(text: str) -> TileBufType:
    module = parse(f"func.func @f() {{\n  %a = pto.alloc_tile : !pto.tile_buf<{text}>\n  return\n}}")
    found = next(op for op in walk(module) if op.name == "pto.alloc_tile").results[0].type
    assert isinstance(found, TileBufType)
    return found


NZ, ZN, ZZ = (
    "blayout=col_major, slayout=row_major",
    "blayout=row_major, slayout=col_major",
    "blayout=row_major, slayout=row_major",
)
ACC = f"{NZ}, fractal=1024"


@pytest.mark.parametrize(
    ("text", "a2a3", "a5"),
    [
        ("vec, 16x16xf32", 1024, 1024),
        ("vec, 1x64xf32", 256, 256),
        # One row of an accumulator is the first of blocks of 16 x 16 elements of 4 bytes: four of them.
        (f"acc, 1x64xf32, {ACC}", 4 * 1024, 4 * 1024),
        (f"acc, 16x64xf32, {ACC}", 4 * 1024, 4 * 1024),
        # Whole blocks of 512 bytes on a2a3, the row of the fourth ends after 32 bytes; a list on a5.
        (f"left, 1x64xf16, {ZZ}", 3 * 512 + 32, 128),
        (f"right, 64x64xf16, {ZN}", 8192, 8192),
        # The row of blocks that 24 rows do not fill: its fourth block ends after 8 of 16 rows.
        (f"mat, 24x64xf16, {ZZ}", 4 * 512 + 3 * 512 + 8 * 32, 4 * 512 + 3 * 512 + 8 * 32),
        (f"mat, 24x64xf16, {NZ}", 24 * 64 * 2, 24 * 64 * 2),
        (f"mat, 1x64xf16, {NZ}", 128, 128),
    ],
)
def test_bytes_by_hand(text: str, a2a3: int, a5: int) -> None:
    assert [tile_extent(tile(text), chip) for chip in CHIPS] == [a2a3, a5]


@given(
    st.sampled_from(("vec", "mat", "left", "right", "acc", "bias", "scaling")),
    st.integers(1, 70),
    st.integers(1, 140),
    st.sampled_from(("f32", "f16", "i8", "i64", "f8E4M3FN", "!pto.f4E2M1x2")),
    st.sampled_from(("row_major", "col_major")),
    st.sampled_from(("row_major", "col_major", "none_box")),
    st.sampled_from((32, 512, 1024)),
    st.sampled_from(CHIPS),
)
def test_the_last_byte_is_that_of_some_element(
    loc: str, rows: int, cols: int, element: str, blayout: str, slayout: str, fractal: int, chip: str
) -> None:
    """Against the offsets of all elements of the layout that runs use."""
    words = f"blayout={blayout}, slayout={slayout}, fractal={fractal}"
    kind = tile(f"{loc}, {rows}x{cols}x{element}, {words}")
    try:
        maker = tile_maker(kind, get_profile(chip))
    except Fault:
        return
    layout = maker.layout
    row_axis, col_axis = layout.axes
    last = max(map(row_axis.offset, range(layout.rows))) + max(map(col_axis.offset, range(layout.cols)))
    assert tile_extent(kind, chip) == (last + 1) * layout.item_bytes


def test_slots_lie_on_whole_units() -> None:
    kind = tile(f"left, 1x56xf16, {NZ}")
    assert [slot_pitch(kind, chip) for chip in CHIPS] == [3 * 512 + 32, 128]
    assert buffer_extent(MultiTileBufType(kind, 3), "a5") == 3 * 128
    assert buffer_extent(kind, "a5") == 112
