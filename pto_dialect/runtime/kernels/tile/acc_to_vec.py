"""Moves of accumulators to the unified buffers of the vector cores that a mode names.

Source: docs/reference/layouts.md, "Moves between tiles".
"""

from __future__ import annotations

from typing import Any, Protocol

from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.run.machine import Core

FIRST = "single_mode_vec0"
"""The default mode of a move: to the first vector core."""
SECOND = "single_mode_vec1"
_COLUMNS = 32
"""The number of columns that are divided into two halves is a multiple of this."""


class TileMove(Protocol):
    """A move between two tiles of one core."""

    label: str
    mode: str

    def __call__(
        self, source: Tile, dst: Tile, row: int = 0, col: int = 0, scalar: Any = None, table: Any = None
    ) -> None:
        """Moves."""
        ...

    def insert(self, source: Tile, dst: Tile, row: int, col: int) -> None:
        """Moves to a start in the destination."""
        ...


class MoveToCores:
    """A move to the second vector core, or of one half to each: the first rows (``dual_mode_split_m``) or columns
    (``dual_mode_split_n``) to the first core, the others to the same address of the second one.
    """

    def __init__(self, move: TileMove, mode: str) -> None:
        self.move = move
        self.mode = mode
        self.label = move.label

    def __call__(self, core: Core, source: Tile, dst: Tile, row: int = 0, col: int = 0, *scales: Any) -> None:
        """Moves as ``Move`` does. Raises ``Fault``: ``fixp-ub-split-m-even``, ``fixp-ub-split-n-32``."""
        tiles = [dst.moved(buffer, dst.pointer.offset) for buffer in core.block.unified_buffers]
        if self.mode == SECOND:
            self.move(source, tiles[1], row, col, *scales)
            return
        rows, cols = source.valid_rows, source.valid_cols
        if self.move.mode == "extract":
            rows, cols = dst.valid_rows, dst.valid_cols
        by_rows = self.mode == "dual_mode_split_m"
        if by_rows and rows % 2:
            raise Fault("fixp-ub-split-m-even", f"split_m of {rows} rows")
        if not by_rows and cols % _COLUMNS:
            raise Fault("fixp-ub-split-n-32", f"split_n of {cols} columns")
        height, width = (rows // 2, cols) if by_rows else (rows, cols // 2)
        inside = (row, col) if self.move.mode == "extract" else (0, 0)
        start = (row, col) if self.move.mode == "insert" else (0, 0)
        for number, tile in enumerate(tiles):
            first = (inside[0] + number * height, inside[1]) if by_rows else (inside[0], inside[1] + number * width)
            half = source.window(*first, height, width, height, width)
            self.move.insert(half, tile, *start)
