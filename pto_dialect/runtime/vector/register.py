"""Registers and predicates. Source: docs/reference/vectors.md, "Registers".

A predicate is a boolean array of 256 bits; bit n·i governs lane i of elements of n bytes. Predicates with all lanes of
a width are known by identity: masking with them is free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.targets.vector_unit import MASK_BITS, number_error

from ..faults import Fault
from ..memory.spaces import Array

FINEST = {"b8": 1, "b16": 2, "b32": 4}
"""Distance of the bits of two lanes, by granularity."""


def prefix(count: int, step: int) -> Array:
    """Returns the predicate with the first ``count`` lanes active."""
    bits = np.zeros(MASK_BITS, np.bool_)
    bits[: count * step : step] = True
    bits.flags.writeable = False
    return bits


PREFIXES: dict[int, list[Array]] = {
    step: [prefix(count, step) for count in range(MASK_BITS // step + 1)] for step in FINEST.values()
}
"""Predicates by distance of lanes and number of active lanes."""

_FULL = {id(masks[-1]): step for step, masks in PREFIXES.items()}


def lanes(mask: Array, size: int) -> Any:
    """Which lanes of elements of ``size`` bytes are active: a boolean array, or ``True`` for all of them."""
    full = _FULL.get(id(mask))
    if full is not None and full <= size:
        return True
    return mask[::size]


def spread(active: Any, size: int) -> Array:
    """Returns the predicate of lanes of ``size`` bytes."""
    bits = np.zeros(MASK_BITS, np.bool_)
    bits[::size] = active
    return bits


def cleared(values: Array, active: Any) -> Array:
    """Returns ``values`` with 0 in the inactive lanes; a new array unless all are active."""
    if active is True:
        return values
    result = np.zeros_like(values)
    np.copyto(result, values, where=active)
    return result


def constant(value: Any, dtype: np.dtype[Any]) -> Any:
    """Returns a Python number as an element: integers keep their low bits."""
    if dtype.kind in "iu":
        bits = int(value) & ((1 << (8 * dtype.itemsize)) - 1)
        return np.array([bits], np.uint64).astype(f"u{dtype.itemsize}").view(dtype)[0]
    return dtype.type(value)


def check_number(what: str, number: int, most: int | None = None) -> None:
    """Checks a number that is computed in a run. Raises ``Fault`` if it is negative or more than ``most``."""
    error = number_error(what, number, most)
    if error is not None:
        raise Fault("vec-number", error)
