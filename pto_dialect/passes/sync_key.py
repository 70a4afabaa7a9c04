"""When two states of the pipes of a core are the same for whatever comes behind.

Accesses that are remembered grow in number with a program, and states are compared wherever ways meet. Nearly all that
differ do so in what the pipes know of each other, for which the numbers of the accesses are enough. Source:
docs/reference/watching.md, "Order of events".
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable
from typing import TYPE_CHECKING

from xdsl.ir import Operation

from pto_dialect.analysis.facts import word
from pto_dialect.ir.core.base import Pipe

if TYPE_CHECKING:
    from .sync_flow import Access, Clock, Flow


class FlowKey:
    """What later findings of a flow depend on, as long as the flow does not change. The accesses themselves are looked
    at when all else of two keys is equal."""

    __slots__ = ("accesses", "flow", "order")

    def __init__(self, flow: Flow) -> None:
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


def _order(flow: Flow) -> Hashable:
    """Everything but the accesses; of clocks, how many of the accesses they know."""
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
                tuple((item.kind, item.key, item.step.op, item.step.numbers, seen(item.known)) for item in queue),
            )
            for pipe, queue in sorted(flow.queues.items())
            if queue
        ),
        flow.unclear,
        flow.open,
        flow.held,
        flow.slots.key(),
    )


def _accesses(flow: Flow) -> Hashable:
    """Who wrote and read each place last, by the order of the accesses of each pipe."""
    ranks = {pipe: {number: rank for rank, number in enumerate(numbers)} for pipe, numbers in flow.counted.items()}

    def access(one: Access) -> tuple[str, int, Operation | None]:
        matters = one.pipe == Pipe.V.value if flow.arch == "a2a3" else unit_flag(one.op)
        return one.pipe, ranks[one.pipe][one.number], one.op if matters else None

    return (
        frozenset([(place, access(one)) for place, one in flow.writers.items()]),
        frozenset([(place, access(one)) for place, all_ in flow.readers.items() for one in all_.values()]),
    )


def unit_flag(op: Operation) -> bool:
    """Whether an operation hands its accumulator over by a mark of its own."""
    attributes = op.attributes
    # Asked of every access that is remembered, wherever two ways meet; nearly none has either.
    if "unit_flag_mode" not in attributes and "unit_flag" not in attributes:
        return False
    return any(word(op, name).startswith("check") for name in ("unit_flag_mode", "unit_flag") if name in attributes)
