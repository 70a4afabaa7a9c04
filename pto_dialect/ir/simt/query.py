"""What a SIMT work item knows about itself, and the limits of a launch."""

from __future__ import annotations

from xdsl.irdl import result_def

from ..core.base import Effect, PtoOp, Shape
from ..core.kinds import I32, I64
from ..core.roles import Role


class WorkItemQueryOp(PtoOp, shape=Shape.NULLARY_TYPED, effect=Effect.QUERY, roles=Role.LANE):
    """No operands, one i32."""

    result = result_def(I32)


class GetTidXOp(WorkItemQueryOp, roles=Role.LANE | Role.VARIES):
    """X coordinate of the work item in its block (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_tid_x"


class GetTidYOp(WorkItemQueryOp, roles=Role.LANE | Role.VARIES):
    """Y coordinate of the work item in its block (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_tid_y"


class GetTidZOp(WorkItemQueryOp, roles=Role.LANE | Role.VARIES):
    """Z coordinate of the work item in its block (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_tid_z"


class GetBlockDimXOp(WorkItemQueryOp):
    """Size of the block along x (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_block_dim_x"


class GetBlockDimYOp(WorkItemQueryOp):
    """Size of the block along y (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_block_dim_y"


class GetBlockDimZOp(WorkItemQueryOp):
    """Size of the block along z (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_block_dim_z"


class GetBlockIdxXOp(WorkItemQueryOp):
    """Index of the block (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_block_idx_x"


class GetBlockIdxYOp(WorkItemQueryOp):
    """0: blocks are numbered along x (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_block_idx_y"


class GetBlockIdxZOp(WorkItemQueryOp):
    """0: blocks are numbered along x (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_block_idx_z"


class GetGridDimXOp(WorkItemQueryOp):
    """Number of blocks along x (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_grid_dim_x"


class GetGridDimYOp(WorkItemQueryOp):
    """Number of blocks along y (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_grid_dim_y"


class GetGridDimZOp(WorkItemQueryOp):
    """Number of blocks along z (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_grid_dim_z"


class GetLaneidOp(WorkItemQueryOp, roles=Role.LANE | Role.VARIES):
    """Number of the lane in its group of 32 (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_laneid"


class GetLanemaskEqOp(WorkItemQueryOp, roles=Role.LANE | Role.VARIES):
    """Bit of this lane (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_lanemask_eq"


class GetLanemaskLeOp(WorkItemQueryOp, roles=Role.LANE | Role.VARIES):
    """Bits of this and all lower lanes (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_lanemask_le"


class GetLanemaskLtOp(WorkItemQueryOp, roles=Role.LANE | Role.VARIES):
    """Bits of all lower lanes (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_lanemask_lt"


class GetLanemaskGeOp(WorkItemQueryOp, roles=Role.LANE | Role.VARIES):
    """Bits of this and all higher lanes (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_lanemask_ge"


class GetLanemaskGtOp(WorkItemQueryOp, roles=Role.LANE | Role.VARIES):
    """Bits of all higher lanes (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_lanemask_gt"


class GetVeccoreidOp(WorkItemQueryOp):
    """Number of the vector core (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_veccoreid"


class GetClock32Op(WorkItemQueryOp, roles=Role.UNIQUE):
    """Low half of the cycle counter (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_clock32"


class GetClock64Op(PtoOp, shape=Shape.NULLARY_TYPED, effect=Effect.QUERY, roles=Role.LANE | Role.UNIQUE):
    """Cycle counter (docs/reference/work-items.md, "Queries")."""

    name = "pto.get_clock64"
    result = result_def(I64)
