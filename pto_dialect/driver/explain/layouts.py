"""Pictures of layouts: the order in which memory holds the elements of a tile. Source: docs/reference/layouts.md,
"Fractals"."""

from __future__ import annotations

from typing import Final

from pto_dialect.targets.tile_layouts import LAYOUT_NAME, TileLayout, inner_block

from .page import Picture

BY_NAME: Final = {name: layout for layout, name in LAYOUT_NAME.items()}
"""Block order and order inside a block, by the short name."""

_CELL = 22
_COLOURS = ("#dbeafe", "#fde68a", "#bbf7d0", "#fecaca", "#e9d5ff", "#fed7aa")


def places(rows: int, cols: int, block: tuple[int, int] | None, blayout: str, slayout: str) -> list[list[int]]:
    """Returns the position in memory, in elements, of each element of a tile of whole blocks.

    ``block`` has the rows and columns of a block, ``None`` where the layout has none. ``blayout`` is the order of the
    blocks (of the elements, where there are none), ``slayout`` that of the elements inside a block.
    """
    height, width = block or (1, 1)
    inside = slayout if block else "row_major"
    down, across = rows // height, cols // width
    found = [[0] * cols for _ in range(rows)]
    for row in range(rows):
        for col in range(cols):
            block_row, in_row = divmod(row, height)
            block_col, in_col = divmod(col, width)
            number = block_row * across + block_col if blayout == "row_major" else block_col * down + block_row
            within = in_row * width + in_col if inside == "row_major" else in_col * height + in_row
            found[row][col] = number * height * width + within
    return found


_BITS: Final = {1024: 32, 512: 16, 32: 8}
"""Bits of the elements that are usual in blocks of so many bytes."""


def order(layout: TileLayout) -> str:
    """Returns a sentence on the blocks of a layout, for elements of the usual size."""
    by = {"row_major": "row by row", "col_major": "column by column"}
    if layout.slayout == "none_box":
        return f"Elements lie {by[layout.blayout]}; there are no blocks."
    bits = _BITS[layout.fractal]
    height, width = inner_block(layout.fractal, layout.slayout, bits)
    return (
        f"Blocks of {height} x {width} elements of {bits} bits ({layout.fractal} bytes) lie {by[layout.blayout]}; "
        f"inside a block elements lie {by[layout.slayout]}."
    )


def picture(layout: TileLayout) -> Picture:
    """Returns the order of blocks and, in small, of what is in them: four blocks, each drawn as 2 x 3 or 3 x 2
    elements."""
    boxed = layout.slayout != "none_box"
    block = ((2, 3) if layout.slayout == "row_major" else (3, 2)) if boxed else None
    rows, cols = (4, 6) if not boxed or layout.slayout == "row_major" else (6, 4)
    grid = places(rows, cols, block, layout.blayout, layout.slayout)
    size = block[0] * block[1] if block else rows * cols
    lines = []
    for number, row in enumerate(grid):
        cells = [f"{place:3}" for place in row]
        if block:
            cells = [" ".join(cells[at : at + block[1]]) for at in range(0, cols, block[1])]
            if number and number % block[0] == 0:
                lines.append("-" * len(" | ".join(cells)))
        lines.append((" | " if block else " ").join(cells))
    return Picture(_svg(grid, size, layout), "\n".join(lines))


def _svg(grid: list[list[int]], size: int, layout: TileLayout) -> str:
    rows, cols = len(grid), len(grid[0])
    name = LAYOUT_NAME[layout.blayout, layout.slayout]
    width, height = cols * _CELL + 2, rows * _CELL + 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{2 * width}" '
        f'height="{2 * height}" role="img" aria-label="Order of the elements in {name}" style="max-width:100%">'
    ]
    at: dict[int, tuple[float, float]] = {}
    for row, places_of_row in enumerate(grid):
        for col, place in enumerate(places_of_row):
            x, y = 1 + col * _CELL, 1 + row * _CELL
            at[place] = (x + _CELL / 2, y + _CELL / 2)
            colour = _COLOURS[place // size % len(_COLOURS)]
            parts.append(f'<rect x="{x}" y="{y}" width="{_CELL}" height="{_CELL}" fill="{colour}" stroke="#64748b"/>')
    path = " ".join(f"{x:g},{y:g}" for _, (x, y) in sorted(at.items()))
    parts.append(f'<polyline points="{path}" fill="none" stroke="#94a3b8" stroke-width="0.8"/>')
    for place, (x, y) in at.items():
        parts.append(
            f'<text x="{x:g}" y="{y + 3:g}" font-size="8" font-family="monospace" text-anchor="middle" '
            f'fill="#0f172a">{place}</text>'
        )
    return "".join([*parts, "</svg>"])
