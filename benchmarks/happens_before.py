"""An independent answer to what the race check decides with vector clocks: the order of a run as a graph.

Nodes are the operations of a run in the order in which they were issued; edges are the order of a pipe, what the scalar
unit had waited for, and signals.  Stores of the scalar unit to the unified buffer are outside the order of its pipe:
only its signals and barriers follow them.  Two accesses of one byte race when neither node can be reached from the
other.
Source: docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from pto_dialect.runtime.run.machine import Core
from pto_dialect.sanitize.instrument.core import InstrumentedCore
from pto_dialect.sanitize.instrument.observer import Context, RunObserver
from pto_dialect.sanitize.launch import InstrumentedKernel
from pto_dialect.sanitize.state.regions import ascending


@dataclass(eq=False)
class Node:
    """One issued operation: accesses are (memory, bytes, is it a write); ``before`` are its direct predecessors."""

    core: Any
    pipe: str
    site: int
    before: list[Node] = field(default_factory=list)
    accesses: list[tuple[int, Any, bool]] = field(default_factory=list)
    reached: int = 0
    number: int = 0


class Recorder(RunObserver):
    """Collects the graph of a run while the sanitizers watch it."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.nodes: list[Node] = []
        self.of_context: dict[int, Node] = {}
        self.kept: list[Context] = []
        self.sent: dict[Any, list[Node]] = {}
        self.last: dict[tuple[int, str], Node] = {}
        self.handed: dict[tuple[int, int], Node] = {}
        self.stores: dict[int, list[Node]] = {}

    def node(self, core: Core, pipe: str, site: int, *, aside: bool = False) -> Node:
        """A new node after the earlier ones of its pipe, and after all that the scalar unit has waited for.

        What comes later is not after a node ``aside``.
        """
        node = Node(core, pipe, site)
        for key in ((id(core), pipe), (id(core), "PIPE_S")):
            if key in self.last:
                node.before.append(self.last[key])
        if not aside:
            self.last[id(core), pipe] = node
        self.nodes.append(node)
        return node

    def stored(self, core: Core) -> list[Node]:
        """Stores of the scalar unit of ``core`` to its unified buffer."""
        return self.stores.setdefault(id(core), [])

    def _log(self, arena: Any, region: Any, writes: bool) -> None:
        context = self.current
        if context is None or self.muted:
            return
        node = self.of_context.get(id(context))
        if node is None:
            core = context.thread.core
            node = self.of_context[id(context)] = self.node(core, context.thread.pipe, context.mark.site)
            self.kept.append(context)
        if writes and node.pipe == "PIPE_S" and arena.space == "ub":
            node = self.node(node.core, node.pipe, node.site, aside=True)
            self.stored(node.core).append(node)
        node.accesses.append((id(arena), region.offsets(), writes))

    def read(self, arena: Any, region: Any) -> None:
        self._log(arena, region, False)
        super().read(arena, region)

    def write(self, arena: Any, region: Any) -> None:
        self._log(arena, region, True)
        super().write(arena, region)


