"""Rules of reductions and of partial operations. Source: docs/reference/constraints.md, "Tile arithmetic"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pto_dialect.diagnostics.remedies.order import missing_entry

from .facts import Tile
from .relations import ADVICE, ALWAYS, Finding, TileOperands, cell, relation

_ROW: Final = tuple(f"pto.trow{op}" for op in ("sum", "max", "min", "prod"))
_ROW_ARG: Final = ("pto.trowargmax", "pto.trowargmin")
_COL: Final = tuple(f"pto.tcol{op}" for op in ("sum", "max", "min", "prod"))
_COL_ARG: Final = ("pto.tcolargmax", "pto.tcolargmin")
_PART: Final = {
    **dict.fromkeys((f"pto.tpart{op}" for op in ("add", "mul", "max", "min")), cell("E/W")),
    **dict.fromkeys(("pto.tpartargmax", "pto.tpartargmin"), ALWAYS),
}
"""Explanation for sources of which none fills dst."""

_EMPTY_SOURCE: Final = {
    **dict.fromkeys(_ROW, ALWAYS),
    **dict.fromkeys(_COL, cell("W/E")),
    "pto.tcolprod": cell("W"),
}


@relation(*_ROW, *_COL, *_ROW_ARG, *_COL_ARG)
def check_nonempty(t: TileOperands) -> Iterator[Finding]:
    """Reports sources without rows or columns."""
    src, dst = t.tile("src"), t.tile("dst")
    if src is None:
        return
    severity = _EMPTY_SOURCE.get(t.op_name)
    if severity is not None and dst is not None and dst.valid_rows == 0 and dst.valid_cols == 0:
        return
    for axis, count in (("row", src.valid_rows), ("column", src.valid_cols)):
        if count == 0:
            message = f"src of {t.op_name} must have at least one valid {axis}"
            yield t.finding("reduce-nonempty", severity or ALWAYS, "src", message)


@relation(*_ROW_ARG, *_COL_ARG)
def check_arg_destination(t: TileOperands) -> Iterator[Finding]:
    """Checks the destination of positions."""
    dst = t.tile("dst")
    if dst is not None and dst.element not in ("i32", "si32", "ui32"):
        message = f"dst of {t.op_name} holds positions and must be i32 or ui32, found {dst.element}"
        yield t.finding("reduce-arg-dst", ALWAYS, "dst", message)


@relation(*_ROW, *_ROW_ARG)
def check_column_destination(t: TileOperands) -> Iterator[Finding]:
    """Checks that a column-major destination is one column."""
    dst = t.tile("dst")
    if dst is not None and dst.blayout == "col_major" and dst.cols != 1:
        message = f"a col_major dst of {t.op_name} must be one column, found {dst.cols}"
        yield t.finding("tile-row-major", ALWAYS, "dst", message)


@relation("pto.tcolsum")
def check_binary_sum(t: TileOperands) -> Iterator[Finding]:
    """Checks scratch and ``isBinary``."""
    if "tmp" in t.values and t.number("isBinary") is None:
        message = "pto.tcolsum with a scratch tile must say isBinary"
        fixed = (missing_entry("isBinary = true"),)
        yield t.finding("colsum-binary-tmp", ALWAYS, "tmp", message, "add {isBinary = true}", remedies=fixed)
    elif "tmp" not in t.values and t.number("isBinary"):
        message = "pto.tcolsum with isBinary needs a scratch tile"
        yield t.finding("colsum-binary-tmp", ADVICE, "isBinary", message, "add %tmp as the second input")


@relation(*_PART)
def check_partial_regions(t: TileOperands) -> Iterator[Finding]:
    """Checks that the sources lie inside the destination."""
    dst, sources = t.tile("dst"), t.tiles("src0", "src1")
    if dst is None or len(sources) != 2:
        return
    inside = True
    for name, tile in sources:
        if _beyond(tile.valid_rows, dst.valid_rows) or _beyond(tile.valid_cols, dst.valid_cols):
            inside = False
            message = f"{name} of {t.op_name} must lie inside dst, found {_region(tile)} valid in {_region(dst)}"
            yield t.finding("part-valid", ALWAYS, name, message)
    if inside and all(_short(tile, dst) for _, tile in sources):
        regions = " and ".join(_region(tile) for _, tile in sources)
        message = f"src0 or src1 of {t.op_name} must fill dst, found {regions} valid in {_region(dst)}"
        yield t.finding("part-valid", _PART[t.op_name], "dst", message)


def _beyond(source: int, destination: int) -> bool:
    return source > destination >= 0


def _short(tile: Tile, dst: Tile) -> bool:
    """Returns whether a source is known to leave a part of the destination without a value."""
    return 0 <= tile.valid_rows < dst.valid_rows or 0 <= tile.valid_cols < dst.valid_cols


def _region(tile: Tile) -> str:
    return f"{tile.valid_rows}x{tile.valid_cols}".replace("-1", "?")
