"""Scales of MX operands: from global memory to L1, and from there beside their operands.

Source: docs/reference/layouts.md, "MX scales".
"""

from __future__ import annotations

from typing import TypeGuard

from xdsl.dialects.builtin import i64
from xdsl.ir import Attribute, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.buffers.pointers import CastptrOp
from pto_dialect.ir.buffers.views import AllocTileOp, MakeTensorViewOp, PartitionViewOp
from pto_dialect.ir.core.base import operand_groups
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import PtrType, TileBufType, element_name
from pto_dialect.ir.cube.matmul import TGetScaleAddrOp
from pto_dialect.ir.cube.mte import MteGmL1Op, MteL1L0aMxOp, MteL1L0bMxOp
from pto_dialect.passes.instructions.geometry import FRACTAL_ROWS, ROW_BYTES, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer
from pto_dialect.targets.matmul_types import MX_SCALE_GROUP
from pto_dialect.targets.memory import MX_SCALE_ADDRESS_DIVISOR, mx_scale_side

_PAIR = 2
_LAYOUTS = {"left": "mx_a_zz", "right": "mx_b_nn"}


def holds_scales(type_: Attribute) -> TypeGuard[TileBufType]:
    """Returns whether a tile holds scales in their blocks, or as the list of a single row."""
    return isinstance(type_, TileBufType) and type_.fractal == ROW_BYTES and element_name(type_.element) == "f8E8M0"


def operand_side(type_: TileBufType) -> str:
    """Returns ``left`` or ``right``: the operand whose scales a tile holds."""
    return mx_scale_side(type_.blayout)


def _extent(type_: TileBufType) -> tuple[int, int]:
    """Returns the rows of the operand, or columns of a right one, and groups of a tile of scales that is valid
    throughout."""
    return (type_.rows, type_.cols) if operand_side(type_) == "left" else (type_.cols, type_.rows)


def _whole(writer: Writer, type_: TileBufType) -> None:
    if (type_.valid_rows, type_.valid_cols) != (type_.rows, type_.cols):
        raise NotLoweredError(writer.anchor, "a tile of scales is loaded as a whole")


def address_of_scales(writer: Writer, value: SSAValue) -> int:
    """Returns the byte address of a tile of scales beside L0A or L0B. Raises :class:`NotLoweredError`."""
    op, owner = writer.anchor, value.owner
    address = constant_of(owner.addr) if isinstance(owner, AllocTileOp) and owner.addr is not None else None
    if not isinstance(address, int):
        raise NotLoweredError(op, "only a run knows where its scales lie")
    for use in value.uses:
        binding = use.operation
        if isinstance(binding, TGetScaleAddrOp):
            operand = address_of_operand(writer, binding.src)
            if operand != address * MX_SCALE_ADDRESS_DIVISOR:
                raise NotLoweredError(op, "its scales are bound to another address than the one of their tile")
    return address


def address_of_operand(writer: Writer, value: SSAValue) -> int | None:
    """Returns the byte address of a tile in L0A or L0B."""
    pointer = Reader(writer).tile(value).pointer
    number = constant_of(pointer.owner.input) if isinstance(pointer.owner, CastptrOp) else None
    return number if isinstance(number, int) else None


def bind(writer: Writer, scales: SSAValue) -> None:
    """``tget_scale_addr``: nothing, where the tile lies there already."""
    address_of_scales(writer, scales)


