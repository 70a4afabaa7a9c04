"""Rules of tile buffers: layout of the type, dynamic valid sizes, addresses, capacity.

Source: docs/reference/targets.md, "Layouts of locations".
"""

from __future__ import annotations

from itertools import pairwise
from math import gcd

from xdsl.dialects.builtin import DenseArrayBase, StringAttr
from xdsl.ir import Operation, SSAValue

from pto_dialect.diagnostics.remedies.types import padded_type
from pto_dialect.ir.core.base import PtoOp, is_pto, operand_groups
from pto_dialect.ir.core.extents import buffer_extent, round_up
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.operands import first
from pto_dialect.ir.core.types import (
    DYNAMIC,
    I1,
    I64,
    MultiTileBufType,
    TileBufType,
    TileType,
    byte_width,
    element_name,
    type_text,
)
from pto_dialect.targets.element_types import FP4, is_low_precision
from pto_dialect.targets.memory import BASE_ALIGNMENT, MX_SCALE_FRACTAL, tile_space
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.tile_layouts import NONE_BOX_ALIGN, inner_block

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import ERROR, SHAPES, STRUCTURE

_PLANNED = "pto.multi_buffer_addrs"
"""The attribute that a planning pass sets to the addresses of the slots."""


_ROW_PLUS_ONE = 2
_SLOTS = (2, 16)

Violation = tuple[str, str, str | None]
"""The rule that a type violates, the message, and the help."""
_cached_violations: dict[TileBufType, tuple[Violation, ...]] = {}


def layout_violations(tile: TileBufType) -> tuple[Violation, ...]:
    """Returns the violations in the layout of a tile type; cached for each type."""
    try:
        return _cached_violations[tile]
    except KeyError:
        found = _cached_violations[tile] = tuple(_compute_layout_violations(tile))
        return found


def _compute_layout_violations(tile: TileBufType) -> list[Violation]:
    size = byte_width(tile.element)
    shown = type_text(tile)
    if size is None or tile.element == I1:
        return [("alloc-box-elem", f"elements of {shown} have no size in bytes", None)]
    if tile.slayout == "none_box":
        side, length = ("row", tile.cols) if tile.blayout == "row_major" else ("column", tile.rows)
        align = NONE_BOX_ALIGN // 2 if element_name(tile.element) in FP4 else NONE_BOX_ALIGN
        # A left tile always has the native block layout of the target, whatever layout is written.
        either = tile.loc == "left" and tile.cols * size % align == 0
        if length * size % align and not either:
            message = f"a {side} of {shown} has {length * size} bytes, not a multiple of {align}"
            unit = align // gcd(align, size)
            return [("alloc-nonebox-align", message, _padded_type(tile, *((1, unit) if side == "row" else (unit, 1))))]
        return []
    if tile.fractal == 512 and NONE_BOX_ALIGN % size:
        return [
            ("alloc-box-elem", f"elements of {shown} have {size} bytes, which do not fill blocks of 512 bytes", None)
        ]
    slayout = "row_major" if tile.fractal == MX_SCALE_FRACTAL else tile.slayout
    rows, cols = inner_block(tile.fractal, slayout, size * 8)
    faults: list[Violation] = []
    partial = tile.loc == "vec" or tile.fractal == MX_SCALE_FRACTAL or tile.rows == 1
    remedy = _padded_type(tile, 1 if partial else rows, cols)
    if tile.rows % rows and not partial:
        faults.append(
            (
                "alloc-boxed-multiple",
                f"{tile.rows} rows of {shown} are no multiple of the {rows} rows of a block",
                remedy,
            )
        )
    if tile.cols % cols:
        faults.append(
            (
                "alloc-boxed-multiple",
                f"{tile.cols} columns of {shown} are no multiple of the {cols} columns of a block",
                remedy,
            )
        )
    return faults


def _padded_type(tile: TileBufType, row_unit: int, column_unit: int) -> str:
    """Returns the type of a larger tile with the same valid region, whose size is a multiple of these units."""
    rows, cols = round_up(tile.rows, row_unit), round_up(tile.cols, column_unit)
    padded = tile.replace(rows=rows, cols=cols, valid=(tile.valid_rows, tile.valid_cols))
    return type_text(padded)


def tile_bytes(tile: TileBufType | TileType) -> int:
    """Returns the bytes of a tile; 0 when its elements have no size."""
    return tile.rows * tile.cols * (byte_width(tile.element) or 0)


