"""Write-back of the accumulator: addressing of mte_l0c_gm, mte_l0c_l1, mte_l0c_ub (docs/reference/layouts.md,
"Write-back addresses").

Values pass through a conversion function supplied by the caller; this module only decides which source byte
reaches which destination element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..faults import Fault
from .fractal_load import ACC_ITEM_BYTES
from .layout import Axis, MatrixView
from .spaces import HARD_ALIGNMENT, Array, Pointer, strided_view

StoreMode = Literal["nz2nd", "nz2dn", "nz2nz"]
AtomicOp = Literal["add", "max", "min"]
SplitAxis = Literal["m", "n"]
Convert = Callable[[Array], Array]

ACC_ROW_BYTES = 64
"""One row of an L0C block: 16 elements of 4 bytes. ``src_stride`` and loop3's source stride count these."""

_ACC_COLS = 16
_SPLIT_N_MULTIPLE = 32
_ATOMIC: dict[AtomicOp, np.ufunc] = {"add": np.add, "max": np.maximum, "min": np.minimum}


@dataclass(frozen=True, slots=True)
class AccStore:
    """The addressing operands of one write-back.

    Attributes:
        m, n: extents of the stored matrix.
        src_stride: 16-element rows between adjacent 16-column blocks of L0C, up16(M) in every usual kernel.
        dst_stride: destination elements between rows (nz2nd), columns (nz2dn) or column blocks (nz2nz).
        mode: layout clause; without one, nz2nd is used.
        loop0: source rows between rows of the matrix; other than 1 only with nz2dn.
        split: nz2nz with 8 instead of 16 columns per destination block.
        loop3: (count, source stride in 16-element rows, destination stride in elements) of an outer
            repetition.
        atomic: combine with the destination instead of replacing it.
        packed: destination elements are 4-bit, two per byte; the conversion then returns uint8 [m, n/2], the
            even column in the low half, while strides count single elements.
    """

    m: int
    n: int
    src_stride: int
    dst_stride: int
    mode: StoreMode = "nz2nd"
    loop0: int = 1
    split: bool = False
    loop3: tuple[int, int, int] = (1, 0, 0)
    atomic: AtomicOp | None = None
    packed: bool = False

    def check(self) -> None:
        """Require legal extents.

        Raises:
            Fault: ``fixp-extent`` for extents below 1 or negative strides, ``unmodelled`` for packed
                destinations with an odd column count or stride, another layout than nz2nd, or an atomic
                operation.
        """
        if self.m < 1 or self.n < 1:
            raise Fault("fixp-extent", f"write-back of {self.m} x {self.n} elements")
        if min(self.src_stride, self.dst_stride, self.loop0, *self.loop3) < 0:
            raise Fault("fixp-extent", "write-back with a negative stride or count")
        odd = self.n % 2 or self.dst_stride % 2 or self.loop3[2] % 2
        if self.packed and (odd or self.mode != "nz2nd" or self.atomic):
            raise Fault("unmodelled", "4-bit write-back that does not store whole bytes")

    def source(self, src: Pointer) -> MatrixView:
        """Returns the m x n matrix in L0C: element (m, n) at byte ((n//16)·src_stride + m·loop0)·64 + (n%16)·4."""
        axes = (Axis(0, 0, self.loop0 * _ACC_COLS), Axis(_ACC_COLS, self.src_stride * _ACC_COLS, 1))
        return MatrixView(Pointer(src.arena, src.offset, src.dtype, ACC_ITEM_BYTES), axes, self.m, self.n)

    def target_axes(self, item_bytes: int) -> tuple[Axis, Axis]:
        """Row and column axis of the destination in storage elements of ``item_bytes`` bytes."""
        if self.mode == "nz2nz":
            block = 8 if self.split else 32 if item_bytes == 1 else 16
            return Axis(0, 0, block), Axis(block, self.dst_stride, 1)
        if self.mode == "nz2dn":
            return Axis(0, 0, 1), Axis(0, 0, self.dst_stride)
        return Axis(0, 0, self.dst_stride // 2 if self.packed else self.dst_stride), Axis(0, 0, 1)


def acc_store(src: Pointer, dst: Pointer, store: AccStore, convert: Convert) -> None:
    """Store an accumulator matrix to GM, L1 or one UB.

    Args:
        src: L0C pointer to 4-byte elements.
        dst: destination; its dtype is the storage type of the elements.
        store: addressing operands.
        convert: maps the accumulator values [m, n], which it must not modify, to destination values [m, n]
            of the destination's dtype.

    Raises:
        Fault: ``fixp-extent``, ``unmodelled``, ``mem-align`` for an L0C, L1 or UB address that is not a
            multiple of 32, ``mem-oob``.
    """
    store.check()
    for values, offset in _converted(src, store, convert):
        _put(dst, offset, values, store)


def acc_store_split(
    src: Pointer, dst: tuple[Pointer, Pointer], store: AccStore, axis: SplitAxis, convert: Convert
) -> None:
    """Store the two halves of an accumulator matrix to the UBs of AIV0 and AIV1 (dst_mode split_m, split_n).

    Rows [0, M/2) or columns [0, N/2) go to the first destination, the rest to the second; both halves
    restart at index 0.

    Args:
        src: L0C pointer to 4-byte elements.
        dst: the same UB address in both vector cores.
        store: addressing operands of the whole matrix.
        axis: direction of the split.
        convert: as in :func:`acc_store`; sees the whole matrix.

    Raises:
        Fault: ``fixp-ub-split-m-even`` for odd M, ``fixp-ub-split-n-32`` for N % 32 ≠ 0, and as
            :func:`acc_store`.
    """
    store.check()
    if axis == "m" and store.m % 2:
        raise Fault("fixp-ub-split-m-even", f"split_m of {store.m} rows")
    if axis == "n" and store.n % _SPLIT_N_MULTIPLE:
        raise Fault("fixp-ub-split-n-32", f"split_n of {store.n} columns")
    for values, offset in _converted(src, store, convert):
        for target, half in zip(dst, np.split(values, 2, axis=0 if axis == "m" else 1), strict=True):
            _put(target, offset, half, store)


def _converted(src: Pointer, store: AccStore, convert: Convert) -> list[tuple[Array, int]]:
    """Converted values and destination element offset of every loop3 repetition."""
    src.check_aligned(HARD_ALIGNMENT, "write-back source")
    count, src_step, dst_step = store.loop3
    return [
        (convert(store.source(src.shifted(half * src_step * ACC_ROW_BYTES)).read()), half * dst_step)
        for half in range(count)
    ]


def _put(dst: Pointer, offset: int, values: Array, store: AccStore) -> None:
    if dst.arena.space != "gm":
        dst.check_aligned(HARD_ALIGNMENT, "write-back destination")
    rows, cols = values.shape
    axes = store.target_axes(dst.item_bytes)
    start = dst.advance(offset // 2 if store.packed else offset)
    if _collides(axes, rows, cols):
        _put_each(start, axes, values, store.atomic)
        return
    target = MatrixView(start, axes, rows, cols)
    if store.atomic is None:
        target.write(values)
        return
    combine = _ATOMIC[store.atomic]
    for top, bottom, left, right, view in target.pieces(rows, cols):
        part = values[top:bottom, left:right].reshape(view.shape)
        combine(view, part.astype(view.dtype, copy=False), out=view)


def _collides(axes: tuple[Axis, Axis], rows: int, cols: int) -> bool:
    """Returns whether two elements of the matrix can have one destination."""
    row_axis, col_axis = axes
    if col_axis.block:
        span = min(cols, col_axis.block)
        return cols > col_axis.block and col_axis.block_stride < (rows - 1) * row_axis.stride + span
    short, long = sorted(((row_axis.stride, rows), (col_axis.stride, cols)))
    return (short[1] > 1 and short[0] < 1) or (long[1] > 1 and long[0] <= (short[1] - 1) * short[0])


def _put_each(start: Pointer, axes: tuple[Axis, Axis], values: Array, atomic: AtomicOp | None) -> None:
    """Stores in row-major order, so that overlapping destinations keep the last value or combine all."""
    rows, cols = values.shape
    row_index = np.array([axes[0].offset(row) for row in range(rows)])
    col_index = np.array([axes[1].offset(col) for col in range(cols)])
    index = (row_index[:, None] + col_index).reshape(-1)
    flat = strided_view(start, (int(index.max()) + 1,), (start.item_bytes,))
    stored = values.reshape(-1).astype(flat.dtype, copy=False)
    if atomic is None:
        for position, value in zip(index.tolist(), stored, strict=True):
            flat[position] = value
    else:
        _ATOMIC[atomic].at(flat, index, stored)
