"""The state of a core in an instrumented run: its threads, and the position of its scalar unit."""

from __future__ import annotations

from typing import Any

from pto_dialect.runtime.queues.run import QueueCore
from pto_dialect.runtime.run.machine import Block

from ..context import NO_HANDLES
from ..state.clocks import Thread


class ObservedCore(QueueCore):
    """A core whose pipes are threads. ``site``, ``loops`` and ``order`` identify the operation of the scalar unit."""

    def __init__(self, block: Block, kind: str, index: int) -> None:
        super().__init__(block, kind, index)
        self.threads: dict[str, Thread] = {}
        self.site = 0
        self.loops: tuple[int, ...] = ()
        self.order = 0
        self.handles: dict[int, Any] = NO_HANDLES