def is_view(op: Operation) -> bool:
    """Returns whether an allocation is marked as a view of bytes that another tile owns (a lowered subview)."""
    meaning = op.attributes.get("pto.view_semantics")
    return meaning is not None and isinstance(meaning, StringAttr) and meaning.data == "subview"


def space_of(tile: TileBufType, profile: Profile) -> str:
    """Returns the memory space of a tile; the MX scales of a5 have memories of their own."""
    return tile_space(tile.loc, tile.blayout, tile.fractal, profile.arch)


# ------------------------------------------------------------ allocation


@checks(STRUCTURE, "pto.alloc_tile", "pto.alloc_multi_tile", pure=True)
def check_form(op: Operation, ctx: Context) -> None:
    """Checks the operands of an allocation."""
    assert isinstance(op, PtoOp)
    slot = _slot(op, ctx)
    if slot is None:
        return
    groups = operand_groups(op) if len(op.operands) else {}
    for name, size in (("valid_row", slot.valid_rows), ("valid_col", slot.valid_cols)):
        given = groups.get(name)
        if size == DYNAMIC and not given:
            message = f"{op.name} needs {name}, the type leaves it open"
            ctx.report("alloc-valid-operands", op, message, help=f"{name} = %n")
        elif given and size != DYNAMIC:
            message = f"{name} of {op.name} is fixed to {size} by the type"
            ctx.report("alloc-valid-operands", op, message, at=given[0], help="write ? in the valid region of the type")


@checks(STRUCTURE, "pto.alloc_multi_tile", pure=True)
def check_planned(op: Operation, ctx: Context) -> None:
    """Checks the addresses that a planner gave to the slots: one for each slot, and no two slots share a byte."""
    given, kind = op.attributes.get(_PLANNED), op.results[0].type
    if given is None or not isinstance(kind, MultiTileBufType):
        return
    if not isinstance(given, DenseArrayBase) or given.elt_type != I64:
        ctx.report(
            "multi-tile-addresses", op, f"{_PLANNED} must be an array of i64, one address for each slot", at=_PLANNED
        )
        return
    if address_operand(op) is not None:
        ctx.report("multi-tile-addresses", op, f"{_PLANNED} and addr exclude each other", at=_PLANNED)
    places, size = sorted(given.get_values()), tile_bytes(kind.slot)
    if len(places) != kind.count:
        message = f"{_PLANNED} must have {kind.count} addresses, one for each slot, found {len(places)}"
        ctx.report("multi-tile-addresses", op, message, at=_PLANNED)
    elif places[0] < 0:
        ctx.report(
            "multi-tile-addresses", op, f"the address of a slot must not be negative, found {places[0]}", at=_PLANNED
        )
    else:
        for low, high in pairwise(places):
            if high - low < size:
                message = f"slots of {size} bytes at {low} and {high} overlap"
                ctx.report("multi-tile-addresses", op, message, at=_PLANNED)
                return


@checks(STRUCTURE, "pto.alloc_tile", "pto.alloc_multi_tile")
def check_used(op: Operation, ctx: Context) -> None:
    """Checks that an allocation is used."""
    result = op.results[0]
    if result.first_use is not None:
        return
    slot = result.type.slot if isinstance(result.type, MultiTileBufType) else result.type
    if isinstance(slot, TileBufType):
        ctx.report("dead-tile", op, f"{label_of(result, '%tile')} is never used")


def _slot(op: Operation, ctx: Context) -> TileBufType | None:
    """Returns the type of the allocated tile, or of each slot."""
    kind = op.results[0].type
    if not isinstance(kind, MultiTileBufType):
        return kind if isinstance(kind, TileBufType) else None
    low, high = _SLOTS
    if not low <= kind.count <= high:
        ctx.report("multi-tile-count", op, f"a multi-tile buffer has {low} to {high} slots, found {kind.count}")
    if is_low_precision(element_name(kind.slot.element)):
        message = f"slots of {op.name} cannot have element type {element_name(kind.slot.element)}"
        ctx.report("multi-tile-count", op, message)
    if kind.slot.compact == _ROW_PLUS_ONE:
        ctx.report("multi-tile-count", op, f"slots of {op.name} cannot be compact row_plus_one")
    return kind.slot


@checks(SHAPES, "pto.alloc_tile", "pto.alloc_multi_tile", "pto.materialize_tile", pure=True)
def check_layout(op: Operation, ctx: Context) -> None:
    """Checks that the type can be laid out."""
    kind = op.results[0].type
    tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
    if not isinstance(tile, TileBufType):
        return
    for broken, message, padded in layout_violations(tile):
        help, mended = (f"write {padded}", (padded_type(type_text(tile), padded),)) if padded else (None, ())
        ctx.report(broken, op, message, help=help, remedies=mended)


