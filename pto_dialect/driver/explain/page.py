"""What a page is made of, whoever shows it: a terminal, Markdown.

Text between backquotes is code, ``[word](target)`` a link; in ``Plain`` text every character stands for itself.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Plain(NamedTuple):
    """A paragraph of characters without a meaning of their own."""

    text: str


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


Block = Plain | Text | Table | Code | Picture


class Section(NamedTuple):
    """A heading and what stands below it."""

    title: str
    blocks: tuple[Block, ...]


class Page(NamedTuple):
    """One thing that is explained: its name, one sentence, and the sections."""

    title: str
    summary: str
    sections: tuple[Section, ...]


def code(text: str) -> str:
    """``text`` as code, a dash for nothing."""
    return f"`{text}`" if text else "–"


def codes(words: Iterable[object]) -> str:
    """Words as code, separated by blanks, a dash for none."""
    return " ".join(f"`{word}`" for word in words) or "–"
