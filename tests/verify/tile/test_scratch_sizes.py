"""Bytes that scratch tiles need, operation by operation: the exact number is enough, 32 less are not.

Source: docs/reference/constraints.md, "Tile arithmetic".
"""

from __future__ import annotations

import pytest
from tile_programs import errors, findings

from pto_dialect.diagnostics.diagnostic import Severity


def vec(rows: int, cols: int, element: str = "f32", valid: tuple[int, int] | None = None) -> str:
    stated = f", valid={valid[0]}x{valid[1]}" if valid else ""
    return f"!pto.tile_buf<vec, {rows}x{cols}x{element}{stated}>"


def scratch(size: int, element: str = "ui8") -> str:
    width = {"ui8": 1, "i8": 1, "f16": 2, "i16": 2, "f32": 4, "i32": 4}[element]
    return vec(1, size // width, element)


def broken(statement: str, size: int, element: str, target: str = "a2a3") -> bool:
    return "tile-tmp-size" in findings(statement.replace("$", scratch(size, element)), target)


@pytest.mark.parametrize(("rows", "cols"), [(4, 8), (4, 256), (4, 264), (16, 512), (1, 2048)])
def test_scratch_of_prelu(rows: int, cols: int) -> None:
    """A row of bits for each row and one more, each of whole blocks of 32 bytes."""
    bits = (cols + 7) // 8
    needed = (rows + 1) * 32 * ((bits + 31) // 32)
    a = vec(rows, cols)
    text = f"pto.tprelu ins(%a, %b, %t : {a}, {a}, $) outs(%d : {a})"
    assert not broken(text, needed, "ui8") and broken(text, needed - 32, "ui8")


@pytest.mark.parametrize(("element", "needed"), [("i32", 768), ("i16", 1792)])
def test_scratch_of_sequences(element: str, needed: int) -> None:
    text = f"pto.tci ins(%s, %t : {element}, $) outs(%d : {vec(1, 64, element)})"
    assert not broken(text, needed, "i32") and broken(text, needed - 32, "i32")


@pytest.mark.parametrize(("rows", "cols", "element"), [(8, 64, "f32"), (7, 32, "f32"), (9, 64, "f16")])
def test_scratch_of_sums_of_columns(rows: int, cols: int, element: str) -> None:
    """Half of the rows, rounded up, of a sum by halves; the other way needs none."""
    size = (rows + 1) // 2 * cols * {"f32": 4, "f16": 2}[element]
    types = f"{vec(rows, cols, element)}, $"
    text = f"pto.tcolsum ins(%a, %t {{isBinary = @}} : {types}) outs(%d : {vec(1, cols, element)})"
    yes = text.replace("@", "true")
    assert not broken(yes, size, element) and broken(yes, size - 32, element)
    assert not broken(text.replace("@", "false"), 32, element)


@pytest.mark.parametrize("op", ["trowsum", "trowmax", "trowmin", "trowprod", "trowargmax", "trowargmin"])
def test_scratch_of_reductions_of_rows(op: str) -> None:
    """A block."""
    element = "i32" if "arg" in op else "f32"
    column = f"!pto.tile_buf<vec, 16x1x{element}, blayout=col_major>"
    text = f"pto.{op} ins(%a, %t : {vec(16, 16)}, $) outs(%d : {column})"
    assert not broken(text, 32, "f32")
    assert broken(text.replace("$", "!pto.tile_buf<vec, 1x4xf32, valid=1x4>"), 32, "f32")


@pytest.mark.parametrize(("op", "element"), [("txor", "i16"), ("txors", "i16"), ("txors", "i8")])
def test_scratch_like_the_destination(op: str, element: str) -> None:
    a = vec(4, 64, element)
    second, types = ("%s", element) if op == "txors" else ("%b", a)
    size = 4 * 64 * (2 if element == "i16" else 1)
    text = f"pto.{op} ins(%a, {second}, %t : {a}, {types}, $) outs(%d : {a})"
    assert not broken(text, size, element) and broken(text, size - 32, element)


def test_scratch_of_a_selection_with_a_number() -> None:
    """One row of the source; programs on boards have run with less, so it is a warning, and on a2a3 only."""
    a, mask = vec(4, 64), vec(4, 64, "ui8")
    text = f"pto.tsels ins(%m, %a, %t, %s : {mask}, {a}, $, f32) outs(%d : {a})"
    assert not broken(text, 256, "f32") and broken(text, 224, "f32")
    small = text.replace("$", scratch(224, "f32"))
    assert findings(small, "a2a3")["tile-tmp-size"] is Severity.WARNING
    assert "tile-tmp-size" not in findings(small, "a5")


@pytest.mark.parametrize(("element", "needed"), [("f32", 8), ("f16", 16)])
def test_scratch_of_a_selection(element: str, needed: int) -> None:
    a, mask = vec(4, 64, element), vec(4, 64, "ui8")
    text = f"pto.tsel ins(%m, %a, %b, %t : {mask}, {a}, {a}, $) outs(%d : {a})"
    for size, wrong in ((needed, False), (needed - 1, True)):
        tmp = f"!pto.tile_buf<vec, 1x32xui8, valid=1x{size}>"
        assert "tile-tmp-size" not in errors(text.replace("$", tmp), "a2a3")
        tmp = f"!pto.tile_buf<vec, 1x{size}xui8>"
        assert ("tile-tmp-size" in findings(text.replace("$", tmp), "a2a3")) == wrong, size


@pytest.mark.parametrize(("rows", "needed"), [(1, 256), (8, 256), (9, 512), (255, 8192), (256, 7680), (400, 7680)])
def test_scratch_of_broadcasts(rows: int, needed: int) -> None:
    """256 bytes for each 8 rows; from 256 rows on the work is done in parts of 30 groups."""
    a, column = vec(rows, 8), f"!pto.tile_buf<vec, {rows}x1xf32, blayout=col_major>"
    if rows % 8:
        column = f"!pto.tile_buf<vec, {-(-rows // 8) * 8}x1xf32, valid={rows}x1, blayout=col_major>"
    text = f"pto.trowexpandadd ins(%a, %b, %t : {a}, {column}, $) outs(%d : {a})"
    assert not broken(text, needed, "f32") and broken(text, needed - 32, "f32")


@pytest.mark.parametrize(("op", "rows"), [("trem", 2), ("trems", 1)])
def test_scratch_of_remainders(op: str, rows: int) -> None:
    """Columns like the destination, and rows for what lies between."""
    a = vec(4, 64)
    second, types = ("%s", "f32") if op == "trems" else ("%b", a)
    for height, width in ((rows, 64), (rows, 63), (rows - 1, 64)):
        tmp = vec(4, 64, valid=(height, width))
        text = f"pto.{op} ins(%a, {second}, %t : {a}, {types}, {tmp}) outs(%d : {a})"
        found = findings(text, "a2a3")
        assert (("trem-tmp" in found) or ("tile-trem-tmp" in found)) == ((height, width) != (rows, 64)), found
