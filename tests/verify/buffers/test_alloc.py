"""Layout, place and windows of tile buffers against formulas written again."""

from __future__ import annotations

import pytest
from groups import in_groups
from hypothesis import assume, given
from hypothesis import strategies as st
from tile_programs import errors, findings, tile

from pto_dialect import check
from pto_dialect.verify.buffers.tensor_views import layouts_of
from pto_dialect.verify.engine.rule import RULES, load_all_rules

load_all_rules()

BYTES = {"i8": 1, "f16": 2, "f32": 4, "i64": 8}
LAYOUTS = [
    ("row_major", "none_box"),
    ("col_major", "none_box"),
    ("row_major", "row_major"),
    ("col_major", "row_major"),
    ("row_major", "col_major"),
    ("col_major", "col_major"),
]
PLACES = ("vec", "mat", "left", "right", "acc")
SIDES = st.one_of(st.sampled_from([1, 2, 8, 16, 32, 48, 64]), st.integers(1, 40))


def alloc(type_: str) -> str:
    return f"%a = pto.alloc_tile : {type_}"


def expected_layout_errors(
    loc: str, size: int, shape: tuple[int, int], layout: tuple[str, str], fractal: int
) -> set[str]:
    """Unboxed: 32-byte rows or columns. Boxed: whole blocks of 16 rows (or 32 bytes) each way."""
    rows, cols = shape
    blayout, slayout = layout
    if slayout == "none_box":
        length = cols if blayout == "row_major" else rows
        return set() if (length * size) % 32 == 0 else {"alloc-nonebox-align"}
    side = 32 // size
    block = {512: (16, side) if slayout == "row_major" else (side, 16), 1024: (16, 16), 32: (16, 2)}[fractal]
    ragged = rows % block[0] != 0 and not (loc == "vec" or fractal == 32 or rows == 1)
    return {"alloc-boxed-multiple"} if ragged or cols % block[1] else set()


@given(
    st.sampled_from(PLACES),
    st.sampled_from(sorted(BYTES)),
    st.tuples(SIDES, SIDES),
    st.sampled_from(LAYOUTS),
    st.sampled_from([32, 512, 1024]),
)
def test_layout_of_allocations(
    loc: str, element: str, shape: tuple[int, int], layout: tuple[str, str], fractal: int
) -> None:
    # The block layout of a left tile is that of the target, whatever the type says.
    assume(loc != "left" or layout[1] != "none_box")
    type_ = tile(loc, element, shape, layout=(*layout, fractal))
    assert errors(alloc(type_), "a5") == expected_layout_errors(loc, BYTES[element], shape, layout, fractal)


CAPACITY = {
    "a2a3": {"vec": 192, "mat": 512, "left": 64, "right": 64, "acc": 128},
    "a5": {"vec": 256, "mat": 512, "left": 64, "right": 64, "acc": 256},
}


@given(st.sampled_from(PLACES), st.integers(0, 600 * 1024), st.sampled_from(sorted(CAPACITY)))
def test_location_of_allocations(loc: str, address: int, target: str) -> None:
    type_ = tile(loc, "f32", (16, 16), layout=("col_major", "row_major", 1024))
    text = (
        f"func.func @f() {{\n  %at = arith.constant {address} : i64\n"
        f"  %a = pto.alloc_tile addr = %at : {type_}\n  return\n}}"
    )
    expected: set[str] = set()
    if address % 32:
        expected.add("alloc-addr-align")
    if address + 1024 > CAPACITY[target][loc] * 1024:
        expected.add("capacity-static")
    found = findings(text, target)
    assert {rule for rule in found if rule in ("alloc-addr-align", "capacity-static")} == expected
    advised = {"left": 512, "right": 512, "acc": 1024}.get(loc, 32)
    assert ("align-fractal" in found) == (address % 32 == 0 and address % advised != 0)
    below = address + 1024 > 248 * 1024 and "capacity-static" not in expected
    assert ("capacity-ub-planner" in found) == (target == "a5" and loc == "vec" and below)


@given(st.integers(0, 40), st.integers(0, 40), st.integers(1, 40), st.integers(1, 40), st.booleans())
def test_windows_of_unboxed_tiles(row: int, col: int, rows: int, cols: int, known: bool) -> None:
    source, part = tile("vec", "f32", (32, 32)), tile("vec", "f32", (rows, cols))
    names = ("%r", "%k")
    constants = "".join(
        f"  {name} = arith.constant {value} : index\n" for name, value in zip(names, (row, col), strict=True)
    )
    arguments = f"%t: {source}" + ("" if known else ", %r: index, %k: index")
    text = (
        f"func.func @f({arguments}) {{\n{constants if known else ''}"
        f"  %w = pto.subview %t[%r, %k] sizes [{rows}, {cols}] : {source} -> {part}\n  return\n}}"
    )
    start = (row, col) if known else (0, 0)
    outside = start[0] + rows > 32 or start[1] + cols > 32
    assert errors(text, "a5") == ({"subview-bounds"} if outside else set())


