"""Operands whose contents are undefined after an instruction: scratch tiles, and sources that it overwrites.

Source: docs/reference/tiles.md, "Scratch tiles".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .spaces import POISON, Arena
from .values import Tile

Range = tuple[Arena, int, int]


class Undefining:
    """An instruction with tiles after its own arguments: ``kept`` destinations, then ``count`` tiles whose contents it
    leaves undefined. Bytes that these share with a destination retain the result."""

    def __init__(self, action: Callable[..., Any], kept: int, count: int, label: str) -> None:
        self.action = action
        self.kept = kept
        self.count = count
        self.label = label

    def __call__(self, *arguments: Any) -> Any:
        """Runs the instruction and overwrites the tiles."""
        own = len(arguments) - self.kept - self.count
        result = self.action(*arguments[:own])
        ranges = [_range(tile) for tile in arguments[own : own + self.kept] if isinstance(tile, Tile)]
        for tile in arguments[own + self.kept :]:
            if isinstance(tile, Tile):
                undefine(tile, ranges)
        return result


def nothing() -> None:
    """An instruction without an effect of its own."""


def undefine(tile: Tile, ranges: list[Range]) -> None:
    """Overwrites the bytes of ``tile`` outside of all ranges."""
    arena, start, stop = _range(tile)
    around = sorted((low, high) for other, low, high in ranges if other is arena and low < stop and start < high)
    if tile.rows * tile.cols * tile.fmt.bits // 8 < stop - start:
        # A window: only its own elements.
        if not around:
            width = tile.fmt.storage.itemsize
            values = np.full((tile.rows, tile.cols * width), POISON, np.uint8).view(tile.fmt.storage)
            tile.view.write(values)
        return
    for low, high in around:
        if start < low:
            arena.undefine(start, low)
        start = max(start, high)
    if start < stop:
        arena.undefine(start, stop)


def _range(tile: Tile) -> Range:
    pointer = tile.pointer
    return pointer.arena, pointer.offset, pointer.offset + tile.layout.nbytes
