"""When things happen, and what each step has waited for.  Source: docs/report.md, "Timeline"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from pto_dialect.sanitize.state.clocks import Thread

from .columns import Columns

Array = npt.NDArray[Any]


def shifted(rows: Columns, threads: Sequence[Thread], cores: int) -> dict[str, Array]:
    """Returns the columns of the steps, where blocks without a free core start after those that have one."""
    columns = {name: np.asarray(column) for name, column in rows.of.items()}
    blocks = {thread.number: (thread.device, thread.core.block.index) for thread in threads}
    ends: dict[tuple[int, int], float] = {key: 0.0 for key in sorted(set(blocks.values()))}
    for thread in threads:
        key = blocks[thread.number]
        ends[key] = max(ends[key], thread.time)
    free = [0.0] * max(cores, 1)
    begins: dict[tuple[int, int], float] = {}
    for key, end in ends.items():
        place = free.index(min(free))
        begins[key] = free[place]
        free[place] += end
    offsets = np.array([begins[blocks[thread.number]] for thread in threads] or [0.0])
    if offsets.any():
        moved = offsets[columns["thread"]]
        columns["start"] = columns["start"] + moved
        columns["end"] = columns["end"] + moved
    return columns


def causes(columns: dict[str, Array], threads: Sequence[Thread]) -> Array:
    """For each step the one whose end let it begin, -1 for none: the sender of a signal that was waited for, what the
    pipe did before, or what ended at just that time on another pipe."""
    found = np.full(len(columns["thread"]), -1, np.int32)
    device = [thread.device for thread in threads]
    before: dict[int, int] = {}
    ended: dict[tuple[int, float], int] = {}
    ends = columns["end"].tolist()
    rows = zip(columns["thread"].tolist(), columns["start"].tolist(), columns["sender"].tolist(), strict=True)
    for step, (thread, start, sender) in enumerate(rows):
        last = before.get(thread, -1)
        if sender >= 0 and ends[sender] > start:
            found[step] = sender
        elif last >= 0 and ends[last] == start:
            found[step] = last
        else:
            found[step] = ended.get((device[thread], start), -1)
        if ends[step] > start:
            ended[device[thread], ends[step]] = step
        before[thread] = step
    return found
