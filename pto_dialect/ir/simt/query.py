"""Queries of a SIMT work item about itself, and the limits of a launch.

Source: docs/reference/work-items.md, "Queries".
"""

from __future__ import annotations

from xdsl.irdl import result_def

from ..core.base import Effect, PtoOp, Shape
from ..core.kinds import I32, I64
from ..core.roles import Role
from ..core.rows import rows


class WorkItemQueryOp(PtoOp, shape=Shape.NULLARY_TYPED, effect=Effect.QUERY, roles=Role.LANE):
    """No operands, one i32."""

    result = result_def(I32)


rows(__name__, WorkItemQueryOp, roles=Role.LANE | Role.VARIES)("""
GetTidXOp pto.get_tid_x: X coordinate of the work item in its block.
GetTidYOp pto.get_tid_y: Y coordinate of the work item in its block.
GetTidZOp pto.get_tid_z: Z coordinate of the work item in its block.
GetLaneidOp pto.get_laneid: Number of the lane in its group of 32.
GetLanemaskEqOp pto.get_lanemask_eq: Bit of this lane.
GetLanemaskLeOp pto.get_lanemask_le: Bits of this and all lower lanes.
GetLanemaskLtOp pto.get_lanemask_lt: Bits of all lower lanes.
GetLanemaskGeOp pto.get_lanemask_ge: Bits of this and all higher lanes.
GetLanemaskGtOp pto.get_lanemask_gt: Bits of all higher lanes.
""")


rows(__name__, WorkItemQueryOp)("""
GetBlockDimXOp pto.get_block_dim_x: Size of the block along x.
GetBlockDimYOp pto.get_block_dim_y: Size of the block along y.
GetBlockDimZOp pto.get_block_dim_z: Size of the block along z.
GetBlockIdxXOp pto.get_block_idx_x: Index of the block.
GetBlockIdxYOp pto.get_block_idx_y: 0: blocks are numbered along x.
GetBlockIdxZOp pto.get_block_idx_z: 0: blocks are numbered along x.
GetGridDimXOp pto.get_grid_dim_x: Number of blocks along x.
GetGridDimYOp pto.get_grid_dim_y: Number of blocks along y.
GetGridDimZOp pto.get_grid_dim_z: Number of blocks along z.
GetVeccoreidOp pto.get_veccoreid: Number of the vector core.
""")


class GetClock32Op(WorkItemQueryOp, name="pto.get_clock32", roles=Role.UNIQUE):
    """Low half of the cycle counter."""


class GetClock64Op(
    PtoOp, name="pto.get_clock64", shape=Shape.NULLARY_TYPED, effect=Effect.QUERY, roles=Role.LANE | Role.UNIQUE
):
    """Cycle counter."""

    result = result_def(I64)
