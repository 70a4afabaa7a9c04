"""Pages as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from .page import LINK, Block, Code, Page, Picture, Table, Text, plain, unmarked

WIDTH = 100


def render(page: Page) -> str:
    """Returns the whole page."""
    lines = [*_paragraph(unmarked(f"{plain(page.title)}: {page.summary}" if page.summary else page.title))]
    for section in page.sections:
        lines += ["", section.title.upper()]
        for number, block in enumerate(section.blocks):
            if section.title == "Source" and isinstance(block, Text):
                block = Text(LINK.sub(r"\1 (\2)", block.text).replace("(../", "(docs/"))
            lines += [*([""] if number else []), *(f"  {line}".rstrip() for line in _lines(block))]
    return "\n".join(lines) + "\n"


def _lines(block: Block) -> list[str]:
    if isinstance(block, Text):
        return _paragraph(unmarked(block.text))
    if isinstance(block, Code):
        lines = block.text.split("\n")
        folded = [part for line in lines for part in _folded(line)] if block.language == "text" else lines
        return [f"  {line}" for line in folded]
    if isinstance(block, Picture):
        return block.text.split("\n")
    return _table(block)


def _folded(line: str) -> list[str]:
    """Returns a long line in several, the further ones standing further in."""
    indent = line[: len(line) - len(line.lstrip())]
    wrapped = textwrap.wrap(
        line, WIDTH - 4, subsequent_indent=f"{indent}    ", break_long_words=False, break_on_hyphens=False
    )
    return wrapped or [""]


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False) or [""]


def _table(table: Table) -> list[str]:
    """Cells in columns; those of the widest columns are wrapped until a line has room for all."""
    rows = [tuple(unmarked(cell) for cell in row) for row in table.rows]
    shown = (table.heads, *rows) if any(table.heads) else rows
    widths = _widths(list(zip(*shown, strict=True)))
    lines: list[str] = []
    for row in shown:
        cells = [_folded_cell(cell, width) for cell, width in zip(row, widths, strict=True)]
        for number in range(max(map(len, cells))):
            pieces = (cell[number] if number < len(cell) else "" for cell in cells)
            line = "  ".join(piece.ljust(width) for piece, width in zip(pieces, widths, strict=True))
            lines.append(line.rstrip())
    return lines


def _folded_cell(cell: str, width: int) -> list[str]:
    return textwrap.wrap(cell, width, break_long_words=False, break_on_hyphens=False) or [""]


def _widths(columns: Sequence[Sequence[str]]) -> list[int]:
    """Returns the width of each column: as wide as its cells, or as its longest word, where all together are too
    wide."""
    natural = [max(map(len, column)) for column in columns]
    least = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns]
    room = WIDTH - 4 - 2 * (len(columns) - 1)
    limit = max(natural)
    while limit > 1 and sum(_limited(natural, least, limit)) > room:
        limit -= 1
    return _limited(natural, least, limit)


def _limited(natural: Sequence[int], least: Sequence[int], limit: int) -> list[int]:
    return [max(min(width, limit), longest) for width, longest in zip(natural, least, strict=True)]