@given(st.integers(0, 3), st.integers(0, 3), st.integers(1, 40), st.integers(1, 70))
def test_windows_of_boxed_tiles_are_whole_blocks(row: int, col: int, rows: int, cols: int) -> None:
    layout = ("col_major", "row_major", 512)
    source, part = tile("mat", "f16", (64, 128), layout=layout), tile("mat", "f16", (rows, cols), layout=layout)
    text = (
        f"func.func @f(%t: {source}) {{\n  %r = arith.constant {row * 8} : index\n"
        f"  %k = arith.constant {col * 8} : index\n"
        f"  %w = pto.subview %t[%r, %k] sizes [{rows}, {cols}] : {source} -> {part}\n  return\n}}"
    )
    inside = row * 8 + rows <= 64 and col * 8 + cols <= 128
    whole = row % 2 == 0 and col % 2 == 0 and rows % 16 == 0 and cols % 16 == 0
    found = errors(text, "a5")
    assert (found == set()) == (inside and whole)
    assert ("subview-boxed" in found) == (not whole)


@given(st.integers(-2, 20), st.integers(-2, 20), st.sampled_from([None, 16]), st.sampled_from(["?", "size"]))
def test_parts_of_views(offset: int, size: int, whole: int | None, stated: str) -> None:
    source = f"!pto.tensor_view<{'?' if whole is None else whole}xf32>"
    dim = "?" if stated == "?" or size <= 0 else str(size)
    part = f"!pto.partition_tensor_view<{dim}xf32>"
    text = (
        f"func.func @f(%v: {source}) {{\n  %o = arith.constant {offset} : index\n"
        f"  %n = arith.constant {size} : index\n"
        f"  %p = pto.partition_view %v, offsets = [%o], sizes = [%n] : {source} -> {part}\n  return\n}}"
    )
    fits = offset >= 0 and size > 0 and (whole is None or offset + size <= whole)
    assert errors(text, "a5") == (set() if fits else {"part-bounds"})


@given(st.lists(st.integers(1, 9), min_size=1, max_size=5))
def test_dense_views_are_nd_or_dn(shape: list[int]) -> None:
    """Row-major strides read as nd; the transposed matrix reads as dn unless it is a single row or column."""
    strides = [1] * len(shape)
    for index in reversed(range(len(shape) - 1)):
        strides[index] = strides[index + 1] * shape[index + 1]
    assert "nd" in layouts_of(shape, strides, 4)
    if len(shape) == 2:
        rows, cols = shape
        assert "dn" in layouts_of(shape, [1, rows], 4)
        assert ("nd" in layouts_of(shape, [1, rows], 4)) == (1 in (rows, cols))


def test_blocks_of_512_bytes_are_nz() -> None:
    assert layouts_of([1, 4, 16, 8, 1], [512, 128, 8, 1, 1], 4) == ("nz",)
    assert layouts_of([1, 1, 16, 16, 3], [0, 0, 0, 3, 1], 2) == ("nz",)
    assert layouts_of([1, 1, 16, 8, 3], [0, 0, 0, 3, 1], 2) == ("nd",)


@in_groups("slots", range(0, 20))
def test_number_of_slots(slots: int) -> None:
    type_ = f"!pto.multi_tile_buf<{tile('vec', 'f32', (16, 16))}, count={slots}>"
    expected = set() if 2 <= slots <= 16 else {"multi-tile-count"}
    assert errors(f"%a = pto.alloc_multi_tile : {type_}", "a5") == expected


def test_rules_of_sections_1_7_and_10_exist() -> None:
    names = """
        target-override target-unknown kernel-kind entry-single level-mix
        tile-type tile-rank2 tile-valid-le-shape tile-loc-keyword tile-fractal tile-lowprec tile-target-op
        tile-dtype tile-empty
        alloc-valid-operands alloc-nonebox-align alloc-boxed-multiple alloc-box-elem alloc-addr-align
        alloc-addr-required multi-tile-count subview-form subview-boxed subview-bounds setvalid-dynamic
        bitcast-same reshape-bytes view-rank view-layout part-bounds addptr-type castptr-form inttoptr-use
        scalar-mem-type scalar-mem-space ld-dev local-array entry-void section-nesting section-target
        capacity-static capacity-ub-planner overlap-reserve attr-unknown
    """
    assert [name for name in names.split() if name not in RULES] == []


@pytest.mark.parametrize("element", ["i8", "f16", "f32"])
@pytest.mark.parametrize("blayout", ["row_major", "col_major"])
def test_left_tiles_without_blocks(element: str, blayout: str) -> None:
    """Rows or columns of whole blocks are enough: the order of a left tile is that of the target."""
    size = BYTES[element]
    for rows, cols in ((16, 16), (16, 8), (8, 16), (32, 4), (4, 32), (1, 32), (32, 1), (5, 32), (32, 5)):
        type_ = tile("left", element, (rows, cols), layout=(blayout, "none_box", 512))
        wanted = rows * size % 32 != 0 and cols * size % 32 != 0
        assert ("alloc-nonebox-align" in findings(alloc(type_), "a5")) == wanted, (rows, cols)


@pytest.mark.parametrize("query", ["dim", "stride"])
@pytest.mark.parametrize("rank", [1, 2, 5])
@in_groups("axis", [-1, 0, 1, 2, 4, 5])
def test_a_queried_dimension_is_one_of_the_view(query: str, rank: int, axis: int) -> None:
    view = f"!pto.tensor_view<{'x'.join('?' * rank)}xf32>"
    text = f"""func.func @f(%v: {view}) -> index {{
      %i = arith.constant {axis} : index
      %d = pto.get_tensor_view_{query} %v, %i : {view} -> index
      return %d : index
    }}"""
    assert [found.rule for found in check(text).diagnostics] == ([] if 0 <= axis < rank else ["view-dim"])
