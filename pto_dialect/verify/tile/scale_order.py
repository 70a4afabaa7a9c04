"""Rules of the ``pto.tmov`` that brings MX scales into the block order of the scale memory.

Source: docs/reference/operations.md, "Tiles: moves and conversion".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import SHAPES, WARNING
from .facts import Tile, tile_of
from .relations import Cell, Finding, TileOperands, cell

_ON_A2A3: Cell = cell("E/")
_ON_A5: Cell = cell("/E")
_SCALES = frozenset(("ui8", "hif8", "f8E8M0"))
_BLOCK_ROWS = 16
_WORKSPACE_HEAD = 64
"""Bytes of the workspace before the offsets of the row blocks."""


def reordering(operands: TileOperands, source: Tile, target: Tile) -> Iterator[Finding]:
    """Checks locations, layouts, element types and sizes."""
    name = operands.op_name
    workspace = operands.tile("fp")
    if workspace is None:
        return
    yield operands.finding(
        "tmov-zz", _ON_A2A3, None, f"{name} with a workspace reorders MX scales, which exist on a5 only"
    )
    for operand, tile in (("src", source), ("fp", workspace), ("dst", target)):
        if tile.loc != "vec":
            role = "workspace" if operand == "fp" else operand
            yield operands.memory_finding("tmov-zz", _ON_A5, operand, tile.loc, "vec", role=role)
    if source.layout != "ND":
        message = f"src of {name} must be laid out row_major/none_box, found {source.layout_text}"
        yield operands.finding("tmov-zz", _ON_A5, "src", message)
    if target.layout != "ZZ":
        message = f"dst of {name} must be laid out row_major/row_major, found {target.layout_text}"
        yield operands.finding("tmov-zz", _ON_A5, "dst", message)
    elements = {tile.element: None for tile in (source, workspace, target)}
    if len(elements) > 1:
        message = f"src, workspace and dst of {name} must have one element type, found {', '.join(elements)}"
        yield operands.finding("tmov-zz", _ON_A5, "dst", message)
    elif source.element not in _SCALES:
        message = f"the scales that {name} reorders must be ui8, hif8 or f8E8M0, found {source.element}"
        yield operands.finding("tmov-zz", _ON_A5, "src", message)
    yield from _sizes(operands, source, workspace, target)


@checks(SHAPES, "pto.tmov")
def check_three_tiles(op: Operation, ctx: Context) -> None:
    """Checks that the tiles are distinct. Equality of values is not a matter of types, so this is not a relation."""
    if len(op.operands) == 3 and ctx.profile.arch == "a5":
        _, second, _ = op.operands
        workspace = tile_of(second)
        if workspace is not None and workspace.loc == "vec" and len(set(op.operands)) < 3:
            severity = None if ctx.explicit else WARNING
            ctx.report("tmov-zz", op, f"src, workspace and dst of {op.name} must be three tiles", severity=severity)


def _sizes(operands: TileOperands, source: Tile, workspace: Tile, target: Tile) -> Iterator[Finding]:
    name = operands.op_name
    for operand, tile in (("src", source), ("dst", target)):
        if tile.valid_rows < 0 or tile.valid_cols < 0:
            message = f"{operand} of {name} must have a static valid region to be reordered"
            yield operands.finding("tmov-zz", _ON_A5, operand, message)
            return
    rows, cols = source.valid_rows, source.valid_cols
    out_rows, out_cols = target.valid_rows, target.valid_cols
    if rows * cols != out_rows * out_cols:
        message = f"dst of {name} must hold as many scales as src, {rows * cols}, found {out_rows * out_cols}"
        yield operands.finding("tmov-zz", _ON_A5, "dst", message)
        return
    if operands.enumerator("grpAxis") == "axis0":
        if rows % 2 or rows < 2 or cols % _BLOCK_ROWS:
            message = f"src of {name} along axis0 must have 2P x 16C valid elements, found {rows}x{cols}"
            yield operands.finding("tmov-zz", _ON_A5, "src", message)
        compact, needed = source.cols == cols, rows * cols
    else:
        if out_cols % 2:
            message = f"dst of {name} must have an even number of valid columns, found {out_cols}"
            yield operands.finding("tmov-zz", _ON_A5, "dst", message)
        blocks = -(-out_rows // _BLOCK_ROWS)
        compact, needed = rows == 1 or source.cols == cols, blocks * _BLOCK_ROWS * out_cols
        least = _WORKSPACE_HEAD + blocks * out_cols
        if workspace.rows * workspace.cols < least:
            message = f"the workspace of {name} must have {least} bytes, found {workspace.rows * workspace.cols}"
            yield operands.finding("tmov-zz", _ON_A5, "fp", message)
    if not compact:
        message = f"the valid rows of src of {name} must follow each other without gaps, found {cols} of {source.cols}"
        yield operands.finding("tmov-zz", _ON_A5, "src", message)
    for operand, tile in (("src", source), ("dst", target)):
        if tile.rows * tile.cols < needed:
            message = f"{operand} of {name} must have room for {needed} scales, found {tile.rows * tile.cols}"
            yield operands.finding("tmov-zz", _ON_A5, operand, message)
