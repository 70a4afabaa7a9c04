"""How much memory a launch may take, asked before it is taken."""

from __future__ import annotations

import os
import re

from pto_dialect.runtime.errors import BindingError
from pto_dialect.runtime.faults import size_text

SHARE = 0.8
"""Of the free memory, what a launch may take unless it is told otherwise."""

_WATCHED_COPIES = 8

_SIZE = re.compile(r"(?P<number>\d{1,18}(?:\.\d{1,6})?)(?P<unit>[KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = ("", "K", "M", "G", "T")
_CGROUP = "/sys/fs/cgroup/memory"


class SizeError(ValueError):
    """A text that is no size; the message is for the user."""


def parse_size(text: str) -> int:
    """Bytes that ``2G``, ``500M``, ``1.5GiB`` or ``4096`` stand for; units are powers of 1024. Raises ``SizeError``."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise SizeError(f"'{text}' is no size, expected a number of bytes such as 500M or 2G")
    return int(float(found["number"]) * 1024 ** _UNITS.index(found["unit"].upper()))


def free_memory() -> int | None:
    """Bytes that this process could take without swapping; ``None`` where the system does not tell."""
    found = [number for number in (_available(), _container_room()) if number is not None]
    return min(found, default=None)


def _available() -> int | None:
    try:
        with open("/proc/meminfo", encoding="ascii") as stream:
            for line in stream:
                if line.startswith("MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container_room() -> int | None:
    """What the limit of the container leaves (control groups, version 2 or 1)."""
    for limit, used in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
        (f"{_CGROUP}/memory.limit_in_bytes", f"{_CGROUP}/memory.usage_in_bytes"),
    ):
        try:
            with open(limit, encoding="ascii") as first, open(used, encoding="ascii") as second:
                return max(int(first.read()) - int(second.read()), 0)
        except (OSError, ValueError):
            continue
    return None


class MemoryBudget:
    """The bytes that the arrays of a launch may take together.

    ``limit`` ``None`` stands for 80 % of what is free when the first array is asked for. ``copies`` is how many times
    an array is held.
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
            before = f", beside {size_text(self.taken)} of other arguments" if self.taken else ""
            source = "--max-memory allows" if self.stated else "a launch may take (80 % of what is free)"
            raise BindingError(
                f"{what} would take {size_text(needed)} of memory{before}, more than the"
                f" {size_text(self.limit)} that {source}; --max-memory SIZE sets the limit"
            )
        self.taken += kept * self.copies


def memory_budget(limit: int | None, shown: bool, watched: bool) -> MemoryBudget:
    """The budget of a launch: one that is ``shown`` keeps the old content of its buffers, one that is ``watched`` who
    read and who wrote each of their bytes."""
    return MemoryBudget(limit, 1 + shown + (_WATCHED_COPIES if watched else 0))
