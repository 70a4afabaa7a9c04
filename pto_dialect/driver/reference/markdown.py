"""Pieces of Markdown that the generated pages share."""

from __future__ import annotations

from collections.abc import Iterable

WRITTEN_BY = "Written by `python -m pto_dialect.driver.reference`."


def cell(text: str) -> str:
    """Returns ``text`` as the content of a table's cell."""
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")


def table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """Returns the lines of a table; cells are taken as they are."""
    heads = list(heads)
    lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def code(words: Iterable[str]) -> str:
    """Returns names as code, separated by blanks; a dash for none."""
    return " ".join(f"`{word}`" for word in words) or "–"
