"""Positions of the lanes of a logical vector in registers, by its layout. Source: docs/reference/language.md,
"Attributes".

Lane i of a ``contiguous`` vector is the i-th lane of its registers. ``deinterleaved`` has F streams, each in registers
of its own, in consecutive order: lane i is the next one of stream i mod F; ``block_deinterleaved`` distributes blocks
of 32 bytes instead of lanes. With ``num_groups`` a register holds ``slots`` lanes. Lanes are ``lane_stride`` positions
apart.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from pto_dialect.targets.vector_unit import MASK_BITS, VL_BYTES, VLANE_BYTES

from ..memory.spaces import Array


@cache
def lane_positions(layout: tuple[tuple[str, int], ...], lanes: int, size: int, registers: int) -> Array | None:
    """Returns the position of each lane among all positions of ``size`` bytes in ``registers`` registers; ``None``
    where they are not the registers of such a vector. ``layout`` has the parameters of the layout by name."""
    fields = dict(layout)
    width, number = VL_BYTES // size, np.arange(lanes)
    if "num_groups" in fields:
        slots = fields.get("slots") or fields["num_groups"]
        register, position = np.divmod(number, slots)
        last = registers
    else:
        streams = fields.get("deinterleaved") or fields.get("block_deinterleaved") or 1
        block = VLANE_BYTES // size if "block_deinterleaved" in fields else 1
        iteration, stream = np.divmod(number // block, streams)
        register, position = stream * (registers // streams), iteration * block + number % block
        last = register + registers // streams
    position *= fields.get("lane_stride", 1)
    if "num_groups" not in fields:
        register, position = register + position // width, position % width
    if (register >= last).any() or (position >= width).any():
        return None
    return register * width + position


def registers_of(a: Array, at: Array, count: int) -> tuple[Array, ...]:
    """Returns the registers of a vector; 0 in positions without a lane."""
    content = np.zeros(count * VL_BYTES // a.itemsize, a.dtype)
    content[at] = a
    return tuple(content.reshape(count, -1))


def masks_of(mask: Array, at: Array, count: int) -> tuple[Array, ...]:
    """Returns the register predicates of a logical one; ``at`` counts bits."""
    content = np.zeros(count * MASK_BITS, np.bool_)
    content[at] = mask
    return tuple(content.reshape(count, -1))


def joined(at: Array, *registers: Array) -> Array:
    """Returns the logical vector, or predicate, that is in registers."""
    return np.concatenate(registers)[at]
