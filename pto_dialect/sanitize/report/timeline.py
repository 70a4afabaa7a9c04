"""The order of a run as a timeline in Chrome's trace format, which Perfetto shows.

One process for each core, one track for each pipe; an operation is a slice, a signal is a slice at either end with a
flow between them, a finding is an instant. The order is causal: a wait is the gap before the slice of its signal.
Durations are 1, or those of a simple cost model; neither states how long a chip takes. Those of the cycle model are in
microseconds. Source: docs/reference/execution.md, "Pipes of operations", "Synchronisation".
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..state.clocks import Thread
    from .findings import Finding
    from .sites import Site

START_UP = 64.0
"""Cost of any instruction in the simple model."""

BYTES_PER_UNIT = {
    "PIPE_S": 8.0,
    "PIPE_V": 256.0,
    "PIPE_M": 4096.0,
    "PIPE_MTE1": 256.0,
    "PIPE_MTE2": 64.0,
    "PIPE_MTE3": 64.0,
    "PIPE_FIX": 128.0,
}
"""Bytes that a pipe reads and writes in one unit of time in the simple model."""

_EVERY = ("PIPE_S", "PIPE_MTE2", "PIPE_MTE1", "PIPE_M", "PIPE_V", "PIPE_FIX", "PIPE_MTE3")


class Ran(NamedTuple):
    """The execution of an operation: the iterations of the loops around it, start, duration, event ids, and the lane of
    its pipe, where transfers of one pipe overlap."""

    loops: tuple[int, ...]
    start: float
    duration: float
    events: Iterable[int] = ()
    lane: int = 0


class Timeline:
    """Collects the slices of a run; ``costs`` selects the simple cost model instead of durations of 1. A unit of its
    times takes ``microseconds`` in the document, a signal so many units."""

    microseconds = 1.0
    signal = 0.25

    def __init__(self, costs: bool) -> None:
        self.costs = costs
        self.events: list[dict[str, Any]] = []
        self.starts: dict[int, tuple[Thread, float]] = {}
        self.flows = 0
        self._cores: dict[int, int] = {}
        self._lanes: set[tuple[int, int]] = set()

    def _ids(self, thread: Thread, lane: int = 0) -> dict[str, int]:
        core = thread.core
        if id(core) not in self._cores:
            pid = self._cores[id(core)] = len(self._cores) + 1
            name = f"block {core.block.index} {core.name}"
            self.events.append({"ph": "M", "name": "process_name", "pid": pid, "args": {"name": name}})
            for tid, pipe in enumerate(_EVERY):
                args = {"name": pipe.removeprefix("PIPE_")}
                self.events.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": args})
        pid, tid = self._cores[id(core)], _EVERY.index(thread.pipe) + lane * len(_EVERY)
        if lane and (pid, tid) not in self._lanes:
            self._lanes.add((pid, tid))
            args = {"name": f"{thread.pipe.removeprefix('PIPE_')} ({lane + 1})"}
            self.events.append({"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": args})
        return {"pid": pid, "tid": tid}

    def duration(self, thread: Thread, nbytes: int) -> float:
        """Returns the duration of an instruction that accesses ``nbytes`` bytes."""
        return START_UP + nbytes / BYTES_PER_UNIT[thread.pipe] if self.costs else 1.0

    def operation(self, thread: Thread, site: Site, ran: Ran) -> None:
        """Adds an operation that has run on its pipe."""
        indices = {f"%{name}": value for name, value in zip(site.loops, ran.loops, strict=False)}
        args: dict[str, Any] = {"operation": site.name, "place": site.line_text}
        args |= {"core": thread.core.name, "block": thread.core.block.index, **indices}
        label = ", ".join(
            (f"{site.name} ({site.line_text})", *(f"{name} = {value}" for name, value in indices.items()))
        )
        slice_ = {"ph": "X", "name": label, "cat": "operation", "ts": ran.start, "dur": ran.duration, "args": args}
        self.events.append(slice_ | self._ids(thread, ran.lane))
        for event in ran.events:
            self.starts[event] = (thread, ran.start)

    def sent(self, thread: Thread, site: Site, loops: tuple[int, ...]) -> int:
        """Adds a signal that is sent; returns the id of its flow."""
        self.flows += 1
        self.operation(thread, site, Ran(loops, thread.time, self.signal))
        flow = {"ph": "s", "name": "signal", "cat": "signal", "id": self.flows, "ts": thread.time}
        self.events.append(flow | self._ids(thread))
        thread.time += self.signal
        return self.flows

    def taken(self, thread: Thread, site: Site, loops: tuple[int, ...], since: float, flow: int) -> None:
        """Adds the end of a wait for a signal that started at ``since``."""
        self.operation(thread, site, Ran(loops, thread.time, self.signal))
        if thread.time > since:
            self.events[-1]["args"]["waited"] = (thread.time - since) * self.microseconds
        arrival = {"ph": "f", "bp": "e", "name": "signal", "cat": "signal", "id": flow, "ts": thread.time}
        self.events.append(arrival | self._ids(thread))
        thread.time += self.signal

    def document(self, findings: Iterable[Finding]) -> str:
        """Returns the trace as text, with the findings at the operations that showed them first."""
        events = list(self.events)
        for finding in findings:
            if finding.event in self.starts:
                thread, start = self.starts[finding.event]
                instant = {"ph": "i", "s": "t", "cat": "finding", "name": finding.rule, "ts": start}
                events.append(instant | self._ids(thread) | {"args": {"message": finding.message}})
        if self.microseconds != 1:
            times = ("ts", "dur")
            events = [one | {name: one[name] * self.microseconds for name in times if name in one} for one in events]
        return json.dumps({"traceEvents": events, "displayTimeUnit": "ms"}, indent=None) + "\n"
