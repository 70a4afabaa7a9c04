"""Parts of a page: the sections that a reader names."""

from __future__ import annotations

import re

from pto_dialect.diagnostics.suggest import nearest_or

from .page import Page

_BLANKS = re.compile(r"[-\s,]+")


class UnknownSectionError(ValueError):
    """A page has no section of this title; the message lists those that it has."""


def part_of(page: Page, wanted: str) -> Page:
    """Returns the sections of ``page`` that ``wanted`` names, in the order of the page: titles or their first words, in
    any case, separated by commas or blanks (``operands``, ``syntax,example``, ``element-types``, ``mistake``).

    Raises :class:`UnknownSectionError`.
    """
    titles = {section.title.casefold().removeprefix("a "): section.title for section in page.sections}
    words = _BLANKS.sub(" ", wanted).strip().casefold().split(" ")
    chosen: set[str] = set()
    while words:
        number, title = _first(words, titles)
        if title is None:
            hint = nearest_or(
                words[0], titles, f"its parts are {', '.join(key.replace(' ', '-') for key in titles)}", 3
            )
            raise UnknownSectionError(f"the page of {page.title} has no part '{words[0]}'; {hint}")
        chosen.add(title)
        del words[:number]
    return page._replace(sections=tuple(section for section in page.sections if section.title in chosen))


def _first(words: list[str], titles: dict[str, str]) -> tuple[int, str | None]:
    """Returns how many of the first words name a title, and the title: as many as possible, the last one maybe cut
    short."""
    for number in range(len(words), 0, -1):
        text = " ".join(words[:number])
        exact = titles.get(text)
        begun = [title for key, title in titles.items() if text and key.startswith(text)]
        if exact is not None or len(begun) == 1:
            return number, exact or begun[0]
    return 0, None
