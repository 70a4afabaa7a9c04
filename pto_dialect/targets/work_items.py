"""Limits of one launch of work-items. Source: docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

from typing import Final

MAX_WORK_ITEMS: Final = 2048
"""Work-items of one launch."""

MAX_REGISTERS: Final = 128
"""Registers of one work-item."""

GROUP_ITEMS: Final = 32
"""Work-items that exchange values with each other."""

SLOTS: Final = 123
"""32-bit words in which a work-item retains values from one launch to the next."""
