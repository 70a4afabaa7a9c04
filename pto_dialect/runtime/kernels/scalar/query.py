"""Questions about the launch. Source: docs/reference/execution.md, "Which core runs what"."""

from __future__ import annotations

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator

from ..registry import kernels


@kernels(
    {
        # The number of the block, from 0, and how many blocks the launch has.
        "pto.get_block_idx": "core.block.index",
        "pto.get_block_num": "core.block.count",
        # The number of the vector core in its block, 0 on the cube core, and how many there are, 1 in programs for a
        # single core.
        "pto.get_subblock_idx": "core.index",
        "pto.get_subblock_num": "core.subblock_count",
    }
)
def query(op: PtoOp, g: Generator, text: str) -> None:
    """A number that the core knows."""
    g.define(op.results[0], text)
