"""Happens-before of unrolled events as an explicit graph, and every fault of that execution.

A node is the start or the end of an operation.  The scalar unit issues in program order; a pipe starts its operations
in order and completes them before its next signal or barrier; the n-th wait for a flag takes the n-th set.  Two
accesses are in order when a path leads from the end of the earlier one to the start of the later one.
Source: docs/reference/execution.md, "Scheduling", "Synchronisation"; docs/reference/synchronisation.md, "Dependences",
"Order inside one pipe".
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from order_events import Event
from order_values import Bytes, common

FLAG_IDS, BUFFER_IDS, SIGNAL_IDS = 8, 32, 32
Actor = tuple[str, str]
"""A core and one of its pipes."""


@dataclass(frozen=True, eq=False)
class Fault:
    """``first`` comes before ``second`` in program order; ``place`` is the common byte range of a race."""

    kind: str
    first: Event
    second: Event | None = None
    place: tuple[str, int, int] | None = None


@dataclass
class _Core:
    """What is still open on one core: per pipe the last queue entry, and work that no later entry includes."""

    issue: int
    heads: dict[str, int] = field(default_factory=dict)
    ends: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    stores: list[int] = field(default_factory=list)
    released: dict[Any, list[int]] = field(default_factory=lambda: defaultdict(list))
    held: dict[tuple[str, Any], Event] = field(default_factory=dict)


class Execution:
    """The graph of the events of all cores of a block."""

    def __init__(self, events: list[Event], target: str):
        self.events, self.target = events, target
        self.before: list[list[int]] = []
        self.spans: list[tuple[int, int]] = []
        self.faults: list[Fault] = []
        self.ahead: list[Fault] = []
        """Flags that the scalar unit sets, at some speed of the pipes, before the wait for an earlier one is over."""
        self.sets: dict[Any, list[int]] = defaultdict(list)
        self.waits: dict[Any, list[int]] = defaultdict(list)
        self.cores: dict[str, _Core] = {}
        for index in range(len(events)):
            self.add(index)
        self.match()
        self.reach()
        if len(self.order) == len(self.before):
            self.races()
            self.early()
        else:
            self.deadlock()

    # ------------------------------------------------------------ edges

    def node(self, *before: int) -> int:
        self.before.append(list(before))
        return len(self.before) - 1

    def add(self, index: int) -> None:
        event = self.events[index]
        if event.core not in self.cores:
            self.cores[event.core] = _Core(self.node())
        core = self.cores[event.core]
        self.spans.append(getattr(self, f"add_{event.kind}")(core, event, index))

    def head(self, core: _Core, pipe: str) -> list[int]:
        """What the next entry of a pipe starts after."""
        return [core.issue, core.heads[pipe]] if pipe in core.heads else [core.issue]

    def done(self, core: _Core, pipe: str) -> list[int]:
        """What has ended when all earlier work of a pipe has."""
        return [*self.head(core, pipe), *(core.stores if pipe == "S" else core.ends[pipe])]

    def stall(self, core: _Core, pipe: str, node: int) -> tuple[int, int]:
        """A queue entry that later entries of the pipe, or all of the core if it is S, start after."""
        core.heads[pipe] = node
        if pipe == "S":
            core.issue = node
        return node, node

    def add_work(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        start = self.node(*self.head(core, event.pipe))
        end = self.node(start)
        core.heads[event.pipe] = start
        core.ends[event.pipe].append(end)
        return start, end

    def add_read(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        return self.stall(core, "S", self.node(core.issue))

    def add_store(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        start = self.node(core.issue)
        end = self.node(start)
        core.stores.append(end)
        return start, end

    def add_set(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        self.check_range(event, event.key[2], FLAG_IDS)
        key = (event.core, *event.key)
        node = self.signal(core, event)
        if len(self.sets[key]) > len(self.waits[key]):
            self.faults.append(Fault("overfull-flag", self.events[self.sets[key][-1]], event))
        self.sets[key].append(index)
        return node, node

    def signal(self, core: _Core, event: Event) -> int:
        """A node after all earlier work of its pipe."""
        node = self.node(*self.done(core, event.pipe))
        if event.pipe == "S":
            core.stores = [node]
        else:
            core.ends[event.pipe] = [node]
        return node

    def add_wait(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        self.check_range(event, event.key[2], FLAG_IDS)
        self.waits[event.core, *event.key].append(index)
        return self.stall(core, event.pipe, self.node(*self.head(core, event.pipe)))

    def add_post(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        self.check_signal(event)
        for key in signal_keys(event):
            self.sets[key].append(index)
        node = self.signal(core, event)
        return node, node

    def add_take(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        self.check_signal(event)
        for key in signal_keys(event):
            self.waits[key].append(index)
        pipe = "S" if self.target == "a2a3" else event.pipe
        return self.stall(core, pipe, self.node(*self.head(core, pipe)))

    def add_get(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        self.check_range(event, event.key, BUFFER_IDS)
        if (event.pipe, event.key) in core.held:
            self.faults.append(Fault("buf-nesting", event))
        core.held[event.pipe, event.key] = event
        node = self.node(*self.head(core, event.pipe), *core.released[event.key])
        return self.stall(core, event.pipe, node)

    def add_rls(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        self.check_range(event, event.key, BUFFER_IDS)
        if (event.pipe, event.key) not in core.held:
            self.faults.append(Fault("buf-nesting", event))
        core.held.pop((event.pipe, event.key), None)
        node = self.signal(core, event)
        core.released[event.key].append(node)
        return node, node

    def add_barrier(self, core: _Core, event: Event, index: int) -> tuple[int, int]:
        pipes = [*core.heads, *core.ends] if event.key == "ALL" else [event.key]
        joined = dict.fromkeys([*pipes, "S"] if event.key == "ALL" else pipes)
        node = self.node(core.issue, *(earlier for pipe in joined for earlier in self.done(core, pipe)))
        for pipe in joined:
            core.heads[pipe] = node
            if pipe == "S":
                core.stores, core.issue = [node], node
            else:
                core.ends[pipe] = [node]
        return node, node

    def check_signal(self, event: Event) -> None:
        if not isinstance(event.key, tuple):
            self.check_range(event, event.key, SIGNAL_IDS)

    def check_range(self, event: Event, number: int, count: int) -> None:
        if not 0 <= number < count:
            self.faults.append(Fault("id-range", event))

    def match(self) -> None:
        """The n-th wait takes the n-th set; a set that is left is a fault, and so is a buffer id that is never
        released."""
        held = (event for core in self.cores.values() for event in core.held.values())
        self.faults.extend(Fault("buf-nesting", event) for event in held)
        for key, waits in self.waits.items():
            for index, wait in enumerate(waits):
                if index < len(self.sets[key]):
                    self.before[self.spans[wait][0]].append(self.spans[self.sets[key][index]][1])
                else:
                    self.before[self.spans[wait][0]].append(-1)
        for key, sets in self.sets.items():
            left = sets[len(self.waits[key]) :]
            self.faults.extend(Fault("leftover-flag", self.events[index]) for index in left)

    # ------------------------------------------------------------ order

    def reach(self) -> None:
        """The nodes that ever happen, in an order that respects all edges, and what precedes each as a bit mask."""
        after: list[list[int]] = [[] for _ in self.before]
        open_edges = [0] * len(self.before)
        for node, edges in enumerate(self.before):
            open_edges[node] = len(edges)
            for edge in edges:
                if edge >= 0:
                    after[edge].append(node)
        self.order = [node for node, count in enumerate(open_edges) if not count]
        for node in self.order:
            for later in after[node]:
                open_edges[later] -= 1
                if not open_edges[later]:
                    self.order.append(later)
        masks = [0] * len(self.before)
        for node in self.order:
            mask = 0
            for edge in self.before[node]:
                mask |= masks[edge] | 1 << edge
            masks[node] = mask
        self.masks = masks

    def deadlock(self) -> None:
        """The waits that never end: one without a set, or all that are in a cycle."""
        happened = set(self.order)
        stuck = [self.events[index] for index, span in enumerate(self.spans) if span[0] not in happened]
        self.faults.extend(Fault("deadlock", event) for event in stuck if event.kind in ("wait", "take", "get"))

    def in_order(self, first: int, second: int) -> bool:
        return bool(self.masks[self.spans[second][0]] >> self.spans[first][1] & 1)

    # ------------------------------------------------------------ conflicts

    def races(self) -> None:
        for first, second, kind, place in self.conflicts():
            if self.in_order(first, second) or (kind == "race-cross-core" and self.in_order(second, first)):
                continue
            if kind != "race-same-pipe" or not self.used_between(first, second, place):
                self.faults.append(Fault(kind, self.events[first], self.events[second], place))

    def early(self) -> None:
        for key, sets in self.sets.items():
            if not sets or self.events[sets[0]].kind != "set" or self.events[sets[0]].pipe != "S":
                continue
            for earlier, wait, later in zip(sets, self.waits[key], sets[1:], strict=False):
                if not self.masks[self.spans[later][0]] >> self.spans[wait][1] & 1:
                    self.ahead.append(Fault("flag-ahead", self.events[earlier], self.events[later]))

    def used_between(self, first: int, second: int, place: tuple[str, int, int]) -> bool:
        """Whether another pipe accesses bytes that MTE2 loads twice between the two loads, in program order."""
        if self.events[first].pipe != "MTE2":
            return False
        shared = Bytes(place[0], ((place[1], place[2]),))
        between = (event for event in self.events[first:second] if event.pipe != "MTE2")
        return any(common(used, shared) for event in between for used in (*event.reads, *event.writes))

    def conflicts(self) -> Iterator[tuple[int, int, str, tuple[str, int, int]]]:
        """Pairs in program order that access the same bytes, one of them writing, and need an order."""
        users: dict[Bytes, list[tuple[int, bool]]] = defaultdict(list)
        memories: dict[str, list[Bytes]] = defaultdict(list)
        for second, event in enumerate(self.events):
            mine = [*((place, False) for place in event.reads), *((place, True) for place in event.writes)]
            seen: set[tuple[int, str]] = set()
            for place, writes in mine:
                for other in memories[memory_of(event, place)]:
                    shared = common(other, place)
                    for first, wrote in users[other] if shared else ():
                        kind = self.kind(first, second, wrote, writes, place.memory)
                        if shared and kind and (first, kind) not in seen:
                            seen.add((first, kind))
                            yield first, second, kind, (place.memory, *shared)
            for place, writes in mine:
                if place not in users:
                    memories[memory_of(event, place)].append(place)
                users[place].append((second, writes))

    def kind(self, first: int, second: int, wrote: bool, writes: bool, memory: str) -> str | None:
        """The kind of a conflict, or None if the two accesses need no order."""
        one, other = self.events[first], self.events[second]
        if not wrote and not writes:
            return None
        if one.core != other.core:
            return "race-cross-core" if memory.startswith("gm") else None
        if one.pipe != other.pipe:
            return ("race-waw" if wrote else "race-war") if writes else "race-raw"
        return "race-same-pipe" if self.pipelined(one.pipe, wrote and writes, memory) else None

    def pipelined(self, pipe: str, both_write: bool, memory: str) -> bool:
        """Whether two dependent accesses of one pipe need a barrier."""
        if pipe == "V":
            return self.target == "a2a3"
        return both_write and (pipe == "MTE2" or (pipe in ("MTE3", "FIX") and memory.startswith("gm")))


def memory_of(event: Event, place: Bytes) -> str:
    """Memories of a core have its name, global memory is the same for all."""
    return place.memory if place.memory.startswith("gm") else f"{event.core} {place.memory}"


VECTORS = ("vector0", "vector1")
GROUPS = {"aic_only": ("cube",), "aiv_only": VECTORS, "mix": ("cube", *VECTORS)}
"""The cores of a block that take part in a barrier over all cores."""


def signal_keys(event: Event) -> list[Any]:
    """The counters that a signal changes, or a wait needs: which core signals which one, and the id. Between a pair of
    cores the ids of the second vector core begin at 16."""
    mine = event.core
    if isinstance(event.key, tuple):
        mode, number = event.key
        if mode == "block":
            others: tuple[str, ...] = VECTORS if mine == "cube" else ("cube",)
        elif mode == "vectors":
            others = VECTORS
        elif mode == "blocks":
            others = ("cube",) if mine == "cube" else VECTORS
        else:
            others = GROUPS[mode]
    else:
        mode, number = "pair", event.key % 16
        others = (VECTORS[event.key // 16],) if mine == "cube" else ("cube",)
    pairs = ((mine, other) if event.kind == "post" else (other, mine) for other in others)
    return [(mode, number, source, target) for source, target in pairs]
