"""Register geometry of the a5 vector unit.  Source: docs/reference/vectors.md, "Registers"."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

VL_BYTES: Final = 256
"""Bytes of one vector register."""

VLANE_BYTES: Final = 32
"""Bytes of one hardware lane group (a register holds eight)."""

MASK_BITS: Final = 256
"""Bits of one predicate register: one per byte of a vector register."""

LANES: Final[Mapping[int, int]] = MappingProxyType({8: 256, 16: 128, 32: 64, 64: 32})
"""Element bits -> elements per vector register."""
