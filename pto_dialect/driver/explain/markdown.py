"""Pages as Markdown, for the site."""

from __future__ import annotations

import html
import json
from collections.abc import Iterable

from .page import Block, Code, Page, Picture, Table, segments
from .purposes import PURPOSES

_SEARCHED = frozenset({"Overview", "Forms", "Operands", "Attributes", "Clauses", "Families", "All terms"})
_UNSEARCHED = " { data-search-exclude }"
"""Sections whose words are those of other pages are left out of the search."""


def render(page: Page) -> str:
    """The whole page; it is found before others by a search for its name."""
    head = ["---", f"title: {json.dumps(page.title)}", "search:", "  boost: 8"]
    if page.title in PURPOSES:
        # Tags count most in a search.
        head += ["tags:", *(f"  - {json.dumps(phrase)}" for phrase in PURPOSES[page.title])]
    lines = [*head, "---", "", f"# {html.escape(page.title)}", ""]
    if page.summary:
        lines += [inline(page.summary), ""]
    for section in page.sections:
        lines += [f"## {section.title}{'' if section.title in _SEARCHED else _UNSEARCHED}", ""]
        for block in section.blocks:
            lines += [*_lines(block), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def inline(text: str) -> str:
    """A text or cell: code as HTML, so that no character in it has a meaning."""
    return "".join(
        f"<code>{_entities(part)}</code>" if is_code else part.replace("<", "&lt;").replace("|", "&#124;")
        for is_code, part in segments(text)
    )


def _entities(text: str) -> str:
    """Characters that mean something in Markdown or HTML as entities."""
    return "".join(f"&#{ord(char)};" if char in "&<>|*_[]\\`{}!" else char for char in text)


def _lines(block: Block) -> Iterable[str]:
    if isinstance(block, Code):
        return [f"```{block.language}", *block.text.split("\n"), "```"]
    if isinstance(block, Picture):
        return [f'<div class="layout">{block.svg}</div>']
    if isinstance(block, Table):
        heads = "| " + " | ".join(map(inline, block.heads)) + " |"
        return [
            heads,
            "|" + "---|" * len(block.heads),
            *("| " + " | ".join(map(inline, row)) + " |" for row in block.rows),
        ]
    return [inline(block.text)]
