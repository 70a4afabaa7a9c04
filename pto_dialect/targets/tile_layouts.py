"""Layouts that tile locations require, and the blocks they are made of.

Source: docs/reference/targets.md, "Layouts of locations"; docs/reference/constraints.md, "Matrix products of tiles".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, NamedTuple


class TileLayout(NamedTuple):
    """Block order, order inside a block, and bytes of a block (of no meaning for ``none_box``)."""

    blayout: str
    slayout: str
    fractal: int


NZ: Final = TileLayout("col_major", "row_major", 512)
ZN: Final = TileLayout("row_major", "col_major", 512)
ZZ: Final = TileLayout("row_major", "row_major", 512)
ND: Final = TileLayout("row_major", "none_box", 512)
DN: Final = TileLayout("col_major", "none_box", 512)
NZ_ACC: Final = TileLayout("col_major", "row_major", 1024)
ZZ_SCALE: Final = TileLayout("row_major", "row_major", 32)
NN_SCALE: Final = TileLayout("col_major", "col_major", 32)

LAYOUT_NAME: Final[Mapping[tuple[str, str], str]] = MappingProxyType(
    {
        ("col_major", "row_major"): "NZ",
        ("row_major", "col_major"): "ZN",
        ("row_major", "row_major"): "ZZ",
        ("col_major", "col_major"): "NN",
        ("row_major", "none_box"): "ND",
        ("col_major", "none_box"): "DN",
    }
)
"""(blayout, slayout) -> short name."""


class LayoutCheck(NamedTuple):
    """One property of a tile: its expected value and the severity of any other value.

    ``field`` is ``blayout``, ``slayout``, ``fractal`` or ``rows``.
    ``tolerated`` pairs single other values with a severity of their own.
    """

    field: str
    expected: str | int
    severity: str
    tolerated: tuple[tuple[str | int, str], ...] = ()

    def finding(self, actual: str | int) -> str | None:
        """Severity of ``actual``, or ``None`` if it is the expected value."""
        if actual == self.expected:
            return None
        return dict(self.tolerated).get(actual, self.severity)


class LayoutRequirement(NamedTuple):
    """The required layout of a location.

    ``native`` is the layout in which the hardware holds the elements. ``usual`` lists the layouts that occur, the
    native one first; it is advice, only ``checks`` are rules.
    """

    native: TileLayout
    usual: tuple[TileLayout, ...]
    checks: tuple[LayoutCheck, ...]


def _shape(layout: TileLayout, severity: str, *, fractal: str | None) -> tuple[LayoutCheck, ...]:
    """Checks of block order and inner order, and of the block size if ``fractal`` is a severity."""
    checks = (
        LayoutCheck("blayout", layout.blayout, severity),
        LayoutCheck("slayout", layout.slayout, severity),
    )
    return checks if fractal is None else (*checks, LayoutCheck("fractal", layout.fractal, fractal))


_SCALING_TABLE = LayoutRequirement(ND, (ND,), _shape(ND, "warning", fractal=None))
_BIAS_ROW = LayoutCheck("rows", 1, "error")
_MAT = LayoutRequirement(NZ, (NZ, ND, ZN, DN), ())
_VEC = LayoutRequirement(ND, (ND, DN, NZ), ())
# Accumulators with 512-byte blocks are common in real programs; they are read as 16x16 blocks.
_ACC_FRACTAL = LayoutCheck("fractal", 1024, "warning", tolerated=((512, "info"),))

A2A3_LAYOUTS: Final[Mapping[str, LayoutRequirement]] = MappingProxyType(
    {
        # The block order of a left tile carries no meaning: both spellings mean the native order.
        "left": LayoutRequirement(ZZ, (ZZ, NZ), (LayoutCheck("slayout", "row_major", "warning"),)),
        "right": LayoutRequirement(ZN, (ZN,), _shape(ZN, "warning", fractal="warning")),
        "acc": LayoutRequirement(NZ_ACC, (NZ_ACC, NZ), (*_shape(NZ_ACC, "warning", fractal=None), _ACC_FRACTAL)),
        "bias": LayoutRequirement(ND, (ND,), (_BIAS_ROW, *_shape(ND, "warning", fractal=None))),
        "scaling": _SCALING_TABLE,
        "mat": _MAT,
        "vec": _VEC,
    }
)
A5_LAYOUTS: Final[Mapping[str, LayoutRequirement]] = MappingProxyType(
    {
        "left": LayoutRequirement(NZ, (NZ, ZZ), (LayoutCheck("slayout", "row_major", "error"),)),
        "right": LayoutRequirement(ZN, (ZN,), _shape(ZN, "error", fractal="warning")),
        "acc": LayoutRequirement(NZ_ACC, (NZ_ACC, NZ), (*_shape(NZ_ACC, "error", fractal=None), _ACC_FRACTAL)),
        "bias": LayoutRequirement(ND, (ND,), (_BIAS_ROW, *_shape(ND, "error", fractal=None))),
        "scaling": _SCALING_TABLE,
        "scaling_mx_left": LayoutRequirement(ZZ_SCALE, (ZZ_SCALE,), _shape(ZZ_SCALE, "warning", fractal="warning")),
        "scaling_mx_right": LayoutRequirement(NN_SCALE, (NN_SCALE,), _shape(NN_SCALE, "warning", fractal="warning")),
        "mat": _MAT,
        "vec": _VEC,
    }
)
"""Location -> requirement; ``scaling_mx_left`` and ``scaling_mx_right`` are the MX uses of ``scaling``."""

NONE_BOX_ALIGN: Final = 32
"""Bytes of a row (row_major) or column (col_major) of an unboxed tile are a multiple of this."""

C0_BYTES: Final = 32


def c0_elements(element_bits: int) -> int:
    """Elements per 32-byte row of a block: 64 for 4-bit, 32 for 8-bit, 16 for 16-bit, 8 for 32-bit types."""
    return C0_BYTES * 8 // element_bits


def inner_block(fractal: int, slayout: str, element_bits: int) -> tuple[int, int]:
    """(rows, columns) of one block of a boxed layout.

    Raises ``KeyError`` for a fractal size outside 32, 512, 1024.  Source: docs/reference/layouts.md, "Fractals".
    """
    long_side = {512: c0_elements(element_bits), 1024: 16, 32: 2}[fractal]
    return (16, long_side) if slayout == "row_major" else (long_side, 16)


# ------------------------------------------------------------ bytes

FRACTAL_ROWS: Final = 16
PACKED_OPERANDS: Final = frozenset(("mat", "left", "right"))
"""Locations in which two elements of 4 bits share a byte and extents count them singly."""


class TileShape(NamedTuple):
    """The memory layout of a tile: extents in elements of a byte or more, block order, order inside a block, block
    size."""

    rows: int
    cols: int
    blayout: str
    slayout: str
    fractal: int


def native_blayout(loc: str, target: str, blayout: str) -> str:
    """Effective block order of a tile location (docs/reference/targets.md, "Layouts of locations").

    A boxed ``left`` tile is ZZ on a2a3 and NZ on the other targets, whatever its type states; elsewhere the type
    determines it.
    """
    if loc == "left":
        return "row_major" if target == "a2a3" else "col_major"
    return blayout


def native_shape(loc: str, target: str, shape: TileShape, item_bytes: int, packed: bool = False) -> TileShape:
    """Returns the effective shape of a tile of a location on a target, from the shape of its type.

    ``packed``: elements are 4-bit, two per byte, and rows and columns count them singly (mat, left and right operands;
    docs/reference/layouts.md, "Fractals"). The result then describes the bytes: the two elements of a byte are adjacent
    in the direction that is contiguous inside a block.
    """
    rows, cols, blayout, slayout, fractal = shape
    if slayout != "none_box":
        blayout = native_blayout(loc, target, blayout)
        if loc == "acc" and fractal == 512:
            fractal = 1024
        if loc == "acc" and rows == 1:
            # The fractals of a single row have their 16 rows as well.
            rows = FRACTAL_ROWS
        if loc in ("mat", "scaling") and fractal == 32 and rows == 1 and blayout == slayout == "row_major":
            # Scales of a left operand with one row are contiguous.
            slayout = "none_box"
        elif loc == "vec" and item_bytes == 1 and (blayout, slayout) == ("row_major", "row_major"):
            # Scales in the order of the matrix unit, whatever block size the type states; one row is contiguous.
            slayout, fractal = ("none_box" if rows == 1 else slayout), 32
    if packed:
        order = blayout if slayout == "none_box" else slayout
        rows, cols = (rows, -(-cols // 2)) if order == "row_major" else (-(-rows // 2), cols)
    return TileShape(rows, cols, blayout, slayout, fractal)


def extent_bytes(shape: TileShape, item_bytes: int) -> int:
    """Returns the bytes from the first to the last byte that the layout of a tile accesses; of partly filled blocks,
    the rows before accessed ones are included."""
    rows, cols, blayout, slayout, fractal = shape
    if slayout == "none_box" or not (rows and cols):
        return rows * cols * item_bytes
    height, width = inner_block(fractal, slayout, 8 * item_bytes)
    if slayout == "col_major":
        # The image of the transposed matrix.
        rows, cols, height, width = cols, rows, width, height
    along_rows = (blayout == "row_major") == (slayout == "row_major")
    if along_rows:
        # Whole blocks: those of one row of blocks are consecutive.
        across = -(-cols // width) * width * height
        last = (rows - 1) // height * across + (rows - 1) % height * width
        last += (cols - 1) // width * height * width + (cols - 1) % width
    else:
        # Columns of blocks: the rows of all blocks are contiguous.
        last = (rows - 1) * width + (cols - 1) // width * rows * width + (cols - 1) % width
    return (last + 1) * item_bytes
