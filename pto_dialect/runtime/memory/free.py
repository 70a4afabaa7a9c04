"""The amount of free memory, for code that queries it before an allocation."""

from __future__ import annotations

import os

SHARE = 0.8
"""Default share of the free memory that one allocation may take."""

_CGROUP = "/sys/fs/cgroup/memory"


def free_memory() -> int | None:
    """Returns the bytes that this process can allocate without swapping; ``None`` where the system does not report
    them."""
    limits = [number for number in (_available(), _container_limit()) if number is not None]
    return min(limits, default=None)


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


def _container_limit() -> int | None:
    """Returns what the limit of the container leaves (control groups, version 2 or 1)."""
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
