"""Calls that give a tile its address: assignments, other shapes and windows of tiles, tiles without addresses.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..translate.interface import Operand
from .statement import Named
from .tiles import Origin, Tile, element_bytes, full_size, tile_of, tile_type, with_full_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..translate.interface import Call, Emitter
    from .operands import Operands


def translate_assignment(call: Call, emitter: Emitter, known: Operands) -> str | None:
    """Makes the tiles that a ``TASSIGN`` gives an address to; returns the address, if it is a number."""
    given = call.operands[-1]
    if given.assigned is not None:
        return give_address(call, known.handles.origin_of(given), emitter, known)
    address = emitter.cast(given, "i64")
    return give_address(call, Origin(address=address), emitter, known)


def translate_address(call: Call, emitter: Emitter, known: Operands) -> str | None:
    """Makes the tile that another one or the planner of memory gives an address; returns the known address."""
    translate = ADDRESSES.get(call.name)
    if translate is None:
        emitter.fail(f"{call.name} has no counterpart in .pto")
    return give_address(call, translate(call, emitter, known), emitter, known)


def give_address(call: Call, origin: Origin, emitter: Emitter, known: Operands) -> str | None:
    """Records what the address is that a call gives, and makes the handles that have it."""
    known.handles.origin(call, origin)
    known.handles.make_at_assignment(call)
    return origin.address or None


def _declared(call: Call, emitter: Emitter, known: Operands) -> Origin:
    """Returns a tile without an address: the planner of memory gives it one."""
    if not emitter.users(call) and not emitter.is_stored(call):
        return Origin()
    tile = with_full_size(tile_of(call.groups[0], emitter))
    type_ = tile_type(tile, emitter)
    return Origin(Named(emitter.define(f"pto.alloc_tile : {type_}", call.label or "tile"), type_), tile)


def _reshaped(call: Call, emitter: Emitter, known: Operands) -> Origin:
    destination, source = (tile_of(group, emitter) for group in call.groups[:2])
    origin = known.handles.origin_of(source.address)
    whole = with_full_size(destination)
    if origin.base is None and destination.valid != whole.valid:
        return Origin(address=origin.address)
    handle = origin.base or known.handles.handle(source, call)
    type_ = tile_type(whole, emitter)
    value = Named(emitter.define(f"pto.treshape {handle.name} : {handle.type} -> {type_}", call.label or "tile"), type_)
    known.handles.define(as_address(whole, call), value, call)
    return Origin(value, whole, origin.address)


def _window(call: Call, emitter: Emitter, known: Operands) -> Origin:
    destination, source = (tile_of(group, emitter) for group in call.groups[:2])
    row, col = (emitter.cast(group.operands[0], "index") for group in call.groups[2:4])
    origin = known.handles.origin_of(source.address)
    if not origin.address or _is_window(destination, source):
        handle = known.handles.handle(source, call)
        rows, cols = (
            size if isinstance(size, int) else full
            for size, full in zip(destination.valid, full_size(destination), strict=True)
        )
        shown = destination._replace(rows=rows, cols=cols, valid=(rows, cols))
        type_ = tile_type(shown, emitter)
        text = f"pto.subview {handle.name}[{row}, {col}] sizes [{rows}, {cols}] : {handle.type} -> {type_}"
        value = Named(emitter.define(text, call.label or "window"), type_)
        known.handles.define(as_address(destination, call), value, call)
        if not origin.address:
            return Origin(value, shown)
    return Origin(address=_offset(origin.address, source, row, col, emitter))


def _offset(address: str, source: Tile, row: str, col: str, emitter: Emitter) -> str:
    """Returns the address of one element of a tile whose elements lie in rows or columns."""
    by_rows = source.blayout == "RowMajor"
    pitch = emitter.constant(source.cols if by_rows else source.rows, "index")
    outer, inner = (row, col) if by_rows else (col, row)
    first = emitter.define(f"arith.muli {outer}, {pitch} : index", "offset")
    element = emitter.define(f"arith.addi {first}, {inner} : index", "offset")
    size = emitter.constant(element_bytes(source.element), "index")
    offset = emitter.define(f"arith.muli {element}, {size} : index", "offset")
    wide = emitter.define(f"arith.index_cast {offset} : index to i64", "offset")
    return emitter.define(f"arith.addi {address}, {wide} : i64", "address")


def _is_window(destination: Tile, source: Tile) -> bool:
    """Returns whether a window of the source has the layout of the destination."""
    same = destination._replace(
        rows=source.rows, cols=source.cols, valid=source.valid, address=source.address, pad=source.pad
    )
    by_rows = source.blayout == "RowMajor"
    pitch = destination.cols == source.cols if by_rows else destination.rows == source.rows
    length = destination.valid[1 if by_rows else 0]
    aligned = isinstance(length, int) and length * element_bytes(source.element) % 32 == 0
    constant = all(isinstance(size, int) for size in destination.valid)
    return same == source and source.slayout == "NoneBox" and pitch and aligned and constant


def _chosen(call: Call, emitter: Emitter, known: Operands) -> Origin:
    """Returns one of two tiles without addresses, as an index of an array or a condition says."""
    condition, *tiles = call.operands
    one, other = (known.handles.origin_of(tile) for tile in tiles)
    if one.base is None or other.base is None or one.tile is None or one.base.type != other.base.type:
        emitter.fail("one of two tiles is chosen that differ in their types", "assign addresses with TASSIGN")
    names = f"{emitter.scalar(condition, 'i1')}, {one.base.name}, {other.base.name}"
    return Origin(Named(emitter.define(f"arith.select {names} : {one.base.type}", "tile"), one.base.type), one.tile)


def _scale(call: Call, emitter: Emitter, known: Operands) -> Origin:
    """The scales of a tile lie at a sixteenth of its address, in a memory of their own."""
    source = tile_of(call.groups[1], emitter)
    address = known.handles.origin_of(source.address).address
    if not address:
        emitter.fail("TGET_SCALE_ADDR of a tile without an address", "assign addresses with TASSIGN")
    four = emitter.constant(4, "i64")
    return Origin(address=emitter.define(f"arith.shrui {address}, {four} : i64", "address"))


def as_address(tile: Tile, call: Call) -> Tile:
    """Returns a tile whose address is the result of a call."""
    return tile._replace(address=Operand("i64", assigned=call))


ADDRESSES: dict[str, Callable[[Call, Emitter, Operands], Origin]] = {
    "Tile": _declared,
    "TRESHAPE": _reshaped,
    "TSUBVIEW": _window,
    "TGET_SCALE_ADDR": _scale,
    "select": _chosen,
}

__all__ = ["ADDRESSES", "as_address", "give_address", "translate_address", "translate_assignment"]
