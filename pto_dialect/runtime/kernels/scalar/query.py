"""Questions about the launch. Source: docs/reference/execution.md, "Which core runs what"."""

from __future__ import annotations

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator

from ..registry import kernel


@kernel("pto.get_block_idx")
def block_idx(op: PtoOp, g: Generator) -> None:
    """The number of the block, from 0."""
    g.define(op.results[0], "core.block.index")


@kernel("pto.get_block_num")
def block_num(op: PtoOp, g: Generator) -> None:
    """The number of blocks of the launch."""
    g.define(op.results[0], "core.block.count")


@kernel("pto.get_subblock_idx")
def subblock_idx(op: PtoOp, g: Generator) -> None:
    """The number of the vector core in its block, 0 on the cube core."""
    g.define(op.results[0], "core.index")


@kernel("pto.get_subblock_num")
def subblock_num(op: PtoOp, g: Generator) -> None:
    """The number of vector cores of a block, 1 in programs for a single core."""
    g.define(op.results[0], "core.subblock_count")
