"""Repeated launches in a sanitized run: one that was checked without findings is not instrumented a second time.

In most kernels the accesses of a launch, their order and their tiles depend on its numbers alone, and on the content of
small buffers from which single elements are loaded. So do the findings, unless a check depended on the content of
memory. A later launch with the same numbers, whose buffers contain everything that the first one accessed and overlap
in the same way, runs in plain code. Source: docs/sanitizers.md, "Repeated launches".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import cached_property
from hashlib import sha256
from time import perf_counter
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.accel import enabled
from pto_dialect.accel.replay.eligible import others
from pto_dialect.ir.buffers.pointers import ElementLoadOp
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.run.launch import Kernel
from pto_dialect.runtime.run.per_core import BoundPerCore, PerCore

from .launch import InstrumentedKernel
from .state.arena import InstrumentedArena

_NUMBERS = (bool, int, float, np.number, np.bool_)

PATIENCE = 0.1
"""Seconds of instrumented launches of a kernel after which plain code, which has to be compiled, is used."""

MOST_KEYS = 512
"""Maximum number of known launches of one kernel that differ in their numbers."""

LEAST_BYTES = 1 << 14
BYTES_PER_SECOND = 10_000_000
"""Maximum bytes of a buffer whose content is compared: in any case, and for each second of the last instrumented
launch, which a comparison makes longer by a hundredth."""


class RepeatedKernel(InstrumentedKernel):
    """A kernel that may be launched often: ``patience`` is the minimum number of seconds of instrumented launches."""

    patience = PATIENCE
    _instrumented = 0.0
    """Seconds of instrumented launches."""
    _most_bytes = LEAST_BYTES

    def run(self, values: Sequence[Any], blocks: int = 1, jobs: int = 1) -> list[Any]:
        """Runs as ``Kernel`` does; a launch that is known to have no findings is not instrumented."""
        looked_up = self._looked_up
        key = None if looked_up is None else _key(values, blocks, looked_up, self._most_bytes)
        reach = self._known.get(key)
        if reach is not None and all(values[position].nbytes >= nbytes for position, nbytes in reach):
            return self._plain.run(values, blocks, jobs)
        started = perf_counter()
        bound = self.bind(values)
        results = self.run_bound(bound, blocks, jobs)
        seconds = perf_counter() - started
        self._instrumented += seconds
        self._most_bytes = max(LEAST_BYTES, int(BYTES_PER_SECOND * seconds))
        if key is not None and self._instrumented >= self.patience:
            self._learn(key, bound)
        return results

    @cached_property
    def _looked_up(self) -> frozenset[int] | None:
        """Returns the positions of the buffers whose elements, beside the numbers of a launch, determine what it does;
        ``None`` where something else does as well."""
        if not enabled("watched-launches") or self.observer.numbers is not None or self.timeline is not None:
            return None
        arguments_of: dict[SSAValue, set[int]] = {}
        for root in self.program.roots.values():
            for argument, position in zip(root.function.regions[0].blocks[0].args, root.positions, strict=True):
                arguments_of.setdefault(argument, set()).add(position)
        looked_up: set[int] = set()
        for op in others(self):
            positions = arguments_of.get(op.ptr) if isinstance(op, ElementLoadOp) else None
            if positions is None or positions & set(self.usage.written):
                return None
            looked_up |= positions
        return frozenset(looked_up)

    @cached_property
    def _known(self) -> dict[Hashable, list[tuple[int, int]]]:
        """Returns the launches without findings: for each buffer its position among the arguments, and the bytes up to
        the last accessed one."""
        return {}

    @cached_property
    def _plain(self) -> Kernel:
        options = replace(self.options, fill="zero")
        return Kernel(self.module, self.entry, self.profile.name, options, group=self.group)

    def _learn(self, key: Hashable, bound: Sequence[Any]) -> None:
        """Records an instrumented launch: it is in order if it has no findings, and a launch of the same key cannot
        have any."""
        if self.stopped or self.observer.judged_by_content or self.observer.findings.any:
            return
        if len(self._known) >= MOST_KEYS:
            self._known.clear()
        numbers = (*_NUMBERS, BoundPerCore)
        buffers = [(number, value) for number, value in enumerate(bound) if not isinstance(value, numbers)]
        if all(isinstance(value, Pointer) and isinstance(value.arena, InstrumentedArena) for _, value in buffers):
            self._known[key] = [(number, value.arena.accessed) for number, value in buffers]


def _key(values: Sequence[Any], blocks: int, looked_up: frozenset[int], most_bytes: int) -> Hashable:
    """Returns the key that determines the findings of a launch, apart from the sizes of its buffers; ``None`` for
    values of which that is unknown. The content of buffers at the positions ``looked_up`` is part of it, if they are
    not too large."""
    words: list[Hashable] = [blocks]
    extents: list[tuple[int, int, int]] = []
    for position, value in enumerate(values):
        if type(value) is np.ndarray:
            if not value.flags.c_contiguous:
                return None
            words.append(value.dtype)
            start: int = value.__array_interface__["data"][0]
            extents.append((start, start + value.nbytes, position))
            if position in looked_up:
                if value.nbytes > most_bytes:
                    return None
                words.append(sha256(value.data).digest())
        elif isinstance(value, _NUMBERS):
            words.append(repr(value))
        elif isinstance(value, PerCore) and value.identity is not None:
            words.append(value.identity)
        else:
            return None
    return _overlaps(extents, words, looked_up)


def _overlaps(extents: list[tuple[int, int, int]], words: list[Hashable], looked_up: frozenset[int]) -> Hashable:
    """Returns ``words`` with the distances between buffers that overlap: first address, last one and position of each;
    ``None`` where one that is looked up overlaps another."""
    extents.sort()
    first = end = before = 0
    for start, stop, position in extents:
        if start < end:
            if position in looked_up or before in looked_up:
                return None
            words.append((position, start - first))
        else:
            first = start
        if stop > end:
            end, before = stop, position
    return tuple(words)
