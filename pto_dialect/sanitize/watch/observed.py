"""What the watch knows of a core: who acts on it, and where its scalar unit is."""

from __future__ import annotations

from typing import Any

from pto_dialect.runtime.queues.run import QueueCore
from pto_dialect.runtime.run.machine import Block

from ..context import NO_HANDLES
from ..state.clocks import Actor


class ObservedCore(QueueCore):
    """A core whose pipes are actors. ``site``, ``loops`` and ``order`` tell which operation the scalar unit is at."""

    def __init__(self, block: Block, kind: str, index: int) -> None:
        super().__init__(block, kind, index)
        self.actors: dict[str, Actor] = {}
        self.site = 0
        self.loops: tuple[int, ...] = ()
        self.order = 0
        self.handles: dict[int, Any] = NO_HANDLES
