"""Offsets of gathered blocks. Source: docs/reference/vectors.md, "Loads and stores"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pto_dialect.ir.tile.irregular import TGatherbOp
from pto_dialect.runtime.kernels.tile.gather import offsets_of
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.targets.vector_unit import VLANE_BYTES

from .operand_values import checks_arguments, report_operand

if TYPE_CHECKING:
    from ..context import Context, RunObserver


@checks_arguments(TGatherbOp)
def check_block_offsets(observer: RunObserver, context: Context, arguments: Sequence[Any]) -> None:
    """Reports a block that does not begin at a multiple of 32 bytes."""
    src, offsets, dst = arguments
    if not (isinstance(src, Tile) and isinstance(offsets, Tile)) or not observer.wants("bounds"):
        return
    blocks = -(-dst.valid_cols * dst.fmt.bytes // VLANE_BYTES)
    observer.judged_by_content = True
    muted, observer.muted = observer.muted, True
    try:
        addresses = offsets_of(offsets, dst.valid_rows, blocks) + src.pointer.offset
    finally:
        observer.muted = muted
    wrong = np.argwhere(addresses % VLANE_BYTES)
    site = observer.sites[context.mark.site]
    if not wrong.size or observer.findings.repeated("mem-align", site):
        return
    row, col = (int(n) for n in wrong[0])
    message = f"{site.name} wants addresses that are multiples of {VLANE_BYTES}; byte {addresses[row, col]} of "
    message += f"{src.pointer.arena.space}, from the offset at ({row}, {col}), is not"
    report_operand(observer, context, site, "mem-align", message, "offsets count bytes, in whole blocks of 32")
