"""Copies that widen or narrow elements, or change their order, with fast paths where numpy converts element
by element."""

from __future__ import annotations

from functools import cache

import numpy as np

from .spaces import Array

_F16 = np.dtype(np.float16)
_F32 = np.dtype(np.float32)
_TABLE_FROM = 256
"""Number of elements from which widening f16 by table is faster than numpy's conversion."""

_SHIFT_FROM = 4096
"""Number of elements from which shifting the bits of f16 is faster than the table, which exceeds the
first-level cache."""

_FIELDS = np.int32(-0x7000_0001)
"""All bits of a sign-extended f16 that was shifted to the position of f32's, except the copies of the sign."""

_BIAS_FACTOR = np.float32(2.0**112)
_MAGNITUDE = np.int16(0x7FFF)
_HALF_INFINITY = 0x7C00
"""Bits of the f16 infinity; those of finite values are less, those of NaN more."""


@cache
def _half_values() -> Array:
    return np.arange(1 << 16, dtype=np.uint16).view(_F16).astype(_F32)


def copy_cast(target: Array, source: Array) -> None:
    """``target[...] = source`` for equal shapes, with exact widening or same-kind narrowing (round to nearest
    even)."""
    if source.dtype is _F16 and target.dtype is _F32 and source.size >= _TABLE_FROM and target.flags.c_contiguous:
        if source.size < _SHIFT_FROM or not _shifted_halves(target, source):
            _half_values().take(source.view(np.uint16), out=target, mode="clip")
    else:
        np.copyto(target, source, casting="same_kind")


def _shifted_halves(target: Array, source: Array) -> bool:
    """Widens f16 by moving its fields to their positions in f32; returns False where an infinity or NaN is among the
    values.

    The exponent is too small by the difference of the biases, which one exact product corrects, also for subnormals.
    """
    halves = source
    if source.ndim > 2:
        halves = np.empty(source.shape, _F16)
        copy_boxes(halves, source)
    halves = halves.view(np.int16)
    if np.maximum.reduce(np.bitwise_and(halves, _MAGNITUDE), None) >= _HALF_INFINITY:
        return False
    bits = target.view(np.int32)
    np.copyto(bits, halves)
    np.left_shift(bits, 13, bits)
    np.bitwise_and(bits, _FIELDS, bits)
    np.multiply(target, _BIAS_FACTOR, target)
    return True


_BOXES_FROM = 1024
"""Number of elements from which copying whole box rows is worth the views it needs."""

_ROW_LIMIT = 128
"""Longest row, in bytes, that is moved as one."""


@cache
def _row_type(size: int) -> np.dtype[np.void]:
    return np.dtype((np.void, size))


def copy_boxes(target: Array, source: Array) -> None:
    """``copy_cast`` where the last axis may be the short row of a box: such rows move as one element each."""
    if (
        target.ndim > 2
        and target.size >= _BOXES_FROM
        and type(target) is type(source) is np.ndarray
        and target.dtype == source.dtype
        and target.shape == source.shape
        and target.strides[-1] == source.strides[-1] == target.itemsize
        and target.shape[-1] * target.itemsize <= _ROW_LIMIT
    ):
        row = _row_type(target.shape[-1] * target.itemsize)
        target.view(row)[...] = source.view(row)
    else:
        np.copyto(target, source, casting="same_kind")
