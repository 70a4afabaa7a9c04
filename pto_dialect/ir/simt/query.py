"""Queries of a SIMT work item about itself, and the limits of a launch."""

from __future__ import annotations

from xdsl.irdl import result_def

from ..core.base import Effect, PtoOp, Shape
from ..core.kinds import I32, I64
from ..core.roles import Role


class WorkItemQueryOp(PtoOp, shape=Shape.NULLARY_TYPED, effect=Effect.QUERY, roles=Role.LANE):
    """No operands, one i32."""

    result = result_def(I32)


class GetTidXOp(WorkItemQueryOp, name="pto.get_tid_x", roles=Role.LANE | Role.VARIES):
    """X coordinate of the work item in its block (docs/reference/work-items.md, "Queries")."""


class GetTidYOp(WorkItemQueryOp, name="pto.get_tid_y", roles=Role.LANE | Role.VARIES):
    """Y coordinate of the work item in its block (docs/reference/work-items.md, "Queries")."""


class GetTidZOp(WorkItemQueryOp, name="pto.get_tid_z", roles=Role.LANE | Role.VARIES):
    """Z coordinate of the work item in its block (docs/reference/work-items.md, "Queries")."""


class GetBlockDimXOp(WorkItemQueryOp, name="pto.get_block_dim_x"):
    """Size of the block along x (docs/reference/work-items.md, "Queries")."""


class GetBlockDimYOp(WorkItemQueryOp, name="pto.get_block_dim_y"):
    """Size of the block along y (docs/reference/work-items.md, "Queries")."""


class GetBlockDimZOp(WorkItemQueryOp, name="pto.get_block_dim_z"):
    """Size of the block along z (docs/reference/work-items.md, "Queries")."""


class GetBlockIdxXOp(WorkItemQueryOp, name="pto.get_block_idx_x"):
    """Index of the block (docs/reference/work-items.md, "Queries")."""


class GetBlockIdxYOp(WorkItemQueryOp, name="pto.get_block_idx_y"):
    """0: blocks are numbered along x (docs/reference/work-items.md, "Queries")."""


class GetBlockIdxZOp(WorkItemQueryOp, name="pto.get_block_idx_z"):
    """0: blocks are numbered along x (docs/reference/work-items.md, "Queries")."""


class GetGridDimXOp(WorkItemQueryOp, name="pto.get_grid_dim_x"):
    """Number of blocks along x (docs/reference/work-items.md, "Queries")."""


class GetGridDimYOp(WorkItemQueryOp, name="pto.get_grid_dim_y"):
    """Number of blocks along y (docs/reference/work-items.md, "Queries")."""


class GetGridDimZOp(WorkItemQueryOp, name="pto.get_grid_dim_z"):
    """Number of blocks along z (docs/reference/work-items.md, "Queries")."""


class GetLaneidOp(WorkItemQueryOp, name="pto.get_laneid", roles=Role.LANE | Role.VARIES):
    """Number of the lane in its group of 32 (docs/reference/work-items.md, "Queries")."""


class GetLanemaskEqOp(WorkItemQueryOp, name="pto.get_lanemask_eq", roles=Role.LANE | Role.VARIES):
    """Bit of this lane (docs/reference/work-items.md, "Queries")."""


class GetLanemaskLeOp(WorkItemQueryOp, name="pto.get_lanemask_le", roles=Role.LANE | Role.VARIES):
    """Bits of this and all lower lanes (docs/reference/work-items.md, "Queries")."""


class GetLanemaskLtOp(WorkItemQueryOp, name="pto.get_lanemask_lt", roles=Role.LANE | Role.VARIES):
    """Bits of all lower lanes (docs/reference/work-items.md, "Queries")."""


class GetLanemaskGeOp(WorkItemQueryOp, name="pto.get_lanemask_ge", roles=Role.LANE | Role.VARIES):
    """Bits of this and all higher lanes (docs/reference/work-items.md, "Queries")."""


class GetLanemaskGtOp(WorkItemQueryOp, name="pto.get_lanemask_gt", roles=Role.LANE | Role.VARIES):
    """Bits of all higher lanes (docs/reference/work-items.md, "Queries")."""


class GetVeccoreidOp(WorkItemQueryOp, name="pto.get_veccoreid"):
    """Number of the vector core (docs/reference/work-items.md, "Queries")."""


class GetClock32Op(WorkItemQueryOp, name="pto.get_clock32", roles=Role.UNIQUE):
    """Low half of the cycle counter (docs/reference/work-items.md, "Queries")."""


class GetClock64Op(
    PtoOp, name="pto.get_clock64", shape=Shape.NULLARY_TYPED, effect=Effect.QUERY, roles=Role.LANE | Role.UNIQUE
):
    """Cycle counter (docs/reference/work-items.md, "Queries")."""

    result = result_def(I64)
