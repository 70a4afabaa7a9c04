"""Work of an operation, as far as its cycles depend on it. Source: docs/reference/cycles.md, "What counts"."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

BLOCK: Final = 32
"""Bytes of a block, the unit of transfers and of copies inside the unified buffer."""

WIDTH: Final[Mapping[str, int]] = {
    **dict.fromkeys(("f32", "i32", "ui32", "si32"), 32),
    **dict.fromkeys(("f64", "i64", "ui64", "si64"), 64),
    **dict.fromkeys(("f16", "bf16", "i16", "ui16", "si16"), 16),
    **dict.fromkeys(("i8", "ui8", "si8", "hif8", "f8e4m3", "f8e5m2", "f8E4M3FN", "f8E5M2", "e8m0", "i1"), 8),
    **dict.fromkeys(("f4e1m2", "f4e2m1", "i4", "f4e1m2x2", "f4e2m1x2"), 4),
}
"""Bits of an element, by the name of its type."""


def width(type_: str) -> int:
    """Returns the bits of an element of this type; 32 for unknown names."""
    if type_ in WIDTH:
        return WIDTH[type_]
    lowered = type_.lower()
    return 8 if "f8" in lowered else 4 if "f4" in lowered else 32


@dataclass(frozen=True)
class Work:
    """One execution of an operation.

    ``name``: without ``pto.``. ``source``, ``result``: names of element types. ``rows``, ``cols``: shape of the tile;
    ``valid_rows``, ``valid_cols``: its valid part, in elements. ``path``: memories of a transfer, ``gm:ub``.
    ``transfers``: contiguous blocks of a transfer with global memory. ``k``: the inner dimension of a product, whose
    result has the valid shape. ``options``: the stated variant, e.g. ``{"variant": "1D_POST_UPDATE"}``. ``is_static``
    is false where the shape of the tile replaces one that only a run determines. ``by_columns``: a transfer to a tile
    stored column by column; its rows are the columns of the tile.
    """

    name: str
    source: str
    result: str
    rows: int
    cols: int
    valid_rows: int
    valid_cols: int
    path: str = ""
    transfers: int = 1
    k: int = 0
    options: Mapping[str, str] = field(default_factory=dict, hash=False)
    is_static: bool = True
    by_columns: bool = False

    @property
    def elements(self) -> int:
        """Elements of the valid part."""
        return self.valid_rows * self.valid_cols

    @property
    def empty(self) -> bool:
        """Whether no element is valid: no register is loaded, and only the fixed part of a law remains."""
        return self.elements == 0

    @property
    def full(self) -> bool:
        """Whether rows are contiguous."""
        return self.valid_cols == self.cols

    @property
    def ragged(self) -> int:
        """The number of columns, if there are several and each ends inside a block; 0 otherwise."""
        inside = self.valid_cols * width(self.result) % (8 * BLOCK)
        return self.valid_rows if self.by_columns and self.valid_rows > 1 and inside else 0

    def bytes(self, type_: str | None = None) -> int:
        """Returns the bytes of the valid part in the wider of its types, or in ``type_``."""
        bits = width(type_) if type_ else max(width(self.source), width(self.result))
        return -(-self.elements * bits // 8)


def ceil_div(number: int, by: int) -> int:
    """Returns ``number`` divided by ``by``, rounded up."""
    return -(-number // by)
