"""The local slots of the tiles that a control-flow path has popped from queues.

On a2a3 MTE2 loads each popped tile into the next of the queue's local slots, which it overwrites whatever handle the
text has for it. Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType

from xdsl.ir import Operation

from pto_dialect.analysis.abstract_state import Step
from pto_dialect.analysis.abstract_values import AbstractValue

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
        """What tells two states apart."""
        return frozenset(self._next.items()), frozenset(self._bound.items())

    def issued(self, step: Step) -> Step:
        """``step`` with the slots in place of the handles that it uses or, if it pops, with its slot at the end."""
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
        """The slot that an issued pop loads into; ``None`` for other operations."""
        return step.values[-1] if step.op in self.pops else None

    def _slot(self, number: AbstractValue) -> AbstractValue:
        if isinstance(number, tuple) and number[0] == "new":
            return self._bound.get(number[:2], number)
        return self._bound.get(number, number)
