"""MX scales: windows of them for the scale memories, and loads whose pairs along K do not follow one another.

Source: docs/reference/layouts.md, "MX scales".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .statement import Named, statement
from .tensors import APART, Tensor, are_pairs, tensor_of
from .tiles import Tile, number_of, tile_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..translate.interface import Call, Emitter, Group
    from .operands import Operands

_MEMORIES = frozenset(("ScaleLeft", "ScaleRight"))
"""Memories to which the dialect moves windows, but extracts none."""
_WINDOW = 4
"""Operands of an extraction without quantisation."""


def translate_scales(groups: Sequence[Group], call: Call, emitter: Emitter, known: Operands) -> bool:
    """Emits what a transfer of scales is that is no operation of its own; returns whether the call is one."""
    if len(groups) < 2 or groups[0].kind != "tile":
        return False
    destination = tile_of(groups[0], emitter)
    if call.name == "TEXTRACT" and destination.location in _MEMORIES and len(groups) == _WINDOW:
        _extract(destination, groups, call, emitter, known)
        return True
    if call.name == "TLOAD" and groups[1].kind == "global" and groups[1].fields[1] in APART:
        _load(destination, tensor_of(groups[1], emitter), call, emitter, known)
        return True
    return False


def _extract(destination: Tile, groups: Sequence[Group], call: Call, emitter: Emitter, known: Operands) -> None:
    """Moves a window."""
    source = tile_of(groups[1], emitter)
    row, col = (group.operands[0] for group in groups[2:])
    window = known.handles.window(destination, source, (row, col), call)
    emitter.emit(statement("pto.tmov", {"src": [window], "dst": [known.value(destination, call)]}, {}))


def _load(tile: Tile, tensor: Tensor, call: Call, emitter: Emitter, known: Operands) -> None:
    """Loads each pair of columns (of rows, for a right operand) into its window of the tile."""
    layout = APART[tensor.layout]
    by_cols = layout == "ND"
    lines, scales = tile.valid if by_cols else (tile.valid[1], tile.valid[0])
    count = number_of(scales)
    *outer, apart, between, within = tensor.strides
    if count is None or count % 2 or not are_pairs(between, within):
        emitter.fail(f"Layout::{tensor.layout} has a counterpart in .pto only for a constant, even number of scales")
    sizes = (1, 1, count // 2, *((lines, 2) if by_cols else (2, lines)))
    strides = (*outer, apart, *((2, 1) if by_cols else (1, 2)))
    pairs = tensor._replace(layout=layout, sizes=sizes, strides=strides)
    for number in range(count // 2):
        at = (0, 2 * number) if by_cols else (2 * number, 0)
        part = tile._replace(rows=tile.rows if by_cols else 2, cols=2 if by_cols else tile.cols, valid=sizes[3:])
        operands: dict[str, list[Named]] = {
            "src": [known.tensors.slice_of(pairs, number, call) if count > 2 else known.value(pairs, call)],
            "dst": [known.handles.window(part, tile, at, call)],
        }
        emitter.emit(statement("pto.tload", operands, {}))


__all__ = ["translate_scales"]
