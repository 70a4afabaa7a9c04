"""Queries of the launch. Source: docs/reference/execution.md, "Which core runs what"."""

from __future__ import annotations

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator

from ..registry import kernels


@kernels(
    {
        # The block id, from 0, and the number of blocks of the launch.
        "pto.get_block_idx": "core.block.index",
        "pto.get_block_num": "core.block.count",
        # The id of the vector core in its block, 0 on the cube core, and the number of vector cores, 1 in programs for
        # a single core.
        "pto.get_subblock_idx": "core.index",
        "pto.get_subblock_num": "core.subblock_count",
    }
)
def query(op: PtoOp, g: Generator, text: str) -> None:
    """A fact that the core stores."""
    g.define(op.results[0], text)
