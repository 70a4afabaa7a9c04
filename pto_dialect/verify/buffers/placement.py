"""Rules about the addresses of the tile buffers of one function: explicit addresses, and other uses of the memory."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.ir import Operation

from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.extents import buffer_extent
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import MultiTileBufType, PtrType, TileBufType
from pto_dialect.targets.memory import LOC_TO_SPACE

from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check
from .alloc import address_operand


class _Buffer(NamedTuple):
    """An allocated tile buffer: memory space, first byte (``None`` without a constant address), size in bytes."""

    op: Operation
    loc: str
    addressed: bool
    start: int | None
    size: int


def _buffers(scan: FunctionScan, ctx: Context) -> Iterator[_Buffer]:
    for op in scan.named("pto.alloc_tile", "pto.alloc_multi_tile"):
        kind = op.results[0].type
        tile = kind
        # Most types are tiles: compare the class first, because isinstance is slow when the answer is no.
        if not isinstance(kind, TileBufType) and isinstance(kind, MultiTileBufType):
            tile = kind.slot
        if not isinstance(tile, TileBufType):
            continue
        try:
            address = address_operand(op)
        except ValueError:
            continue  # The operand counts contradict each other, which another rule reports.
        size = buffer_extent(kind, ctx.profile.arch)
        yield _Buffer(op, tile.loc, address is not None, ctx.constant(address), size)


@function_check("views")
def check_placement(scan: FunctionScan, ctx: Context) -> None:
    """Checks tiles with and without addresses, pointers to fixed addresses, and reserved ranges."""
    buffers = list(_buffers(scan, ctx))
    free: dict[str, Operation] = {}
    for buffer in buffers:
        if not buffer.addressed:
            free.setdefault(LOC_TO_SPACE[buffer.loc], buffer.op)
    placed = {LOC_TO_SPACE[buffer.loc] for buffer in buffers if buffer.addressed}
    for space, op in free.items():
        if space in placed:
            message = f"this tile has no address, other tiles in {space} of this function have one"
            ctx.report("alloc-addr-required", op, message, help="addr = %address")
    _fixed_pointers(scan, ctx, free)
    _reserved(scan, ctx, buffers)


def _fixed_pointers(scan: FunctionScan, ctx: Context, free: dict[str, Operation]) -> None:
    """Reports pointers that may point into tiles the allocator places; once for each memory."""
    reported: set[str] = set()
    for op in scan.named("pto.castptr"):
        kind = op.results[0].type
        source = find(op, "input")
        if not isinstance(kind, PtrType) or source is None or not isinstance(source.type, IntegerType):
            continue
        if kind.space in free and kind.space not in reported:
            reported.add(kind.space)
            message = f"this pointer into {kind.space} may reach tiles of this function that have no address"
            ctx.report("level-mix", op, message, help="give the tiles addresses")


def _reserved(scan: FunctionScan, ctx: Context, buffers: list[_Buffer]) -> None:
    for op in scan.named("pto.reserve_buffer"):
        base, size, location = (op.attributes.get(name) for name in ("base", "size", "location"))
        if not (isinstance(base, IntegerAttr) and isinstance(size, IntegerAttr) and isinstance(location, EnumAttr)):
            continue
        first, end = base.value.data, base.value.data + size.value.data
        for buffer in buffers:
            if buffer.loc != location.value or buffer.start is None:
                continue
            if buffer.start < end and first < buffer.start + buffer.size:
                tile = f"bytes {buffer.start} to {buffer.start + buffer.size}"
                message = f"this tile takes {tile} of {buffer.loc}, of which {first} to {end} are reserved"
                ctx.report("overlap-reserve", buffer.op, message)
