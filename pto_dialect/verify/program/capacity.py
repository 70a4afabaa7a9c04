"""Tiles without addresses whose live sets must exceed their memory.

Source: docs/reference/constraints.md, "Whole programs".
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.diagnostics.diagnostic import Note
from pto_dialect.ir.buffers.views import TAssignOp
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.location import label_of, span_of_value
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.targets.profile import Profile

from ..buffers.alloc import address_operand, is_view, space_of, tile_bytes
from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import ERROR, SHAPES

_SHOWN = 4


@dataclass(eq=False)
class _LiveTile:
    """A tile that a planner places, with the gaps between operations of the current block in which it is live. A gap is
    numbered by the operation before it; ``gaps`` reach from each write or read to the next read; ``start`` is the last
    access."""

    value: SSAValue
    type: TileBufType
    size: int
    start: int | None = None
    gaps: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class _TileSums:
    """Sum of the bytes of the tiles of a function that a planner places, by target and memory; ``judged`` once they may
    overflow and the liveness analysis of the function has run."""

    sizes: dict[tuple[str, str], int] = field(default_factory=dict)
    judged: bool = False


@checks(SHAPES, "pto.alloc_tile")
def check_live_tiles(op: Operation, ctx: Context) -> None:
    """Adds up the tiles that are live between two operations of a block, where the tiles of a function together exceed
    a memory.

    The result is a lower bound: only accesses in the block itself count, from the last write before a read to that
    read.
    """
    tile, function = op.results[0].type if op.results else None, ctx.function
    if function is None or type(tile) is not TileBufType:
        return
    groups = _groups(op) if len(op.operands) else {}
    if groups is None or groups.get("addr"):
        return
    sums: _TileSums = ctx.cached(("capacity", function), _TileSums)
    size, exceeded = tile_bytes(tile), False
    for profile in ctx.candidates:
        key = (profile.name, space_of(tile, profile))
        total = sums.sizes[key] = sums.sizes.get(key, 0) + size
        exceeded = exceeded or total > (profile.capacity[key[1]] or total)
    if not exceeded or sums.judged:
        return
    sums.judged = True
    tiles = _planned_tiles(function)
    for block in [block for op in walk(function) for region in op.regions for block in region.blocks]:
        _check_block(block, tiles, ctx)


def _planned_tiles(function: Operation) -> dict[int, _LiveTile]:
    """Returns the tiles that the program allocates and leaves to a planner, by the identity of their values."""
    found: dict[int, _LiveTile] = {}
    for op in walk(function):
        if has_role(op, Role.TILE_ALLOCATION) and op.results:
            value = op.results[0]
            if isinstance(value.type, TileBufType) and _is_planned(op, value.type):
                found[id(value)] = _LiveTile(value, value.type, tile_bytes(value.type))
    return found


def _is_planned(op: Operation, tile: TileBufType) -> bool:
    # Scale tiles of the older dialect have the shape of their operand; only a part of them is ever filled.
    if tile.loc == "scaling" or is_view(op) or _groups(op) is None or address_operand(op) is not None:
        return False
    return not any(isinstance(use.operation, TAssignOp) for use in op.results[0].uses)


def _check_block(block: Block, tiles: dict[int, _LiveTile], ctx: Context) -> None:
    ops = list(block.ops)
    live = _live_ranges(ops, tiles, ctx.profile.arch)
    if len(live) < 2:
        return
    peaks = {profile.name: _first_overflow(live, profile) for profile in (ctx.profile, *ctx.candidates)}
    severity = ctx.refused(lambda profile: peaks[profile.name] is None, ERROR)
    peak = peaks[ctx.profile.name]
    if severity is None or peak is None:
        return
    gap, space, found = peak
    op, size = ops[gap], sum(tile.size for tile in found)
    message = (
        f"{len(found)} tiles that are needed after {op.name} take {size} bytes, {space} has "
        f"{ctx.profile.capacity[space]} on {ctx.profile.name}"
    )
    notes = tuple(
        Note(f"{label_of(tile.value, '%tile')} has {tile.size} bytes", span_of_value(tile.value))
        for tile in sorted(found, key=lambda tile: -tile.size)[:_SHOWN]
    )
    ctx.report(
        "capacity-live",
        op,
        message,
        severity=severity,
        notes=notes,
        help="compute in smaller tiles, or one after another",
    )


def _live_ranges(ops: list[Operation], tiles: dict[int, _LiveTile], arch: str) -> list[_LiveTile]:
    """Returns the tiles that are live between some pair of ``ops``."""
    for tile in tiles.values():
        tile.start, tile.gaps = None, []
    for number, op in enumerate(ops):
        if not any(id(value) in tiles for value in op.operands) or not isinstance(op, PtoOp):
            continue
        groups = _groups(op)
        if groups is None:
            continue
        form = form_of(op, arch)
        for name in form.reads:
            for value in groups.get(name, ()):
                tile = tiles.get(id(value))
                if tile is not None and tile.start is not None and tile.start < number:
                    tile.gaps.append((tile.start, number))
                    tile.start = number
        for name in form.writes:
            for value in groups.get(name, ()):
                if id(value) in tiles:
                    tiles[id(value)].start = number
    return [tile for tile in tiles.values() if tile.gaps]


def _groups(op: Operation) -> dict[str, tuple[SSAValue, ...]] | None:
    """Returns the operands by declared name; ``None`` for other dialects, and where operand counts contradict each
    other."""
    if not isinstance(op, PtoOp):
        return None
    try:
        return operand_groups(op)
    except ValueError:
        return None


def _first_overflow(live: list[_LiveTile], profile: Profile) -> tuple[int, str, list[_LiveTile]] | None:
    """Returns the first gap whose live tiles exceed a memory: its number, the memory, the tiles."""
    by_space: dict[str, list[_LiveTile]] = defaultdict(list)
    for tile in live:
        by_space[space_of(tile.type, profile)].append(tile)
    found: list[tuple[int, str]] = []
    for space, tiles in by_space.items():
        capacity, size = profile.capacity[space], 0
        if capacity is None or sum(tile.size for tile in tiles) <= capacity:
            continue
        steps: dict[int, int] = defaultdict(int)
        for tile in tiles:
            for start, end in tile.gaps:
                steps[start] += tile.size
                steps[end] -= tile.size
        for gap in sorted(steps):
            size += steps[gap]
            if size > capacity:
                found.append((gap, space))
                break
    if not found:
        return None
    gap, space = min(found)
    return gap, space, [tile for tile in by_space[space] if any(start <= gap < end for start, end in tile.gaps)]
