"""Arrays of records, such as the sizes that a host computes for a kernel, as elements of one type."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .format_table import Format

__all__ = ["of_records"]


def of_records(array: np.ndarray, fmt: Format) -> np.ndarray:
    """Returns the memory of an array of records (of a structured numpy type) as elements of ``fmt``, without a copy.
    Returns other arrays, and those whose bytes are no whole elements, as they are. Elements are floats only where all
    fields of the records are."""
    dtype = array.dtype
    if dtype.names is None or dtype.hasobject or not array.flags.c_contiguous or array.nbytes % fmt.bytes:
        return array
    if fmt.is_float and any(of != fmt.storage for of in _parts(dtype)):
        return array
    return array.reshape(-1).view(np.uint8).view(fmt.storage)


def _parts(dtype: np.dtype) -> Iterator[np.dtype]:
    """Yields the types of the numbers in a record."""
    base = dtype.base
    if base.fields is None:
        yield base
        return
    for field in base.fields.values():
        yield from _parts(field[0])
