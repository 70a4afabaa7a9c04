"""Tiles that lose their content to other tiles, and accesses outside of their tile.

Source: docs/reference/instrumentation.md, "Findings".
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from xdsl.ir import Operation

from pto_dialect.analysis.queues import entry as bound_entry
from pto_dialect.analysis.queues import is_pop
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.memory.values import MultiTile, Tile

from ..checks.loads import Loads
from ..report.describe import bytes_text, operation_text
from ..report.findings import Finding
from ..report.fixes import MoveTile
from ..report.sites import Site, value_name
from ..state.last_events import ShadowRanges
from ..state.regions import Bytes, Cells, Region, Runs, byte_runs, distinct, uniform
from ..state.shadow import OWNER, VICTIM, ShadowRange
from ..state.victims import Victims

if TYPE_CHECKING:
    from pto_dialect.runtime.run.machine import Core

    from ..context import Context, Extent, RunObserver
    from ..state.arena import InstrumentedArena
    from .observed import ObservedCore

BOUND = -1
"""Represents the entry that an operation takes out of a queue, among the indices of its operands."""
_KEPT = 4096
"""Maximum number of accesses whose tiles are cached."""
_REPLACED = 16
"""Maximum number of writes over one tile whose old content is retained."""
_ALIGNMENT = 256
"""Alignment of the addresses that the help suggests, in bytes."""


class Allocation(NamedTuple):
    """A tile as it was allocated: its number, the site of the allocation, its bytes, a name."""

    number: int
    site: Site
    arena: InstrumentedArena
    start: int
    stop: int
    name: str

    def holds(self, region: Bytes) -> bool:
        """Returns whether all bytes of ``region`` are the tile's."""
        return self.start <= region.offset and region.stop <= self.stop

    def shares_bytes(self, other: Allocation) -> bool:
        """Returns whether both have exactly the same bytes: in planned memory, consecutive values have one address."""
        return (self.start, self.stop) == (other.start, other.stop)


class Replaced(NamedTuple):
    """What the operation at ``site`` has overwritten, and the content before."""

    site: Site
    region: Region
    content: Cells


class InstrumentedTile(Tile):
    """A tile handle that knows its allocation, however it is passed on."""

    __slots__ = ("allocation",)

    def __init__(self, tile: Tile, allocation: Allocation) -> None:
        self.pointer, self.view, self.layout = tile.pointer, tile.view, tile.layout
        self.fmt, self.loc, self.pad = tile.fmt, tile.loc, tile.pad
        self.rows, self.cols, self.row0, self.col0 = tile.rows, tile.cols, tile.row0, tile.col0
        self.valid_rows, self.valid_cols = tile.valid_rows, tile.valid_cols
        self.allocation = allocation

    def window(self, row: int, col: int, rows: int, cols: int, valid_rows: int, valid_cols: int) -> Tile:
        """Returns a window as ``Tile`` does, of the same allocation."""
        return InstrumentedTile(super().window(row, col, rows, cols, valid_rows, valid_cols), self.allocation)


def _loser(owner: int, spared: Container[int], renewed: Container[int]) -> int:
    """Returns the victim of a write over what ``owner`` wrote: nobody (0), the tile, or its negative number where the
    write was made of its content."""
    if owner in spared:
        return 0
    return -owner if owner in renewed else owner


