"""Texts of events, memory and operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..state.windows import InstrumentedWindows

if TYPE_CHECKING:
    from ..state.arena import InstrumentedArena
    from ..state.clocks import Thread
    from .sites import Site

_SHOWN = 3
"""Maximum number of ranges that a message lists."""


def bytes_text(arena: InstrumentedArena, runs: Sequence[tuple[int, int]]) -> str:
    """Returns ranges of bytes of a memory as text."""
    start, name = 0, f"{arena.space} '{arena.name}'" if arena.public else arena.space
    if isinstance(arena, InstrumentedWindows):
        name, offset = arena.place(runs[0][0])
        start = runs[0][0] - offset
    shown = ", ".join(f"[{low - start}, {high - start})" for low, high in runs[:_SHOWN])
    more = f" and {len(runs) - _SHOWN} more ranges" if len(runs) > _SHOWN else ""
    total = sum(high - low for low, high in runs)
    count = f" ({total} bytes)" if len(runs) > 1 else ""
    return f"bytes {shown}{more}{count} of {name}"


def from_tiles(names: Sequence[str]) -> str:
    """Returns the operands through which an operation accesses memory."""
    return f" (through {', '.join(names)})" if names else ""


def operation_text(site: Site, loops: tuple[int, ...], thread: Thread) -> str:
    """Returns the text of an operation with what is known about its execution."""
    indices = ", ".join(f"%{name} = {value}" for name, value in zip(site.loops, loops, strict=False))
    where = f"{thread.name}, block {thread.core.block.index}"
    return f"{site.name} on {where}" + (f", {indices}" if indices else "")
