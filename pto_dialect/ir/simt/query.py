"""Queries of a SIMT work item about itself, and the limits of a launch.

Source: docs/reference/work-items.md, "Queries".
"""

from __future__ import annotations

from xdsl.irdl import result_def

from ..core.base import Effect, PtoOp, Shape
from ..core.kinds import I32, I64
from ..core.roles import Role


class WorkItemQueryOp(PtoOp, shape=Shape.NULLARY_TYPED, effect=Effect.QUERY, roles=Role.LANE):
    """No operands, one i32."""

    result = result_def(I32)


class GetTidXOp(WorkItemQueryOp, name="pto.get_tid_x", roles=Role.LANE | Role.VARIES):
    """X coordinate of the work item in its block."""


class GetTidYOp(WorkItemQueryOp, name="pto.get_tid_y", roles=Role.LANE | Role.VARIES):
    """Y coordinate of the work item in its block."""


class GetTidZOp(WorkItemQueryOp, name="pto.get_tid_z", roles=Role.LANE | Role.VARIES):
    """Z coordinate of the work item in its block."""


class GetBlockDimXOp(WorkItemQueryOp, name="pto.get_block_dim_x"):
    """Size of the block along x."""


class GetBlockDimYOp(WorkItemQueryOp, name="pto.get_block_dim_y"):
    """Size of the block along y."""


class GetBlockDimZOp(WorkItemQueryOp, name="pto.get_block_dim_z"):
    """Size of the block along z."""


class GetBlockIdxXOp(WorkItemQueryOp, name="pto.get_block_idx_x"):
    """Index of the block."""


class GetBlockIdxYOp(WorkItemQueryOp, name="pto.get_block_idx_y"):
    """0: blocks are numbered along x."""


class GetBlockIdxZOp(WorkItemQueryOp, name="pto.get_block_idx_z"):
    """0: blocks are numbered along x."""


class GetGridDimXOp(WorkItemQueryOp, name="pto.get_grid_dim_x"):
    """Number of blocks along x."""


class GetGridDimYOp(WorkItemQueryOp, name="pto.get_grid_dim_y"):
    """Number of blocks along y."""


class GetGridDimZOp(WorkItemQueryOp, name="pto.get_grid_dim_z"):
    """Number of blocks along z."""


class GetLaneidOp(WorkItemQueryOp, name="pto.get_laneid", roles=Role.LANE | Role.VARIES):
    """Number of the lane in its group of 32."""


class GetLanemaskEqOp(WorkItemQueryOp, name="pto.get_lanemask_eq", roles=Role.LANE | Role.VARIES):
    """Bit of this lane."""


class GetLanemaskLeOp(WorkItemQueryOp, name="pto.get_lanemask_le", roles=Role.LANE | Role.VARIES):
    """Bits of this and all lower lanes."""


class GetLanemaskLtOp(WorkItemQueryOp, name="pto.get_lanemask_lt", roles=Role.LANE | Role.VARIES):
    """Bits of all lower lanes."""


class GetLanemaskGeOp(WorkItemQueryOp, name="pto.get_lanemask_ge", roles=Role.LANE | Role.VARIES):
    """Bits of this and all higher lanes."""


class GetLanemaskGtOp(WorkItemQueryOp, name="pto.get_lanemask_gt", roles=Role.LANE | Role.VARIES):
    """Bits of all higher lanes."""


class GetVeccoreidOp(WorkItemQueryOp, name="pto.get_veccoreid"):
    """Number of the vector core."""


class GetClock32Op(WorkItemQueryOp, name="pto.get_clock32", roles=Role.UNIQUE):
    """Low half of the cycle counter."""


class GetClock64Op(
    PtoOp, name="pto.get_clock64", shape=Shape.NULLARY_TYPED, effect=Effect.QUERY, roles=Role.LANE | Role.UNIQUE
):
    """Cycle counter."""

    result = result_def(I64)
