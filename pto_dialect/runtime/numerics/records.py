"""Arrays of records, such as the sizes that a host computes for a kernel, as elements of one type."""

from __future__ import annotations

import numpy as np

from .format_table import Format

__all__ = ["of_records"]


def of_records(array: np.ndarray, fmt: Format) -> np.ndarray:
    """Returns the memory of an array of records (of a structured numpy type) as elements of ``fmt``, without a copy;
    other arrays, and those whose bytes are no whole elements, as they are."""
    dtype = array.dtype
    if dtype.names is None or dtype.hasobject or not array.flags.c_contiguous or array.nbytes % fmt.bytes:
        return array
    return array.reshape(-1).view(np.uint8).view(fmt.storage)
