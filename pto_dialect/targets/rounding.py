"""Rounding modes: letters of the ISA and enumerators of tile operations. Source: docs/reference/numerics.md,
"Rounding"."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ROUNDING_LETTERS: Final = ("R", "A", "F", "C", "Z", "O", "H")
"""R nearest even, A nearest away, F down, C up, Z toward zero, O to odd, H hybrid (computed as A)."""

ROUND_MODE_LETTERS: Final[Mapping[str, str]] = MappingProxyType(
    {"NONE": "R", "RINT": "R", "ROUND": "A", "FLOOR": "F", "CEIL": "C", "TRUNC": "Z", "ODD": "O"}
)
"""Round mode of a tile operation -> rounding letter."""
