"""Burst copies between memories: the addressing of the DMA operations (docs/reference/layouts.md, "Transfers").

A transfer is ``bursts`` runs of ``length`` bytes, repeated by loop groups listed from inner to outer. The
result is that of copying burst after burst, the innermost group fastest; the copy is one numpy assignment
unless bursts touch each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from operator import index
from typing import NamedTuple

import numpy as np

from pto_dialect.targets.dma_units import LOCAL_ALIGNMENT

from ..faults import Fault
from .atomic import AtomicMode
from .cast import copy_cast
from .spaces import Array, Pointer, may_self_overlap, strided_view

_BYTE = np.dtype(np.uint8)
_BURST_SPACES = ("ub", "l1")
_WIDENING = ("float16", "bfloat16")

LoopGroup = tuple[int, int, int]
"""A loop group: repetitions, source stride and destination stride, start to start in bytes."""


class Padding(NamedTuple):
    """The ``pad`` clause of a GM to UB load.

    Attributes:
        element: little-endian bytes of the pad value, one element long.
        left, right: counts in elements.
    """

    element: bytes
    left: int = 0
    right: int = 0

    def row_bytes(self, length: int, dst_stride: int) -> int:
        """Bytes one burst writes: left pad, payload, fill up to ``dst_stride`` or the right count."""
        size = len(self.element)
        return max(dst_stride, self.left * size + length + self.right * size)


def copy_bursts(
    dst: Pointer,
    src: Pointer,
    length: int,
    bursts: int,
    dst_stride: int,
    src_stride: int,
    loops: Iterable[LoopGroup] = (),
    mode: AtomicMode | None = None,
    pad: Padding | None = None,
) -> None:
    """Copy bursts with start-to-start strides in bytes: mte_gm_ub, mte_ub_gm, mte_gm_l1.

    The raw copies between GM and UB are the same with their loop registers as groups.

    Args:
        dst, src: first byte written and read.
        length: bytes per burst.
        bursts: bursts in the innermost group; 0 copies nothing.
        dst_stride, src_stride: bytes from one burst to the next.
        loops: groups (count, src stride, dst stride), inner to outer.
        mode: how bursts combine with what the destination holds; without one they replace it.
        pad: fill around each burst in the destination: ``left`` elements, the payload, then the pad value up
            to ``dst_stride`` (docs/reference/layouts.md, "Transfers"). A right count that reaches further is honoured.

    Raises:
        Fault: ``dma-nonneg`` for a negative length, count or stride; ``mem-align`` for a UB or L1 address or
            stride that is not a multiple of 32; ``mem-oob``; ``unmodelled`` for bursts that end inside an
            element of the atomic mode. Nothing is written then.
    """
    length = index(length)
    groups = [(index(bursts), index(src_stride), index(dst_stride))]
    groups += [(index(count), index(source), index(target)) for count, source, target in loops]
    counts: tuple[int, ...] = ()
    src_strides: tuple[int, ...] = ()
    dst_strides: tuple[int, ...] = ()
    empty = length == 0 and pad is None
    for count, source_step, target_step in reversed(groups):
        if length < 0 or count < 0 or source_step < 0 or target_step < 0:
            groups_text = f"groups (count, src stride, dst stride) {groups}"
            raise Fault("dma-nonneg", f"burst copy of {length} bytes, {groups_text}")
        empty = empty or count == 0
        if count > 1:
            counts += (count,)
            src_strides += (source_step,)
            dst_strides += (target_step,)
    if empty:
        return
    _check_burst_alignment(dst, dst_strides, "destination")
    _check_burst_alignment(src, src_strides, "source")

    if mode is not None:
        _combine(dst, src, (counts, dst_strides, src_strides), length, mode)
        return
    source = strided_view(src, (*counts, length), (*src_strides, 1), _BYTE)
    if pad is None:
        _replace(dst, src, source, counts, dst_strides, length)
    else:
        _replace_padded(dst, source, counts, dst_strides, pad, pad.row_bytes(length, index(dst_stride)))


def _replace(
    dst: Pointer, src: Pointer, source: Array, counts: tuple[int, ...], dst_strides: tuple[int, ...], length: int
) -> None:
    """Copies bursts that replace the content of the destination; overlapping bursts run in order."""
    target = strided_view(dst, (*counts, length), (*dst_strides, 1), _BYTE)
    touching = dst.arena is src.arena and np.may_share_memory(source, target)
    if touching or may_self_overlap(counts, dst_strides, length):
        for indices in product(*map(range, counts)):
            target[indices] = source[indices]
    else:
        target[...] = source


def _replace_padded(
    dst: Pointer, source: Array, counts: tuple[int, ...], dst_strides: tuple[int, ...], pad: Padding, row_bytes: int
) -> None:
    """Copies bursts with the pad value around them, in rows of ``row_bytes``."""
    length = source.shape[-1]
    left = pad.left * len(pad.element)
    rows = strided_view(dst, (*counts, row_bytes), (*dst_strides, 1), _BYTE)
    template = np.empty(row_bytes, np.uint8)
    element = np.frombuffer(pad.element, np.uint8)
    template[:left] = np.resize(element, left)
    template[left + length :] = np.resize(element, row_bytes - left - length)
    if may_self_overlap(counts, dst_strides, row_bytes):
        for indices in product(*map(range, counts)):
            template[left : left + length] = source[indices]
            rows[indices] = template
    else:
        rows[..., :left] = template[:left]
        rows[..., left + length :] = template[left + length :]
        rows[..., left : left + length] = source


def _combine(dst: Pointer, src: Pointer, steps: tuple[tuple[int, ...], ...], length: int, mode: AtomicMode) -> None:
    """Copies bursts that combine with the destination; ``steps`` are counts, destination strides and source strides."""
    counts, dst_strides, src_strides = steps
    item = mode.dtype.itemsize
    if length % item:
        raise Fault("unmodelled", f"bursts of {length} bytes while the atomic mode is {mode.element}")
    source = strided_view(src, (*counts, length // item), (*src_strides, item), mode.dtype)
    target = strided_view(dst, (*counts, length // item), (*dst_strides, item), mode.dtype)
    if may_self_overlap(counts, dst_strides, length):
        for indices in product(*map(range, counts)):
            target[indices] = mode.combine(target[indices], source[indices])
    else:
        target[...] = mode.combine(target, source)


def gap_copy(
    dst: Pointer,
    src: Pointer,
    length: int,
    bursts: int,
    dst_gap: int,
    src_gap: int,
    *,
    unit: int = 32,
    loops: Iterable[LoopGroup] = (),
) -> None:
    """Copy bursts whose strides are gaps: mte_l1_ub, mte_ub_l1, mte_ub_ub, mte_l1_fb and their raw forms.

    Args:
        dst, src: first byte written and read.
        length: units per burst.
        bursts: number of bursts; 0 copies nothing.
        dst_gap, src_gap: units between the end of a burst and the start of the next.
        unit: bytes per unit: 32; for mte_l1_fb 64 on a5 and 128 on a2a3 (docs/reference/layouts.md, "Transfers").
        loops: groups (count, src stride, dst stride) in bytes, inner to outer.

    Raises:
        Fault: as :func:`copy_bursts`.
    """
    length, dst_gap, src_gap = index(length), index(dst_gap), index(src_gap)
    if min(length, dst_gap, src_gap) < 0:
        raise Fault("dma-nonneg", f"burst copy of {length} units with gaps {src_gap} (src) and {dst_gap} (dst)")
    copy_bursts(dst, src, length * unit, bursts, (length + dst_gap) * unit, (length + src_gap) * unit, loops)


def l1_to_fb(
    dst: Pointer, src: Pointer, length: int, bursts: int, dst_gap: int, src_gap: int, *, unit: int = 64
) -> None:
    """mte_l1_fb: copy fixpipe tables; ``unit`` is 64 bytes on a5, 128 on a2a3 (docs/reference/layouts.md, "Transfers").

    Raises:
        Fault: as :func:`gap_copy`, and ``mem-align`` for a destination below the alignment of its memory.
    """
    dst.check_aligned(dst.arena.base_align, "mte_l1_fb destination")
    gap_copy(dst, src, length, bursts, dst_gap, src_gap, unit=unit)


def l1_to_bt(
    dst: Pointer, src: Pointer, length: int, bursts: int, dst_gap: int, src_gap: int, *, unit: int = 32
) -> None:
    """mte_l1_bt: load bias values, widening f16 or bf16 to f32 (docs/reference/layouts.md, "Transfers").

    Args:
        dst: bias table pointer, f32 or a 32-bit integer type.
        src: L1 pointer of the same type, or of f16 or bf16 for an f32 destination.
        length: units per burst; a unit is ``unit`` bytes of source and as many elements of destination.
        bursts: number of bursts; 0 copies nothing.
        dst_gap, src_gap: units between bursts, counted like ``length``.
        unit: 32 on a5, 64 on a2a3.

    Raises:
        Fault: ``bt-pair`` for another type pair, ``mem-align``, ``mem-oob``, ``dma-nonneg``.
    """
    dst.check_aligned(dst.arena.base_align, "mte_l1_bt destination")
    wide, narrow = dst.dtype, src.dtype
    if wide.itemsize == narrow.itemsize == 4 and (wide.kind == "f") == (narrow.kind == "f"):
        gap_copy(dst, src, length, bursts, dst_gap, src_gap, unit=unit)
        return
    if wide != np.float32 or narrow.name not in _WIDENING:
        raise Fault("bt-pair", f"mte_l1_bt cannot load {narrow} as {wide}")
    length, bursts, dst_gap, src_gap = index(length), index(bursts), index(dst_gap), index(src_gap)
    if min(length, bursts, dst_gap, src_gap) < 0:
        gaps = f"gaps {src_gap} (src) and {dst_gap} (dst)"
        raise Fault("dma-nonneg", f"mte_l1_bt of {bursts} x {length} units with {gaps}")
    _check_burst_alignment(src, (), "source")
    per_unit = unit // narrow.itemsize
    shape = (bursts, length * per_unit)
    source = strided_view(src, shape, ((length + src_gap) * unit, narrow.itemsize))
    target = strided_view(dst, shape, ((length + dst_gap) * per_unit * wide.itemsize, wide.itemsize))
    copy_cast(target, source)


def _check_burst_alignment(pointer: Pointer, strides: Sequence[int], side: str) -> None:
    if pointer.arena.space not in _BURST_SPACES:
        return
    pointer.check_aligned(LOCAL_ALIGNMENT, f"burst {side}")
    for stride in strides:
        if stride % LOCAL_ALIGNMENT:
            raise Fault(
                "mem-align",
                f"burst {side} stride of {stride} bytes in {pointer.arena.label}"
                f" is not a multiple of {LOCAL_ALIGNMENT}",
            )
