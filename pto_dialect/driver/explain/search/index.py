"""The index of the search as data, for the search box of the site: what :mod:`.ranking` ranks, and its synonyms."""

from __future__ import annotations

from typing import Any

from .documents import documents
from .words import CONCEPTS, DIRECTIONS, ENDINGS, PHRASES, STOP


def search_index() -> dict[str, Any]:
    """Documents in their order as rows of fields, concepts by word, endings of terms, terms that say nothing, marks of
    directions, and phrases as pairs of a regular expression and what replaces it, in the spelling of JavaScript."""
    return {
        "documents": [list(document) for document in documents()],
        "synonyms": CONCEPTS,
        "endings": ENDINGS,
        "silent": sorted(STOP),
        "directions": DIRECTIONS,
        "phrases": [(pattern.pattern, meant.replace("\\", "$")) for pattern, meant in PHRASES],
    }
