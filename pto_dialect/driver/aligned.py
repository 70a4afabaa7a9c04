"""Tables in a terminal."""

from __future__ import annotations

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], sides: str, indent: str = "") -> list[str]:
    """Returns the rows of cells as lines with columns; ``sides`` has ``<`` for each column on the left of its width,
    ``>`` for one on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    padded = [[f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)] for row in rows]
    return [f"{indent}{'  '.join(cells)}".rstrip() for cells in padded]