@checks(SHAPES, "pto.alloc_tile", "pto.alloc_multi_tile", numeric=True)
def check_parent(op: Operation, ctx: Context) -> None:
    """Checks the address of a buffer and whether the buffer fits into its memory."""
    tile = op.results[0].type
    # Most types are tiles: compare the class first, because isinstance is slow when the answer is no.
    if type(tile) is MultiTileBufType:
        tile = tile.slot
    if not isinstance(tile, TileBufType):
        return
    value = address_operand(op)
    address = ctx.constant(value)
    if address is not None and value is not None:
        check_address(op, ctx, tile, value, address)
    # Scale tiles of the older dialect have the shape of their operand; only a part of them is ever filled.
    sized = (address is not None or tile.loc != "scaling") and not is_view(op)
    if sized and (address or 0) >= 0:
        size = buffer_extent(op.results[0].type, ctx.profile.arch)
        _fits_memory(op, ctx, tile, value if address is not None else None, address or 0, size)


def address_operand(op: Operation) -> SSAValue | None:
    """Returns the address operand of an allocation."""
    assert is_pto(op)
    return first(op, "addr") if op._operands else None


@checks(STRUCTURE, "pto.tassign")
def check_rebinding(op: Operation, ctx: Context) -> None:
    """Checks that a rebound tile keeps its type."""
    tile, address = op.operands
    if tile.type != op.results[0].type:
        found = f"{type_text(tile.type)} and {type_text(op.results[0].type)}"
        ctx.report("tassign-type", op, f"{op.name} keeps the type of the tile, found {found}", at=tile)
    constant = ctx.constant(address)
    if constant is not None and isinstance(tile.type, TileBufType):
        check_address(op, ctx, tile.type, address, constant)


def check_address(op: Operation, ctx: Context, tile: TileBufType, value: SSAValue, address: int) -> None:
    """Checks the alignment of a constant address."""
    align = BASE_ALIGNMENT[space_of(tile, ctx.profile)]
    need = max(align.error, 16) if tile.fractal == MX_SCALE_FRACTAL and tile.loc == "scaling" else align.error
    if address < 0:
        ctx.report("alloc-addr-align", op, f"the address of {op.name} must not be negative, found {address}", at=value)
    elif address % need:
        ctx.report(
            "alloc-addr-align", op, f"the address of {op.name} must be a multiple of {need}, found {address}", at=value
        )
    elif tile.loc in ("left", "right", "acc") and address % align.warning:
        message = f"the address of a tile in {tile.loc} should be a multiple of {align.warning}, found {address}"
        ctx.report("align-fractal", op, message, at=value)


def _fits_memory(op: Operation, ctx: Context, tile: TileBufType, value: SSAValue | None, start: int, size: int) -> None:
    """Returns whether ``size`` bytes from ``start`` lie inside the memory."""
    end = start + size
    profile = ctx.profile
    space = space_of(tile, profile)
    capacity = profile.capacity[space]
    refused = ctx.refused(lambda p: end <= (p.capacity[space_of(tile, p)] or end), ERROR)
    if refused is not None:
        what = f"bytes {start} to {end}" if value is not None else f"{size} bytes"
        message = f"{op.name} takes {what}, {tile.loc} has {capacity} on {profile.name}"
        ctx.report("capacity-static", op, message, at=value, severity=refused)
        return
    limit = profile.planner_limit.get(space)
    if limit is not None and end > limit:
        message = f"{op.name} reaches byte {end} of {tile.loc}; memory planners stop at {limit}"
        ctx.report("capacity-ub-planner", op, message, at=value)


@checks(STRUCTURE, "pto.multi_tile_get")
def check_slot(op: Operation, ctx: Context) -> None:
    """Checks the use of one slot of a multi-tile buffer."""
    source, number = op.operands
    if not isinstance(source.type, MultiTileBufType):
        return
    if op.results[0].type != source.type.slot:
        wanted, found = type_text(source.type.slot), type_text(op.results[0].type)
        ctx.report("multi-tile-count", op, f"a slot has type {wanted}, found {found}")
    constant = ctx.constant(number)
    if constant is not None and not 0 <= constant < source.type.count:
        message = f"slot {constant} does not exist, the buffer has {source.type.count}"
        ctx.report("multi-tile-count", op, message, at=number)
