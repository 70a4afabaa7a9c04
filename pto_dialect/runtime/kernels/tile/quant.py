"""Quantization of vector tiles: per row to 8-bit integers, and in blocks with a shared exponent.

Source: docs/reference/tiles.md, "Irregular operations"; docs/reference/layouts.md, "MX scales".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.numerics.formats import Format, format_of
from pto_dialect.targets.matmul_types import MX_SCALE_GROUP
from pto_dialect.targets.tile_layouts import C0_BYTES

from ..registry import kernel
from .generate import integer_attribute
from .operands import AnyTile, region, tile_format, tile_operand, write_linear


def row_parameter(tile: AnyTile, rows: int) -> Array:
    """Returns the number of each row, [rows, 1] or [1, 1]: column 0; a tile with one valid row serves all rows."""
    return region(tile, 1 if tile.valid_rows == 1 else rows, 1)


class Dequantize:
    """dst(r,c) = (src(r,c) − offset(r))·scale(r) in float32."""

    label = "tdequant"

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt

    def __call__(self, src: AnyTile, scale: AnyTile, offset: AnyTile, dst: AnyTile) -> None:
        """Computes the valid region of ``dst``; ``scale`` and ``offset`` are columns."""
        rows, cols = dst.valid_rows, dst.valid_cols
        values = decode(region(src, rows, cols), self.fmt).astype(np.float32)
        values -= row_parameter(offset, rows)
        values *= row_parameter(scale, rows)
        dst.write(values)


class Quantize:
    """dst(r,c) = clamp(nearest(src(r,c)·scale(r) + offset(r))) as an 8-bit integer."""

    label = "tquant"

    def __init__(self, fmt: Format) -> None:
        self.fmt = fmt

    def __call__(self, src: AnyTile, scale: AnyTile, offset: AnyTile | None, dst: AnyTile) -> None:
        """Computes the valid region of ``dst``; ``scale`` and ``offset`` are columns."""
        rows, cols = dst.valid_rows, dst.valid_cols
        values = region(src, rows, cols) * row_parameter(scale, rows)
        if offset is not None:
            values += row_parameter(offset, rows)
        dst.write(encode(values, self.fmt, saturate=True).view(dst.fmt.storage))


def shared_exponents(maxima: Array, largest_exponent: int) -> Array:
    """Returns the exponent bytes of groups with the magnitudes ``maxima`` (OCP): floor(log2 max) −
    ``largest_exponent``, biased.

    0 for groups below that range and for zero, 255 for NaN.
    """
    biased = (maxima.view(np.uint32) >> np.uint32(23)).astype(np.int32) & 0xFF
    codes = np.maximum(biased - largest_exponent, 0)
    return np.where(np.isnan(maxima), 255, codes).astype(np.uint8)


def rounded_up_exponents(maxima: Array, largest: float) -> Array:
    """Returns the exponent bytes of max / ``largest`` rounded up to a power of two (NV): 254 for infinity,
    255 for NaN."""
    quotient = maxima * np.float32(1.0 / largest)
    bits = quotient.view(np.uint32)
    biased = (bits >> np.uint32(23)).astype(np.int32) & 0xFF
    fraction = bits & np.uint32(0x7FFFFF)
    smallest = (biased == 0) & (fraction <= 0x400000)
    codes = biased + ((fraction > 0) & (biased < 254) & ~smallest)
    codes = np.where(np.isinf(quotient), 254, codes)
    return np.where(np.isnan(quotient), 255, codes).astype(np.uint8)


def reciprocal_scales(codes: Array) -> Array:
    """Returns 2^(127 − code) as float32, NaN for 255."""
    scales = np.ldexp(np.float32(1), 127 - codes.astype(np.int32)).astype(np.float32)
    scales[codes == 255] = np.nan
    return scales


def bf16_bits(numbers: Array) -> Array:
    """Returns float32 numbers as the bits of bf16, rounded toward zero; NaN has the bits 0x7FC0."""
    bits = (numbers.view(np.uint32) >> np.uint32(16)).astype(np.uint16)
    return np.where(np.isnan(numbers), np.uint16(0x7FC0), bits)


@dataclass(eq=False)
class QuantizeBlocks:
    """Elements of one format with an exponent byte for each 32 of them along a row (``axis`` 1) or a column (0)."""

    label = "tquant_mx"

    source: Format
    four_bits: bool
    nv: bool
    axis: int
    interleave: bool
    nz: bool

    def exponents(self, maxima: Array) -> Array:
        """Returns the exponent bytes of groups with the given largest magnitudes."""
        if self.nv:
            return rounded_up_exponents(maxima, 6.0 if self.four_bits else 448.0)
        return shared_exponents(maxima, 2 if self.four_bits else 8)

    def elements(self, scaled: Array) -> Array:
        """Returns the storage bytes of scaled values; NaN stays NaN in 8 bits and becomes the largest value
        in 4 bits."""
        if self.four_bits:
            return encode(np.nan_to_num(scaled, nan=6.0, posinf=6.0, neginf=-6.0), "f4E2M1x2", saturate=True)
        return encode(scaled, "f8E4M3FN", saturate=True, keep_nan=True).view(np.uint8)

    def __call__(
        self,
        src: AnyTile,
        dst: AnyTile,
        exp: AnyTile,
        maxima: AnyTile,
        scaling: AnyTile,
        exp_zz: AnyTile | None = None,
    ) -> None:
        """Writes elements to ``dst``, exponent bytes to ``exp``, largest magnitudes to ``maxima``, factors to
        ``scaling``.

        ``exp_zz`` receives the exponents in the order of left operands. Raises ``Fault``: ``quant-mx-shape``.
        """
        values = decode(src.read(), self.source)
        rows, cols = values.shape
        if values.shape[self.axis] % MX_SCALE_GROUP:
            raise Fault("quant-mx-shape", f"{rows}x{cols} elements are no whole groups of {MX_SCALE_GROUP}")
        if self.axis:
            grouped = values.reshape(rows, cols // MX_SCALE_GROUP, MX_SCALE_GROUP)
            largest = np.abs(grouped).max(axis=2, initial=0)
        else:
            grouped = values.reshape(rows // MX_SCALE_GROUP, MX_SCALE_GROUP, cols)
            largest = np.abs(grouped).max(axis=1, initial=0)
        codes = self.exponents(largest)
        scales = reciprocal_scales(codes)
        scaled = grouped * np.expand_dims(scales, 2 if self.axis else 1)
        self._store(dst, self.elements(scaled.reshape(rows, cols)))
        self._spread(exp, self._pairs(codes) if self.interleave else codes)
        halves = self.source.name == "f16"
        self._spread(maxima, bf16_bits(largest) if halves and not self.nv else largest.astype(maxima.fmt.storage))
        self._spread(scaling, bf16_bits(scales) if halves else scales.astype(scaling.fmt.storage))
        if exp_zz is not None:
            self._spread(exp_zz, zz_order(codes))

    def _store(self, dst: AnyTile, elements: Array) -> None:
        elements = elements.view(dst.fmt.storage)
        if self.nz:
            # Consecutive blocks of 32 columns, as the matrix unit reads them.
            rows, width = elements.shape
            elements = elements.reshape(rows, width // C0_BYTES, C0_BYTES).transpose(1, 0, 2).reshape(rows, width)
        dst.write(elements)

    def _pairs(self, codes: Array) -> Array:
        """Joins two group rows: [G, n] becomes [G / 2, 2·n]."""
        groups, cols = codes.shape
        if groups % 2:
            raise Fault("quant-mx-shape", f"{groups} group rows cannot be interleaved in pairs")
        return codes.reshape(groups // 2, 2, cols).transpose(0, 2, 1).reshape(groups // 2, 2 * cols)

    def _spread(self, tile: AnyTile, values: Array) -> None:
        """Stores a matrix in a tile of its shape, otherwise element by element."""
        values = values.view(tile.fmt.storage) if values.dtype.kind == "u" else values
        if values.shape == (tile.valid_rows, tile.valid_cols):
            tile.write(values)
        elif values.size <= tile.rows * tile.cols:
            write_linear(tile, values.reshape(-1))
        else:
            raise Fault("quant-mx-shape", f"{values.size} groups do not fit into {tile.rows}x{tile.cols}")


def zz_order(codes: Array) -> Array:
    """Returns exponents [rows, groups] in the order of left MX scales: boxes of 16 x 2 (docs/reference/layouts.md, "MX
    scales")."""
    rows, groups = codes.shape
    if rows % 16 or groups % 2:
        raise Fault("quant-mx-shape", f"{rows}x{groups} exponents do not fill boxes of 16x2")
    return codes.reshape(rows // 16, 16, groups // 2, 2).transpose(0, 2, 1, 3).reshape(1, -1)


@kernel("pto.tdequant")
def tdequant(op: PtoOp, g: Generator) -> None:
    """Integers as float32, with an offset and a scale for each row."""
    sources = [tile_operand(op, g, name) for name in ("src", "scale", "offset")]
    fmt = tile_format(sources[0], g)
    g.call(Dequantize(fmt), *sources, g.destination(op), pipe=g.pipe(op))


@kernel("pto.tquant")
def tquant(op: PtoOp, g: Generator) -> None:
    """float32 as 8-bit integers, with a scale and an offset for each row."""
    src, scale, dst = tile_operand(op, g, "src"), tile_operand(op, g, "fp"), g.destination(op)
    offset = g.operand(op, "offset")
    tile_format(dst, g)
    # The mode determines the range, whatever sign the destination's type has.
    target = format_of("ui8" if enumerator(op, "quant_type") == "INT8_ASYM" else "i8")
    g.call(Quantize(target), src, scale, offset, dst, pipe=g.pipe(op))


@kernel("pto.tquant.mx")
def tquant_mx(op: PtoOp, g: Generator) -> None:
    """Elements in a narrow format with an exponent for each 32 of them."""
    src = tile_operand(op, g, "src")
    outs = [g.destination(op, name, i) for i, name in enumerate(("dst", "exp", "max", "scaling"))]
    reordered = g.operand(op, "exp_zz")
    instruction = QuantizeBlocks(
        tile_format(src, g),
        enumerator(op, "quant_type") == "MXFP4_E2M1",
        enumerator(op, "quantScaleAlg") == "nv",
        0 if enumerator(op, "grpAxis") == "axis0" else 1,
        bool(integer_attribute(op, "interleave", 0)),
        enumerator(op, "storeMode") == "nz",
    )
    extra = (reordered,) if reordered is not None else ()
    g.call(instruction, src, *outs, *extra, pipe=g.pipe(op))
