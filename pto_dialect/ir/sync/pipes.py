"""Queues of tiles between the cube core and the vector cores.

Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def, result_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.facts.form_cases import FormCase
from ..core.facts.queues import C2V, V2C, QueueAction
from ..core.forms import DeclarationOp
from ..core.kinds import (
    ANY_ATTR,
    BOOL,
    ENTRY,
    F32,
    I8_ATTR,
    I32,
    I32_ATTR,
    I64,
    INDEX,
    PIPE,
    PTR,
    STORAGE,
    STRING,
    SYMBOL,
    TENSOR_VIEW,
    TILE,
    enum,
)
from ..core.roles import Role

_COPIED_ON_A2A3 = FormCase(targets=("a2a3",), pipe=Pipe.MTE2)
"""A pop loads the entry from global memory there; on a5 it names the slot."""


class CorePipeOp(PtoOp, shape=Shape.PIPE_INIT, effect=Effect.CHANNEL):
    """Queue that a core identifies by an id; named buffers hold its slots."""

    gm_slot_buffer = opt_operand_def(PTR)
    gm_slot_tensor = opt_operand_def(TENSOR_VIEW)
    c2v_consumer_buf = v2c_consumer_buf = opt_operand_def(I32)
    id = opt_attr_def(I32_ATTR)
    dir_mask = attr_def(I8_ATTR)
    slot_size = attr_def(I32_ATTR)
    slot_num = local_slot_num = opt_attr_def(I32_ATTR)
    nosplit = opt_attr_def(BOOL)
    acc_push_epilogue = opt_attr_def(ANY_ATTR)


class AicInitializePipeOp(CorePipeOp, name="pto.aic_initialize_pipe", queue=QueueAction("init", "cube")):
    """Creates the cube core's end of a queue."""


class AivInitializePipeOp(CorePipeOp, name="pto.aiv_initialize_pipe", queue=QueueAction("init", "vector")):
    """Creates the vector core's end of a queue."""


class InitializePipeOp(PtoOp, shape=Shape.PIPE_INIT, effect=Effect.CHANNEL, queue=QueueAction("init")):
    """Creates a queue that is known by its handle."""

    dir_mask = attr_def(I8_ATTR)
    slot_size = slot_num = attr_def(I32_ATTR)
    flag_base = opt_attr_def(I32_ATTR)
    nosplit = opt_attr_def(BOOL)
    acc_push_epilogue = opt_attr_def(ANY_ATTR)
    pipe = result_def(PIPE)


class InitializeL2lPipeOp(
    InitializePipeOp,
    name="pto.initialize_l2l_pipe",
    tokens=("dir_mask", "slot_size", "slot_num", "flag_base", "nosplit"),
):
    """Creates a queue whose slots lie in the consumer's local memory."""

    local_addr = operand_def(STORAGE)
    peer_local_addr = opt_operand_def(STORAGE)


class InitializeL2g2lPipeOp(
    InitializePipeOp,
    name="pto.initialize_l2g2l_pipe",
    tokens=("dir_mask", "slot_size", "slot_num", "local_slot_num", "flag_base", "nosplit"),
):
    """Creates a queue whose slots lie in global memory, optionally staged locally."""

    gm_addr = operand_def(STORAGE)
    local_addr = peer_local_addr = opt_operand_def(STORAGE)
    dir_mask = attr_def(I8_ATTR)
    slot_size = slot_num = attr_def(I32_ATTR)
    local_slot_num = flag_base = opt_attr_def(I32_ATTR)
    nosplit = opt_attr_def(BOOL)
    acc_push_epilogue = opt_attr_def(ANY_ATTR)
    pipe = result_def(PIPE)


class ReserveBufferOp(
    PtoOp, name="pto.reserve_buffer", shape=Shape.BRACE_FIELDS, effect=Effect.CHANNEL, roles=Role.RESERVATION
):
    """Address of a named local buffer for a queue."""

    symbol = attr_def(STRING, attr_name="name")
    size = attr_def(I32_ATTR)
    space = attr_def(enum("address_space"), attr_name="location")
    autoAlloc = attr_def(BOOL)
    base = opt_attr_def(I32_ATTR)
    addr = result_def(I32)


class ImportReservedBufferOp(PtoOp, name="pto.import_reserved_buffer", shape=Shape.BRACE_FIELDS, effect=Effect.CHANNEL):
    """Address of the buffer that another function reserved under a name."""

    symbol = attr_def(STRING, attr_name="name")
    peer_func = attr_def(SYMBOL)
    addr = result_def(I32)


class DeclareTileOp(DeclarationOp, name="pto.declare_tile"):
    """Tile handle that a later pop binds."""

    tile = result_def(TILE)


class DeclareGlobalOp(DeclarationOp, name="pto.declare_global"):
    """Global entry handle that a later pop or allocation binds."""

    entry = result_def(TENSOR_VIEW)


class NumberedQueueOp(PtoOp):
    """Names a queue by its id."""

    id = opt_attr_def(I32_ATTR)
    split = attr_def(I8_ATTR)


class NumberedReleaseOp(NumberedQueueOp, shape=Shape.BRACE_FIELDS, pipe=Pipe.S, state_writes=("fifo",)):
    """Consumer side of a queue with an id."""

    entry = opt_operand_def(ENTRY)


class TFreeFromAicOp(NumberedReleaseOp, name="pto.tfree_from_aic", queue=QueueAction("free", "vector", C2V)):
    """Returns the slot to the cube core."""