class RecordedCore(InstrumentedCore):
    """Reports to the recorder what it issues."""

    @property
    def recorder(self) -> Recorder:
        assert isinstance(self.observer, Recorder)
        return self.observer

    def _append(self, pipe: str, entry: Any) -> None:
        number, _, kind, item, arguments = entry
        recorder = self.recorder
        node = recorder.node(self, pipe, self.site)
        if isinstance(item, Context):
            recorder.of_context[id(item)] = node
            recorder.kept.append(item)
        self.pending.setdefault(number, []).append((kind, node, arguments))
        super()._append(pipe, entry)

    @property
    def pending(self) -> dict[int, list[Any]]:
        """Nodes by issue number."""
        return self.__dict__.setdefault("_pending", {})

    def step(self) -> bool:
        heads = {pipe: queue[0] for pipe, queue in self.queues.items() if queue}
        moved = super().step()
        for pipe, head in heads.items():
            queue = self.queues[pipe]
            if not queue or queue[0] is not head:
                for kind, node, arguments in self.pending.pop(head[0], ()):
                    self.connect(kind, node, arguments)
        return moved

    def connect(self, kind: int, node: Node, arguments: Any) -> None:
        """Edges of a signal, a wait, or the hand-over of an accumulator, once it has happened."""
        sent = self.recorder.sent
        if kind == 1:
            for core, key in arguments:
                sent.setdefault((id(core), key), []).append(node)
        elif kind == 2:
            for key in arguments:
                node.before.append(sent[id(self), key].pop(0))
        elif kind == 3:
            node.before += sent.get((id(self), arguments[0]), [])[: arguments[1]]
        elif kind in (4, 5):
            for block in arguments[0].blocks:
                known = self.recorder.handed.get((id(self), block))
                if kind == 5:
                    self.recorder.handed[id(self), block] = node
                elif known is not None:
                    node.before.append(known)

    def signal(self, pipe: str, targets: Any) -> None:
        if pipe == "PIPE_S":
            node = self.recorder.node(self, pipe, self.site, aside=True)
            node.before += self.recorder.stored(self)
            self.connect(1, node, targets)
        super().signal(pipe, targets)

    def fence(self, pipe: str) -> None:
        super().fence(pipe)
        if pipe == "PIPE_S":
            self.recorder.node(self, pipe, self.site).before += self.recorder.stored(self)

    def join_scalar(self) -> Any:
        keys, level = self.scalar_wait, self.scalar_level
        yield from super().join_scalar()
        node = self.recorder.node(self, "PIPE_S", self.site)
        self.connect(2, node, keys)
        if level is not None:
            self.connect(3, node, level)

    def join_all(self) -> Any:
        yield from super().join_all()
        node = self.recorder.node(self, "PIPE_S", self.site)
        node.before += [last for (core, _), last in self.recorder.last.items() if core == id(self) and last is not node]
        node.before += self.recorder.stored(self)


class RecordedKernel(InstrumentedKernel):
    """A kernel whose runs leave their graph in ``watch.nodes``."""

    core_class = RecordedCore
    observer_class = Recorder


def order(nodes: list[Node]) -> None:
    """Gives every node the set of nodes before it, as bits."""
    numbered: list[Node] = []
    for node in nodes:
        node.number = -1
    for start in nodes:
        stack = [(start, iter(start.before))]
        if start.number >= 0:
            continue
        while stack:
            node, rest = stack[-1]
            if node.number >= 0:
                stack.pop()
                continue
            following = next((other for other in rest if other.number < 0), None)
            if following is not None:
                stack.append((following, iter(following.before)))
                continue
            node.number = len(numbered)
            numbered.append(node)
            node.reached = 0
            for other in node.before:
                node.reached |= other.reached | 1 << other.number
            stack.pop()


def races(observer: Recorder) -> Iterator[tuple[Node, Node]]:
    """All pairs of operations that access a byte in different pipes, one of them writing, without any order."""
    order(observer.nodes)
    touched: dict[int, list[tuple[Node, Any, bool]]] = {}
    for node in observer.nodes:
        for memory, offsets, writes in node.accesses:
            touched.setdefault(memory, []).append((node, ascending(offsets), writes))
    for accesses in touched.values():
        for (a, first, writes), (b, second, also) in combinations(accesses, 2):
            if not (writes or also) or (a.core, a.pipe) == (b.core, b.pipe):
                continue
            if a.reached >> b.number & 1 or b.reached >> a.number & 1:
                continue
            if first[0] > second[-1] or second[0] > first[-1]:
                continue
            kinds = [observer.sites[node.site].atomic for node in (a, b)]
            if kinds[0] is not None and kinds[0] == kinds[1]:
                continue
            if np.intersect1d(first, second, assume_unique=True).size:
                yield a, b
