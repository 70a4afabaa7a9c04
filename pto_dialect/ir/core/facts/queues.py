"""What operations do on the queues between the cube core and the vector cores, stated on their classes.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

C2V, V2C = 1, 2
"""Bits of a direction mask: cube to vector, vector to cube."""

QueueRole = Literal["init", "push", "alloc", "pop", "free", "scale"]
"""Makes a queue, fills an entry, takes an empty one, takes a full one, gives it back, sets the scale of pushes."""


@dataclass(frozen=True, slots=True)
class QueueAction:
    """What an operation does on a queue.

    ``core`` is the kind of core (``"cube"`` or ``"vector"``) that it runs on where the queue is known by its number,
    ``None`` where it is known by its handle; ``direction`` is that of the entry, 0 where the queue decides.
    """

    role: QueueRole
    core: str | None = None
    direction: int = 0

    @property
    def transfers(self) -> bool:
        """True for actions on one entry."""
        return self.role not in ("init", "scale")
