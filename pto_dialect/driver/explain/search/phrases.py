"""Reader of the tables of phrases that pages are found by."""

from __future__ import annotations

import re

_CONTINUED = re.compile(r"\n +")


def rows(text: str, prefix: str = "") -> dict[str, tuple[str, ...]]:
    """Phrases by key from lines ``key: phrase; phrase``; every key gets ``prefix``. Indented lines continue a line."""
    parts = (line.partition(": ") for line in _CONTINUED.sub(" ", text.strip()).splitlines())
    return {f"{prefix}{key}": tuple(phrase.strip() for phrase in phrases.split(";")) for key, _, phrases in parts}
