"""Vector registers to and from the unified buffer.

With an ``updated_base`` result the access uses the base itself and the result is the base plus the step.

Source: docs/reference/vectors.md, "Loads and stores".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def, opt_result_def, result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.forms import OffsetLoadOp, OffsetStoreOp, UpdatedBaseOp
from ..core.kinds import ALIGN, I32, INDEX, INTEGER, MASK, PTR, PTR_OR_MEMREF, VREG
from ..core.words import LOAD_DIST, LOAD_PAIR_DIST, POST_UPDATE, SPECIAL_REGISTER, STORE_DIST, STORE_PAIR_DIST


class VLdsOp(OffsetLoadOp, UpdatedBaseOp, name="pto.vlds", typed=("source",)):
    """Register from memory at source + offset, distributed over the lanes as ``dist`` says."""

    dist = opt_attr_def(LOAD_DIST)
    result = result_def(VREG)


class VLdsx2Op(OffsetLoadOp, UpdatedBaseOp, name="pto.vldsx2", tokens=("dist",)):
    """Two registers from memory, deinterleaved as ``dist`` says."""

    dist = attr_def(LOAD_PAIR_DIST)
    low = high = result_def(VREG)


class SpacedBlocksOp(UpdatedBaseOp, pipe=Pipe.V):
    """Goes along blocks of 32 bytes that are ``block_stride`` blocks apart."""

    block_stride = repeat_stride = operand_def(INTEGER)
    mask = operand_def(MASK)


class VSldbOp(SpacedBlocksOp, name="pto.vsldb", shape=Shape.FLAT_VALUE, reads=("source",)):
    """Register from 32-byte blocks ``block_stride`` blocks apart."""

    source = operand_def(PTR_OR_MEMREF)
    result = result_def(VREG)


class UvldOp(OffsetLoadOp, name="pto.uvld", typed=("source",)):
    """Register from an unaligned address."""

    result = result_def(VREG)


class VLdasOp(PtoOp, name="pto.vldas", shape=Shape.FLAT_VALUE, pipe=Pipe.V, reads=("source",)):
    """State that starts an unaligned load stream."""

    source = operand_def(PTR)
    result = result_def(ALIGN)


class VLdusOp(PtoOp, name="pto.vldus", shape=Shape.FLAT_VALUE, pipe=Pipe.V, reads=("source",)):
    """The next register of an unaligned load stream and the state after it."""

    source = operand_def(PTR)
    align = operand_def(ALIGN)
    increment = opt_operand_def(INDEX)
    result = result_def(VREG)
    updated_align = result_def(ALIGN)
    updated_base = opt_result_def(PTR)


class ScatteredOp(PtoOp, pipe=Pipe.V):
    """Accesses an address of its own for each active lane."""

    offsets = operand_def(VREG)
    mask = operand_def(MASK)


class GatherOp(ScatteredOp, shape=Shape.FLAT_VALUE, reads=("source",)):
    """Register from scattered addresses; inactive lanes are 0 and access nothing."""

    source = operand_def(PTR)
    result = result_def(VREG)


class VGather2Op(GatherOp, name="pto.vgather2"):
    """lane i = source[offsets[i]] (elements)."""


class VGather2BcOp(GatherOp, name="pto.vgather2_bc"):
    """As ``vgather2`` with 32-bit offsets."""


class VGatherbOp(GatherOp, name="pto.vgatherb"):
    """block b = 32 bytes at byte offset offsets[b] of source."""


class MaskOperandOp(PtoOp):
    """Stores the active lanes."""

    mask = operand_def(MASK)


class VStsOp(OffsetStoreOp, MaskOperandOp, UpdatedBaseOp, name="pto.vsts", typed=("value", "destination", "mask")):
    """Memory at destination + offset = active lanes of value, collected as ``dist`` says."""

    value = operand_def(VREG)
    dist = opt_attr_def(STORE_DIST)


class VStsx2Op(OffsetStoreOp, MaskOperandOp, name="pto.vstsx2", tokens=("dist",)):
    """Memory at destination + offset = two registers, interleaved as ``dist`` says."""

    low = high = operand_def(VREG)
    dist = attr_def(STORE_PAIR_DIST)


class VSstbOp(SpacedBlocksOp, name="pto.vsstb", shape=Shape.FLAT_VOID, writes=("destination",)):
    """32-byte blocks ``block_stride`` blocks apart = active blocks of value."""

    value = operand_def(VREG)
    destination = operand_def(PTR_OR_MEMREF)


class VScatterOp(ScatteredOp, name="pto.vscatter", shape=Shape.FLAT_VOID, writes=("destination",)):
    """destination[offsets[i]] = lane i of value (elements)."""

    value = operand_def(VREG)
    destination = operand_def(PTR)


class InitAlignOp(PtoOp, name="pto.init_align", shape=Shape.NULLARY_TYPED, pipe=Pipe.V, effect=Effect.PURE):
    """State of an empty unaligned store stream."""

    result = result_def(ALIGN)


class StreamStoreOp(PtoOp, pipe=Pipe.V, writes=("base",)):
    """Appends to an unaligned store stream and yields its state."""

    align_out = result_def(ALIGN)


class VStusOp(StreamStoreOp, name="pto.vstus", shape=Shape.FLAT_VALUE):
    """Appends a register to an unaligned store stream that advances by ``offset`` elements."""

    align_in = operand_def(ALIGN)
    offset = operand_def(I32)
    value = operand_def(VREG)
    base = operand_def(PTR)
    align_out = result_def(ALIGN)
    base_out = opt_result_def(PTR)


class VSturOp(
    StreamStoreOp, name="pto.vstur", shape=Shape.FLAT_TOKEN, state_reads=("ar", "sqzn"), state_writes=("ar",)
):
    """Appends the bytes counted by the last compaction, at base plus special register AR."""

    align_in = operand_def(ALIGN)
    value = operand_def(VREG)
    base = operand_def(PTR)
    mode = attr_def(POST_UPDATE)


class VStasOp(PtoOp, name="pto.vstas", shape=Shape.FLAT_VOID, pipe=Pipe.V, writes=("destination",)):
    """Writes the rest of an unaligned store stream at destination + offset."""

    value = operand_def(ALIGN)
    destination = operand_def(PTR_OR_MEMREF)
    offset = operand_def(I32)
    updated_base = opt_result_def(PTR_OR_MEMREF)


class VStarOp(PtoOp, name="pto.vstar", shape=Shape.FLAT_VOID, pipe=Pipe.V, writes=("destination",)):
    """Writes the rest of an unaligned store stream."""

    value = operand_def(ALIGN)
    destination = operand_def(PTR_OR_MEMREF)


class SpecialRegisterStoreOp(
    PtoOp, shape=Shape.LEAD_STRING, pipe=Pipe.V, writes=("destination",), state_reads=("ar",), since="august"
):
    """Special register to memory."""

    destination = operand_def(PTR)
    offset = operand_def(I32)
    spr = attr_def(SPECIAL_REGISTER)
    updated_base = opt_result_def(PTR)


class SprstiOp(SpecialRegisterStoreOp, name="pto.sprsti"):
    """Memory at destination + 4·offset bytes = special register."""


class SprstsOp(SpecialRegisterStoreOp, name="pto.sprsts"):
    """Memory at destination + offset bytes = special register."""
