"""The page of a run that was recorded.  Source: docs/report.md, "From a recording"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pto_dialect.analysis.cycles.static import table_for
from pto_dialect.recording import Recording
from pto_dialect.recording.format import KINDS
from pto_dialect.recording.model import Access, Form, Handle, Memory
from pto_dialect.runtime.memory.layout import TileLayout
from pto_dialect.runtime.numerics.format_table import format_of
from pto_dialect.runtime.run.machine import OF_RANK
from pto_dialect.targets.choice import get_profile
from pto_dialect.version import __version__

from .accessed import NONE, ROUGH, WHOLE, AccessedBytes, Box, Shape, Span
from .accessed import Memory as Kept
from .columns import Columns, Ranges, encoded
from .instrumentation import OPERATION, SENT, TAKEN
from .locations import Buffer, Locations
from .model import VERSION, memory_parts
from .order import Array, causes
from .page import html

_KIND_OF_CORE = {"AIC": "aic", "core": "all"}
_MOST_RUNS = 16


@dataclass
class _Device:
    device: int


class RecordedOperands:
    """The operands of statements, as the first execution of each has them."""

    def __init__(self, recording: Recording, steps: RecordedSteps) -> None:
        self.recording = recording
        self._first: dict[int, int] = {}
        for step, statement in enumerate(recording.steps.statement.tolist()):
            self._first.setdefault(statement + 1, step)

    def _handles(self, site: int, space: str) -> dict[str, Handle]:
        step = self._first.get(site)
        found = {} if step is None else self.recording.handles_of(step)
        return {name: one for name, one in found.items() if one.form.space == space}

    def names(self, site: int, space: str, writes: bool) -> Sequence[str]:
        """Returns the names of the operands of a site in a memory."""
        return list(self._handles(site, space))

    def element(self, site: int, space: str) -> str:
        """Returns the format of the elements that they point to, empty where that is not known."""
        for one in self._handles(site, space).values():
            try:
                return format_of(one.form.element).name
            except ValueError:
                continue
        return ""


class _Arena:
    """What a memory of a recording is, under the names that a memory of a run has."""

    def __init__(self, memory: Memory) -> None:
        self.space, self.name, self.capacity = memory.space, memory.name, memory.size
        self.public = memory.block < 0
        self.fill = "zero" if memory.fill == 0 else "poison" if memory.fill is not None else "random"


class RecordedPage:
    """Puts the page of a recording together."""

    def __init__(self, recording: Recording) -> None:
        self.recording = recording
        self.steps = RecordedSteps(recording)
        self.touched = AccessedBytes(None)
        for memory in recording.memories:
            core = memory.cores[0] if len(memory.cores) == 1 else ""
            content = NONE
            if memory.fill is None and memory.block < 0:
                content = self.touched.contents.add(recording.history(memory.number).start(0, memory.size))
            self.touched.memories.append(Kept(_Arena(memory), memory.block, core, content))
        self._layouts: dict[Form, TileLayout] = {}

    def build(self) -> str:
        """Returns the page."""
        recording, program = self.recording, self.recording.program
        self._accesses()
        buffers = [
            Buffer(recording.memories[one.memory].name, tuple(one.shape), _format_name(one.element))
            for one in recording.arguments
            if one.value is None and one.memory >= 0
        ]
        places = Locations(self.touched, RecordedOperands(recording, self.steps), {one.name: one for one in buffers})
        table = table_for(get_profile(program.target).arch, None)
        columns, rows = self.steps.columns, self.steps.rows
        memory, chunks = memory_parts(self.touched, places, buffers)
        document: dict[str, Any] = {
            "version": VERSION,
            "tool": __version__,
            "file": program.file,
            "entry": program.entry,
            "target": program.target,
            "release": program.release,
            "clock_mhz": table.value_of("machine", "clock_mhz"),
            "complete": recording.outcome.kind == "ended",
            "checked": [],
            "recorded": True,
            "sites": self._sites(),
            "threads": self._threads(),
            "steps": {name: encoded(rows.kinds[name], column) for name, column in columns.items()},
            "loops": self.steps.lists.document(),
            "files": [{"name": program.file, "text": program.text, "first": 1}],
            "findings": self._findings(),
            "blocked": self._blocked(),
            "limits": recording.limits,
            "roofs": {"compute": [], "memory": 0.0, "cores": int(table.value_of("machine", "cores")), "paths": {}},
        }  # fmt: skip
        devices: Any = [_Device(0) for _ in recording.threads]
        document["steps"]["cause"] = encoded("i32", causes(columns, devices))
        return html(document | memory, chunks)

    def _threads(self) -> list[dict[str, Any]]:
        return [
            {"block": one.block, "core": one.core, "kind": _KIND_OF_CORE.get(one.core.partition(OF_RANK)[0], "aiv")}
            | {"pipe": f"PIPE_{one.pipe}"}
            for one in self.recording.threads
        ]

    def _blocked(self) -> list[dict[str, Any]]:
        return [
            {
                "thread": one.thread,
                "site": one.statement + 1,
                "loops": list(one.loops),
                "text": ", ".join(one.signals),
            }
            for one in self.recording.waiting
        ]

    def _sites(self) -> list[dict[str, Any]]:
        counts = np.bincount(self.recording.steps.statement, minlength=len(self.recording.statements))
        found: list[dict[str, Any]] = [{"op": "", "loops": [], "count": 0, "file": -1, "line": 0, "column": 0}]
        for one in self.recording.statements:
            found.append(
                {"op": one.name, "loops": [name.removeprefix("%") for name in one.loops], "evidence": ""}
                | {"count": int(counts[one.number]), "reached": bool(counts[one.number])}
                | {"file": 0 if one.line else -1, "line": one.line, "column": one.col}
            )
        return found

    # ------------------------------------------------------------ accesses

    def _accesses(self) -> None:
        recording, touched = self.recording, self.touched
        handles: tuple[int, list[tuple[str, Handle]]] = (-1, [])
        for number, step in enumerate(recording.accesses.step.tolist()):
            access = recording.access(number)
            if handles[0] != step:
                handles = (step, list(recording.handles_of(step).items()))
            site = int(recording.steps.statement[step]) + 1
            shape = self._shape(access, handles[1])
            data = recording.history(access.memory).written(number) if access.writes else None
            for key, part in _spans(access):
                content = NONE
                if data is not None:
                    content = touched.contents.add(data if part is None else data[part])
                region = touched.region_id(access.memory, key)
                touched.accesses.add(self.steps.owner[step], site, access.writes, region, shape, content)

    def _shape(self, access: Access, handles: Sequence[tuple[str, Handle]]) -> int:
        """Returns the tile that an access goes through."""
        for name, one in handles:
            form = one.form
            if form.kind != "tile" or one.memory != access.memory or not form.layout:
                continue
            layout = self._layouts.get(form)
            if layout is None:
                rows, cols, blayout, slayout, fractal = form.layout
                layout = self._layouts[form] = TileLayout(rows, cols, form.item_bytes, blayout, slayout, fractal)
            if one.address <= access.first and access.stop <= one.address + layout.nbytes:
                box = Box(access.memory, one.address, one.address + layout.nbytes, "", 0)
                rows, cols = form.shape
                return self.touched.shape_id(
                    Shape(
                        self.touched.box_id(box, [name]), one.address, layout, _format_name(form.element),
                        form.location, rows, cols, *form.corner, *form.valid,
                    )
                )  # fmt: skip
        return 0

    # ------------------------------------------------------------ findings

    def _findings(self) -> list[dict[str, Any]]:
        found = [
            self._finding(one.rule, one.severity, one.message, one.help, (one.line, one.col), one.notes)
            | {"steps": [owner for step in one.steps if (owner := self.steps.owner[step]) >= 0]}
            for one in self.recording.findings
        ]
        end = self.recording.outcome
        if end.kind == "failed" and all(one["rule"] != end.rule for one in found):
            notes = [(text, 0) for text in end.notes]
            found.append(self._finding(end.rule, "error", end.message, None, (end.line, end.col), notes))
        return found

    def _finding(
        self, rule: str, severity: str, message: str, help: str | None, place: tuple[int, int], notes: Any
    ) -> dict[str, Any]:
        return {
            "rule": rule, "severity": severity, "message": message, "help": help, "place": _place(*place), "count": 1,
            "notes": [{"text": text, "place": _place(line, 1)} for text, line in notes], "steps": [], "memory": -1,
            "ranges": [],
        }  # fmt: skip


def _place(line: int, column: int) -> dict[str, int]:
    return {"file": 0 if line else -1, "line": line, "column": column}


def _format_name(name: str) -> str:
    try:
        return format_of(name).name
    except ValueError:
        return "ui8"


def _spans(access: Access) -> list[tuple[Span, Any]]:
    """Returns the bytes of an access as regions, each with the part of its content that it has; ``None``: all of it."""
    if access.starts is None:
        return [((access.first, access.run, access.dims, WHOLE), None)]
    starts, item = np.asarray(access.starts), access.run
    order = np.argsort(starts, kind="stable")
    # Of elements that occur twice the last one counts.
    sorted_ = starts[order]
    last = order[np.append(sorted_[1:] != sorted_[:-1], True)] if sorted_.size else order
    places = starts[last]
    cuts = np.flatnonzero(np.diff(places) != item) + 1
    groups = np.split(last, cuts) if places.size else []
    if len(groups) > _MOST_RUNS and not access.writes:
        return [((access.first, access.stop - access.first, (), ROUGH), None)]
    offsets = np.arange(item)
    return [
        ((int(starts[group[0]]), item * len(group), (), WHOLE), (group[:, None] * item + offsets).reshape(-1))
        for group in groups
    ]


def page_of_recording(recording: Recording) -> str:
    """The page of a recorded run. Times are those of the recording; without, each operation takes one cycle."""
    return RecordedPage(recording).build()


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
