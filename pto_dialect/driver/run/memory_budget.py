"""Limits the memory of a launch, before it is allocated."""

from __future__ import annotations

import re

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.faults import format_size
from pto_dialect.runtime.memory.free import SHARE, free_memory

_WATCHED_COPIES = 8

_SIZE = re.compile(r"(?P<number>\d{1,18}(?:\.\d{1,6})?)(?P<unit>[KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = ("", "K", "M", "G", "T")


class SizeError(ValueError):
    """A text that is no size; the message is for the user."""


def parse_size(text: str) -> int:
    """Returns the bytes that ``2G``, ``500M``, ``1.5GiB`` or ``4096`` stand for; units are powers of 1024. Raises
    ``SizeError``."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise SizeError(f"'{text}' is no size, expected a number of bytes such as 500M or 2G")
    return int(float(found["number"]) * 1024 ** _UNITS.index(found["unit"].upper()))


class MemoryBudget:
    """The bytes that the arrays of a launch may take together.

    ``limit`` ``None`` means 80 % of the free memory at the first allocation. ``copies`` is how many copies of an array
    exist.
    """

    def __init__(self, limit: int | None = None, copies: int = 1) -> None:
        self.limit = limit
        self.stated = limit is not None
        self.copies = copies
        self.taken = 0

    def take(self, kept: int, passing: int, what: str) -> None:
        """Accounts for ``kept`` bytes and for ``passing`` ones that are free again afterwards.

        Raises ``BindingError`` with both figures when that is too much; ``what`` names what wants them.
        """
        if self.limit is None:
            free = free_memory()
            if free is None:
                return
            self.limit = int(free * SHARE)
        needed = kept * self.copies + passing
        if self.taken + needed > self.limit:
            before = f", beside {format_size(self.taken)} of other arguments" if self.taken else ""
            source = "--max-memory allows" if self.stated else "a launch may take (80 % of what is free)"
            raise BindingError(
                f"{what} would take {format_size(needed)} of memory{before}, more than the"
                f" {format_size(self.limit)} that {source}; --max-memory SIZE sets the limit"
            )
        self.taken += kept * self.copies


def memory_budget(limit: int | None, shown: bool, instrumented: bool) -> MemoryBudget:
    """Returns the budget of a launch: one that is ``shown`` retains the old content of its buffers, one that is
    ``instrumented`` records the readers and writers of each of their bytes."""
    return MemoryBudget(limit, 1 + shown + (_WATCHED_COPIES if instrumented else 0))
