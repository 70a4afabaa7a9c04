"""Columns as one run of bytes: each in the narrowest type that holds it. Source: docs/reference/recording.md,
"Columns"."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pto_dialect.runtime.memory.spaces import Array

from .format import COLUMNS, GROWING, PACKED
from .header import number
from .model import RecordingError

_INTEGERS = ("|u1", "|i1", "<u2", "<i2", "<u4", "<i4", "<i8")
"""Types of integers in a file, the narrow ones first."""

Packed = tuple[str, int, bool]
"""Of a column: the type of its numbers in the file, how many there are, and whether they are differences."""


def packed(columns: Mapping[str, Array]) -> tuple[dict[str, Packed], list[bytes]]:
    """How columns lie in the file, and their bytes one after the other; empty ones are left out."""
    described: dict[str, Packed] = {}
    pieces: list[bytes] = []
    for name, column in columns.items():
        if not column.size:
            continue
        steps = name in GROWING
        numbers = np.diff(column.astype(np.int64), prepend=np.int64(0)) if steps else column
        narrow = numbers if numbers.dtype.kind == "f" else numbers.astype(_narrowest(numbers))
        described[name] = (narrow.dtype.str, column.size, steps)
        pieces.append(narrow.tobytes())
    return described, pieces


def sizes_of(described: Mapping[str, Any]) -> tuple[int, int]:
    """Returns the bytes of all columns in the file, and those that they take unpacked. Raises ``RecordingError``."""
    stored = needed = 0
    for name, (type_, count, _) in described.items():
        if type_ not in (*_INTEGERS, "<f8") or type(count) is not int or count < 0:
            raise RecordingError(f"the recording is damaged: column {name} has another type than it should")
        stored += count * np.dtype(type_).itemsize
        # Sums of differences have 64 bits before they get the type of the column.
        needed += count * (8 + np.dtype(COLUMNS.get(name, "<i8")).itemsize)
    return stored, needed


def unpacked(described: Mapping[str, Any], content: Array) -> tuple[dict[str, Array], Array]:
    """Returns the columns that ``packed`` encoded, and the bytes after them. Raises ``RecordingError``."""
    if content.dtype != np.uint8 or content.ndim != 1:
        raise RecordingError(f"the recording is damaged: {PACKED} holds no bytes")
    found = {name: np.zeros(0, type_) for name, type_ in COLUMNS.items()}
    start = 0
    for name, (type_, count, steps) in described.items():
        if name not in COLUMNS:
            continue
        wanted = np.dtype(COLUMNS[name])
        allowed = (wanted.str,) if wanted.kind == "f" else _INTEGERS
        if type_ not in allowed or not isinstance(count, int) or not isinstance(steps, bool) or count < 0:
            raise RecordingError(f"the recording is damaged: column {name} has another type than it should")
        stop = start + count * np.dtype(type_).itemsize
        if stop > content.size:
            raise RecordingError(f"the recording is damaged: the end of column {name} is missing")
        numbers = content[start:stop].view(type_)
        if steps:
            numbers = np.cumsum(numbers, dtype=np.int64)
        if wanted.kind != "f" and wanted.itemsize < numbers.itemsize and _leaves(numbers, wanted):
            raise RecordingError(f"the recording is damaged: column {name} leaves its range")
        found[name] = numbers.astype(wanted)
        start = stop
    return found, content[start:]


def parts_of(given: Any, content: Array) -> dict[str, Array]:
    """Returns the named parts of the bytes after the columns. Raises ``RecordingError``."""
    found: dict[str, Array] = {}
    start = 0
    for name, size in ((str(name), number(size)) for name, size in list(given)):
        found[name] = content[start : start + size]
        start += size
    if start != content.size:
        raise RecordingError("the recording is damaged: its columns have other bytes than they should")
    return found


def _narrowest(numbers: Array) -> str:
    least, most = int(numbers.min()), int(numbers.max())
    return next(one for one in _INTEGERS if np.iinfo(one).min <= least and most <= np.iinfo(one).max)


def _leaves(numbers: Array, wanted: np.dtype[Any]) -> bool:
    limits = np.iinfo(wanted)
    return bool(numbers.size) and bool(int(numbers.min()) < limits.min or int(numbers.max()) > limits.max)