def move_scales(writer: Writer, source: SSAValue, dst: SSAValue) -> None:
    """``tmov`` of scales from L1: a load into the memory beside L0A or L0B."""
    one, other = source.type, dst.type
    assert holds_scales(other)
    if not holds_scales(one) or (one.rows, one.cols, operand_side(one)) != (
        other.rows,
        other.cols,
        operand_side(other),
    ):
        raise NotLoweredError(writer.anchor, "scales are moved from a tile of the same blocks")
    _whole(writer, one)
    _whole(writer, other)
    outer, groups = _extent(other)
    left = operand_side(other) == "left"
    address = address_of_scales(writer, dst) * MX_SCALE_ADDRESS_DIVISOR
    target = PtrType(other.element, "l0a" if left else "l0b")
    sizes = ("m", "k") if left else ("n", "k")
    # The list of a single row has as many bytes as groups; a load moves 32 bytes for each pair of groups.
    pairs = -(-groups // ROW_BYTES) if left and outer == 1 else -(-groups // _PAIR)
    operands = {
        "source": Reader(writer).tile(source).pointer,
        "destination": writer.pto(CastptrOp, {"input": writer.function.constant(address, i64)}, result=target),
        sizes[0]: writer.i64(outer),
        sizes[1]: writer.i64(pairs * _PAIR * MX_SCALE_GROUP),
        "start_row": writer.i64(0),
        "start_col": writer.i64(0),
    }
    writer.pto(MteL1L0aMxOp if left else MteL1L0bMxOp, operands)


def load_scales(writer: Writer, view: SSAValue, dst: Tile) -> None:
    """``tload`` of scales: bursts of the blocks of a view, which lie in global memory as they lie in L1."""
    op, type_ = writer.anchor, dst.type
    _whole(writer, type_)
    side = operand_side(type_)
    offsets: list[Number] = [0, 0]
    origin = view
    if isinstance(origin.owner, PartitionViewOp):
        offsets = [writer.number(offset) for offset in origin.owner.offsets]
        origin = origin.owner.source
    view_op = origin.owner
    if not isinstance(view_op, MakeTensorViewOp) or len(offsets) != _PAIR:
        raise NotLoweredError(op, "its view is not made in this function")
    layout = enumerator(view_op, "layout")
    if layout not in ("", _LAYOUTS[side]):
        raise NotLoweredError(op, f"scales of a {side} operand in the layout {layout}")
    shape = [writer.number(size) for size in operand_groups(view_op)["shape"]]
    outer, groups = _extent(type_)
    along, across = offsets if side == "left" else offsets[::-1]
    width = shape[1] if side == "left" else shape[0]
    reader = Reader(writer)
    if outer == 1:
        start, length, bursts, pitch = writer.add(writer.mul(along, width), across), groups, 1, 0
    elif outer % FRACTAL_ROWS or groups % _PAIR:
        raise NotLoweredError(op, "scales are loaded in whole blocks of 16 x 2")
    else:
        reader.aligned(along, FRACTAL_ROWS, "row or column")
        reader.aligned(across, _PAIR, "group")
        pitch = writer.mul(writer.ceildiv(width, _PAIR), ROW_BYTES)
        block = writer.mul(writer.div(along, FRACTAL_ROWS), pitch)
        start = writer.add(block, writer.mul(across, FRACTAL_ROWS))
        length, bursts = groups // _PAIR * ROW_BYTES, outer // FRACTAL_ROWS
    operands: dict[str, SSAValue | tuple[SSAValue, ...] | None] = {
        "source": writer.advanced(writer.seen_as(named(view_op, "ptr"), type_.element), start),
        "destination": dst.pointer,
        "len_burst": writer.i64(length),
        "n_burst": writer.i64(bursts),
        "nburst_src_stride": writer.i64(pitch),
        "nburst_dst_stride": writer.i64(length),
    }
    writer.pto(MteGmL1Op, operands)


def check_scales(writer: Writer, scales: SSAValue, operand: SSAValue, side: str, k: Number) -> None:
    """Makes sure that a product finds its scales: beside their operand, in blocks as wide as its products. Raises
    :class:`NotLoweredError`."""
    type_ = scales.type
    if not holds_scales(type_) or operand_side(type_) != side:
        raise NotLoweredError(writer.anchor, f"no scales of a {side} operand in their blocks")
    if address_of_scales(writer, scales) * MX_SCALE_ADDRESS_DIVISOR != address_of_operand(writer, operand):
        raise NotLoweredError(writer.anchor, "its scales do not lie beside their operand")
    outer, groups = _extent(type_)
    needed = -(-k // MX_SCALE_GROUP) if isinstance(k, int) else None
    if outer != 1 and (needed is None or -(-needed // _PAIR) * _PAIR != groups):
        raise NotLoweredError(writer.anchor, "its tiles of scales have other groups than it multiplies")