class Tiles:
    """Follows the ownership of bytes by tiles."""

    def __init__(self, observer: RunObserver, bounds: bool, overlap: bool) -> None:
        self.observer = observer
        self.bounds = bounds
        self.overlap = overlap
        self.known: dict[tuple[int, Operation], Allocation] = {}
        self.by_number: list[Allocation | None] = [None]
        self.renewed: dict[tuple[int, int], int] = {}
        self.meant: dict[int, set[int]] = {}
        """Tiles that are aliases of the bytes of one, by number."""
        self.victims = Victims()
        self.planned: set[int] = set()
        """Sites of tiles whose bytes other tiles may have on purpose, each reported once."""
        self.replaced: dict[int, list[Replaced]] = {}
        """The content that other tiles have overwritten, of tiles that have the same bytes, by tile number."""
        self.loads = Loads()
        self._named: dict[tuple[int, int, bool], list[Allocation]] = {}
        self._holding: dict[tuple[int, int, bool, Region], list[Allocation]] = {}

    def allocated(self, core: ObservedCore, handle: Any) -> Any:
        """Records the addresses of a tile or several; returns the handle that the program uses."""
        tiles = handle.slots if isinstance(handle, MultiTile) else [handle]
        if type(tiles[0]) is not Tile and type(tiles[0]) is not InstrumentedTile:
            return handle
        allocation = self._allocation(core, tiles)
        instrumented = [InstrumentedTile(tile, allocation) for tile in tiles]
        return MultiTile(list[Tile](instrumented)) if isinstance(handle, MultiTile) else instrumented[0]

    def _allocation(self, core: ObservedCore, tiles: Sequence[Tile]) -> Allocation:
        first, last = tiles[0], tiles[-1]
        site = self.observer.sites[core.site]
        start, stop = first.pointer.offset, last.pointer.offset + last.layout.nbytes
        known = self.known.get((id(core), site.op))
        if known is not None and (known.start, known.stop) == (start, stop):
            return known
        arena: Any = first.pointer.arena
        allocation = Allocation(len(self.by_number), site, arena, start, stop, site.result_name)
        self.known[id(core), site.op] = allocation
        if known is not None:
            # No operation uses a tile before it was allocated, so nothing is recorded for others.
            self._named.clear()
            self._holding.clear()
        self.by_number.append(allocation)
        return allocation

    def popped(self, core: ObservedCore, entry: Any) -> Any:
        """Records the pop of a queue entry: what was popped into the same slot before is another tile."""
        if type(entry) is not Tile:
            return entry
        site = self.observer.sites[core.site]
        value = bound_entry(site.op)
        name = value_name(value) if value is not None else ""
        start, stop = entry.pointer.offset, entry.pointer.offset + entry.layout.nbytes
        arena: Any = entry.pointer.arena
        allocation = Allocation(len(self.by_number), site, arena, start, stop, name or "the popped tile")
        self.by_number.append(allocation)
        return InstrumentedTile(entry, allocation)

    def clear(self) -> None:
        """Removes all allocations."""
        self.known.clear()
        del self.by_number[1:]
        self.renewed.clear()
        self.meant.clear()
        self.victims.clear()
        self.planned.clear()
        self.replaced.clear()
        self.loads.clear()
        self._named.clear()
        self._holding.clear()

    # ------------------------------------------------------------ accesses

    def read(self, context: Context, arena: InstrumentedArena, region: Bytes, ranges: ShadowRanges) -> None:
        """Checks that a read through a tile reads what that tile holds."""
        if self.bounds:
            self._inside(context, arena, region)
        if not self.overlap:
            return
        self.loads.read(arena, region)
        shadow = arena.shadow
        # Where two tiles of the operation have the bytes, it reads them through both.
        for mine in self._allocations(context, arena, region, writing=False):
            number = mine.number
            if ranges is None:
                owners = region.cells(shadow.layer(OWNER), shadow.grain)
                if uniform(owners) == number:
                    continue
                victims = region.cells(shadow.layer(VICTIM), shadow.grain)
                foreign = (owners != number) & (owners != 0)
                for partner in self.meant.get(number, ()):
                    foreign &= owners != partner
                sets = distinct(victims[foreign]) if foreign.any() else []
                lost = foreign & np.isin(victims, [one for one in sets if self.victims.holds(one, number)])
                for other in distinct(owners[lost]) if lost.any() else ():
                    theirs = lost & (owners == other)
                    renewed = all(self.victims.is_renewed(one, number) for one in distinct(victims[theirs]))
                    self._lost(context, mine, other, partial(shadow.runs_where, region, theirs), arena, renewed)
                complete = [one for one in sets if self.victims.is_complete(one)]
                others = foreign & ~lost & np.isin(victims, complete)
                self._meet(mine, distinct(owners[others]) if others.any() else ())
            elif _has_other_owner(ranges, number, 0):
                known = {0, number, *self.meant.get(number, ())}
                foreign = [place for place in ranges if place.owner not in known]
                lost = [place for place in foreign if self.victims.holds(place.victim, number)]
                for other in sorted({place.owner for place in lost}):
                    theirs = [place for place in lost if place.owner == other]
                    renewed = all(self.victims.is_renewed(place.victim, number) for place in theirs)
                    self._lost(context, mine, other, partial(shadow.runs_of, region, theirs), arena, renewed)
                others = [place for place in foreign if not self.victims.holds(place.victim, number)]
                self._meet(mine, {place.owner for place in others if self.victims.is_complete(place.victim)})

    def write(
        self, context: Context, event: int, arena: InstrumentedArena, region: Bytes, ranges: ShadowRanges
    ) -> None:
        """Records that a write through a tile makes the bytes its own."""
        if self.bounds:
            self._inside(context, arena, region)
        if not self.overlap:
            return
        through = self._allocations(context, arena, region, writing=True)
        number = through[0].number if len(through) == 1 else 0
        self.loads.write(arena, region, number, self.observer.sites[context.mark.site].loads_tile)
        if ranges is None:
            self._own_cells(context, arena, region, through, number)
            return
        if number and _has_other_owner(ranges, number, number):
            retained, renewed = self._sources(context, arena, region, through[0])
            shown = {number, *self.meant.get(number, ())}
            spared = {0, *retained, *shown}
            self._save_replaced(
                context, arena, region, through[0], [one.owner for one in ranges if one.owner not in spared]
            )
            for one in ranges:
                if one.owner != number:
                    one.victim = self.victims.replace(one.victim, _loser(one.owner, spared, renewed), shown)
        for one in ranges:
            one.owner = number

    def _own_cells(
        self, context: Context, arena: InstrumentedArena, region: Bytes, through: Sequence[Allocation], number: int
    ) -> None:
        """Does the same for a memory with a record for each cell."""
        shadow = arena.shadow
        owners = region.cells(shadow.layer(OWNER), shadow.grain)
        if number and uniform(owners) != number:
            retained, renewed = self._sources(context, arena, region, through[0])
            shown = {number, *self.meant.get(number, ())}
            spared = {0, *retained, *shown}
            victims = region.cells(shadow.layer(VICTIM), shadow.grain)
            before = victims.copy()
            others = distinct(owners[owners != number])
            self._save_replaced(context, arena, region, through[0], [owner for owner in others if owner not in spared])
            for owner in others:
                loser, theirs = _loser(owner, spared, renewed), owners == owner
                for one in distinct(before[theirs]):
                    victims[theirs & (before == one)] = self.victims.replace(one, loser, shown)
        region.set(shadow.layer(OWNER), shadow.grain, number)

    def _save_replaced(
        self, context: Context, arena: InstrumentedArena, region: Bytes, writer: Allocation, losers: Iterable[int]
    ) -> None:
        """Remembers what a write replaces of tiles that have the same bytes as its own."""
        self.replaced.pop(writer.number, None)
        for number in losers:
            loser = self.by_number[number]
            if loser is not None and loser.shares_bytes(writer):
                saved = self.replaced.setdefault(number, [])
                if isinstance(region, Region) and len(saved) < _REPLACED:
                    content = region.cells(arena.memory, 1).copy()
                    saved.append(Replaced(self.observer.sites[context.mark.site], region, content))

    def _is_changed(self, tile: Allocation, site: Site, arena: InstrumentedArena, runs: Runs) -> bool:
        """Returns whether some byte of ``runs`` has another content than when ``tile`` was written: ``site`` comes
        after the writes in their block, where neither a loop nor a branch makes two tiles names of one value."""
        saved = self.replaced.get(tile.number, [])
        if not saved or len(saved) == _REPLACED:
            return False
        writers = (one.site.op for one in saved)
        if not all(op.parent is site.op.parent and op.is_before_in_block(site.op) for op in writers):
            return False
        before = arena.memory.copy()
        for one in reversed(saved):
            one.region.cells(before, 1)[...] = one.content
        return any(not np.array_equal(before[first:stop], arena.memory[first:stop]) for first, stop in runs)

    def _is_meant(self, tile: Allocation, other: Allocation) -> bool:
        """Returns whether loads alone have replaced the content of ``tile``, through a tile that no operation reads: it
        is there for the loads, and what they bring is read through ``tile``."""
        saved = self.replaced.get(tile.number, [])
        return bool(saved) and all(one.site.loads_tile for one in saved) and not other.site.is_result_read

    def _sources(
        self, context: Context, arena: InstrumentedArena, region: Bytes, target: Allocation
    ) -> tuple[set[int], set[int]]:
        """Returns the numbers of the tiles whose content the operation carries on to ``target``, and of those whose
        content it has read at this very address, where it leaves the next one."""
        site = self.observer.sites[context.mark.site]
        accumulating = has_role(site.op, Role.ACCUMULATES)
        retained: set[int] = set()
        renewed: set[int] = set()
        for source in self._allocations(context, arena, region, writing=False):
            if accumulating:
                retained.add(source.number)
            elif source.number != target.number and source.shares_bytes(target):
                renewed.add(source.number)
                self.renewed[source.number, target.number] = site.number
        return retained, renewed

    def _meet(self, mine: Allocation, others: Iterable[int]) -> None:
        """Handles a read through ``mine`` of what other tiles have left in its very bytes, and that it had not written
        itself: the bytes are aliased on purpose, and a write through one alias changes what the other shows."""
        for number in others:
            other = self.by_number[number]
            if other is not None and other.shares_bytes(mine):
                self.meant.setdefault(mine.number, set()).add(number)
                self.meant.setdefault(number, set()).add(mine.number)

    def _allocations(
        self, context: Context, arena: InstrumentedArena, region: Bytes, writing: bool
    ) -> list[Allocation]:
        """Returns the allocations that an access may use."""
        core, number = context.thread.core, context.mark.site
        passed = self._passed(context.handles, number, writing) if context.handles else []
        if passed or type(region) is not Region:
            allocations = [*self._by_name(core, number, writing), *passed]
            return [one for one in allocations if one.arena is arena and one.holds(region)]
        key = (id(core), number, writing, region)
        known = self._holding.get(key)
        if known is None:
            allocations = self._by_name(core, number, writing)
            known = [one for one in allocations if one.arena is arena and one.holds(region)]
            if len(self._holding) >= _KEPT:
                self._holding.clear()
            self._holding[key] = known
        return known

    def _passed(self, handles: dict[int, Any], number: int, writing: bool) -> list[Allocation]:
        """Returns the allocations of handles that the text does not determine."""
        found = [handles.get(index) for index in self.observer.sites[number].travelled(writing)]
        if writing:
            found.append(handles.get(BOUND))
        allocations = [getattr(handle, "allocation", None) for handle in found]
        return [one for one in allocations if one is not None]

    def _by_name(self, core: Core, number: int, writing: bool) -> list[Allocation]:
        """Returns the allocations that the text names for an operation."""
        allocations = self._named.get((id(core), number, writing))
        if allocations is None:
            named = (self.known.get((id(core), op)) for op in self.observer.sites[number].allocations(writing))
            allocations = self._named[id(core), number, writing] = [one for one in named if one is not None]
        return allocations

    # ------------------------------------------------------------ findings

    def _lost(
        self,
        context: Context,
        mine: Allocation,
        number: int,
        lost: Callable[[], Runs],
        arena: InstrumentedArena,
        renewed: bool,
    ) -> None:
        other = self.by_number[number]
        site = self.observer.sites[context.mark.site]
        assert other is not None
        if renewed and site.number <= self.renewed.get((mine.number, number), 0):
            # A loop carries a value at one address: what was written is the next content of the tile that it was
            # computed from.
            return
        if self.observer.findings.repeated("mem-overlap", mine.site, other.site):
            return
        runs = lost()
        message = (
            f"{mine.name} and {other.name} are in use at the same time and share {bytes_text(arena, runs)}: what "
            f"{site.name} reads through {mine.name} was overwritten through {other.name}"
        )
        notes = [
            (f"{mine.name} has bytes [{mine.start}, {mine.stop})", mine.site.span),
            (f"{other.name} has bytes [{other.start}, {other.stop})", other.site.span),
            (operation_text(site, context.mark.loops, context.thread), None),
        ]
        lost_load = (mine.number, number) in self.loads.lost
        planned = mine.shares_bytes(other) and not context.handles and not lost_load
        planned = planned and (renewed or self._is_meant(mine, other) or not self._is_changed(mine, site, arena, runs))
        if planned and mine.site.number in self.planned:
            return
        if planned:
            self.planned.add(mine.site.number)
        severity = Severity.WARNING if planned else Severity.ERROR
        advice = "give them other addresses"
        start = self._free_address(other)
        if is_pop(other.site.op):
            advice = f"use {mine.name} before that pop, copy it, or give the queue more local slots (local_slot_num)"
        elif start is not None:
            advice += f": from byte {start} on there is room for {other.name}"
        finding = Finding("mem-overlap", message, (mine.site, other.site), site.span, notes, advice, severity=severity)
        finding.event = context.event
        if start is not None:
            finding.fix = (MoveTile(other.site.op, start),)
        self.observer.findings.add(finding)

    def _free_address(self, moved: Allocation) -> int | None:
        """Returns an address after all tiles of a memory for one of them; ``None`` when there is no space."""
        if is_pop(moved.site.op):
            return None
        end = max(tile.stop for tile in self.by_number if tile is not None and tile.arena is moved.arena)
        start = -(-end // _ALIGNMENT) * _ALIGNMENT
        return start if start + moved.stop - moved.start <= moved.arena.capacity else None

    def limit(self, context: Context, handles: Iterable[Any]) -> None:
        """Limits the accesses of an operation of the scalar unit to the tiles among ``handles``."""
        context.tiles = [_extent(handle) for handle in handles if isinstance(handle, Tile)]

    def _inside(self, context: Context, arena: InstrumentedArena, region: Bytes) -> None:
        """Checks that the accesses of an instruction to tiles of a memory stay inside one of these."""
        if context.tiles is None:
            context.tiles = [_extent(tile) for tile in context.operands if isinstance(tile, Tile)]
        first, stop = region.offset, region.stop
        tiles: list[Extent] = []
        for one in context.tiles:
            if one[0] is arena:
                if one[1] <= first and stop <= one[2]:
                    return
                tiles.append(one)
            elif one[0] is None:
                _ = one[1].arena  # the fault of a tile that was replaced
        if not tiles:
            return
        site = self.observer.sites[context.mark.site]
        if self.observer.findings.repeated("mem-oob-tile", site):
            return
        outside = region.offsets()
        for _, start, end in tiles:
            outside = outside[(outside < start) | (outside >= end)]
        if not outside.size:
            return
        message = f"{site.name} accesses {bytes_text(arena, byte_runs(outside))} outside its tiles"
        notes = [(operation_text(site, context.mark.loops, context.thread), None)]
        finding = Finding("mem-oob-tile", message, (site,), site.span, notes)
        finding.event = context.event
        self.observer.findings.add(finding)


def _has_other_owner(ranges: Iterable[ShadowRange], first: int, second: int) -> bool:
    """Returns whether some of the bytes belong to a tile that has neither of two numbers."""
    for one in ranges:  # noqa: SIM110 - most accesses have one range, for which a generator takes twice as long
        if one.owner != first and one.owner != second:
            return True
    return False


def _extent(tile: Tile) -> Extent:
    pointer: Any = tile.pointer
    if type(pointer) is not Pointer:
        return None, pointer, 0
    return pointer.arena, pointer.offset, pointer.offset + tile.layout.nbytes
