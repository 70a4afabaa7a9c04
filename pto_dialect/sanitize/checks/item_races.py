"""Accesses of one memory location by different work-items of a launch without a barrier between them.

Between two barriers the work-items of a launch are unordered, so accesses are recorded until then and compared byte by
byte. Reads do not conflict, nor do atomic updates of one kind, nor stores of one operation with the same value, nor
does such a store conflict with later reads of the work-items that have taken part in it. Source:
docs/reference/instrumentation.md, "No findings".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_dialect.runtime.memory.spaces import Arena, Array
from pto_dialect.runtime.simt.items import WorkItems

from ..report.describe import bytes_text, from_tiles, operation_text
from ..report.findings import Finding
from ..state.arena import InstrumentedArena
from ..state.regions import grain_of

if TYPE_CHECKING:
    from ..context import RunObserver
    from ..state.clocks import Thread

_RULE = "race-simt"
_ENTRIES = 1 << 21
"""Maximum number of recorded cells; later accesses are only compared with the ones after it."""
_PLACES = 1 << 10
"""Maximum number of cells of one memory that are compared in detail."""

READ, WRITE = "reads", "writes"


@dataclass
class _Access:
    """One operation of all work-items that run it: the first byte of each in ``starts``.

    ``agrees`` states that all stores to one location have the same value.
    """

    kind: str
    site: int
    loops: tuple[int, ...]
    items: Array
    starts: Array
    nbytes: int
    agrees: bool


class ItemRaces:
    """The accesses of one launch since the last barrier."""

    def __init__(self, observer: RunObserver, thread: Thread, items: WorkItems) -> None:
        self.observer = observer
        self.thread = thread
        self.items = items
        self._arenas: dict[int, tuple[InstrumentedArena, list[_Access]]] = {}
        self._entries = 0

    def access(
        self, kind: str, arena: Arena, chosen: Array | None, starts: Array, nbytes: int, values: Array | None = None
    ) -> None:
        """Records an access of ``nbytes`` bytes from each of ``starts`` on.

        ``kind`` is ``reads``, ``writes`` or the name of an atomic update, ``values`` the stored values, one row for
        each work-item; ``chosen`` are the ids of the work-items, ``None`` for all.
        """
        context = self.observer.current
        if self.observer.muted or context is None or not isinstance(arena, InstrumentedArena):
            return
        items = self.items.geometry.numbers if chosen is None else chosen
        agrees = values is not None and _agree(starts, values)
        access = _Access(kind, context.mark.site, context.mark.loops, items, starts, nbytes, agrees)
        self._arenas.setdefault(id(arena), (arena, []))[1].append(access)
        self._entries += starts.size
        if self._entries > _ENTRIES:
            self.synchronise()

    def synchronise(self) -> None:
        """Handles a barrier: later accesses are ordered after earlier ones."""
        for arena, accesses in self._arenas.values():
            self._compare(arena, accesses)
        self._arenas.clear()
        self._entries = 0

    # ------------------------------------------------------------ comparison

    def _compare(self, arena: InstrumentedArena, accesses: list[_Access]) -> None:
        kinds = {access.kind for access in accesses}
        if len(kinds) == 1 and WRITE not in kinds:
            return
        grain = grain_of(*(int(np.bitwise_or.reduce(a.starts)) | a.nbytes for a in accesses))
        cells, items, numbers = (np.concatenate(parts) for parts in zip(*_cells(accesses, grain), strict=True))
        order = np.argsort(cells, kind="stable")
        cells, items, numbers = cells[order], items[order], numbers[order]
        first = np.concatenate(([0], np.flatnonzero(np.diff(cells)) + 1))
        shared = np.minimum.reduceat(items, first) != np.maximum.reduceat(items, first)
        changed = np.logical_or.reduceat(np.array([a.kind != READ for a in accesses])[numbers], first)
        bounds = np.concatenate((first, [cells.size]))
        for cell in np.flatnonzero(shared & changed)[:_PLACES].tolist():
            low, high = bounds[cell], bounds[cell + 1]
            self._compare_cell(arena, accesses, numbers[low:high], items[low:high])

    def _compare_cell(self, arena: InstrumentedArena, accesses: list[_Access], numbers: Array, items: Array) -> None:
        """Compares the accesses of one cell, in the order of execution."""
        cuts = np.flatnonzero(np.diff(numbers)) + 1
        store: tuple[_Access, set[int]] | None = None
        reads: list[tuple[_Access, set[int]]] = []
        for number, who in zip(numbers[np.concatenate(([0], cuts))].tolist(), np.split(items, cuts), strict=True):
            now = accesses[number], set(who.tolist())
            access, mine = now
            if access.kind == WRITE and len(mine) > 1 and not access.agrees:
                self._report(arena, now, now)
            for before in ([store] if store is not None else []) + (reads if access.kind != READ else []):
                if not _harmless(before, now):
                    self._report(arena, before, now)
            if access.kind == READ:
                reads.append(now)
            else:
                store, reads = now, []

    # ------------------------------------------------------------ report

    def _report(
        self, arena: InstrumentedArena, before: tuple[_Access, set[int]], now: tuple[_Access, set[int]]
    ) -> None:
        observer = self.observer
        (earlier, first_items), (later, second_items) = before, now
        first, second = observer.sites[earlier.site], observer.sites[later.site]
        if observer.findings.repeated(_RULE, first, second):
            return
        two = min(second_items)
        one = min(item for item in first_items | second_items if item != two)
        if one not in first_items:
            one, two = min(first_items), one
        start = int(later.starts[np.flatnonzero(later.items == two)[0]])
        where = bytes_text(arena, [(start, start + later.nbytes)])
        names = from_tiles(second.operands_in(arena.space, later.kind != READ))
        same = "too" if first is second else f"in {first.name} ({first.line_text})"
        who, other = self.items.name(two), self.items.name(one)
        message = (
            f"{who} {_verb(later)} {where}{names} that {other} {_verb(earlier)} {same}, and no barrier orders them"
        )
        notes: list[tuple[str, Any]] = []
        if first is not second:
            notes.append((f"{operation_text(first, earlier.loops, self.thread)} {_verb(earlier)} them", first.span))
        notes.append((f"{operation_text(second, later.loops, self.thread)} {_verb(later)} them", None))
        advice = "pto.syncthreads between the two orders them; atomic updates of one kind do not conflict"
        observer.findings.add(Finding(_RULE, message, (first, second), second.span, notes, advice))


def _verb(access: _Access) -> str:
    return access.kind if access.kind in (READ, WRITE) else "updates"


def _harmless(before: tuple[_Access, set[int]], now: tuple[_Access, set[int]]) -> bool:
    (earlier, first), (later, second) = before, now
    if earlier.kind == later.kind and later.kind != WRITE:
        return True
    if len(first) == 1 and first == second:
        return True
    return earlier.agrees and later.kind == READ and second <= first


def _agree(starts: Array, values: Array) -> bool:
    """Returns whether several values are stored to one location, and all stores to one location have equal bits."""
    order = np.argsort(starts, kind="stable")
    same = np.diff(starts[order]) == 0
    if not same.any():
        return False
    bits = np.ascontiguousarray(values).reshape(starts.size, -1).view(np.uint8)[order]
    return bool((bits[1:] == bits[:-1])[same].all())


def _cells(accesses: list[_Access], grain: int) -> list[tuple[Array, Array, Array]]:
    """Returns cells, work-items and indices of accesses, an entry for each accessed cell."""
    parts: list[tuple[Array, Array, Array]] = []
    for number, access in enumerate(accesses):
        steps = np.arange(access.nbytes // grain)
        cells = (access.starts[:, None] // grain + steps).reshape(-1)
        parts.append((cells, np.repeat(access.items, steps.size), np.full(cells.size, number)))
    return parts
