"""Mask patterns of gathers and scatters. Source: docs/reference/tiles.md, "Irregular operations"."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

MASK_PATTERNS: Final[Mapping[str, tuple[int, int]]] = MappingProxyType(
    {
        "P1111": (1, 0),
        "P0101": (2, 0),
        "P1010": (2, 1),
        "P0001": (4, 0),
        "P0010": (4, 1),
        "P0100": (4, 2),
        "P1000": (4, 3),
    }
)
"""Mask pattern -> (distance of selected elements, first selected element)."""
