"""Launches that come again: the calls that a launch with these numbers came down to, kept for the next one.

See docs/performance.md, "Repeated launches".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from contextlib import nullcontext
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_dialect.accel.replay.batch import Layout
from pto_dialect.accel.replay.demand import demanded
from pto_dialect.accel.replay.eligible import may_replay
from pto_dialect.accel.replay.graph import Graph
from pto_dialect.accel.replay.plan import Plan
from pto_dialect.accel.replay.record import Recording
from pto_dialect.accel.replay.steps import Foreign
from pto_dialect.runtime.errors import BindingError, ProgramError
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array, Pointer
from pto_dialect.runtime.run.threads import single_threaded_products

if TYPE_CHECKING:
    from pto_dialect.runtime.run.kernel import CompiledKernel

_NOTHING = nullcontext()
_NUMBERS = (bool, int, float, np.number, np.bool_)

MOST_PLANS = 4
"""Launches of one kernel, different in their numbers, that are kept."""

MOST_KEYS = 64
"""Launches whose time is counted until they are."""

EACH_STEP = 5e-5
"""Seconds that it takes, roughly, to find out about one step of a launch."""


class Replays:
    """The kept launches of one kernel. A launch is kept when those like it have taken ``patience`` seconds, and as long
    as it takes to make the plan."""

    def __init__(self, kernel: CompiledKernel, patience: float = 0.02) -> None:
        self._kernel = kernel
        self._patience = patience
        self._plans: dict[Hashable, Plan] = {}
        self._owed: dict[Hashable, float] = {}
        self._measured: set[Hashable] = set()
        self._counted: Hashable = None
        self.refused = not may_replay(kernel)

    def run(self, values: Sequence[Any], blocks: int) -> bool:
        """Carries a launch out if it has come often enough; else False, with nothing done."""
        self._counted = None
        arrays: list[Array] = []
        words: list[Hashable] = [blocks]
        for value in values:
            if type(value) is np.ndarray:
                flags = value.flags
                if self.refused or not (flags.c_contiguous and flags.writeable):
                    return False
                arrays.append(value)
                words.append(value.dtype)
            elif isinstance(value, _NUMBERS):
                words.append(repr(value))
            else:
                return False
        key = tuple(words)
        plan = self._plans.pop(key, None)
        if plan is None:
            plan = self._made(key, values, arrays, blocks)
        if plan is None:
            return False
        fits = plan.fits(arrays)
        if fits:
            with single_threaded_products() if self._kernel.multiplies else _NOTHING, np.errstate(all="ignore"):
                plan.run(arrays)
        # Nobody else could use the plan meanwhile; the one that was used last is the last to go.
        self._plans[key] = plan
        while len(self._plans) > MOST_PLANS:
            self._plans.pop(next(iter(self._plans)), None)
        return fits

    def learn(self, seconds: float) -> None:
        """The launch that ``run`` has left to others has ended well."""
        if self._counted in self._owed:
            self._owed[self._counted] -= seconds

    def _made(self, key: Hashable, values: Sequence[Any], arrays: list[Array], blocks: int) -> Plan | None:
        """Returns the plan of a launch, when it pays. The same launch has run before then, so no instruction fails."""
        if self.refused:
            return None
        if len(self._owed) > MOST_KEYS:
            self._owed.clear()
            self._measured.clear()
        self._counted = key
        known = key in self._owed
        if self._owed.setdefault(key, self._patience) > 0 or not known:
            return None
        try:
            return self._plan(key, self._kernel.bind(values), arrays, blocks)
        except BindingError:
            return None
        except (Foreign, Fault, ProgramError, MemoryError):
            self.refused = True
            return None

    def _plan(self, key: Hashable, bound: list[Any], arrays: list[Array], blocks: int) -> Plan | None:
        pointers = [value for value in bound if not isinstance(value, (bool, int, float))]
        if not all(isinstance(value, Pointer) and value.arena.space == "gm" for value in pointers):
            raise Foreign("arguments")
        contents = [pointer.arena.bytes for pointer in pointers]
        if len(contents) != len(arrays) or any(np.may_share_memory(a, b) for a, b in combinations(contents, 2)):
            # The accesses could not be assigned to one of the arguments.
            return None
        recording = Recording(self._kernel, bound, blocks, self._kernel.side_by_side)
        if self._patience and key not in self._measured:
            self._measured.add(key)
            self._owed[key] += len(recording.steps) * EACH_STEP
            if self._owed[key] > 0:
                return None
        steps = demanded(recording.steps, contents)
        return Plan(Layout(Graph(contents, recording.memories, steps)))
