"""Numbers of a page: columns that grow while a program runs, and their form in the page.

Source: docs/report.md, "What is in the page".
"""

from __future__ import annotations

import base64
import zlib
from array import array
from typing import Any

import numpy as np
import numpy.typing as npt

CODES = {"u8": "B", "u16": "H", "u32": "I", "i32": "i", "f32": "f", "f64": "d"}
"""Element types of columns, as the page names them, and those of Python's arrays."""

_DTYPES = {"u8": "u1", "u16": "<u2", "u32": "<u4", "i32": "<i4", "f32": "<f4", "f64": "<f8"}


def packed(data: bytes) -> str:
    """Bytes as text: compressed with zlib, then base64."""
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def encoded(kind: str, values: array[Any] | npt.ArrayLike) -> dict[str, Any]:
    """Returns a column of element type ``kind`` as the page reads it: its type, length, and little-endian bytes."""
    numbers = np.asarray(values).astype(_DTYPES[kind], copy=False)
    return {"type": kind, "length": int(numbers.size), "data": packed(numbers.tobytes())}


class Columns:
    """Rows that are added one by one, each a number for every column; ``kinds`` are the element types by name."""

    def __init__(self, **kinds: str) -> None:
        self.kinds = kinds
        self.of: dict[str, array[Any]] = {name: array(CODES[kind]) for name, kind in kinds.items()}
        self._added = tuple(column.append for column in self.of.values())
        self._first = next(iter(self.of.values()))

    def __len__(self) -> int:
        return len(self._first)

    def add(self, *row: float) -> int:
        """Adds a row, in the order of the columns; its number."""
        for append, value in zip(self._added, row, strict=True):
            append(value)
        return len(self._first) - 1

    def document(self) -> dict[str, Any]:
        """Returns all columns as the page reads them."""
        return {name: encoded(kind, self.of[name]) for name, kind in self.kinds.items()}


class Ranges:
    """Lists of integers of any length, each kept once under a number; 0 is the empty one."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, ...], int] = {(): 0}
        self._starts = array("I", (0, 0))
        self._numbers = array("q")

    def number(self, values: tuple[int, ...]) -> int:
        """Returns the number of a list."""
        found = self._known.get(values)
        if found is None:
            found = self._known[values] = len(self._known)
            self._numbers.extend(values)
            self._starts.append(len(self._numbers))
        return found

    def lists(self) -> list[tuple[int, ...]]:
        """Returns all lists in the order of their numbers."""
        return list(self._known)

    def document(self) -> dict[str, Any]:
        """Returns where each list starts, with the end of the last one, and all numbers one after the other; beyond
        2^53 they are rounded."""
        return {
            "starts": encoded("u32", self._starts),
            "numbers": encoded("f64", np.asarray(self._numbers, np.float64)),
        }
