"""The steps of a recording as those of a page.  Source: docs/report.md, "From a recording"."""

from __future__ import annotations

import numpy as np

from pto_dialect.recording import Recording
from pto_dialect.recording.format import KINDS

from .columns import Columns, Ranges
from .instrumentation import OPERATION, SENT, TAKEN
from .order import Array

_KINDS = {"operation": OPERATION, "set": SENT, "wait": TAKEN}
_SIGNAL = 0.25
"""What a signal takes where a recording has no times and an operation takes 1."""


class RecordedSteps:
    """``rows`` and ``columns`` are the steps; ``owner`` has for each step of the recording the one that shows it: parts
    of a scope belong to the step of their scope, and what the scalar unit does without touching memory (-1) is not
    shown. ``lists`` has the values of loop indices."""

    def __init__(self, recording: Recording) -> None:
        self.lists = Ranges()
        self.rows = Columns(
            kind="u8", thread="u16", site="u32", loops="u32", start="f64", end="f64", sender="i32", work="f64",
            low="f32", high="f32",
        )  # fmt: skip
        self.owner: list[int] = []
        senders = {one.step: one.peer for one in recording.signals if one.waits and one.peer >= 0}
        table = recording.steps
        columns = (table.kind, table.thread, table.statement, table.start, table.end)
        signals = any(KINDS[kind] != "operation" and KINDS[kind] != "part" for kind in np.unique(table.kind).tolist())
        timed = recording.timed
        scalar = np.array([one.pipe == "S" for one in recording.threads] or [False])[table.thread]
        silent = scalar & (table.kind == KINDS.index("operation"))
        silent[recording.accesses.step] = False
        free: dict[int, float] = {}
        latest = 0.0
        last: dict[int, int] = {}
        rows = zip(*(column.tolist() for column in columns), strict=True)
        ends = self.rows.of["end"]
        for step, (kind, thread, statement, start, end) in enumerate(rows):
            if silent[step]:
                self.owner.append(-1)
                continue
            if KINDS[kind] == "part" and thread in last:
                self.owner.append(last[thread])
                continue
            peer = senders.get(step, -1)
            sender = self.owner[peer] if 0 <= peer < step else -1
            if not timed:
                start = free.get(thread, 0.0) if signals else latest
                ready = max(start, ends[sender]) if sender >= 0 else start
                end = ready + (1.0 if _KINDS.get(KINDS[kind], OPERATION) == OPERATION else _SIGNAL)
            elif start != start:
                start = end = free.get(thread, 0.0)
            free[thread] = latest = end
            loops = self.lists.number(recording.loops_of(step))
            number = self.rows.add(
                _KINDS.get(KINDS[kind], OPERATION), thread, statement + 1, loops, start, end, sender, 0.0, end - start,
                end - start,
            )  # fmt: skip
            last[thread] = number
            self.owner.append(number)

    @property
    def columns(self) -> dict[str, Array]:
        """The steps as arrays."""
        return {name: np.asarray(column) for name, column in self.rows.of.items()}
