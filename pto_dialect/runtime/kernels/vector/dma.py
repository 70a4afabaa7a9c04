"""``mte_gm_ub``: global memory to the unified buffer with padding. Source: docs/reference/layouts.md, "Transfers"."""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.dma import Padding, copy_bursts
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format

from ..cube.mte import first, loop_groups
from ..registry import kernel


class PaddedLoad:
    """One padded or plain load; ``fmt`` is the element type of the pad value."""

    def __init__(self, fmt: Format | None) -> None:
        self.fmt = fmt

    def __call__(self, *operands: Any) -> None:
        """Copies bursts. The last three operands are the value of pad elements and their number to the left and to the
        right, the others those of ``copy_bursts``."""
        *transfer, value, left, right = operands
        pad = None if self.fmt is None else Padding(self._bytes(value), left, right)
        copy_bursts(*transfer, pad=pad)

    def _bytes(self, value: Any) -> bytes:
        assert self.fmt is not None
        if self.fmt.is_float:
            return encode(np.array([value], np.float32), self.fmt, saturate=False).tobytes()
        return np.array([int(value)]).astype(self.fmt.storage).tobytes()


@kernel("pto.mte_gm_ub")
def gm_ub(op: PtoOp, g: Generator) -> None:
    """Bursts from global memory to the unified buffer, each optionally padded with elements before and after it."""
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "nburst_dst_stride", "nburst_src_stride")
    pad = [first(groups, name) for name in ("pad_value", "left_padding_count", "right_padding_count")]
    load = PaddedLoad(None if pad[0] is None else g.format(pad[0].type))
    counts = [0 if value is None else value for value in pad[1:]]
    g.call(load, *(groups[name][0] for name in names), loop_groups(groups), pad[0], *counts, pipe=Pipe.MTE2)
