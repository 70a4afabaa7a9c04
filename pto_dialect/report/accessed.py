"""The bytes that steps touch: which memory, through which tile, and what they held afterwards.

Source: docs/report.md, "What is in the page".
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from pto_dialect.runtime.memory.layout import TileLayout
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.sanitize.report.sites import Sites
from pto_dialect.sanitize.state.arena import InstrumentedArena
from pto_dialect.sanitize.state.regions import Bytes, Elements, Region, byte_runs

from .columns import Columns, Ranges
from .contents import NONE, Contents

if TYPE_CHECKING:
    from pto_dialect.runtime.run.machine import Core
    from pto_dialect.sanitize.context import Context

MOST_RANGES = 16
"""Maximum number of ranges of one access; more are merged into one range that covers them."""

_FEW = 6
"""Maximum number of distinct regions of one access that are recorded separately, even if adjacent."""

MAX_SHARED = 1 << 22
"""Bytes of the largest array of the host whose content at the start is kept."""

_MOST_ELEMENTS = 1 << 16
"""Maximum number of single elements of an access that are recorded separately."""

WHOLE, ROUGH = 0, 1
"""Kinds of regions: exactly these bytes were accessed, or some of them."""


Span = tuple[int, int, tuple[tuple[int, int], ...], int]
"""Offset, bytes of a run, counts and strides of the runs, and the kind of a region."""


class Part(NamedTuple):
    """An access: the number of the site, the memory, the bytes, and whether they are written."""

    site: int
    arena: InstrumentedArena
    region: Bytes
    writes: bool


class Memory(NamedTuple):
    """A memory, and the block and core that have it (-1: the host, or no single one). ``content`` is what it held at
    the start, where that is kept."""

    arena: Any
    block: int
    core: str
    content: int


class Box(NamedTuple):
    """Bytes of a memory that have a name: a tile as it was allocated by a site, 0 for tiles without."""

    memory: int
    start: int
    stop: int
    name: str
    site: int


class Shape(NamedTuple):
    """What a handle of a tile shows: its box, and where the elements lie."""

    box: int
    offset: int
    layout: TileLayout
    format: str
    loc: str
    rows: int
    cols: int
    row: int
    col: int
    valid_rows: int
    valid_cols: int


class AccessedBytes:
    """All accesses. ``memories`` has every memory that was accessed, ``boxes`` the tiles, ``shapes`` their handles
    (0: none)."""

    def __init__(self, sites: Sites | None) -> None:
        self._sites = sites
        self.contents = Contents()
        self.lists = Ranges()
        self.regions = Columns(memory="u32", offset="f64", run="f64", dims="u32", kind="u8")
        self.accesses = Columns(step="u32", site="u32", writes="u8", region="u32", shape="u32", content="u32")
        self.memories: list[Memory] = []
        self.boxes: list[Box] = []
        self.shapes: list[Shape | None] = [None]
        self._memories: dict[int, int] = {}
        self._owners: dict[int, tuple[int, str]] = {}
        self._boxes: dict[Box, int] = {}
        self._shapes: dict[Shape, int] = {}
        self._regions: dict[tuple[Any, ...], int] = {}
        self._named: dict[int, Counter[str]] = {}

    @property
    def sites(self) -> Sites:
        """The source locations of the operations that run now."""
        assert self._sites is not None
        return self._sites

    def name_of(self, number: int) -> str:
        """Returns the name of a box: that of the allocation, else those of the operands that it is accessed through
        most."""
        known = self._named.get(number, Counter())
        certain = [name for name, count in known.most_common(2) if count]
        return self.boxes[number].name or ", ".join(certain or list(known)[:2])

    def arrive(self, cores: Sequence[Core]) -> None:
        """Cores that are going to run, whose memories have their names."""
        for core in cores:
            for arena in core.arenas.values():
                # Vector cores with one memory between them have it under the name of the first.
                self._owners.setdefault(id(arena), (core.block.index, core.name))

    def memory(self, arena: InstrumentedArena) -> int:
        """Returns the number of a memory."""
        found = self._memories.get(id(arena))
        if found is None:
            found = self._memories[id(arena)] = len(self.memories)
            self.memories.append(Memory(arena, *self._owners.get(id(arena), (-1, "")), NONE))
        return found

    def shared(self, arena: InstrumentedArena) -> None:
        """A memory of the host, which is about to be used: what it holds now is kept."""
        if id(arena) not in self._memories:
            number = self.memory(arena)
            small = arena.capacity <= MAX_SHARED
            content = self.contents.add(arena.memory) if small and arena.capacity else NONE
            self.memories[number] = self.memories[number]._replace(content=content)

    # ------------------------------------------------------------ accesses

    def add(self, step: int, parts: Sequence[Part], context: Context) -> None:
        """What a step has accessed; what it has written is there now."""
        groups: dict[tuple[int, int, bool], list[Part]] = {}
        for part in parts:
            groups.setdefault((part.site, id(part.arena), part.writes), []).append(part)
        tiles = [one for one in context.operands if isinstance(one, Tile)] if groups else []
        for (site, _, writes), group in groups.items():
            arena = group[0].arena
            memory = self.memory(arena)
            for key in _joined(group):
                number = self.region_id(memory, key)
                content = NONE
                if writes:
                    offset, run, dims, _ = key
                    whole = arena.memory[offset : offset + run]
                    content = self.contents.add(Region(offset, run, dims).cells(arena.memory, 1) if dims else whole)
                shape = self._shape(tiles, arena, memory, key, site, writes)
                self.accesses.add(step, site, writes, number, shape, content)

    def _shape(
        self,
        tiles: Iterable[Tile],
        arena: InstrumentedArena,
        memory: int,
        key: tuple[Any, ...],
        site: int,
        writes: bool,
    ) -> int:
        """Returns the handle that the bytes are accessed through."""
        offset, run, dims, _ = key
        stop = offset + run + sum((count - 1) * stride for count, stride in dims)
        for tile in tiles:
            pointer: Any = tile.pointer
            if getattr(pointer, "arena", None) is not arena:
                continue
            start, layout = pointer.offset, tile.layout
            if start <= offset and stop <= start + layout.nbytes:
                return self._numbered(tile, memory, start, site, writes)
        return 0

    def _numbered(self, tile: Tile, memory: int, start: int, site: int, writes: bool) -> int:
        allocation = getattr(tile, "allocation", None)
        names: list[str] = []
        if allocation is not None:
            box = Box(memory, allocation.start, allocation.stop, allocation.name, allocation.site.number)
        else:
            box = Box(memory, start, start + tile.layout.nbytes, "", 0)
            names = self.sites[site].operands_in(tile.pointer.arena.space, writes)
        return self.shape_id(
            Shape(
                self.box_id(box, names), start, tile.layout, tile.fmt.name, tile.loc, tile.rows, tile.cols,
                tile.row0, tile.col0, tile.valid_rows, tile.valid_cols,
            )
        )  # fmt: skip

    def box_id(self, box: Box, names: Sequence[str]) -> int:
        """Returns the number of a box; ``names`` are operands one of which it is accessed through."""
        number = self._boxes.get(box)
        if number is None:
            number = self._boxes[box] = len(self.boxes)
            self.boxes.append(box)
        if names:
            known = self._named.setdefault(number, Counter())
            # The only operand in this memory must be the tile.
            for name in names:
                known[name] += 1 if len(names) == 1 else 0
        return number

    def shape_id(self, shape: Shape) -> int:
        """Returns the number of what a handle shows."""
        found = self._shapes.get(shape)
        if found is None:
            found = self._shapes[shape] = len(self.shapes)
            self.shapes.append(shape)
        return found

    def region_id(self, memory: int, key: Span) -> int:
        """Returns the number of a region of a memory."""
        number = self._regions.get((memory, *key))
        if number is None:
            offset, run, dims, kind = key
            flat = self.lists.number(tuple(each for pair in dims for each in pair))
            number = self._regions[memory, *key] = self.regions.add(memory, offset, run, flat, kind)
        return number


def _exact(region: Bytes) -> Span | None:
    """Returns a region as it is, where every byte of it is accessed once."""
    if isinstance(region, Region) and region.plain:
        return region.offset, region.run, region.dims, WHOLE
    return None


def _joined(group: Sequence[Part]) -> list[Span]:
    """Returns the bytes of some accesses as few regions."""
    if len(group) == 1 and isinstance(region := group[0].region, Region) and region.plain:
        return [(region.offset, region.run, region.dims, WHOLE)]
    few = {_exact(part.region) for part in group}
    if len(few) <= _FEW and None not in few:
        # Tiles that lie side by side stay apart.
        return sorted(one for one in few if one is not None)
    plain: list[tuple[int, int]] = []
    rough = False
    strided: dict[tuple[int, int, tuple[tuple[int, int], ...]], None] = {}
    for part in group:
        region = part.region
        if isinstance(region, Elements) and region.starts.size <= _MOST_ELEMENTS:
            plain += byte_runs(region.offsets())
        elif isinstance(region, Region) and region.dims and region.plain:
            strided[region.offset, region.run, region.dims] = None
        else:
            plain.append((region.offset, region.stop))
            rough = rough or not (isinstance(region, Region) and region.plain)
    runs: list[list[int]] = []
    for low, high in sorted(plain):
        if runs and low <= runs[-1][1]:
            runs[-1][1] = max(runs[-1][1], high)
        else:
            runs.append([low, high])
    if len(runs) + len(strided) <= MOST_RANGES:
        kind = ROUGH if rough else WHOLE
        found: list[Span] = [(low, high - low, (), kind) for low, high in runs]
        return [*found, *((*one, WHOLE) for one in strided)]
    low = min(part.region.offset for part in group)
    high = max(part.region.stop for part in group)
    return [(low, high - low, (), ROUGH)]
