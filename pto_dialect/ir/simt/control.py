"""SIMT launches, values kept between launches, barriers and fences.

Source: docs/reference/work-items.md, "Launches".
"""

from __future__ import annotations

from xdsl.irdl import attr_def, operand_def, result_def, var_operand_def

from ..core.base import Effect, Pipe, PtoOp, Shape
from ..core.kinds import ANY, I32, I64_ATTR, SYMBOL
from ..core.roles import Role


class SimtLaunchOp(
    PtoOp,
    name="pto.simt_launch",
    shape=Shape.LAUNCH,
    pipe=Pipe.V,
    effect=Effect.CALL,
    typed=("args",),
    roles=Role.LAUNCH,
):
    """Runs the callee once per work item of a dimX x dimY x dimZ grid."""

    dimX = dimY = dimZ = operand_def(I32)
    args = var_operand_def(ANY)
    callee = attr_def(SYMBOL)


class StoreVfsimtInfoOp(
    PtoOp, name="pto.store_vfsimt_info", shape=Shape.FLAT_VOID, pipe=Pipe.V, state_writes=("simt_dims",)
):
    """Sets the launch dimensions that the next call of a SIMT function uses."""

    dimZ = dimY = dimX = operand_def(I32)


class SlotOp(PtoOp, pipe=Pipe.V, roles=Role.LANE):
    """Keeps a value of the work item in a slot from one launch to the next."""

    slot = attr_def(I64_ATTR)


class KeepOp(SlotOp, name="pto.keep", shape=Shape.FLAT_VOID, reads=("payload",), state_writes=("slots",)):
    """Saves a value of the work item in a slot for a later launch."""

    payload = operand_def(ANY)


class ResumeOp(
    SlotOp, name="pto.resume", shape=Shape.NULLARY_TYPED, state_reads=("slots",), roles=Role.LANE | Role.VARIES
):
    """The value that an earlier launch retained in a slot."""

    result = result_def(ANY)


class BarrierOrFenceOp(PtoOp, shape=Shape.NULLARY, pipe=Pipe.V, effect=Effect.SYNC, roles=Role.LANE):
    """No operands, no results."""


class SyncthreadsOp(BarrierOrFenceOp, name="pto.syncthreads"):
    """Waits for all work items of the block."""


class ThreadfenceOp(BarrierOrFenceOp, name="pto.threadfence"):
    """Orders memory accesses as the whole device sees them."""


class ThreadfenceBlockOp(BarrierOrFenceOp, name="pto.threadfence_block"):
    """Orders memory accesses as the block sees them."""
