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

HALVES: Final = 2
"""Halves of a register, or of the bins of a histogram, that an instruction selects by number."""


def number_error(what: str, number: int, most: int | None) -> str | None:
    """Returns what is wrong with a number that is at least 0 and at most ``most``, ``None`` for one in this range."""
    if number >= 0 and (most is None or number <= most):
        return None
    allowed = "not negative" if most is None else f"0 or {most}" if most == 1 else f"from 0 to {most}"
    return f"{what} is {allowed}, found {number}"
