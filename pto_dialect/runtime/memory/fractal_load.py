"""Fractal loads of the cube core: GM to L1, L1 to L0A and L0B, MX scales, and the matrices ``mad`` reads
(docs/reference/layouts.md, "Loads with a change of layout", "Loads into L0", "MX scales").

C0 is the number of elements in 32 bytes. Elements are moved as raw bits; nothing here depends on their type
but its size.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from pto_dialect.ir.core.extents import round_up
from pto_dialect.targets.matmul_types import EXTENT_RANGE, MX_SCALE_GROUP
from pto_dialect.targets.tile_layouts import C0_BYTES

from ..faults import Fault
from .layout import FRACTAL_ROWS, Axis, MatrixView, TileView, tile_layout
from .spaces import HARD_ALIGNMENT, Arena, Array, Pointer, strided_view

FracMode = Literal["nd2nz", "dn2nz"]

FRACTAL_BYTES = 512
MAX_EXTENT = EXTENT_RANGE[1]

ACC_ITEM_BYTES = 4
"""L0C holds every element in 4 bytes."""

_BYTE = np.dtype(np.uint8)
_RAW = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def gm_to_l1_frac(
    dst: Pointer,
    src: Pointer,
    mode: FracMode,
    n_value: int,
    d_value: int,
    inner: int,
    outer: int = 0,
    group_count: int = 1,
    loop2: int = 1,
    loop3: int = 0,
    loop4: int = 0,
) -> None:
    """mte_gm_l1_frac: load ``group_count`` matrices of ``n_value`` x ``d_value`` elements as NZ
    (docs/reference/layouts.md, "Loads with a change of layout").

    Lanes d >= ``d_value`` of the last C0 become 0; rows n >= ``n_value`` are not written. Small-C0 mode
    uses the same addresses.

    Args:
        dst: L1 address of group 0, row 0.
        src: GM address of element (0, 0) of group 0; gives the element size.
        mode: ``nd2nz`` (rows of D contiguous) or ``dn2nz`` (columns of N contiguous).
        n_value, d_value: matrix extents in elements.
        inner: source bytes between rows (nd2nz) or columns (dn2nz).
        outer: source bytes between groups.
        group_count: number of groups.
        loop2, loop3, loop4: destination strides of n, of the C0 block and of the group, in 32-byte units.

    Raises:
        Fault: ``frac-nonneg``, ``mem-align`` for a destination that is no multiple of 32, ``mem-oob``.
    """
    if min(n_value, d_value, inner, outer, group_count, loop2, loop3, loop4) < 0:
        raise Fault("frac-nonneg", "mte_gm_l1_frac has a negative extent or stride")
    dst.check_aligned(HARD_ALIGNMENT, "mte_gm_l1_frac destination")
    if not (n_value and d_value and group_count):
        return
    size = src.item_bytes
    raw = _RAW[size]
    lanes = C0_BYTES // size
    full, tail = divmod(d_value, lanes)
    n_step, d_step = (inner, size) if mode == "nd2nz" else (size, inner)
    source = strided_view(src, (group_count, n_value, d_value), (outer, n_step, d_step), raw, writable=False)
    blocks = full + bool(tail)
    steps = (loop4 * C0_BYTES, loop2 * C0_BYTES, loop3 * C0_BYTES, size)
    target = strided_view(dst, (group_count, n_value, blocks, lanes), steps, raw)
    full_lanes = source[..., : full * lanes]
    target[:, :, :full] = full_lanes.reshape(group_count, n_value, full, lanes)
    if tail:
        target[:, :, full, :tail] = source[..., full * lanes :]
        target[:, :, full, tail:] = 0


def load_fractals(
    dst: Pointer,
    src: Pointer,
    m_start: int,
    k_start: int,
    m_step: int,
    k_step: int,
    src_stride: int,
    dst_stride: int,
    transpose: bool = False,
    packed: bool = False,
) -> None:
    """Raw fractal copy: mte_l1_l0a, mte_l1_l0b with eight operands, load_cbuf_to_ca, load_cbuf_to_cb
    (docs/reference/layouts.md, "Fractal copies").

    Seen as matrices of the element size, the source holds 16-row fractals in NZ order with ``src_stride``
    fractals per block column. The window of ``m_step`` x ``k_step`` fractals at (``m_start``, ``k_start``) is
    copied to the origin of the destination, NZ with ``dst_stride`` fractals per block column; with
    ``transpose`` its transposed matrix is.

    Args:
        dst, src: L0 and L1 addresses of fractal 0; ``src`` gives the element size.
        packed: 4-bit elements, two per byte (the ``_s4`` forms).

    Raises:
        Fault: ``l1l0-raw-range`` for a negative number, ``mem-align``, ``mem-oob``, and ``unmodelled`` for a
            transposed window that cuts a group of 16 x 16 elements, 32 x 32 of 8 bits, 64 x 64 of 4 bits.
    """
    if min(m_start, k_start, m_step, k_step, src_stride, dst_stride) < 0:
        raise Fault("l1l0-raw-range", "fractal load with a negative start, step or stride")
    _load_window(dst, src, (m_start, k_start), (m_step, k_step), src_stride, dst_stride, transpose, packed)


def _load_window(
    dst: Pointer,
    src: Pointer,
    start: tuple[int, int],
    steps: tuple[int, int],
    src_stride: int,
    dst_stride: int,
    transpose: bool,
    packed: bool,
) -> None:
    """Runs :func:`load_fractals` with the numbers in groups."""
    dst.check_aligned(HARD_ALIGNMENT, "fractal load destination")
    src.check_aligned(HARD_ALIGNMENT, "fractal load source")
    m_step, k_step = steps
    first = src.shifted((start[1] * src_stride + start[0]) * FRACTAL_BYTES)
    if not transpose:
        shape = (k_step, m_step * FRACTAL_BYTES)
        source = strided_view(first, shape, (src_stride * FRACTAL_BYTES, 1), _BYTE)
        target = strided_view(dst, shape, (dst_stride * FRACTAL_BYTES, 1), _BYTE)
        _copy_columns(target, source, dst_stride < m_step)
        return
    size = src.item_bytes
    lanes = 2 * C0_BYTES if packed else C0_BYTES // size
    group = max(FRACTAL_ROWS, lanes)
    rows, cols = m_step * FRACTAL_ROWS, k_step * lanes
    if rows % group or cols % group:
        raise Fault(
            "unmodelled",
            f"transposed load of {rows} x {cols} elements cuts a group of {group} x {group} elements",
        )
    raw = _RAW[1 if packed else size]
    width = C0_BYTES // raw.itemsize
    src_steps = (src_stride * FRACTAL_BYTES, C0_BYTES, raw.itemsize)
    source = strided_view(first, (k_step, rows, width), src_steps, raw)
    if packed:
        source = _unpack_nibbles(source)
    turned = source.transpose(0, 2, 1).reshape(cols, rows)
    if packed:
        turned = _pack_nibbles(turned)
    height = turned.shape[0]
    blocks = rows // lanes
    image = turned.reshape(height, blocks, width).transpose(1, 0, 2)
    strides = (dst_stride * FRACTAL_BYTES, C0_BYTES, raw.itemsize)
    target = strided_view(dst, (blocks, height, width), strides, raw)
    _copy_columns(target, image, dst_stride * FRACTAL_ROWS < height)


def _copy_columns(target: Array, source: Array, overlapping: bool) -> None:
    """Copy block column by block column where a later one overwrites the end of an earlier one."""
    if overlapping:
        for column in range(len(target)):
            target[column] = source[column]
    else:
        target[...] = source


def _unpack_nibbles(pairs: Array) -> Array:
    """Returns 4-bit elements along the last axis, the even one in the low half of its byte."""
    single = np.empty((*pairs.shape[:-1], pairs.shape[-1] * 2), np.uint8)
    np.bitwise_and(pairs, 15, out=single[..., ::2])
    np.right_shift(pairs, 4, out=single[..., 1::2])
    return single


def _pack_nibbles(single: Array) -> Array:
    return single[..., ::2] | single[..., 1::2] << 4


def _check_extents(**extents: int) -> None:
    for name, value in extents.items():
        if not 1 <= value <= MAX_EXTENT:
            raise Fault("l1l0-extent", f"{name} = {value} is outside 1 ... {MAX_EXTENT}")


def _load_operand(
    dst: Pointer,
    src: Pointer,
    outer: int,
    k: int,
    start_row: int,
    start_col: int,
    transpose: bool,
    packed: bool,
) -> bool:
    """Load the L0 image of an outer x K operand (outer is M or N) from its NZ image or that of K x outer."""
    if min(start_row, start_col) < 0:
        raise Fault("l1l0-start-nonneg", f"start row {start_row}, start column {start_col}")
    lanes = 2 * C0_BYTES if packed else C0_BYTES // src.item_bytes
    start = (start_row, start_col // 2 if packed else start_col)
    rows = -(-outer // FRACTAL_ROWS)
    if not transpose:
        steps = (rows, -(-k // lanes))
        _load_window(dst, src, start, steps, rows, rows, False, packed)
        return False
    group = max(FRACTAL_ROWS, lanes)
    k_rows = round_up(k, group) // FRACTAL_ROWS
    columns = round_up(outer, group) // lanes
    wide = columns * lanes // FRACTAL_ROWS
    _load_window(dst, src, start, (k_rows, columns), k_rows, wide, True, packed)
    return wide != rows


def l1_to_l0(
    left: bool,
    dst: Pointer,
    src: Pointer,
    rows: int,
    cols: int,
    start_row: int = 0,
    start_col: int = 0,
    *,
    transpose: bool = False,
    packed: bool = False,
) -> bool:
    """mte_l1_l0a and mte_l1_l0b with four or six operands: the L0A image of an M x K operand or the L0B image of a
    K x N operand (docs/reference/layouts.md, "Loads into L0").

    Args:
        left: to L0A, else to L0B.
        dst, src: L0 and L1 addresses; ``src`` gives the element size.
        rows, cols: extents of the operand in elements, 1 ... 4095.
        start_row, start_col: source start in fractals of 16 rows and of 32 bytes.
        transpose: the source of a left operand is NZ of K x M instead of M x K, that of a right one NZ of K x N instead
            of N x K.
        packed: 4-bit elements, two per byte; M or N counts them singly and ``start_col`` is halved.

    Returns:
        True if the block columns of a transposed 8-bit or 4-bit image are wider than ``mad`` reads them: the loader
        aligns to groups of 32 or 64, ``mad`` to 16 (``l1l0-transpose-8bit``).

    Raises:
        Fault: ``l1l0-extent``, ``l1l0-start-nonneg``, ``mem-align``, ``mem-oob``.
    """
    if left:
        _check_extents(m=rows, k=cols)
        return _load_operand(dst, src, rows, cols, start_row, start_col, transpose, packed)
    _check_extents(k=rows, n=cols)
    return _load_operand(dst, src, cols, rows, start_row, start_col, transpose, packed)


def mx_scale_address(data_address: int) -> int:
    """Byte offset in the MX scale RAM of the scales that belong to an L0A or L0B byte address
    (docs/reference/layouts.md, "MX scales").
    """
    return data_address // 16


def load_mx_fragments(
    scale_ram: Arena,
    scale_address: int,
    src: Pointer,
    x_start: int,
    y_start: int,
    x_step: int,
    y_step: int,
    src_stride: int,
    dst_stride: int,
) -> None:
    """Raw copy of 32-byte MX scale fragments: mte_l1_l0{a,b}_mx with eight operands (docs/reference/layouts.md, "MX
    scales").

    Fragment (x, y) lies at ``x·stride + y``. The ``x_step`` x ``y_step`` fragments at (``x_start``,
    ``y_start``) go to the origin of the destination.

    Args:
        scale_ram: MX scale memory of the operand's side.
        scale_address: byte offset in it, see :func:`mx_scale_address`.
        src: L1 address of fragment 0.

    Raises:
        Fault: ``l1l0-raw-range`` for a negative number, ``mem-align`` for a source that is no multiple of 32,
            ``mem-oob``.
    """
    if min(x_start, y_start, x_step, y_step, src_stride, dst_stride) < 0:
        raise Fault("l1l0-raw-range", "MX scale load with a negative start, step or stride")
    src.check_aligned(C0_BYTES, "MX scale source")
    first = src.shifted((x_start * src_stride + y_start) * C0_BYTES)
    dst = Pointer(scale_ram, scale_address, _BYTE)
    shape = (x_step, y_step * C0_BYTES)
    source = strided_view(first, shape, (src_stride * C0_BYTES, 1), _BYTE)
    target = strided_view(dst, shape, (dst_stride * C0_BYTES, 1), _BYTE)
    _copy_columns(target, source, dst_stride < y_step)


def l1_to_l0_mx(
    scale_ram: Arena,
    data_address: int,
    src: Pointer,
    outer: int,
    k: int,
    start_row: int = 0,
    start_col: int = 0,
) -> None:
    """mte_l1_l0a_mx (``outer`` = M) and mte_l1_l0b_mx (``outer`` = N) with four or six operands
    (docs/reference/layouts.md, "MX scales").

    Args:
        scale_ram: MX scale memory of the operand's side.
        data_address: byte address of the operand's data in L0A or L0B.
        src: L1 address of the scale fragments.
        outer, k: extents of the operand in elements.
        start_row, start_col: source start in fragments.

    Raises:
        Fault: ``l1l0-extent``, ``mem-align``, ``mem-oob``.
    """
    _check_extents(outer=outer, k=k)
    rows = -(-outer // FRACTAL_ROWS)
    pairs = -(-k // (2 * MX_SCALE_GROUP))
    load_mx_fragments(scale_ram, mx_scale_address(data_address), src, start_row, start_col, rows, pairs, pairs, pairs)


def _mx_scales(scale_ram: Arena, data_address: int, outer: int, k: int) -> Array:
    """Returns scales as [outer, groups]: both sides store [outer/16][groups/2][16][2]."""
    groups = -(-k // MX_SCALE_GROUP)
    layout = tile_layout(round_up(outer, FRACTAL_ROWS), round_up(groups, 2), 1, "row_major", "row_major", 32)
    base = Pointer(scale_ram, mx_scale_address(data_address), _BYTE)
    return TileView(layout, base).read(outer, groups)


def read_mx_scales_left(scale_ram: Arena, data_address: int, m: int, k: int) -> Array:
    """Scale bytes (e8m0) of an M x K left operand at an L0A byte address: uint8 [M, ceil(K/32)].

    Those of one row are a plain list (docs/reference/layouts.md, "MX scales").

    Raises:
        Fault: ``mem-oob``.
    """
    if m == 1:
        groups = -(-k // MX_SCALE_GROUP)
        return strided_view(Pointer(scale_ram, mx_scale_address(data_address), _BYTE), (1, groups), (groups, 1))
    return _mx_scales(scale_ram, data_address, m, k)


def read_mx_scales_right(scale_ram: Arena, data_address: int, k: int, n: int) -> Array:
    """Scale bytes (e8m0) of a K x N right operand at an L0B byte address: uint8 [ceil(K/32), N].

    Raises:
        Fault: ``mem-oob``.
    """
    return _mx_scales(scale_ram, data_address, n, k).T


def _check_footprint(pointer: Pointer, nbytes: int, operand: str) -> None:
    capacity = pointer.arena.capacity
    if nbytes > capacity:
        raise Fault(
            "mad-l0-footprint",
            f"{operand} takes {nbytes} bytes of {pointer.arena.label}, which has {capacity}",
        )
    pointer.check(nbytes, operand)


def mad_view_a(pointer: Pointer, m: int, k: int, *, disable_gemv: bool = False) -> MatrixView:
    """Returns the left operand [M, K] as ``mad`` reads it from L0A (docs/reference/layouts.md, "Loads into L0").

    With M = 1 and without ``disable_gemv`` it is K contiguous elements, otherwise NZ with up16(M) rows.
    Packed 4-bit operands are read as bytes: give K in pairs.

    Raises:
        Fault: ``mad-l0-footprint`` when the whole image exceeds L0A, ``mem-oob``.
    """
    size = pointer.item_bytes
    if m == 1 and not disable_gemv:
        _check_footprint(pointer, k * size, f"left operand 1x{k}")
        return MatrixView(pointer, (Axis(0, 0, k), Axis(0, 0, 1)), 1, k)
    rows, cols = round_up(m, FRACTAL_ROWS), round_up(k, C0_BYTES // size)
    layout = tile_layout(rows, cols, size, "col_major", "row_major", FRACTAL_BYTES)
    _check_footprint(pointer, layout.nbytes, f"left operand {m}x{k}")
    return TileView(layout, pointer, m, k)


def mad_view_b(pointer: Pointer, k: int, n: int) -> MatrixView:
    """Returns the right operand [K, N] as ``mad`` reads it from L0B: ZN with up16(N) columns
    (docs/reference/layouts.md, "Loads into L0").

    Packed 4-bit operands are read as bytes: give K in pairs.

    Raises:
        Fault: ``mad-l0-footprint`` when the whole image exceeds L0B, ``mem-oob``.
    """
    size = pointer.item_bytes
    rows, cols = round_up(k, C0_BYTES // size), round_up(n, FRACTAL_ROWS)
    layout = tile_layout(rows, cols, size, "row_major", "col_major", FRACTAL_BYTES)
    _check_footprint(pointer, layout.nbytes, f"right operand {k}x{n}")
    return TileView(layout, pointer, k, n)


def l0c_view(pointer: Pointer, m: int, n: int) -> TileView:
    """Returns the accumulator [M, N] in L0C: NZ with 16x16 blocks and up16(M) rows of 4-byte slots
    (docs/reference/layouts.md, "Layouts of the memories").

    A narrower pointer type uses the first bytes of each slot.

    Raises:
        Fault: ``mad-l0-footprint`` when the whole image exceeds L0C, ``mem-oob``.
    """
    slots = Pointer(pointer.arena, pointer.offset, pointer.dtype, ACC_ITEM_BYTES)
    rows, cols = round_up(m, FRACTAL_ROWS), round_up(n, FRACTAL_ROWS)
    layout = tile_layout(rows, cols, ACC_ITEM_BYTES, "col_major", "row_major", 1024)
    _check_footprint(slots, layout.nbytes, f"accumulator {m}x{n}")
    return TileView(layout, slots, m, n)
