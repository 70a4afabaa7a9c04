"""What a run computes, whatever the numbers are: which bytes every operation has read, and who had written them.

A value is a hash of the operation that made it and of the values that it has read.  Two runs with equal values in
global memory at the end have computed the same in the same way, wherever their tiles lie.  Values are followed in the
order in which operations were issued, so they say what the order of the text gives; whether that order holds is what
``happens_before`` says of the same run.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from happens_before import Node, RecordedCore, RecordedKernel, Recorder, order, races

from pto_dialect.sanitize.state.regions import ascending

TRANSFERS = frozenset(("PIPE_MTE2", "PIPE_MTE3", "PIPE_FIX"))
_STEP = np.uint64(0x9E3779B97F4A7C15)


@dataclass
class Signals:
    """What was sent under one key, and who has waited for it, in order."""

    sets: list[Node] = field(default_factory=list)
    waits: list[Node] = field(default_factory=list)


class Place(NamedTuple):
    """When an operation was issued, and after how many barriers of its pipe."""

    issued: int
    fences: int


class FlowRecorder(Recorder):
    """Keeps the memories of a run and its signals beside the graph."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.memories: dict[int, Any] = {}
        self.signals: dict[Any, Signals] = defaultdict(Signals)
        self.places: dict[int, Place] = {}

    def node(self, core: Any, pipe: str, site: int, *, aside: bool = False) -> Node:
        node = super().node(core, pipe, site, aside=aside)
        self.places[id(node)] = Place(len(self.nodes), core.fences.get(pipe, 0))
        return node

    def _log(self, arena: Any, region: Any, writes: bool) -> None:
        self.memories[id(arena)] = arena
        super()._log(arena, region, writes)


class FlowCore(RecordedCore):
    """Reports signals to the recorder."""

    def connect(self, kind: int, node: Node, arguments: Any) -> None:
        signals = self.recorder.signals  # pyright: ignore[reportAttributeAccessIssue]
        if kind == 1:
            for core, key in arguments:
                signals[id(core), key].sets.append(node)
        elif kind == 2:
            for key in arguments:
                signals[id(self), key].waits.append(node)
        super().connect(kind, node, arguments)


class FlowKernel(RecordedKernel):
    """A kernel whose runs leave graph, memories and signals in ``observer``."""

    core_class = FlowCore
    observer_class = FlowRecorder


class Values(NamedTuple):
    """The values in global memory at the end, for each of its buffers in the order of their first use, and those of all
    operations."""

    left: list[bytes]
    made: list[int]


def values(observer: FlowRecorder) -> Values:
    """What a run has computed."""
    made: list[int] = []
    tags: dict[int, np.ndarray] = {}
    shared = 0
    for number, arena in observer.memories.items():
        size = arena.bytes.size
        tags[number] = np.zeros(size, np.uint64)
        if arena.space == "gm":
            shared += 1
            tags[number] = np.arange(size, dtype=np.uint64) * _STEP + np.uint64(shared)
    for place, node in enumerate(node for node in observer.nodes if node.accesses):
        digest = hashlib.blake2b(f"{place} {node.pipe}".encode(), digest_size=8)
        for memory, offsets, writes in node.accesses:
            if not writes:
                digest.update(tags[memory][ascending(offsets)].tobytes())
        value = np.uint64(int.from_bytes(digest.digest(), "little"))
        made.append(int(value))
        for memory, offsets, writes in node.accesses:
            if writes:
                where = ascending(offsets)
                with np.errstate(over="ignore"):
                    tags[memory][where] = value + np.arange(len(where), dtype=np.uint64) * _STEP
    return Values([tags[number].tobytes() for number, arena in observer.memories.items() if arena.space == "gm"], made)


def is_disordered(observer: FlowRecorder) -> str:
    """Why the order of the text need not hold, or signals do not come in pairs; empty if nothing is wrong."""
    if any(True for _ in races(observer)):
        return "race"
    order(observer.nodes)
    if _overlapping_transfers(observer):
        return "transfers of one pipe"
    for signals in observer.signals.values():
        if len(signals.sets) != len(signals.waits):
            return "left over"
        for wait, following in zip(signals.waits, signals.sets[1:], strict=False):
            if observer.places[id(following)].issued < observer.places[id(wait)].issued:
                return "set twice"
    return ""


def _overlapping_transfers(observer: FlowRecorder) -> bool:
    """Whether two transfers of one pipe write the same bytes without a barrier or a chain of flags between them.

    Source: docs/reference/execution.md, "Synchronisation".
    """
    written: dict[tuple[int, int, str], list[tuple[Node, Any]]] = defaultdict(list)
    for node in observer.nodes:
        for memory, offsets, writes in node.accesses:
            if writes and node.pipe in TRANSFERS:
                written[memory, id(node.core), node.pipe].append((node, ascending(offsets)))
    for accesses in written.values():
        for (a, first), (b, second) in combinations(accesses, 2):
            if a is b or first[0] > second[-1] or second[0] > first[-1]:
                continue
            if observer.places[id(a)].fences != observer.places[id(b)].fences or _chained(observer, a, b):
                continue
            if np.intersect1d(first, second, assume_unique=True).size:
                return True
    return False


def _chained(observer: FlowRecorder, a: Node, b: Node) -> bool:
    """Whether the way from one operation of a pipe to another leads through another pipe."""
    others = (node for node in observer.nodes if (node.core, node.pipe) != (a.core, a.pipe))
    return any(other.reached >> a.number & 1 and b.reached >> other.number & 1 for other in others)