class TFreeFromAivOp(NumberedReleaseOp, name="pto.tfree_from_aiv", queue=QueueAction("free", "cube", V2C)):
    """Returns the slot to the vector core."""


class NumberedAllocationOp(NumberedQueueOp, shape=Shape.BRACE_FIELDS, pipe=Pipe.MTE3, state_writes=("fifo",)):
    """Producer side of a queue with an id; no data moves."""

    entry = result_def(TENSOR_VIEW)


class TAllocToAicOp(NumberedAllocationOp, name="pto.talloc_to_aic", queue=QueueAction("alloc", "vector", V2C)):
    """The next free slot towards the cube core."""


class TAllocToAivOp(NumberedAllocationOp, name="pto.talloc_to_aiv", queue=QueueAction("alloc", "cube", C2V)):
    """The next free slot towards the vector core."""


class HandledTileOp(PtoOp, shape=Shape.PAREN, typed=("tile", "pipe_handle"), tokens=("split",)):
    """Moves a tile through a queue that is known by its handle."""

    tile = operand_def(ENTRY)
    pipe_handle = operand_def(PIPE)
    aiv_subblockid = opt_operand_def(I64)
    split = attr_def(I8_ATTR)


class TPushOp(
    HandledTileOp,
    name="pto.tpush",
    pipe=Pipe.MTE3,
    reads=("tile",),
    state_writes=("fifo",),
    forms=(FormCase(at={"tile": ("acc",)}, pipe=Pipe.FIX),),
    queue=QueueAction("push"),
):
    """Waits for a free slot and stores the tile in it."""


class NumberedPushOp(
    NumberedQueueOp, shape=Shape.PAREN, reads=("tile",), state_writes=("fifo",), tokens=("id", "split")
):
    """Stores a tile in a queue with an id."""


class TPushToAicOp(
    NumberedPushOp, name="pto.tpush_to_aic", pipe=Pipe.MTE3, typed=("tile",), queue=QueueAction("push", "vector", V2C)
):
    """As ``tpush``, from a vector core to the cube core."""

    tile = operand_def(ENTRY)
    aiv_subblockid = opt_operand_def(I64)


class TPushToAivOp(NumberedPushOp, name="pto.tpush_to_aiv", pipe=Pipe.FIX, queue=QueueAction("push", "cube", C2V)):
    """As ``tpush``, from the cube core to the vector cores."""

    tile = operand_def(ENTRY)


class TPopOp(
    HandledTileOp,
    name="pto.tpop",
    pipe=Pipe.S,
    writes=("tile",),
    state_reads=("fifo",),
    forms=(_COPIED_ON_A2A3,),
    queue=QueueAction("pop"),
):
    """Waits for a full slot and binds the tile to it."""


class NumberedPopOp(
    NumberedQueueOp, shape=Shape.BRACE_FIELDS, pipe=Pipe.S, state_reads=("fifo",), forms=(_COPIED_ON_A2A3,), typed=()
):
    """Binds its result to the next full slot of a queue with an id."""

    tile = result_def(ENTRY)


class TPopFromAicOp(NumberedPopOp, name="pto.tpop_from_aic", queue=QueueAction("pop", "vector", C2V)):
    """The tile in the next full slot that the cube core pushed."""

    valid_row = valid_col = opt_operand_def(INDEX)
    aiv_subblockid = opt_operand_def(I64)


class TPopFromAivOp(NumberedPopOp, name="pto.tpop_from_aiv", queue=QueueAction("pop", "cube", V2C)):
    """The tile in the next full slot that a vector core pushed."""

    valid_row = valid_col = opt_operand_def(INDEX)


class HandledSlotOp(PtoOp, shape=Shape.PAREN, state_writes=("fifo",), tokens=("split",)):
    """Takes or returns a slot of a queue that is known by its handle."""

    pipe_handle = operand_def(PIPE)
    split = attr_def(I8_ATTR)


class TAllocOp(HandledSlotOp, name="pto.talloc", pipe=Pipe.MTE3, writes=("entry",), queue=QueueAction("alloc")):
    """Binds the entry to the next free slot; no data moves."""

    entry = operand_def(TENSOR_VIEW)


class TFreeOp(HandledSlotOp, name="pto.tfree", pipe=Pipe.S, queue=QueueAction("free")):
    """Returns the slot to the producer; follows the last use of the popped tile."""

    entry = opt_operand_def(ENTRY)


class QuantScaleOp(
    PtoOp,
    shape=Shape.PAREN,
    pipe=Pipe.FIX,
    state_writes=("fixpipe_quant",),
    tokens=("id",),
    since="august",
    queue=QueueAction("scale", "cube"),
):
    """Scale of the next pushes through the fixpipe."""

    id = attr_def(I32_ATTR)


class SetQuantScalarOp(QuantScaleOp, name="pto.set_quant_scalar"):
    """Scale of the next pushes through the fixpipe (docs/reference/execution.md, "Pointers, tiles and views")."""

    scale = operand_def(F32)


class SetQuantVectorOp(QuantScaleOp, name="pto.set_quant_vector", reads=("scaling_tile",)):
    """Scale tile, one entry per channel, of the next pushes through the fixpipe
    (docs/reference/execution.md, "Pointers, tiles and views").
    """

    scaling_tile = operand_def(ENTRY)
