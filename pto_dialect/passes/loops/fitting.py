"""How many slots tiles can have in the memory.

Source: docs/reference/memory-planning.md, "Packing".
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.ir.buffers.views import AllocTileOp
from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.extents import buffer_extent
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.assign_memory.pack import bound
from pto_dialect.passes.assign_memory.plan import memory_plans

from .parts import users_of

_GLOBAL = (Pipe.MTE2, Pipe.MTE3, Pipe.FIX)
"""Pipes that move tiles to and from global memory, which takes about twice as long as an operation on them."""


def slots_that_fit(
    function: Operation, loops: Mapping[AllocTileOp, Operation], count: int, target: str | None
) -> dict[AllocTileOp, int]:
    """Returns how many slots each tile gets in its loop: ``count``, or fewer where the slots of all do not fit, first
    for tiles that gain least. Where the memory is too small for one slot of each, or nobody knows what is needed at one
    time, it is ``count``: fewer would not make the program fit."""
    slots = dict.fromkeys(loops, count)
    profile = profile_of(function, target)
    try:
        plans = memory_plans(function, target, "max") if loops else []
    except UnsupportedError:
        return slots
    uses = [use for plan in plans for buffer in plan.addresses for use in buffer.uses.items()]
    for plan in plans:
        buffers = {buffer.op: buffer for buffer in plan.addresses}
        if plan.capacity is None or plan.bound > plan.capacity:
            continue
        gains = {tile: _gain(tile, loop, profile.arch) for tile, loop in loops.items() if tile in buffers}
        mine = sorted(gains, key=gains.__getitem__)
        before = {tile: (buffers[tile].size, buffers[tile].first, buffers[tile].last) for tile in mine}
        for tile in mine:
            # A tile with several slots is needed in all of its loop.
            times = [time for time, op in uses if loops[tile].is_ancestor(op)]
            buffers[tile].size *= count
            # Nothing is needed in a loop that never runs.
            buffers[tile].first = min(times, default=buffers[tile].first)
            buffers[tile].last = max(times, default=buffers[tile].last)
        for number, tile in ((number, tile) for number in range(count - 1, 0, -1) for tile in mine):
            if bound(list(buffers.values())) <= plan.capacity:
                break
            slots[tile] = number
            size, first, last = before[tile]
            buffers[tile].size = size * number
            if number == 1:
                buffers[tile].first, buffers[tile].last = first, last
    return slots


def _gain(tile: AllocTileOp, loop: Operation, arch: str) -> tuple[int, bool, int]:
    """Returns a number to compare what slots bring: the work from the first to the last use of a tile in an iteration.
    With one slot the next iteration begins all of it afterwards, with two it may begin before."""
    users = {*users_of(tile.result)}
    work = since = 0
    loaded = False
    for op in walk(loop):
        if op in users:
            work += since + _work(op, arch)
            since = 0
            loaded |= isinstance(op, PtoOp) and form_of(op, arch).pipe is Pipe.MTE2
        elif work:
            since += _work(op, arch)
    return work, loaded, buffer_extent(tile.result.type, arch)


def _work(op: Operation, arch: str) -> int:
    """About how long an operation takes, as the bytes of its largest tile."""
    pipe = form_of(op, arch).pipe if isinstance(op, PtoOp) else None
    if pipe is None:
        return 0
    tiles = [value.type for value in op.operands if isinstance(value.type, TileBufType)]
    return max((buffer_extent(tile, arch) for tile in tiles), default=0) * (2 if pipe in _GLOBAL else 1)
