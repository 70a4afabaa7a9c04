"""Order between pipes, cores and memories."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, result_def, var_operand_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import EVENTID_ARRAY, I32_ATTR, INDEX, TILE_OR_VIEW, enum
from ..core.placement import named_pipe
from ..core.roles import Role


class FlagOp(PtoOp, shape=Shape.SYNC_BRACKET, effect=Effect.SYNC):
    """One flag between two pipes of a core."""

    src_pipe = dst_pipe = attr_def(enum("pipe"))
    event_id = attr_def(enum("event"))


class SetFlagOp(FlagOp, name="pto.set_flag", roles=Role.PIPES | Role.SETS):
    """src_pipe raises the flag for dst_pipe once its earlier work is done (docs/reference/execution.md,
    "Synchronisation").
    """

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.src_pipe)


class WaitFlagOp(FlagOp, name="pto.wait_flag", roles=Role.PIPES | Role.WAITS):
    """dst_pipe waits for the flag and takes it (docs/reference/execution.md, "Synchronisation")."""

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.dst_pipe)


class DynamicFlagOp(PtoOp, shape=Shape.SYNC_BRACKET, effect=Effect.SYNC, typed=()):
    """Flag whose number, 0 to 7, is computed at run time."""

    event_id = operand_def(INDEX)
    src_pipe = dst_pipe = attr_def(enum("pipe"))


class SetFlagDynOp(DynamicFlagOp, name="pto.set_flag_dyn", roles=Role.PIPES | Role.SETS):
    """src_pipe raises the flag for dst_pipe once its earlier work is done (docs/reference/execution.md,
    "Synchronisation").
    """

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.src_pipe)


class WaitFlagDynOp(DynamicFlagOp, name="pto.wait_flag_dyn", roles=Role.PIPES | Role.WAITS):
    """dst_pipe waits for the flag and takes it (docs/reference/execution.md, "Synchronisation")."""

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.dst_pipe)


class BarrierOp(PtoOp, name="pto.barrier", shape=Shape.SYNC_TOKEN, effect=Effect.SYNC, roles=Role.PIPES | Role.BARRIER):
    """Later work of the pipe waits for all its earlier work; PIPE_ALL joins all pipes of the core
    (docs/reference/execution.md, "Synchronisation").
    """

    pipe = attr_def(enum("pipe"))

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.pipe)


class OperationEventOp(PtoOp, shape=Shape.SYNC_BRACKET, effect=Effect.SYNC):
    """Flag between the pipes of two operation classes."""

    src_op = dst_op = attr_def(enum("pipe_event_type", "sync_op_type"))
    event_id = attr_def(enum("event"))


class RecordEventOp(OperationEventOp, name="pto.record_event", roles=Role.PIPES | Role.SETS):
    """The pipe of src_op raises the event for the pipe of dst_op (docs/reference/execution.md, "Synchronisation")."""

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.src_op)


class WaitEventOp(OperationEventOp, name="pto.wait_event", roles=Role.PIPES | Role.WAITS):
    """The pipe of dst_op waits for the event of the pipe of src_op (docs/reference/execution.md, "Synchronisation")."""

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.dst_op)


class BarrierSyncOp(
    PtoOp, name="pto.barrier_sync", shape=Shape.SYNC_BRACKET, effect=Effect.SYNC, roles=Role.PIPES | Role.BARRIER
):
    """Barrier on the pipe of an operation class (docs/reference/execution.md, "Synchronisation")."""

    op_type = attr_def(enum("sync_op_type"))

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.op_type)


class TSyncOp(PtoOp, name="pto.tsync", shape=Shape.INS_ONLY, reads=("events",), roles=Role.BARRIER | Role.JOINS):
    """Waits for the events of the given tiles (docs/reference/execution.md, "Synchronisation")."""

    events = var_operand_def(TILE_OR_VIEW)


class MemBarOp(PtoOp, name="pto.mem_bar", shape=Shape.SYNC_TOKEN, pipe=Pipe.V, effect=Effect.SYNC, roles=Role.BARRIER):
    """Orders accesses of the unified buffer of the named classes inside a vector function
    (docs/reference/execution.md, "Synchronisation").
    """

    kind = attr_def(enum("membar"))


class DsbOp(
    PtoOp,
    name="pto.dsb",
    shape=Shape.SYNC_TOKEN,
    pipe=Pipe.S,
    effect=Effect.SYNC,
    since="august",
    roles=Role.BARRIER | Role.JOINS,
):
    """The scalar unit waits for its earlier accesses to the named memories (docs/reference/execution.md,
    "Synchronisation").
    """

    mem = attr_def(enum("dsb_mem"))


class FenceBarrierAllOp(
    PtoOp,
    name="pto.fence.barrier_all",
    shape=Shape.SYNC_TOKEN,
    pipe=Pipe.ALL,
    effect=Effect.SYNC,
    since="august",
    roles=Role.JOINS,
):
    """Drains the transfer pipes towards the named memories (docs/reference/execution.md, "Synchronisation")."""

    scope = attr_def(enum("fence_scope"))


class BufferTokenOp(PtoOp, shape=Shape.SYNC_TOKEN, effect=Effect.SYNC, defaults=(("mode", "0 : i32"),)):
    """Buffer number 0 to 31 used as a lock between pipes."""

    op_type = attr_def(enum("pipe", "pipe_event_type", "sync_op_type"))
    buf_id = attr_def(I32_ATTR)
    mode = opt_attr_def(I32_ATTR)

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.op_type)


class GetBufOp(BufferTokenOp, name="pto.get_buf", roles=Role.LOCK | Role.SETS):
    """The pipe waits until every earlier release of the buffer number is done (docs/reference/execution.md,
    "Synchronisation").
    """


class RlsBufOp(BufferTokenOp, name="pto.rls_buf", roles=Role.LOCK | Role.WAITS):
    """Releases the buffer number when the earlier work of the pipe is done (docs/reference/execution.md,
    "Synchronisation").
    """


class DynamicBufferTokenOp(
    PtoOp, shape=Shape.SYNC_TOKEN, effect=Effect.SYNC, typed=(), defaults=(("mode", "0 : i32"),), since="august"
):
    """As the static form, with a number computed at run time."""

    buf_id = operand_def(INDEX)
    op_type = attr_def(enum("pipe", "pipe_event_type", "sync_op_type"))
    mode = opt_attr_def(I32_ATTR)

    def active_pipe(self, target: str = "a5") -> Pipe | None:
        """The pipe on ``target``, from the pipes that the operation names."""
        return named_pipe(self.op_type)


class GetBufDynOp(DynamicBufferTokenOp, name="pto.get_buf_dyn", roles=Role.LOCK | Role.SETS):
    """The pipe waits until every earlier release of the buffer number is done (docs/reference/execution.md,
    "Synchronisation").
    """


class RlsBufDynOp(DynamicBufferTokenOp, name="pto.rls_buf_dyn", roles=Role.LOCK | Role.WAITS):
    """Releases the buffer number when the earlier work of the pipe is done (docs/reference/execution.md,
    "Synchronisation").
    """


class DeclareEventidArrayOp(PtoOp, name="pto.declare_eventid_array", shape=Shape.NULLARY_ARROW, effect=Effect.HANDLE):
    """Array of flag numbers (docs/reference/execution.md, "Synchronisation")."""

    array = result_def(EVENTID_ARRAY)


class EventidArrayGetOp(
    PtoOp,
    name="pto.eventid_array_get",
    shape=Shape.INDEXED,
    pipe=Pipe.S,
    reads=("array",),
    typed=("array",),
    fixed_results=("index",),
):
    """Flag number at ``index`` (docs/reference/execution.md, "Synchronisation")."""

    array = operand_def(EVENTID_ARRAY)
    index = operand_def(INDEX)
    result = result_def(INDEX)


class EventidArraySetOp(
    PtoOp, name="pto.eventid_array_set", shape=Shape.INDEXED, pipe=Pipe.S, writes=("array",), typed=("array",)
):
    """Flag number at ``index`` = value (docs/reference/execution.md, "Synchronisation")."""

    array = operand_def(EVENTID_ARRAY)
    index = value = operand_def(INDEX)
