"""The content of a page, independent of the output: terminal or Markdown.

In a ``Text`` and in cells, text between backquotes is code, ``[word](target)`` is a link, a backslash escapes the next
character. Targets are relative to the folder of the pages of operations.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple


class Text(NamedTuple):
    """A paragraph with code and links."""

    text: str


class Table(NamedTuple):
    """Rows of cells, each a text with code and links."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


class Code(NamedTuple):
    """Lines as they are; ``language`` is mlir, python, text or console."""

    language: str
    text: str


class Picture(NamedTuple):
    """A drawing as SVG, and what stands for it where only characters can be shown."""

    svg: str
    text: str


Block = Text | Table | Code | Picture


class Section(NamedTuple):
    """A heading and its content."""

    title: str
    blocks: tuple[Block, ...]


class Page(NamedTuple):
    """One thing that is explained: its name, one sentence, and the sections."""

    title: str
    summary: str
    sections: tuple[Section, ...]


def as_data(page: Page) -> dict[str, object]:
    """Returns a page for JSON: texts without their marks, drawings as characters."""
    return {
        "summary": unmarked(page.summary),
        "sections": [
            {"title": section.title, "blocks": [_block_data(block) for block in section.blocks]}
            for section in page.sections
        ],
    }


def _block_data(block: Block) -> dict[str, object]:
    if isinstance(block, Text):
        return {"kind": "text", "text": unmarked(block.text)}
    if isinstance(block, Table):
        heads, rows = [unmarked(head) for head in block.heads], [[unmarked(cell) for cell in row] for row in block.rows]
        return {"kind": "table", "heads": heads, "rows": rows}
    if isinstance(block, Code):
        return {"kind": "code", "language": block.language, "text": block.text}
    return {"kind": "picture", "text": block.text}


def unmarked(text: str) -> str:
    """Returns ``text`` without the marks of code and links."""
    linked = LINK.sub(r"\1", text)
    return "".join(part if is_code else _ESCAPED.sub(r"\1", part) for is_code, part in segments(linked))


LINK = re.compile(r"(?<!\\)\[([^\[\]]+)\]\(([^()\s]+)\)")
"""``[word](target)``."""

_ESCAPED = re.compile(r"\\(.)")


def code(text: str) -> str:
    """Returns ``text`` as code, a dash for nothing."""
    return f"`{text}`" if text else "–"


def codes(words: Iterable[object]) -> str:
    """Words as code, separated by blanks, a dash for none."""
    return " ".join(f"`{word}`" for word in words) or "–"


def plain(text: str) -> str:
    """Returns ``text`` whose characters stand for themselves, but for names in double backquotes."""
    parts = _NAMES.split(text)
    return "".join(f"`{part}`" if number % 2 else _MARKS.sub(r"\\\1", part) for number, part in enumerate(parts))


_NAMES = re.compile(r"``([^`]+)``")
_MARKS = re.compile(r"([\\`*_\[\]])")


def segments(text: str) -> list[tuple[bool, str]]:
    """Returns the parts of a text in order, each with whether it is code."""
    found: list[tuple[bool, str]] = []
    for part in _SEGMENT.findall(text):
        is_code = part.startswith("`") and len(part) > 1
        found.append((is_code, part[1:-1] if is_code else part))
    return found


_SEGMENT = re.compile(r"`[^`]*`|(?:\\.|[^`\\])+|.", re.DOTALL)
