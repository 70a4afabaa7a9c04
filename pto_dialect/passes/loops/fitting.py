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
from pto_dialect.passes.accesses.items import UnsupportedError
from pto_dialect.passes.assign_memory.pack import bound
from pto_dialect.passes.assign_memory.plan import memory_plans

_GAIN = {Pipe.MTE2: 4, Pipe.MTE3: 3, Pipe.FIX: 3, Pipe.MTE1: 2}
"""How much it brings that a pipe need not wait for a tile: those to and from global memory are the slowest."""


def slots_that_fit(
    function: Operation, loops: Mapping[AllocTileOp, Operation], count: int, target: str | None
) -> dict[AllocTileOp, int]:
    """How many slots each tile gets in its loop: ``count``, or fewer where the slots of all do not fit, first for tiles
    that gain least. Where the memory is too small for one slot of each, or nobody knows what is needed at one time, it
    is ``count``: fewer would not make the program fit."""
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
        mine = sorted((tile for tile in loops if tile in buffers), key=lambda tile: _gain(tile, profile.arch))
        before = {tile: (buffers[tile].size, buffers[tile].first, buffers[tile].last) for tile in mine}
        for tile in mine:
            # A tile with several slots is needed in all of its loop.
            times = [time for time, op in uses if loops[tile].is_ancestor(op)]
            buffers[tile].size *= count
            buffers[tile].first, buffers[tile].last = min(times), max(times)
        for number, tile in ((number, tile) for number in range(count - 1, 0, -1) for tile in mine):
            if bound(list(buffers.values())) <= plan.capacity:
                break
            slots[tile] = number
            size, first, last = before[tile]
            buffers[tile].size = size * number
            if number == 1:
                buffers[tile].first, buffers[tile].last = first, last
    return slots


def _gain(tile: AllocTileOp, arch: str) -> tuple[int, int]:
    """A number to compare what slots bring."""
    users = [use.operation for use in tile.result.uses]
    pipes = {form_of(op, arch).pipe for op in users if isinstance(op, PtoOp)}
    gain = max((_GAIN.get(pipe, 1) for pipe in pipes if pipe is not None), default=0)
    return gain, buffer_extent(tile.result.type, arch)
