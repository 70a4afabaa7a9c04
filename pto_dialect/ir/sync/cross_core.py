"""Order between cores and blocks, and cache maintenance. Source: docs/reference/execution.md, "Synchronisation"."""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, opt_attr_def, opt_operand_def

from ..core.base import Pipe, PtoOp, Shape
from ..core.kinds import ANY, I32, I32_ATTR, INDEX, PTR, PTR_OR_MEMREF, PTR_OR_VIEW, TILE_OR_VIEW, enum
from ..core.roles import Role
from .forms import NamedPipeOp


class SemaphoreOp(NamedPipeOp, shape=Shape.SYNC_TOKEN, pipe_from="pipe", typed=()):
    """Semaphore of a pipe; its id is an attribute or an index operand."""

    event_id_dyn = opt_operand_def(INDEX)
    pipe = attr_def(enum("pipe"))
    event_id = opt_attr_def(I32_ATTR)


class CoreSemaphoreOp(SemaphoreOp, tokens=("pipe", "event_id")):
    """Semaphore between cores with a group mode."""

    ffts_mode = opt_attr_def(I32_ATTR)


class SyncSetOp(CoreSemaphoreOp, name="pto.sync.set", roles=Role.CORES | Role.SETS):
    """Signals the other cores of the block once the earlier work of the pipe is done."""


class SyncWaitOp(CoreSemaphoreOp, name="pto.sync.wait", roles=Role.CORES | Role.WAITS):
    """The pipe waits for the signal of the other cores of the block."""


class BlockSemaphoreOp(SemaphoreOp, since="august"):
    """Semaphore without a group mode."""


class SetIntraBlockOp(BlockSemaphoreOp, name="pto.set_intra_block", roles=Role.CORES | Role.SETS):
    """Signals one vector core or the cube core of the same block."""


class WaitIntraBlockOp(BlockSemaphoreOp, name="pto.wait_intra_block", roles=Role.CORES | Role.WAITS):
    """The pipe waits for one core of the same block."""


class WaitCrossBlockOp(BlockSemaphoreOp, name="pto.wait_cross_block", roles=Role.CORES | Role.BLOCKS | Role.WAITS):
    """The pipe waits until every block has signalled."""


class SetCrossBlockOp(
    CoreSemaphoreOp, name="pto.set_cross_block", since="august", roles=Role.CORES | Role.BLOCKS | Role.SETS
):
    """Signals the same cores of all blocks."""

    ffts_mode = opt_attr_def(I32_ATTR.by_default("0 : i32"))


class SetFftsOp(PtoOp, name="pto.set_ffts", shape=Shape.FLAT_VOID, state_writes=("ffts",)):
    """Sets the base address of the flag area shared by the cores."""

    ffts = operand_def(PTR_OR_MEMREF)


_WORKSPACES = ("gm_workspace", "ub_workspace", "l1_workspace")


class SyncallOp(
    PtoOp,
    name="pto.syncall",
    shape=Shape.SYNC_ALL,
    pipe=Pipe.ALL,
    reads=_WORKSPACES,
    writes=_WORKSPACES,
    roles=Role.CORES | Role.BLOCKS | Role.BARRIER | Role.JOINS,
):
    """Barrier over the cores of all blocks; soft mode counts in a workspace."""

    gm_workspace = opt_operand_def(PTR_OR_VIEW)
    used_cores = opt_operand_def(I32)
    ub_workspace = l1_workspace = opt_operand_def(TILE_OR_VIEW)
    mode = attr_def(enum("sync_all_mode"))
    core_type = attr_def(enum("sync_core_type"))


class CacheOp(PtoOp, shape=Shape.CACHE, pipe=Pipe.S, state_writes=("cache",), since="august"):
    """Changes the data cache of the scalar unit."""


class DcciOp(CacheOp, name="pto.dcci"):
    """Writes back and invalidates data cache lines of the scalar unit."""

    ptr = operand_def(PTR)
    cache = attr_def(enum("dcci_cache_line"))
    dst = opt_attr_def(enum("dcci_dst"))


class CmoCacheinvalidOp(CacheOp, name="pto.cmo.cacheinvalid"):
    """Invalidates one line or all of the data cache of the scalar unit."""

    addr = opt_operand_def(ANY)
    space = opt_attr_def(enum("address_space"))
