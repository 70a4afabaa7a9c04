"""Statistics as text: one table for each function and, where there are several, one for the module."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from pto_dialect.targets.memory import SPACES

from .aligned import aligned
from .statistics import (
    BARRIER,
    CORE,
    FLAG,
    LOCK,
    VALUES,
    MemoryUse,
    ModuleStatistics,
    Statistics,
    sorted_ids,
)

_SHOWN = 6
"""Operations of a family that are named."""

_SYNC_TITLES = {FLAG: "flags", CORE: "semaphores", LOCK: "locks"}


def render(programs: Iterable[ModuleStatistics]) -> str:
    """Returns the text of all programs, with an empty line between tables."""
    return "\n".join(table for program in programs for table in _tables(program))


def _tables(program: ModuleStatistics) -> list[str]:
    entries = program.functions if len(program.functions) == 1 else [program.module, *program.functions]
    return [_table(program, entry) for entry in entries]


def _table(program: ModuleStatistics, entry: Statistics) -> str:
    what = "module" if entry.function is None else f"@{entry.function}"
    lines = [f"{program.file}: {what} ({program.target}, release {program.release})"]
    lines += _operations(entry)
    lines += _memory(entry, program.capacity)
    lines += _sync(entry)
    return "".join(f"{line}\n" for line in lines)


def _operations(entry: Statistics) -> list[str]:
    rows = [["operations", str(entry.operations.total()), ""]]
    rows += [[f"  {family}", str(counts.total()), _names(counts)] for family, counts in entry.families().items()]
    return aligned(rows, "<><", "  ")


def _names(counts: Counter[str]) -> str:
    shown = [f"{name.removeprefix('pto.')} {count}" for name, count in counts.most_common(_SHOWN)]
    more = len(counts) - _SHOWN
    return ", ".join(shown) + (f", {more} more" if more > 0 else "")


def _memory(entry: Statistics, capacity: dict[str, int | None]) -> list[str]:
    if not entry.memory:
        return []
    rows = [["memory", "tiles", "buffers", "pointers", "bytes", "placed up to", "capacity"]]
    order = [*SPACES, VALUES]
    for space in sorted(entry.memory, key=lambda name: order.index(name) if name in order else len(order)):
        rows.append([f"  {space}", *_use(entry.memory[space], capacity.get(space))])
    return aligned(rows, "<>>>>>>", "  ")


def _use(use: MemoryUse, capacity: int | None) -> list[str]:
    share = f"{use.bytes} ({use.bytes / capacity:.0%})" if capacity and use.bytes else str(use.bytes)
    numbers = [str(number) if number else "-" for number in (use.tiles, use.buffers, use.pointers)]
    return [*numbers, share, str(use.end) if use.end else "-", str(capacity) if capacity else "-"]


def _sync(entry: Statistics) -> list[str]:
    lines: list[str] = []
    for kind, title in _SYNC_TITLES.items():
        found = {between: sync for (kind_, between), sync in entry.sync.items() if kind_ == kind}
        if found:
            ends = ["get", "release"] if kind == LOCK else ["set", "wait"]
            rows = [[title, "numbers", *ends]]
            for between, sync in sorted(found.items()):
                rows.append([f"  {between}", ", ".join(sorted_ids(sync)), str(sync.first), str(sync.second)])
            lines += aligned(rows, "<<>>", "  ")
    barriers = {between: sync.first for (kind, between), sync in sorted(entry.sync.items()) if kind == BARRIER}
    if barriers:
        rows = [["barriers", str(sum(barriers.values()))]]
        rows += [[f"  {between}", str(count)] for between, count in barriers.items()]
        lines += aligned(rows, "<>", "  ")
    return lines
