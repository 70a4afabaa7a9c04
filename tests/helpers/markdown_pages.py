"""Headings and links of the Markdown pages of the project."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

_FENCE = re.compile(r"^(```|~~~).*?^\1[^\S\n]*$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} (.+?) *$", re.MULTILINE)
_LINK = re.compile(r"(?<!!)\[[^\]\[]*\]\(([^()\s]+)\)")


def pages() -> list[Path]:
    """Every page of the project, the generated ones included."""
    return sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


@cache
def prose(path: Path) -> str:
    """A page without its blocks of code."""
    return _FENCE.sub("", path.read_text(encoding="utf-8"))


@cache
def headings(path: Path) -> tuple[str, ...]:
    """Headings of a page, without marks of code, in order."""
    return tuple(heading.replace("`", "") for heading in _HEADING.findall(prose(path)))


def anchor(heading: str) -> str:
    """What GitHub calls a heading in a link."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def links(path: Path) -> list[str]:
    """Targets of links that lead to files or headings of the project."""
    return [target for target in _LINK.findall(prose(path)) if not re.match(r"[a-z]+:", target)]
