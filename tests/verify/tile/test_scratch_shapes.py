"""Rows, columns and layouts of scratch tiles on a2a3: what is enough, and the next smaller size with all messages.
Source: docs/reference/operations.md, "Tiles: reductions"; docs/reference/constraints.md, "Tile arithmetic"."""

from __future__ import annotations

import pytest
from groups import in_groups

from pto_dialect.api import check
from pto_dialect.verify.engine.example_programs import example_program


def vec(
    rows: int, cols: int, element: str = "f32", valid: tuple[object, object] | None = None, layout: str = ""
) -> str:
    stated = f", valid={valid[0]}x{valid[1]}" if valid else ""
    return f"!pto.tile_buf<vec, {rows}x{cols}x{element}{stated}{layout}>"


def said(statement: str, target: str = "a2a3", rule: str = "tile-tmp-shape") -> list[str]:
    """Messages of a rule about a statement."""
    found = check(example_program(statement, target)).diagnostics
    return [one.message for one in found if one.rule == rule]


COLUMN = ", blayout=col_major"


def row_positions(src: str, tmp: str, rows: int = 16) -> list[str]:
    dst = vec(rows, 1, "i32", layout=COLUMN)
    return said(f"pto.trowargmax ins(%a, %t : {src}, {tmp}) outs(%d : {dst})")


def candidates(bits: int, columns: int) -> int:
    """Of each repeat of 256 bytes a value and a position, then values, each list in blocks of 32 bytes."""
    block, lanes = 256 // bits, 2048 // bits
    repeats = (columns + lanes - 1) // lanes
    return (2 * repeats + block - 1) // block * block + (repeats + block - 1) // block * block


def test_positions_in_short_rows() -> None:
    """A value and a position for each row."""
    src = vec(16, 64)
    assert row_positions(src, vec(16, 8, valid=(16, 2))) == []
    assert row_positions(src, vec(16, 8, valid=(15, 2))) == [
        "tmp of pto.trowargmax needs 16 valid rows like src, found 15"
    ]
    assert row_positions(src, vec(16, 8, valid=(16, 1))) == ["tmp of pto.trowargmax needs 2 valid columns, found 1"]
    assert row_positions(src, vec(16, 8, valid=("?", "?"))) == []
    assert row_positions(src, vec(32, 1, layout=COLUMN)) == []
    assert row_positions(src, vec(32, 1, valid=(31, 1), layout=COLUMN)) == [
        "tmp of pto.trowargmax needs 32 valid rows when col_major, found 31"
    ]
    assert row_positions(src, vec(32, 2, valid=(32, 1), layout=COLUMN)) == [
        "tmp of pto.trowargmax is one column when col_major, found 2"
    ]
    boxed = vec(16, 64, valid=(15, 64), layout=", blayout=col_major, slayout=row_major")
    assert row_positions(src, boxed) == [
        "tmp of pto.trowargmax is row_major, or one col_major column, without boxes, found col_major/row_major"
    ]


