"""Pages as text for a terminal."""

from __future__ import annotations

import re
import textwrap

from .page import Block, Code, Page, Picture, Table, Text, plain, segments

WIDTH = 100
_LINK = re.compile(r"(?<!\\)\[([^\[\]]+)\]\(([^()\s]+)\)")
_ESCAPED = re.compile(r"\\(.)")


def render(page: Page) -> str:
    """The whole page."""
    lines = [*_paragraph(inline(f"{plain(page.title)}: {page.summary}" if page.summary else page.title))]
    for section in page.sections:
        lines += ["", section.title.upper()]
        for number, block in enumerate(section.blocks):
            if section.title == "Source" and isinstance(block, Text):
                block = Text(_LINK.sub(r"\1 (\2)", block.text).replace("(../", "(docs/"))
            lines += [*([""] if number else []), *(f"  {line}".rstrip() for line in _lines(block))]
    return "\n".join(lines) + "\n"


def _lines(block: Block) -> list[str]:
    if isinstance(block, Text):
        return _paragraph(inline(block.text))
    if isinstance(block, Code):
        lines = block.text.split("\n")
        folded = [part for line in lines for part in _folded(line)] if block.language == "text" else lines
        return [f"  {line}" for line in folded]
    if isinstance(block, Picture):
        return block.text.split("\n")
    return _table(block)


def inline(text: str) -> str:
    """``text`` without the marks of code and links."""
    return "".join(part if is_code else _ESCAPED.sub(r"\1", part) for is_code, part in segments(_unlinked(text)))


def _unlinked(text: str) -> str:
    return _LINK.sub(r"\1", text)


def _folded(line: str) -> list[str]:
    """A long line in several, the further ones standing further in."""
    indent = line[: len(line) - len(line.lstrip())]
    wrapped = textwrap.wrap(
        line, WIDTH - 4, subsequent_indent=f"{indent}    ", break_long_words=False, break_on_hyphens=False
    )
    return wrapped or [""]


def _paragraph(text: str) -> list[str]:
    return textwrap.wrap(text, WIDTH - 2, break_long_words=False, break_on_hyphens=False) or [""]


def _table(table: Table) -> list[str]:
    """Cells in columns; the last one is wrapped."""
    rows = [tuple(inline(cell) for cell in row) for row in table.rows]
    heads = table.heads if any(table.heads) else None
    widths = [max(len(row[column]) for row in (*rows, table.heads)) for column in range(len(table.heads) - 1)]
    lines: list[str] = []
    for row in (*([heads] if heads else []), *rows):
        begin = "".join(cell.ljust(width) + "  " for cell, width in zip(row, widths, strict=False))
        room = max(WIDTH - 4 - len(begin), 36)
        last = textwrap.wrap(row[-1], room, break_long_words=False, break_on_hyphens=False) or [""]
        lines += [begin + last[0], *(" " * len(begin) + line for line in last[1:])]
    return lines
