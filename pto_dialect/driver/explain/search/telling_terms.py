"""The terms by which the text of a page differs from others."""

from __future__ import annotations

import math
import re
from collections import Counter

from .words import STOP

_MOST = 60
"""Terms of a page."""
_CODE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
_TERM = re.compile(r"[a-z][a-z0-9]{2,}", re.IGNORECASE)


def telling_terms(texts: dict[str, str]) -> dict[str, str]:
    """Returns at most 60 terms of each text: those that occur often in it and in few others; code is left out."""
    counts = {page: Counter(map(str.lower, _TERM.findall(_CODE.sub("", text)))) for page, text in texts.items()}
    pages = Counter(term for found in counts.values() for term in found)

    def telling(found: Counter[str], term: str) -> float:
        return math.log1p(found[term]) * math.log(1 + len(texts) / pages[term])

    return {
        page: " ".join(
            sorted((one for one in found if one not in STOP), key=lambda one: (-telling(found, one), one))[:_MOST]
        )
        for page, found in counts.items()
    }