@pytest.mark.parametrize("columns", [65, 128, 512, 513, 1024])
def test_positions_in_long_rows(columns: int) -> None:
    """Lists of candidates."""
    needed, width = candidates(32, columns), -(-columns // 8) * 8
    src = vec(4, width, valid=(4, columns))
    assert row_positions(src, vec(4, 64, valid=(4, needed)), 8) == []
    assert row_positions(src, vec(4, 64, valid=(4, needed - 1)), 8) == [
        f"tmp of pto.trowargmax needs {needed} valid columns for {columns} of src, found {needed - 1}"
    ]
    assert row_positions(src, vec(4, 64, valid=(3, needed)), 8) == [
        "tmp of pto.trowargmax needs 4 valid rows like src, found 3"
    ]
    assert row_positions(src, vec(5, 64, valid=(4, needed)), 8) == [
        "tmp of pto.trowargmax needs 4 rows like src, found 5"
    ]


@pytest.mark.parametrize("op", ["tcolargmax", "tcolargmin"])
@pytest.mark.parametrize(("element", "columns"), [("f32", 8), ("f32", 255), ("f16", 129), ("i8", 300)])
def test_positions_in_columns(op: str, element: str, columns: int) -> None:
    bits = {"f32": 32, "f16": 16, "i8": 8}[element]
    needed, width = candidates(bits, columns), -(-columns // 32) * 32
    src, dst = vec(4, width, element, (4, columns)), vec(1, width, "i32", (1, columns))
    text = f"pto.{op} ins(%a, %t : {src}, $) outs(%d : {dst})"
    assert said(text.replace("$", vec(1, 256, element, (1, needed)))) == []
    assert said(text.replace("$", vec(1, 256, element, (1, needed - 1)))) == [
        f"tmp of pto.{op} needs {needed} valid columns for {columns} of src, found {needed - 1}"
    ]
    assert said(text.replace("$", vec(1, 256, element, (0, needed)))) == [
        f"tmp of pto.{op} needs a valid row, found none"
    ]
    # A scratch tile with the region of the source is the older form.
    assert said(text.replace("$", src)) == []


def test_sums_by_halves() -> None:
    src, dst = vec(8, 64, valid=(8, 40)), vec(1, 64, valid=(1, 40))
    text = f"pto.tcolsum ins(%a, %t {{isBinary = @}} : {src}, $) outs(%d : {dst})"
    for binary, cols, wanted in (("true", 40, 0), ("true", 32, 1), ("false", 32, 0)):
        found = said(text.replace("@", binary).replace("$", vec(8, cols)))
        assert found == ["tmp of pto.tcolsum needs 40 columns for those of src, found 32"] * wanted


def test_packed_masks_of_rows() -> None:
    a = vec(4, 64)
    text = f"pto.tprelu ins(%a, %b, %t : {a}, {a}, $) outs(%d : {a})"
    assert said(text.replace("$", vec(5, 32, "ui8", (5, 8)))) == []
    assert said(text.replace("$", vec(4, 32, "ui8", (4, 8)))) == [
        "tmp of pto.tprelu needs 5 rows, one more than dst, found 4"
    ]
    assert said(text.replace("$", vec(5, 32, "ui8", (5, 7)))) == [
        "tmp of pto.tprelu needs 8 valid columns for a packed mask, found 7"
    ]


def test_copies_of_the_source() -> None:
    src = vec(16, 64, valid=(15, 60))
    one = vec(16, 1, valid=(15, 1), layout=COLUMN)
    text = f"pto.tquant ins(%a, %s : {src}, {one}) outs(%d, %t : {vec(16, 64, 'i8', (15, 60))}, $) "
    text += "{quant_type = #pto<quant_type INT8_SYM>}"
    assert said(text.replace("$", src)) == []
    assert said(text.replace("$", vec(16, 64, valid=(16, 60)))) == [
        "tmp of pto.tquant has the 15x60 valid elements of src, found 16x60"
    ]
    assert said(text.replace("$", vec(16, 64, valid=(15, 59)))) == [
        "tmp of pto.tquant has the 15x60 valid elements of src, found 15x59"
    ]
    assert said(text.replace("$", vec(8, 64))) == ["tmp of pto.tquant has the shape of src, 16x64, found 8x64"]
    assert "tmp of pto.tquant is row_major, found col_major" in said(
        text.replace("$", vec(16, 64, valid=(15, 60), layout=COLUMN))
    )


def test_scratch_in_the_layout_of_the_operands() -> None:
    a = vec(16, 64, "i16")
    text = f"pto.txors ins(%a, %s, %t : {a}, i16, $) outs(%d : {a})"
    assert said(text.replace("$", a)) == []
    assert said(text.replace("$", vec(16, 64, "i16", layout=COLUMN))) == [
        "tmp of pto.txors is row_major, found col_major"
    ]


@pytest.mark.parametrize("op", ["add", "sub", "mul", "div", "max", "min"])
def test_scratch_is_for_one_column(op: str) -> None:
    a, column, blocks = vec(16, 64), vec(16, 1, layout=COLUMN), vec(16, 8)
    text = f"pto.trowexpand{op} ins(%a, %b, %t : {a}, $, {vec(16, 64)}) outs(%d : {a})"
    assert said(text.replace("$", column)) == []
    assert said(text.replace("$", blocks)) == [
        f"tmp of pto.trowexpand{op} is for a col_major operand of one column, found row_major with 8 columns"
    ]


@pytest.mark.parametrize(("rows", "needed"), [(0, 0), (1, 256), (8, 256), (9, 512)])
def test_bytes_of_broadcasts_of_few_rows(rows: int, needed: int) -> None:
    """None for no rows; 8192 where only a run knows how many there are."""
    for valid, size in (((rows, 8), needed), (("?", 8), 8192)):
        a = vec(16, 8, valid=valid)
        column = vec(16, 1, valid=(valid[0], 1), layout=COLUMN)
        text = f"pto.trowexpandadd ins(%a, %b, %t : {a}, {column}, $) outs(%d : {a})"
        enough, less = vec(1, max(size // 4, 8)), vec(1, max(size // 4 - 8, 8))
        assert said(text.replace("$", enough), rule="tile-tmp-size") == []
        wanted = [f"tmp of pto.trowexpandadd needs {size} bytes on a2a3, found {size - 32}"] if size > 32 else []
        assert said(text.replace("$", less), rule="tile-tmp-size") == wanted


# ------------------------------------------------------------ sums and extrema of rows

WIDTHS = {"f16": 128, "f32": 64, "i16": 128, "i32": 64}
"""Elements of a repeat of 256 bytes."""


def row_results(op: str, src: str, tmp: str, rows: int, element: str, target: str = "a2a3") -> list[str]:
    dst = vec(rows, 16 if element in ("f16", "i16") else 8, element, (rows, 1))
    return said(f"pto.{op} ins(%a, %t : {src}, {tmp}) outs(%d : {dst})", target)


@pytest.mark.parametrize("op", ["trowmax", "trowmin", "trowsum"])
@pytest.mark.parametrize("element", ["f16", "f32"])
@pytest.mark.parametrize("repeats", [1, 2, 3, 4, 7, 8])
@in_groups("tail", [0, 16])
def test_partial_results_of_rows(op: str, element: str, repeats: int, tail: int) -> None:
    """One repeat for each row, sums one for each pair of repeats; a row that is a single repeat needs none."""
    rows, lanes = 9, WIDTHS[element]
    columns = repeats * lanes + tail
    src = vec(rows, columns, element)
    needed = 0 if columns <= lanes else lanes * (max(1, repeats // 2) if op == "trowsum" else 1)
    assert row_results(op, src, vec(rows, max(needed, lanes), element), rows, element) == []
    smaller = vec(rows, needed - 16, element) if needed else vec(1, 16, element)
    wanted = [f"tmp of pto.{op} needs {needed} columns for {columns} of src, found {needed - 16}"] if needed else []
    assert row_results(op, src, smaller, rows, element) == wanted
    fewer = [f"tmp of pto.{op} needs {rows} rows like src, found {rows - 1}"] if needed else []
    assert row_results(op, src, vec(rows - 1, max(needed, lanes), element), rows, element) == fewer
    assert row_results(op, src, smaller, rows, element, "a5") == []


@pytest.mark.parametrize("op", ["trowmax", "trowmin", "trowsum", "trowprod"])
@pytest.mark.parametrize("element", ["i16", "i32"])
def test_rows_of_integers_need_one_block(op: str, element: str) -> None:
    size = 2 if element == "i16" else 4
    assert row_results(op, vec(9, 512, element), vec(1, 32 // size, element), 9, element) == []


@pytest.mark.parametrize("shape", [(64, 128), (32, 256), (16, 512), (8, 1024)])
@pytest.mark.parametrize("op", ["trowmax", "trowsum"])
def test_tiles_that_are_reduced_in_groups(op: str, shape: tuple[int, int]) -> None:
    """32768 bytes of f32 leave one number for each group of 8: 4096 bytes, in whatever shape."""
    dst = vec(shape[0], 1, layout=COLUMN)
    for tmp, enough in ((vec(1, 1024), True), (vec(128, 8), True), (vec(1, 1016), False), (vec(64, 8), False)):
        found = said(f"pto.{op} ins(%a, %t : {vec(*shape)}, {tmp}) outs(%d : {dst})")
        assert (found == []) == enough, (tmp, found)


@pytest.mark.parametrize(("columns", "wider"), [(64, False), (128, True), (32, False)])
@pytest.mark.parametrize("op", ["tcolargmax", "tcolargmin"])
def test_scratch_with_more_columns_than_the_source(op: str, columns: int, wider: bool) -> None:
    statement = f"pto.{op} ins(%a, %t : {vec(16, 64)}, {vec(16, columns)}) outs(%d : {vec(1, 64, 'i32')})"
    wanted = f"tmp of pto.{op} has {columns} columns, more than the 64 of src, which may be searched too"
    assert said(statement) == ([wanted] if wider else [])
    assert said(statement, "a5") == []


@pytest.mark.parametrize("columns", [8, 40, 64, 72, 128, 200])
@pytest.mark.parametrize("element", ["f16", "f32"])
def test_bytes_for_positions_in_columns(columns: int, element: str) -> None:
    """Of one repeat at most: row numbers and extrema, for 16-bit elements the rows of the extrema as well."""
    size, lanes = (2, 128) if element == "f16" else (4, 64)
    whole = -(-columns // (32 // size)) * (32 // size)
    needed = max(32, (3 if size == 2 else 2) * min(lanes, whole) * size)
    src, dst = vec(4, whole, element, (4, columns)), vec(1, -(-columns // 8) * 8, "i32", (1, columns))
    for bytes_, enough in ((needed, True), (needed - 32, False)):
        tmp = vec(bytes_ // 32, 32 // size, element)
        statement = f"pto.tcolargmax ins(%a, %t : {src}, {tmp}) outs(%d : {dst})"
        assert (said(statement, rule="tile-tmp-size") == []) == enough
