"""``thistogram``: cumulative counts of one byte. Source: docs/reference/tiles.md, "Irregular operations"."""

from __future__ import annotations

import numpy as np

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array

from ..registry import kernel
from .generate import integer_attribute
from .operands import AnyTile, region, tile_format, tile_operand, write_linear

_BINS = 256


class Histogram:
    """dst(r,b) = number of elements of row r whose byte is at most b, among those whose higher bytes match the filter.

    A 16-bit source has one filter byte for each row (column 0 of idx); a 32-bit source has one for all rows in each row
    of idx, for byte 3, 2 and 1. The counts of each row follow those of the one before it, however wide the rows of dst
    are.
    """

    label = "thistogram"

    def __init__(self, bits: int, byte: int) -> None:
        self.bits = bits
        self.byte = byte

    def __call__(self, src: AnyTile, idx: AnyTile, dst: AnyTile) -> None:
        """Counts the elements of ``src`` whose higher bytes match the rows of ``idx``, into ``dst``."""
        values = np.ascontiguousarray(src.read()).view(f"u{self.bits // 8}").astype(np.int64)
        rows = values.shape[0]
        counts = np.zeros((rows, _BINS), np.int64)
        matches = self._matches(values, idx)
        selected = values >> (8 * self.byte) & 0xFF
        for row in range(rows):
            counts[row] = np.bincount(selected[row][matches[row]], minlength=_BINS)
        result = np.cumsum(counts, axis=1).astype(dst.fmt.storage)
        if dst.cols == _BINS:
            dst.write(result)
        elif result.size > dst.rows * dst.cols:
            raise Fault("hist-form", f"{_BINS} counts for each of {rows} rows do not fit into {dst.rows}x{dst.cols}")
        else:
            write_linear(dst, result.reshape(-1), dst.cols)

    def _matches(self, values: Array, idx: AnyTile) -> Array:
        matches = np.ones(values.shape, np.bool_)
        top = self.bits // 8 - 1
        depth = top - self.byte
        if depth <= 0:
            return matches
        if self.bits == 16:
            return values >> 8 == region(idx, values.shape[0], 1).view(np.uint8)
        filters = region(idx, depth, 1).view(np.uint8)
        for row in range(depth):
            matches &= values >> (8 * (top - row)) & 0xFF == filters[row, 0]
        return matches


@kernel("pto.thistogram")
def thistogram(op: PtoOp, g: Generator) -> None:
    """Cumulative counts of one byte of the elements of each row."""
    src, idx, dst = tile_operand(op, g, "src"), tile_operand(op, g, "idx"), g.destination(op)
    fmt = tile_format(src, g)
    # The older dialect only states whether the upper byte of a 16-bit element is counted.
    byte = integer_attribute(op, "byte", int(bool(integer_attribute(op, "isMSB", 1))))
    if fmt.bits not in (16, 32) or fmt.is_float or not 0 <= byte < fmt.bytes:
        raise g.error("hist-form", f"byte {byte} of {fmt.name} elements cannot be counted")
    g.call(Histogram(fmt.bits, byte), src, idx, dst, pipe=g.pipe(op))
