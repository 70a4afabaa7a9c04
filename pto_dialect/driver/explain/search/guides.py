"""Pages of the documentation, and parts of them, with the terms that users search for."""

from __future__ import annotations

import re
from bisect import bisect
from pathlib import Path
from typing import Final

from pto_dialect.diagnostics.suggest import nearest_or

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


class UnknownPartError(ValueError):
    """A page has no part with this anchor; the message lists those that it has."""


def page_text(word: str) -> str | None:
    """Returns the Markdown of the page that ``word`` names, as ``docs/cycles.md``, ``cycles.md`` or ``cycles``, with an
    anchor the part of it; ``None`` for other words, and for pages that are not installed. Raises ``UnknownPartError``.
    """
    page, _, anchor = word.removeprefix("docs/").partition("#")
    page = page if page.endswith(".md") else f"{page}.md"
    if page not in GUIDES:
        return None
    file = next((folder / page for folder in FOLDERS if (folder / page).is_file()), None)
    if file is None:
        return None
    text = file.read_text(encoding="utf-8")
    return _part(text, page, anchor) if anchor else text


def _part(text: str, page: str, anchor: str) -> str:
    """Returns the section with the heading of this anchor, up to the next heading of its level or above."""
    headings = [(len(found[1]), slug(found[2]), found.start()) for found in _headings(text)]
    for number, (level, name, start) in enumerate(headings):
        if name == anchor:
            stop = next((one[2] for one in headings[number + 1 :] if one[0] <= level), len(text))
            return text[start:stop].rstrip() + "\n"
    names = [name for level, name, _ in headings if level > 1]
    hint = nearest_or(anchor, names, f"its parts are: {', '.join(names)}", 3) if names else "it has no parts"
    raise UnknownPartError(f"docs/{page} has no part '{anchor}'; {hint}")


def _headings(text: str) -> list[re.Match[str]]:
    """Returns the headings of a page, those in blocks of code left out."""
    fences = [found.start() for found in _FENCE.finditer(text)]
    return [found for found in _HEADING.finditer(text) if bisect(fences, found.start()) % 2 == 0]


_FENCE = re.compile(r"^ *```", re.MULTILINE)
_HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)


def slug(heading: str) -> str:
    """Returns the anchor of a heading, as on the site."""
    kept = "".join(char for char in heading.lower() if char.isalnum() or char in " -_")
    return kept.strip().replace(" ", "-")
