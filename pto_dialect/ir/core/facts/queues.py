"""Actions of operations on the queues between the cube core and the vector cores, declared on their classes.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

C2V, V2C = 1, 2
"""Bits of a direction mask: cube to vector, vector to cube."""

QueueRole = Literal["init", "push", "alloc", "pop", "free", "scale"]
"""Makes a queue, fills an entry, takes an empty one, takes a full one, returns it, sets the scale of pushes."""


@dataclass(frozen=True, slots=True)
class QueueAction:
    """The action of an operation on a queue.

    ``core`` is the kind of core (``"cube"`` or ``"vector"``) that runs it where the queue is identified by an id,
    ``None`` where it is identified by a handle; ``direction`` is that of the entry, 0 where the queue determines it.
    """

    role: QueueRole
    core: str | None = None
    direction: int = 0

    @property
    def transfers(self) -> bool:
        """Returns whether the action is on one entry."""
        return self.role not in ("init", "scale")
