"""Base classes that several families share: transfers, accesses to elements and vectors, tiles.

Fields are ordered by the base classes: those of a class itself first, then those of its bases.
"""

from __future__ import annotations

from xdsl.irdl import operand_def, opt_operand_def, opt_result_def, result_def, var_operand_def

from .base import Effect, Pipe, PtoOp, Shape
from .kinds import ANY, I64, INDEX, INT_OR_FLOAT, PTR, PTR_OR_MEMREF, TILE_OR_VIEW
from .roles import Role


class HandleOp(PtoOp, shape=Shape.FLAT_VALUE, effect=Effect.HANDLE):
    """Makes, renames or describes a buffer, view or pointer; moves no data."""


class ViewOp(HandleOp, roles=Role.VIEW):
    """Makes a view of the bytes of its first operand."""


class DeclarationOp(HandleOp, shape=Shape.NULLARY_ARROW):
    """Makes a handle without a source."""


class ElementLoadOp(PtoOp, shape=Shape.INDEXED, reads=("ptr",), typed=("ptr",), roles=Role.ELEMENT_LOAD):
    """Reads one element of memory, ``offset`` elements after ``ptr``."""

    ptr = operand_def(PTR)
    offset = operand_def(INDEX)
    value = result_def(ANY)


class ElementStoreOp(
    PtoOp,
    shape=Shape.INDEXED_STORE,
    writes=("ptr",),
    text=("value", "ptr", "offset"),
    typed=("ptr", "value"),
    roles=Role.ELEMENT_STORE,
):
    """Writes one element of memory, ``offset`` elements after ``ptr``."""

    ptr = operand_def(PTR)
    offset = operand_def(INDEX)
    value = operand_def(ANY)


class ScalarElementOp(PtoOp, shape=Shape.INDEXED, pipe=Pipe.S):
    """Reads or writes one element of a declaration of the scalar unit."""


class IndexedLoadOp(PtoOp, shape=Shape.INDEXED, pipe=Pipe.V, reads=("source",)):
    """Loads vectors from a pointer and an offset."""


class OffsetLoadOp(IndexedLoadOp):
    """Loads vectors from a pointer and one offset."""

    source = operand_def(PTR_OR_MEMREF)
    offset = operand_def(INDEX)


class IndexedStoreOp(PtoOp, shape=Shape.INDEXED_STORE, pipe=Pipe.V, writes=("destination",)):
    """Stores vectors to a pointer and an offset."""


class OffsetStoreOp(IndexedStoreOp):
    """Stores vectors to a pointer and one offset. The stored operands come before these."""

    destination = operand_def(PTR_OR_MEMREF)
    offset = operand_def(INDEX)


class UpdatedBaseOp(PtoOp):
    """Advances its base: yields the base plus the step, and accesses the base itself."""

    updated_base = opt_result_def(PTR_OR_MEMREF)


class TransferOp(PtoOp, reads=("source",), writes=("destination",)):
    """Moves data from one memory to another."""


class BurstOp(TransferOp, shape=Shape.DMA_BURST, roles=Role.ADDRESSES):
    """A transfer in bursts with clauses."""


class BurstStridesOp(BurstOp):
    """The number of bursts, and their distances."""

    n_burst = nburst_src_stride = nburst_dst_stride = operand_def(I64)


class LoopsOp(BurstOp):
    """Any number of outer loops, inner to outer."""

    loop_counts = loop_src_strides = loop_dst_strides = var_operand_def(I64)


class PaddingOp(BurstOp):
    """The padding of each burst."""

    pad_value = opt_operand_def(INT_OR_FLOAT)
    left_padding_count = right_padding_count = opt_operand_def(I64)


class LoopedBurstOp(BurstStridesOp, LoopsOp):
    """Bursts of ``len_burst`` bytes, repeated by outer loops."""

    source = destination = operand_def(PTR_OR_MEMREF)
    len_burst = operand_def(I64)


class CopyOp(TransferOp, shape=Shape.FLAT_VOID):
    """A transfer in hardware encoding, without clauses."""


class StridedCopyOp(CopyOp):
    """Strided bursts in hardware encoding."""

    n_burst = len_burst = src_stride = dst_stride = operand_def(I64)


class NumberedCopyOp(StridedCopyOp):
    """Strided bursts with a stream identifier."""

    source = destination = operand_def(PTR)
    sid = operand_def(I64)


class PlainBurstOp(
    StridedCopyOp,
    shape=Shape.DMA_BURST,
    text=("source", "destination", "len_burst", "n_burst", "src_stride", "dst_stride"),
    typed=("source", "destination", "n_burst", "len_burst", "src_stride", "dst_stride"),
    roles=Role.ADDRESSES,
):
    """Strided bursts with the clause of a transfer, without loops."""

    source = destination = operand_def(PTR)


class TileOp(PtoOp, shape=Shape.DPS, pipe=Pipe.V, writes=("dst",)):
    """Computes a tile: into a destination, or as a value. The operands that it reads come first."""

    dst = opt_operand_def(TILE_OR_VIEW)
    result = opt_result_def(ANY)
