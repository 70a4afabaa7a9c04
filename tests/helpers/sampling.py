"""Parts of long enumerations: a run of all tests takes every n-th case, ``PTO_THOROUGH=1`` all of them."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")
THOROUGH = os.environ.get("PTO_THOROUGH") == "1"


def sampled(items: Iterable[T], of: int) -> list[T]:
    """Every ``of``-th of the items, beginning with the first; all of them under ``PTO_THOROUGH=1``."""
    found = list(items)
    return found if THOROUGH else found[::of]
