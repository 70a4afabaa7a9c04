"""Queries of a work-item about itself. Source: docs/reference/work-items.md, "Queries"."""

from __future__ import annotations

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.simt.items import clock

from ..core.scalar import wrapped
from ..registry import kernel, lane_kernel
from .lane_values import ITEMS, invoke, scope_of

# A grid of one block has dimensions 0: known results of a board require it.
_TEXTS = {
    **{f"pto.get_tid_{axis}": f"items.geometry.ids[{number}]" for number, axis in enumerate("xyz")},
    **{f"pto.get_block_dim_{axis}": f"items.geometry.dims[{number}]" for number, axis in enumerate("xyz")},
    **{f"pto.get_block_idx_{axis}": "0" for axis in "yz"},
    **{f"pto.get_grid_dim_{axis}": "int(core.block.count > 1)" for axis in "yz"},
    **{f"pto.get_lanemask_{kind}": f"items.geometry.lane_masks[{kind!r}]" for kind in ("eq", "le", "lt", "ge", "gt")},
    "pto.get_block_idx_x": "core.block.index",
    "pto.get_grid_dim_x": "core.block.count * (core.block.count > 1)",
    "pto.get_laneid": "items.geometry.lanes",
    "pto.get_veccoreid": "core.index",
}


@kernel(*_TEXTS)
@lane_kernel(*_TEXTS)
def query(op: PtoOp, g: Generator) -> None:
    """A fact about the work-item or the launch."""
    scope_of(g)
    g.define(op.results[0], _TEXTS[op.name])


@kernel("pto.get_clock32", "pto.get_clock64")
@lane_kernel("pto.get_clock32", "pto.get_clock64")
def sample_clock(op: PtoOp, g: Generator) -> None:
    """A counter that grows with each sample."""
    scope_of(g)
    g.define(op.results[0], wrapped(invoke(g, clock, ITEMS), op.results[0].type))
