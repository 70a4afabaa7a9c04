"""Launches that come again: the calls that a launch with these numbers came down to, kept for the next one.

See docs/performance.md, "Launches that come again".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ProgramError
from ..faults import Fault
from ..memory.spaces import Array, Pointer
from .batch import Layout
from .demand import demanded
from .eligible import may_replay
from .graph import Graph
from .plan import Plan
from .record import Recording
from .steps import Foreign

if TYPE_CHECKING:
    from ..run.launch import Kernel

MOST_PLANS = 4
"""Launches of one kernel, different in their numbers, that are kept."""

MOST_KEYS = 64
"""Launches whose time is counted until they are."""

EACH_STEP = 1e-4
"""Seconds that it takes, roughly, to find out about one step of a launch."""


class Replays:
    """The kept launches of one kernel. A launch is kept when those like it have taken ``patience`` seconds, and as long
    as it takes to make the plan."""

    def __init__(self, kernel: Kernel, patience: float = 0.02) -> None:
        self._kernel = kernel
        self._patience = patience
        self._plans: dict[Hashable, Plan] = {}
        self._owed: dict[Hashable, float] = {}
        self._measured: set[Hashable] = set()
        self._counted: Hashable = None
        self.refused = not may_replay(kernel)

    def run(self, bound: Sequence[Any], blocks: int, queued: bool) -> bool:
        """Carries a launch out if it has come often enough; else False, with nothing done.

        ``queued`` tells that its blocks run with queues.
        """
        self._counted = None
        buffers = None if self.refused else self._buffers(bound)
        if buffers is None:
            return False
        key = (blocks, *(x.arena.capacity if isinstance(x, Pointer) else repr(x) for x in bound))
        plan = self._plans.pop(key, None)
        if plan is None:
            plan = self._made(key, bound, buffers, blocks, queued)
            if plan is None:
                return False
        with np.errstate(all="ignore"):
            plan.run(buffers)
        # Nobody else could use the plan meanwhile; the one that was used last is the last to go.
        self._plans[key] = plan
        while len(self._plans) > MOST_PLANS:
            self._plans.pop(next(iter(self._plans)), None)
        return True

    def learn(self, seconds: float) -> None:
        """The launch that ``run`` has left to others has ended well."""
        if self._counted in self._owed:
            self._owed[self._counted] -= seconds

    def _made(
        self, key: Hashable, bound: Sequence[Any], buffers: list[Array], blocks: int, queued: bool
    ) -> Plan | None:
        """The plan of a launch, when it pays. The same launch has run before then, so no instruction is faulty."""
        if len(self._owed) > MOST_KEYS:
            self._owed.clear()
            self._measured.clear()
        self._counted = key
        known = key in self._owed
        if self._owed.setdefault(key, self._patience) > 0 or not known:
            return None
        try:
            steps = Recording(self._kernel, list(bound), blocks, queued).steps
            if self._patience and key not in self._measured:
                self._measured.add(key)
                self._owed[key] += len(steps) * EACH_STEP
                if self._owed[key] > 0:
                    return None
            return Plan(Layout(Graph(buffers, demanded(steps, buffers))))
        except (Foreign, Fault, ProgramError, MemoryError):
            self.refused = True
            return None

    def _buffers(self, bound: Sequence[Any]) -> list[Array] | None:
        """The bytes of the arguments in global memory; ``None`` where others share memory with what is written."""
        pointers = [value for value in bound if not isinstance(value, (bool, int, float))]
        if not all(isinstance(value, Pointer) and value.arena.space == "gm" for value in pointers):
            return None
        found = [pointer.arena.bytes for pointer in pointers]
        for index in self._kernel.usage.written:
            value = bound[index]
            if isinstance(value, Pointer) and sum(np.may_share_memory(value.arena.bytes, other) for other in found) > 1:
                return None
        return found
