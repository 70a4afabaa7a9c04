"""The state of the pipes of a core on one path of a function, and a key that is equal for states with the same future.

Recorded accesses grow in number with a program, and states are compared at every control-flow join. Nearly all
different states differ in the clocks of the pipes, for which the ids of the accesses are sufficient. Source:
docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import NamedTuple, Protocol, Self

from xdsl.ir import Operation

from pto_dialect.analysis.abstract_state import Step
from pto_dialect.analysis.abstract_values import AbstractValue
from pto_dialect.ir.core.base import Pipe
from pto_dialect.ir.core.facts.unit_flags import unit_check

# ------------------------------------------------------------ slots of queues


Slots = Mapping[Operation, tuple[Operation, int]]
"""The pops of a function, each with what tells its queue from others and how many local slots that has."""
NO_SLOTS: Slots = MappingProxyType({})


class PoppedSlots:
    """The slots that handles have, and the next slot of each queue."""

    def __init__(self, pops: Slots) -> None:
        self.pops = pops
        self._next: dict[Operation, int] = {}
        self._bound: dict[AbstractValue, AbstractValue] = {}

    def copy(self) -> PoppedSlots:
        """An independent copy of the state."""
        if not self.pops:
            return self
        other = PoppedSlots(self.pops)
        other._next, other._bound = dict(self._next), dict(self._bound)
        return other

    def key(self) -> Hashable:
        """Returns what tells two states apart."""
        return frozenset(self._next.items()), frozenset(self._bound.items())

    def issued(self, step: Step) -> Step:
        """Returns ``step`` with the slots in place of the handles that it uses or, if it pops, with its slot at the
        end."""
        if not self.pops:
            return step
        pop = self.pops.get(step.op)
        if pop is None:
            return step._replace(values=tuple(self._slot(number) for number in step.values)) if self._bound else step
        queue, count = pop
        number = self._next.get(queue, 0)
        self._next[queue] = (number + 1) % count
        slot: AbstractValue = ("slot", id(queue), number)
        # Of the results of a pop the latest counts: older ones are other numbers where a loop carries them.
        handle = step.values[0] if step.op.operands and not step.op.results else ("new", id(step.op.results[0]))
        self._bound[handle] = slot
        return step._replace(values=(*step.values, slot))

    def slot_of(self, step: Step) -> AbstractValue | None:
        """Returns the slot that an issued pop loads into; ``None`` for other operations."""
        return step.values[-1] if step.op in self.pops else None

    def _slot(self, number: AbstractValue) -> AbstractValue:
        if isinstance(number, tuple) and number[0] == "new":
            return self._bound.get(number[:2], number)
        return self._bound.get(number, number)


Clock = dict[str, int]
Key = tuple[str, str, AbstractValue]
"""A flag: both ends and the number."""
Place = AbstractValue
"""Memory that two operations must share when it is equal: the handle that both use, or the address where both start."""
_NO_STARTS: Mapping[int, Place] = MappingProxyType({})


class Access(NamedTuple):
    """A read or write: who, when, by which operation, where in the text of the way, and in which iterations."""

    pipe: str
    number: int
    op: Operation
    order: int
    turns: tuple[tuple[Operation, int], ...] = ()


class Findings(Protocol):
    """Receives the findings. ``certain``: on every path."""

    def stuck(self, op: Operation, key: Key, certain: bool) -> None:
        """No set ends this wait."""
        ...

    def left(self, op: Operation, key: Key, certain: bool) -> None:
        """Nobody waits for this set."""
        ...

    def again(self, first: Operation, second: Operation, key: Key, certain: bool) -> None:
        """Two sets without a wait between them."""
        ...

    def nesting(self, op: Operation, number: int, held: bool, certain: bool) -> None:
        """A pipe acquires a buffer id that it holds (``held``), or releases one that it does not hold."""
        ...

    def hazard(self, kind: str, first: Access, second: Access, inverted: bool, certain: bool) -> None:
        """Two unordered accesses of one location, or ``inverted``: in the reverse of the order of the text.

        ``kind`` is raw, war or waw.
        """
        ...


class Item(NamedTuple):
    """Work in the queue of a pipe; ``known`` is what the scalar unit knew when it was issued."""

    kind: str
    step: Step
    key: Key | None
    known: Clock


class FlowState:
    """The pipes of one core: what waits in them, what each knows of the others, who touched what last."""

    def __init__(
        self, arch: str, findings: Findings, starts: Mapping[int, Place] = _NO_STARTS, pops: Slots = NO_SLOTS
    ) -> None:
        self.arch = arch
        self.findings = findings
        self.starts = starts
        """The addresses of tiles, by the ``id`` of the value: other tiles may have the same."""
        self.slots = PoppedSlots(pops)
        self.queues: dict[str, deque[Item]] = {}
        self.clocks: dict[str, Clock] = {}
        self.settled: Clock = {}
        self.tokens: dict[Key, tuple[tuple[Operation, Clock], ...]] = {}
        self.pending: dict[Key, Operation] = {}
        self.released: dict[AbstractValue, Clock] = {}
        self.held: frozenset[tuple[str, int]] = frozenset()
        self.writers: dict[Place, Access] = {}
        self.readers: dict[Place, dict[str, Access]] = {}
        self.counted: dict[str, dict[int, int]] = {}
        """How many of the accesses above have each id, by pipe; later ids are larger and follow."""
        self.unclear: frozenset[tuple[str, str]] = frozenset()
        self.open = False
        self.certain = True

    def copy(self) -> Self:
        """An independent copy of the state."""
        other = type(self)(self.arch, self.findings, self.starts)
        other.slots = self.slots.copy()
        other.queues = {pipe: deque(queue) for pipe, queue in self.queues.items() if queue}
        other.clocks = {pipe: dict(clock) for pipe, clock in self.clocks.items()}
        other.settled = dict(self.settled)
        other.tokens = {key: tokens for key, tokens in self.tokens.items() if tokens}
        other.pending = dict(self.pending)
        other.released = {number: dict(clock) for number, clock in self.released.items()}
        other.writers = dict(self.writers)
        other.readers = {location: dict(readers) for location, readers in self.readers.items()}
        other.counted = {pipe: dict(numbers) for pipe, numbers in self.counted.items()}
        other.unclear, other.open, other.held = self.unclear, self.open, self.held
        return other

    def key(self) -> Hashable:
        """Returns what later findings depend on: of clocks only whose accesses they know, not how many there were.

        Which of several like operations set a flag or made an access is left out: a finding names any of them.
        """
        return FlowKey(self)


class FlowKey:
    """What later findings of a flow depend on, as long as the flow does not change. The accesses themselves are looked
    at when all else of two keys is equal."""

    __slots__ = ("accesses", "flow", "order")

    def __init__(self, flow: FlowState) -> None:
        self.flow = flow
        self.order = _order(flow)
        self.accesses: Hashable = None

    def __hash__(self) -> int:
        return hash(self.order)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FlowKey) and self.order == other.order and self._last() == other._last()

    def _last(self) -> Hashable:
        if self.accesses is None:
            self.accesses = _accesses(self.flow)
        return self.accesses


def _order(flow: FlowState) -> Hashable:
    """Returns everything but the accesses; of clocks, how many of the accesses they know."""
    ranks = {pipe: list(numbers) for pipe, numbers in flow.counted.items()}

    def seen(clock: Clock) -> frozenset[tuple[str, int]]:
        known = [(pipe, bisect_right(numbers, clock.get(pipe, 0))) for pipe, numbers in ranks.items()]
        return frozenset([item for item in known if item[1]])

    return (
        tuple([(pipe, seen(clock)) for pipe, clock in sorted(flow.clocks.items())]),
        seen(flow.settled),
        frozenset(
            [(key, tuple([seen(clock) for _, clock in tokens])) for key, tokens in flow.tokens.items() if tokens]
        ),
        frozenset(flow.pending),
        frozenset([(number, seen(clock)) for number, clock in flow.released.items()]),
        tuple(
            (
                pipe,
                tuple((item.kind, item.key, item.step.op, item.step.values, seen(item.known)) for item in queue),
            )
            for pipe, queue in sorted(flow.queues.items())
            if queue
        ),
        flow.unclear,
        flow.open,
        flow.held,
        flow.slots.key(),
    )


def _accesses(flow: FlowState) -> Hashable:
    """Returns the last writers and readers of each location, by the order of the accesses of each pipe."""
    ranks = {pipe: {number: rank for rank, number in enumerate(numbers)} for pipe, numbers in flow.counted.items()}

    def access(one: Access) -> tuple[str, int, Operation | None]:
        matters = one.pipe == Pipe.V.value if flow.arch == "a2a3" else unit_flag(one.op)
        return one.pipe, ranks[one.pipe][one.number], one.op if matters else None

    return (
        frozenset([(location, access(one)) for location, one in flow.writers.items()]),
        frozenset([(location, access(one)) for location, all_ in flow.readers.items() for one in all_.values()]),
    )


def unit_flag(op: Operation) -> bool:
    """Returns whether an operation hands its accumulator over by a mark of its own."""
    return bool(unit_check(op))
