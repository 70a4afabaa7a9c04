"""Comparisons into packed bits, and selections by them. Source: docs/reference/tiles.md, "Elementwise"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.extents import round_up
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.comparisons import COMPARISONS
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.targets.vector_unit import VL_BYTES

from ..registry import kernel
from .operands import TILES, AnyTile, number, region, store, tile_format, tile_operand, write_linear


def pack_rows(bits: Array) -> Array:
    """Returns bits [rows, cols] as bytes [rows, ceil(cols / 8)]: bit c mod 8 of byte c div 8."""
    return np.packbits(bits, axis=1, bitorder="little")


def pack_repeats(bits: Array, element_bytes: int) -> Array:
    """Returns bits [rows, cols] as the consecutive bytes that the vector unit stores.

    32-bit elements: all elements in row order, two repeats of 64 lanes in 16 bytes. 16-bit elements: each row in
    repeats of 128 lanes, 16 bytes each. 8-bit elements: each row in repeats of 256 lanes, 32 bytes each.
    """
    if element_bytes >= 4:
        flat = pack_rows(bits.reshape(1, -1))[0]
        image = np.zeros(round_up(flat.size, 16), np.uint8)
        image[: flat.size] = flat
        return image
    lanes = VL_BYTES // element_bytes
    packed = pack_rows(bits)
    image = np.zeros((bits.shape[0], round_up(bits.shape[1], lanes) // 8), np.uint8)
    image[:, : packed.shape[1]] = packed
    return image.reshape(-1)


class CompareRows:
    """Packed rows at the row pitch of the destination; the remaining bytes of a row are 0.

    ``tcmp`` always, ``tcmps`` but for ``vpto``.
    """

    def __init__(self, compare: Callable[..., Any], fmt: Format, label: str) -> None:
        self.compare = compare
        self.fmt = fmt
        self.label = label

    def __call__(self, a: AnyTile, b: Any, dst: AnyTile) -> None:
        """Compares ``a`` with a tile or number ``b``. Raises ``Fault`` (``tile-cmp-dst``) where the bits do not fit."""
        rows, cols = a.valid_rows, a.valid_cols
        right = decode(region(b, rows, cols), self.fmt) if isinstance(b, TILES) else b
        packed = pack_rows(self.compare(decode(a.read(), self.fmt), right))
        width = dst.cols * dst.fmt.bytes
        if packed.shape[1] > width or rows > dst.rows:
            raise Fault("tile-cmp-dst", f"{rows}x{cols} bits do not fit into {dst.rows}x{width} bytes")
        image = np.zeros((rows, width), np.uint8)
        image[:, : packed.shape[1]] = packed
        dst.write(image.view(dst.fmt.storage))


class CompareRepeats:
    """``tcmps`` with ``vpto``: the consecutive bits of all rows, as the vector unit stores them."""

    label = "tcmps"

    def __init__(self, compare: Callable[..., Any], fmt: Format) -> None:
        self.compare = compare
        self.fmt = fmt

    def __call__(self, src: AnyTile, value: Any, dst: AnyTile) -> None:
        """Compares ``src`` with a number. Raises ``Fault`` (``tile-cmp-dst``) where the bits do not fit."""
        bits = self.compare(decode(src.read(), self.fmt), value)
        size = dst.fmt.bytes
        if -(-bits.size // 8) > dst.rows * dst.cols * size:
            capacity = f"{dst.rows}x{dst.cols} elements of {size} bytes"
            raise Fault("tile-cmp-dst", f"{bits.size} bits do not fit into {capacity}")
        image = pack_repeats(bits, self.fmt.bytes)
        # The last repeat may be wider than its elements; only their bits must fit.
        image = np.pad(image, (0, -image.size % size)).view(dst.fmt.storage)
        write_linear(dst, image[: dst.rows * dst.cols])


def mask_bits(mask: AnyTile, rows: int, cols: int) -> Array:
    """Bits (r, c) of a mask tile: bit c mod 8 of byte c div 8 of row r, bytes in memory order of the row."""
    width = -(-cols // 8)
    units = -(-width // mask.fmt.bytes)
    if rows > mask.rows or units > mask.cols:
        actual = f"{mask.rows}x{mask.cols}x{mask.fmt.name}"
        raise Fault("tile-sel-mask", f"a mask {actual} has no bits for {rows}x{cols} elements")
    raw = np.ascontiguousarray(region(mask, rows, units)).view(np.uint8)
    return np.unpackbits(raw, axis=1, count=cols, bitorder="little").view(np.bool_)


class Select:
    """dst = bit of mask ? a : b, where b is a tile or a number."""

    def __init__(self, label: str) -> None:
        self.label = label

    def __call__(self, mask: AnyTile, a: AnyTile, b: Any, dst: AnyTile) -> None:
        """Selects over the valid region of ``dst``. Raises ``Fault`` (``tile-sel-mask``) for a mask that is
        too small."""
        rows, cols = dst.valid_rows, dst.valid_cols
        if not (rows and cols):
            return
        bits = mask_bits(mask, rows, cols)
        values = region(a, rows, cols)
        if isinstance(b, (int, float)):
            result = np.full((rows, cols), b, dst.fmt.storage)
            np.copyto(result, values, where=bits)
        else:
            result = np.where(bits, values, region(b, rows, cols))
        store(dst, lambda out: np.copyto(out, result))


def compare_mode(op: PtoOp) -> Callable[..., Any]:
    """Returns the comparison of an operation, ``eq`` by default."""
    return COMPARISONS[enumerator(op, "cmpMode") or "eq"]


def comparison_on_chip(op: PtoOp, fmt: Format, g: Generator) -> Callable[..., Any]:
    """Returns the comparison that the instructions of the target make.

    The headers of a2a3 compare integers of 32 bits for equality whatever the mode, but for ``ne``, and those of 16 bits
    with a number as the halves that have the same bits (docs/reference/tiles.md, "Elementwise").
    """
    compare = compare_mode(op)
    if g.profile.arch != "a2a3" or g.options.backend == "vpto":
        return compare
    if fmt.name in ("i16", "ui16"):
        return lambda a, b: compare(_as_halves(a), _as_halves(b))
    return COMPARISONS["eq"] if fmt.name == "i32" and compare is not COMPARISONS["ne"] else compare


def _as_halves(numbers: Any) -> Array:
    return np.asarray(numbers).astype(np.uint16).view(np.float16)


@kernel("pto.tcmp")
def tcmp(op: PtoOp, g: Generator) -> None:
    """The bits of src0 compared with src1, packed row by row."""
    a, b, dst = tile_operand(op, g, "src0"), tile_operand(op, g, "src1"), g.destination(op)
    tile_format(dst, g)
    fmt = tile_format(a, g)
    instruction = CompareRows(comparison_on_chip(op, fmt, g), fmt, "tcmp")
    g.call(instruction, a, b, dst, pipe=g.pipe(op))


@kernel("pto.tcmps")
def tcmps(op: PtoOp, g: Generator) -> None:
    """The bits of src compared with a number, packed in the layout of the backend."""
    src, dst = tile_operand(op, g, "src"), g.destination(op)
    fmt = tile_format(src, g)
    tile_format(dst, g)
    value = number(g, named(op, "scalar"), fmt)
    compare = comparison_on_chip(op, fmt, g)
    repeats = g.options.backend == "vpto"
    instruction = CompareRepeats(compare, fmt) if repeats else CompareRows(compare, fmt, "tcmps")
    g.call(instruction, src, value, dst, pipe=g.pipe(op))


@kernel("pto.tsel")
def tsel(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = src0(r,c) where the bit of the mask is set, else src1(r,c)."""
    mask, a, b = (tile_operand(op, g, name) for name in ("mask", "src0", "src1"))
    g.call(Select("tsel"), mask, a, b, g.destination(op), pipe=g.pipe(op))


@kernel("pto.tsels")
def tsels(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = src(r,c) where the bit of the mask is set, else a number."""
    mask, src, dst = tile_operand(op, g, "mask"), tile_operand(op, g, "src"), g.destination(op)
    scalar = g.operand(op, "scalar")
    assert scalar is not None
    value = number(g, scalar, tile_format(dst, g))
    g.call(Select("tsels"), mask, src, value, dst, pipe=g.pipe(op))
