"""The ids of the running core and block. Source: docs/reference/execution.md, "Which core runs what"."""

from __future__ import annotations

from xdsl.irdl import result_def

from ..core.base import Effect, PtoOp, Shape
from ..core.kinds import I64
from ..core.roles import Role


class CoreQueryOp(PtoOp, shape=Shape.NULLARY, effect=Effect.QUERY, fixed_results=("i64",)):
    """No operands, one i64."""

    result = result_def(I64)


class GetBlockIdxOp(CoreQueryOp, name="pto.get_block_idx"):
    """Index of this block."""


class GetBlockNumOp(CoreQueryOp, name="pto.get_block_num"):
    """Number of blocks of the launch."""


class GetSubblockIdxOp(CoreQueryOp, name="pto.get_subblock_idx", roles=Role.VECTOR_CORES):
    """Index of this vector core in its block, 0 or 1."""


class GetSubblockNumOp(CoreQueryOp, name="pto.get_subblock_num", roles=Role.VECTOR_CORES):
    """Number of vector cores per block."""
