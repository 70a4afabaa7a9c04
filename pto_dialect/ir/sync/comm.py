"""Transfers between ranks, their signals, and asynchronous transfers.

Source: docs/reference/execution.md, "Communication".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def, result_def, var_operand_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import (
    ASYNC_EVENT,
    ASYNC_SESSION,
    I1,
    I32_ATTR,
    I64_ATTR,
    PREFETCH_CONTEXT,
    PTR,
    PTR_OR_MEMREF,
    SIGNLESS,
    TILE,
    TILE_OR_VIEW,
    enum,
)
from ..core.roles import Role


class GroupTransferOp(PtoOp, shape=Shape.COMM_GROUP, pipe=Pipe.MTE2, pipes=(Pipe.MTE3,), roles=Role.PEERS):
    """Moves data between ranks through tiles of this one."""


class CommTPutOp(
    GroupTransferOp,
    name="pto.comm.tput",
    reads=("src", "dst"),
    writes=("dst", "ping", "pong"),
):
    """dst (remote) = src, or += src, staged through the ping and pong tiles."""

    dst = src = ping = operand_def(TILE_OR_VIEW)
    pong = opt_operand_def(TILE_OR_VIEW)
    atomicType = opt_attr_def(enum("atomic_type", default="atomic_none"))


class CommTGetOp(GroupTransferOp, name="pto.comm.tget", reads=("src",), writes=("dst", "ping", "pong")):
    """dst = src (remote), staged through the ping and pong tiles."""

    dst = src = ping = operand_def(TILE_OR_VIEW)
    pong = opt_operand_def(TILE_OR_VIEW)


class GroupWriteOp(GroupTransferOp, reads=("src",), writes=("group", "ping", "pong")):
    """Root's source to all members of the group, staged through the ping and pong tiles."""

    src = ping = operand_def(TILE_OR_VIEW)
    pong = opt_operand_def(TILE_OR_VIEW)
    group = var_operand_def(TILE_OR_VIEW)
    root = attr_def(I32_ATTR)


class CommTBroadcastOp(GroupWriteOp, name="pto.comm.tbroadcast"):
    """Every member of the group = src."""


class CommTScatterOp(GroupWriteOp, name="pto.comm.tscatter"):
    """Member i of the group = the rows i·H to (i + 1)·H − 1 of src; a member has H rows."""


class CommTGatherOp(GroupTransferOp, name="pto.comm.tgather", reads=("group",), writes=("dst", "ping", "pong")):
    """dst = the rows of all members of the group, one member after the other."""

    dst = ping = operand_def(TILE_OR_VIEW)
    pong = opt_operand_def(TILE_OR_VIEW)
    group = var_operand_def(TILE_OR_VIEW)
    root = attr_def(I32_ATTR)


class CommTReduceOp(
    GroupTransferOp,
    name="pto.comm.treduce",
    pipes=(Pipe.V, Pipe.MTE3),
    reads=("group",),
    writes=("dst", "acc", "recvPing", "recvPong"),
):
    """dst = sum, maximum or minimum over the members of the group: that of the root, then the others in index order."""

    dst = acc = recvPing = operand_def(TILE_OR_VIEW)
    recvPong = opt_operand_def(TILE_OR_VIEW)
    group = var_operand_def(TILE_OR_VIEW)
    reduceOp = attr_def(enum("reduce_op"))
    root = attr_def(I32_ATTR)


class SignalOp(PtoOp, shape=Shape.PAREN, reads=("signal",)):
    """Works on a signal, a 32-bit word for each element."""


class CommTNotifyOp(
    SignalOp, name="pto.comm.tnotify", writes=("signal",), roles=Role.PEERS | Role.SIGNAL | Role.SETS | Role.JOINS
):
    """Waits for all earlier work of its core, then signal = value, or += value."""

    signal = operand_def(TILE_OR_VIEW)
    value = operand_def(SIGNLESS)
    notifyOp = attr_def(enum("notify_op"))


class SignalComparisonOp(SignalOp, roles=Role.PEERS | Role.SIGNAL | Role.WAITS):
    """Compares each element of a signal with a value."""

    signal = operand_def(TILE_OR_VIEW)
    cmpValue = operand_def(SIGNLESS)
    cmp = attr_def(enum("wait_cmp"))


class CommTWaitOp(SignalComparisonOp, name="pto.comm.twait"):
    """Blocks until every element of signal compares with cmpValue."""


class CommTTestOp(SignalComparisonOp, name="pto.comm.ttest"):
    """Whether every element of signal compares with cmpValue."""

    result = result_def(I1)


class CommBuildAsyncSessionOp(
    PtoOp,
    name="pto.comm.build_async_session",
    shape=Shape.PAREN,
    writes=("scratch", "workspace"),
    scratch=(),
    roles=Role.PEERS,
):
    """Session of asynchronous transfers."""

    scratch = operand_def(TILE)
    workspace = operand_def(PTR_OR_MEMREF)
    sync_id = opt_attr_def(I32_ATTR)
    block_bytes = comm_block_offset = opt_attr_def(I64_ATTR)
    queue_num = opt_attr_def(I32_ATTR)
    channel_group_idx = opt_attr_def(I64_ATTR)
    session = result_def(ASYNC_SESSION)


class AsyncTransferOp(PtoOp, shape=Shape.PAREN, reads=("src",), writes=("dst",), roles=Role.PEERS | Role.JOINS):
    """Transfer that completes later."""

    dst = src = operand_def(TILE_OR_VIEW)
    session = operand_def(ASYNC_SESSION)
    event = result_def(ASYNC_EVENT)


class CommTPutAsyncOp(AsyncTransferOp, name="pto.comm.tput_async"):
    """Starts dst (remote) = src."""


class CommTGetAsyncOp(AsyncTransferOp, name="pto.comm.tget_async"):
    """starts dst = src (remote)."""


class AsyncEventOp(PtoOp, shape=Shape.PAREN, reads=("event",), roles=Role.PEERS):
    """Question about a started transfer."""

    event = operand_def(ASYNC_EVENT)
    session = operand_def(ASYNC_SESSION)
    completed = result_def(I1)


class CommWaitAsyncEventOp(AsyncEventOp, name="pto.comm.wait_async_event"):
    """Waits for the transfer; true once it is done."""


class CommTestAsyncEventOp(AsyncEventOp, name="pto.comm.test_async_event"):
    """Whether the transfer is done."""


class MakePrefetchAsyncContextOp(
    PtoOp, name="pto.make_prefetch_async_context", shape=Shape.PAREN, effect=Effect.CHANNEL
):
    """Context of asynchronous prefetches."""

    workspace = operand_def(PTR)
    ctx = result_def(PREFETCH_CONTEXT)


class GetPrefetchAsyncSessionOp(
    PtoOp, name="pto.get_prefetch_async_session", shape=Shape.FLAT_VALUE, effect=Effect.CHANNEL
):
    """Session of a prefetch context."""

    ctx = operand_def(PREFETCH_CONTEXT)
    session = result_def(ASYNC_SESSION)


class TPrefetchAsyncOp(PtoOp, name="pto.tprefetch_async", shape=Shape.PAREN, pipe=Pipe.MTE2, reads=("src",)):
    """Starts a prefetch of src into the cache."""

    src = operand_def(TILE_OR_VIEW)
    ctx = operand_def(PREFETCH_CONTEXT)
    event = result_def(ASYNC_EVENT)
