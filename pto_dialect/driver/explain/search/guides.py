"""Pages of the documentation, and parts of them, with the terms that users search for."""

from __future__ import annotations

from pathlib import Path
from typing import Final

_PACKAGE = Path(__file__).resolve().parents[3]
FOLDERS: Final = (_PACKAGE / "documentation", _PACKAGE.parent / "docs")
"""Where the pages are: in an installed package, in a checkout."""


def _rows(text: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for line in text.splitlines()[1:]:
        page, _, rest = line.partition(" | ")
        title, _, phrases = rest.partition(" | ")
        found[page] = title, tuple(phrase.strip() for phrase in phrases.split(";"))
    return found


GUIDES: Final = _rows(Path(__file__).with_name("guides.txt").read_text(encoding="utf-8"))
"""Title and phrases by page below ``docs/``, with an anchor for a part."""


def page_text(word: str) -> str | None:
    """The Markdown of the page that ``word`` names, as ``docs/cycles.md``, ``cycles.md`` or ``cycles``, with an anchor
    of :data:`GUIDES` the part of it; ``None`` for other words, and for pages that are not installed."""
    page, _, anchor = word.removeprefix("docs/").partition("#")
    page = page if page.endswith(".md") else f"{page}.md"
    if page not in GUIDES or (anchor and f"{page}#{anchor}" not in GUIDES):
        return None
    file = next((folder / page for folder in FOLDERS if (folder / page).is_file()), None)
    if file is None:
        return None
    text = file.read_text(encoding="utf-8")
    return _part(text, anchor) if anchor else text


def _part(text: str, anchor: str) -> str:
    """The section with the heading of this anchor, up to the next heading of its level."""
    sections = text.split("\n## ")
    return next((f"## {section}\n" for section in sections if slug(section.partition("\n")[0]) == anchor), text)


def slug(heading: str) -> str:
    """The anchor of a heading, as on the site."""
    kept = "".join(char for char in heading.lower() if char.isalnum() or char in " -_")
    return kept.strip().replace(" ", "-")
