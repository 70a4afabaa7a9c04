"""Reductions and rearrangement of registers. Source: docs/reference/vectors.md, "Reductions and rearrangement"."""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.targets.vector_unit import HALVES, VL_BYTES

from ..memory.spaces import Array
from .register import check_number, cleared, lanes, spread

GROUPS = 8
"""Lanes of a register come in eight groups of 32 bytes."""


def _active(mask: Array, dtype: np.dtype[Any]) -> Array:
    return np.broadcast_to(np.asarray(lanes(mask, dtype.itemsize)), (VL_BYTES // dtype.itemsize,))


def _ordered_sum(values: Array) -> Any:
    """Sums in increasing lane order, in float32 for floats."""
    if not values.size:
        return 0
    return np.add.accumulate(np.asarray(values, np.float32))[-1] if values.dtype.kind not in "iu" else values.sum()


def total(a: Array, mask: Array, dtype: np.dtype[Any]) -> Array:
    """lane 0 = sum of the active lanes, as an element of ``dtype``."""
    result = np.zeros(VL_BYTES // dtype.itemsize, dtype)
    chosen = a[_active(mask, a.dtype)]
    result[0] = _ordered_sum(chosen) if a.dtype.kind not in "iu" else chosen.astype(dtype).sum(dtype=dtype)
    return result


def _extremum(values: Array, largest: bool) -> tuple[Any, int]:
    """Returns the extremum and the position of its first occurrence; NaN prevails."""
    wide = np.asarray(values, np.float32) if values.dtype.kind not in "iu" else values
    position = int(np.argmax(wide) if largest else np.argmin(wide))
    return values[position], position


def _signed_extremum(values: Array, largest: bool) -> Any:
    """Returns the extremum, of which +0 is larger than -0."""
    value, _ = _extremum(values, largest)
    if value != 0 or values.dtype.kind in "iu":
        return value
    zeros = values[values == 0]
    wanted = zeros[np.signbit(zeros) != largest]
    return wanted[0] if wanted.size else value


def neutral(dtype: np.dtype[Any], largest: bool) -> Any:
    """Returns the neutral element of an extremum."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return limits.min if largest else limits.max
    return -np.inf if largest else np.inf


def extremum(a: Array, mask: Array, largest: bool) -> Array:
    """lane 0 = extremum of the active lanes, lane 1 = bits of the index of its first lane."""
    result = np.zeros_like(a)
    rest = a.dtype.type(neutral(a.dtype, largest))
    result[0], position = _extremum(np.where(_active(mask, a.dtype), a, rest), largest)
    result.view(f"u{a.dtype.itemsize}")[1] = position
    return result


def broadcast_extremum(a: Array, mask: Array, largest: bool) -> tuple[Array, Array]:
    """lane 0 = extremum, and the predicate of the active lanes equal to it."""
    active = _active(mask, a.dtype)
    result = np.zeros_like(a)
    rest = a.dtype.type(neutral(a.dtype, largest))
    result[0] = _signed_extremum(np.where(active, a, rest), largest)
    return result, spread(active & (a == result[0]), a.dtype.itemsize)


def group_sums(a: Array, mask: Array) -> Array:
    """lanes 0 to 7 = sums of the active lanes of each group; an empty group has 0."""
    chosen = np.where(_active(mask, a.dtype), a, a.dtype.type(0)).reshape(GROUPS, -1)
    result = np.zeros_like(a)
    for group in range(GROUPS):
        result[group] = _ordered_sum(chosen[group]) if a.dtype.kind not in "iu" else chosen[group].sum(dtype=a.dtype)
    return result


def group_extrema(a: Array, mask: Array, largest: bool) -> Array:
    """lanes 0 to 7 = extrema of the active lanes of each group; an empty group has the neutral value."""
    rest = a.dtype.type(neutral(a.dtype, largest))
    chosen = np.where(_active(mask, a.dtype), a, rest).reshape(GROUPS, -1)
    result = np.zeros_like(a)
    for group in range(GROUPS):
        result[group] = _signed_extremum(chosen[group], largest)
    return result


def pair_sums(a: Array, mask: Array) -> Array:
    """Sums of adjacent lanes in the low half; lanes that are not active count 0."""
    chosen = np.where(_active(mask, a.dtype), a, a.dtype.type(0))
    result = np.zeros_like(a)
    result[: a.size // 2] = chosen[0::2] + chosen[1::2]
    return result


def histogram(acc: Array, source: Array, mask: Array, half: int, cumulative: bool) -> Array:
    """acc + counts of bins 128·half to 128·half + 127 of the active bytes. Raises ``Fault`` for another half."""
    check_number("bin of a histogram", half, HALVES - 1)
    counts = np.bincount(source.view(np.uint8)[_active(mask, np.dtype(np.uint8))], minlength=256)
    if cumulative:
        counts = np.cumsum(counts)
    return acc + counts[128 * half : 128 * (half + 1)].astype(acc.dtype)


# ------------------------------------------------------------ rearrangement


def interleave(a: Array, b: Array) -> tuple[Array, Array]:
    """(a0, b0, a1, b1, ...) in two halves."""
    both = np.empty(2 * a.size, a.dtype)
    both[0::2], both[1::2] = a, b
    return both[: a.size].copy(), both[a.size :].copy()


def deinterleave(a: Array, b: Array) -> tuple[Array, Array]:
    """Lanes with even and with odd indices of a followed by b."""
    both = np.concatenate([a, b])
    return both[0::2].copy(), both[1::2].copy()


def interleave_masks(a: Array, b: Array, step: int, inverse: bool) -> tuple[Array, Array]:
    """Returns the same on the lanes of two predicates."""
    low, high = (deinterleave if inverse else interleave)(a[::step], b[::step])
    return spread(low, step), spread(high, step)


def squeeze(a: Array, mask: Array, state: dict[Any, Any]) -> Array:
    """Returns the active lanes moved together; their bytes are counted in SQZN."""
    chosen = a[_active(mask, a.dtype)]
    result = np.zeros_like(a)
    result[: chosen.size] = chosen
    state["sqzn"] = chosen.nbytes
    return result


def ranks(a: Array, mask: Array, state: dict[Any, Any]) -> Array:
    """lane i = number of active lanes before it."""
    active = _active(mask, a.dtype)
    counts = np.cumsum(active)
    state["sqzn"] = int(counts[-1]) * a.dtype.itemsize
    return (counts - active).astype(a.dtype)


def pack(a: Array, higher: bool, dtype: np.dtype[Any]) -> Array:
    """Low halves of all lanes in the lower or higher half of the register, 0 in the other."""
    narrow = f"u{dtype.itemsize}"
    low = a.view(narrow)[:: a.dtype.itemsize // dtype.itemsize]
    result = np.zeros(VL_BYTES // dtype.itemsize, narrow)
    start = low.size if higher else 0
    result[start : start + low.size] = low
    return result.view(dtype)


def unpack(a: Array, part: int, dtype: np.dtype[Any], signed: bool) -> Array:
    """lanes of the given half, widened with their sign or with zeros. Raises ``Fault`` for another half."""
    check_number("part of an unpack", part, HALVES - 1)
    count = VL_BYTES // dtype.itemsize
    narrow = a.view(f"{'i' if signed else 'u'}{a.dtype.itemsize}")
    return narrow[part * count : (part + 1) * count].astype(f"{'i' if signed else 'u'}{dtype.itemsize}").view(dtype)


def duplicate(a: Array, mask: Array, last: bool) -> Array:
    """Returns the lowest or the highest lane in all active lanes."""
    return cleared(np.full(a.size, a[-1 if last else 0], a.dtype), lanes(mask, a.dtype.itemsize))
