"""Order between pipes, cores and memories. Source: docs/reference/execution.md, "Synchronisation"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def, var_operand_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.forms import DeclarationOp, ScalarElementOp
from ..core.kinds import EVENTID_ARRAY, I32_ATTR, INDEX, TILE_OR_VIEW, enum
from ..core.roles import Role
from .forms import NamedPipeOp


class FlagOp(NamedPipeOp, shape=Shape.SYNC_BRACKET):
    """One flag between two pipes of a core."""

    src_pipe = dst_pipe = attr_def(enum("pipe"))
    event_id = attr_def(enum("event"))


class SetFlagOp(FlagOp, name="pto.set_flag", pipe_from="src_pipe", roles=Role.PIPES | Role.SETS):
    """src_pipe raises the flag for dst_pipe once its earlier work is done."""


class WaitFlagOp(FlagOp, name="pto.wait_flag", pipe_from="dst_pipe", roles=Role.PIPES | Role.WAITS):
    """dst_pipe waits for the flag and takes it."""


class DynamicFlagOp(NamedPipeOp, shape=Shape.SYNC_BRACKET, typed=()):
    """Flag whose id, 0 to 7, is computed at run time."""

    event_id = operand_def(INDEX)
    src_pipe = dst_pipe = attr_def(enum("pipe"))


class SetFlagDynOp(DynamicFlagOp, name="pto.set_flag_dyn", pipe_from="src_pipe", roles=Role.PIPES | Role.SETS):
    """src_pipe raises the flag for dst_pipe once its earlier work is done."""


class WaitFlagDynOp(DynamicFlagOp, name="pto.wait_flag_dyn", pipe_from="dst_pipe", roles=Role.PIPES | Role.WAITS):
    """dst_pipe waits for the flag and takes it."""


class PipeBarrierOp(NamedPipeOp, roles=Role.PIPES | Role.BARRIER):
    """Orders what one pipe does."""


class BarrierOp(PipeBarrierOp, name="pto.barrier", shape=Shape.SYNC_TOKEN, pipe_from="pipe"):
    """Later work of the pipe waits for all its earlier work; PIPE_ALL joins all pipes of the core."""

    pipe = attr_def(enum("pipe"))


class OperationEventOp(NamedPipeOp, shape=Shape.SYNC_BRACKET):
    """Flag between the pipes of two operation classes."""

    src_op = dst_op = attr_def(enum("pipe_event_type", "sync_op_type"))
    event_id = attr_def(enum("event"))


class RecordEventOp(OperationEventOp, name="pto.record_event", pipe_from="src_op", roles=Role.PIPES | Role.SETS):
    """The pipe of src_op raises the event for the pipe of dst_op."""


class WaitEventOp(OperationEventOp, name="pto.wait_event", pipe_from="dst_op", roles=Role.PIPES | Role.WAITS):
    """The pipe of dst_op waits for the event of the pipe of src_op."""


class BarrierSyncOp(PipeBarrierOp, name="pto.barrier_sync", shape=Shape.SYNC_BRACKET, pipe_from="op_type"):
    """Barrier on the pipe of an operation class."""

    op_type = attr_def(enum("sync_op_type"))


class TSyncOp(PtoOp, name="pto.tsync", shape=Shape.INS_ONLY, reads=("events",), roles=Role.BARRIER | Role.JOINS):
    """Waits for the events of the given tiles."""

    events = var_operand_def(TILE_OR_VIEW)


class MemoryOrderOp(PtoOp, shape=Shape.SYNC_TOKEN, effect=Effect.SYNC):
    """Orders accesses to the memories, or of the classes, that it names."""


class MemBarOp(MemoryOrderOp, name="pto.mem_bar", pipe=Pipe.V, roles=Role.BARRIER):
    """Orders accesses of the unified buffer of the named classes inside a vector function."""

    kind = attr_def(enum("membar"))


class DsbOp(MemoryOrderOp, name="pto.dsb", pipe=Pipe.S, since="august", roles=Role.BARRIER | Role.JOINS):
    """The scalar unit waits for its earlier accesses to the named memories."""

    mem = attr_def(enum("dsb_mem"))


class FenceBarrierAllOp(MemoryOrderOp, name="pto.fence.barrier_all", pipe=Pipe.ALL, since="august", roles=Role.JOINS):
    """Drains the transfer pipes towards the named memories."""

    scope = attr_def(enum("fence_scope"))


class BufferTokenOp(NamedPipeOp, shape=Shape.SYNC_TOKEN, pipe_from="op_type"):
    """Buffer id 0 to 31 used as a lock between pipes."""

    op_type = attr_def(enum("pipe", "pipe_event_type", "sync_op_type"))
    buf_id = attr_def(I32_ATTR)
    mode = opt_attr_def(I32_ATTR.by_default("0 : i32"))


class GetBufOp(BufferTokenOp, name="pto.get_buf", roles=Role.LOCK | Role.SETS):
    """The pipe waits until every earlier release of the buffer id is done."""


class RlsBufOp(BufferTokenOp, name="pto.rls_buf", roles=Role.LOCK | Role.WAITS):
    """Releases the buffer id when the earlier work of the pipe is done."""


class DynamicBufferTokenOp(BufferTokenOp, typed=(), since="august"):
    """As the static form, with an id computed at run time."""

    buf_id = operand_def(INDEX)


class GetBufDynOp(DynamicBufferTokenOp, name="pto.get_buf_dyn", roles=Role.LOCK | Role.SETS):
    """The pipe waits until every earlier release of the buffer id is done."""


class RlsBufDynOp(DynamicBufferTokenOp, name="pto.rls_buf_dyn", roles=Role.LOCK | Role.WAITS):
    """Releases the buffer id when the earlier work of the pipe is done."""


class DeclareEventidArrayOp(DeclarationOp, name="pto.declare_eventid_array"):
    """Array of flag ids."""

    array = result_def(EVENTID_ARRAY)


class FlagNumberOp(ScalarElementOp, typed=("array",)):
    """Reads or writes a flag id of an array."""


class EventidArrayGetOp(FlagNumberOp, name="pto.eventid_array_get", reads=("array",), fixed_results=("index",)):
    """Flag id at ``index``."""

    array = operand_def(EVENTID_ARRAY)
    index = operand_def(INDEX)
    result = result_def(INDEX)


class EventidArraySetOp(FlagNumberOp, name="pto.eventid_array_set", writes=("array",)):
    """Flag id at ``index`` = value."""

    array = operand_def(EVENTID_ARRAY)
    index = value = operand_def(INDEX)
