"""Edits of a text as clients apply them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def applied(text: str, edits: Iterable[dict[str, Any]]) -> str:
    """The text after edits, whose places are those of ``text``: lines, which end with a newline, and columns from 1."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    for one in sorted(edits, key=lambda each: (each["line"], each["column"]), reverse=True):
        begin = starts[one["line"] - 1] + one["column"] - 1
        end = starts[one["end_line"] - 1] + one["end_column"] - 1
        text = text[:begin] + one["text"] + text[end:]
    return text
