"""``tcvt``: conversion of element types. Source: numerics page, sections 1.2, 2 and 8."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ...ir.attributes import EnumAttr
from ...ir.base import PtoOp
from ..cast import copy_cast
from ..faults import Fault
from ..generator import Generator
from ..memory import Array
from ..numerics.decode import decode
from ..numerics.encode import encode
from ..numerics.formats import Format
from ..numerics.rounding import round_to_integer
from ..values import Tile
from .registry import kernel
from .tile_apply import apply
from .tile_operands import AnyTile, region, tile_format, tile_operand

ROUNDING_LETTERS = {"NONE": "R", "RINT": "R", "ROUND": "A", "FLOOR": "F", "CEIL": "C", "TRUNC": "Z", "ODD": "O"}
"""Round mode without ``CAST_`` -> rounding letter."""

WRAPPING_PAIRS = frozenset(
    {("f16", "ui8"), ("f16", "i8"), ("f32", "i16"), ("f16", "i16"), ("i64", "i32"), ("i32", "i16")}
)
"""(source, destination) pairs that keep the low bits when no saturation mode is given; all others clamp."""


def _plain(fmt: Format) -> str:
    return fmt.name.replace("si", "i")


def saturates(source: Format, target: Format, mode: str | None) -> bool:
    """Whether a conversion clamps: what its attribute says, else the default of its pair (numerics page, section 8)."""
    return mode == "ON" if mode is not None else (_plain(source), _plain(target)) not in WRAPPING_PAIRS


class Conversion:
    """Arrays of ``source`` elements into arrays of ``target`` elements, storage dtypes."""

    def __init__(self, source: Format, target: Format, letter: str, saturate: bool) -> None:
        self.source = source
        self.target = target
        self.letter = letter
        self.saturate = saturate
        self.label = f"{source.name}_to_{target.name}"

    def convert(self, values: Array) -> Array:
        """The converted values as a new array."""
        wide = decode(values, self.source)
        return encode(wide, self.target, rounding=self.letter, saturate=self.saturate)

    def __call__(self, values: Array, out: Array) -> None:
        np.copyto(out, self.convert(values))


class NearestConversion(Conversion):
    """f32 to f16 or bf16, nearest even with saturation: numpy's cast, repaired where it is not finite."""

    def __call__(self, values: Array, out: Array) -> None:
        if np.may_share_memory(values, out):
            super().__call__(values, out)
            return
        np.copyto(out, values, casting="same_kind")
        largest = 0x7BFF if self.target.name == "f16" else 0x7F7F
        if ((out.view(np.uint16) & np.uint16(0x7FFF)) > largest).any():
            super().__call__(values, out)


def to_integral(letter: str) -> Callable[[Array, Array], None]:
    """f32 to f32: rounding to integral values (targets page, section 8)."""

    def round_f32(values: Array, out: Array) -> None:
        np.copyto(out, round_to_integer(values, letter))

    return round_f32


def copy(values: Array, out: Array) -> None:
    """The same bits."""
    np.copyto(out, values)


class PackedConversion:
    """Conversions from or to packed pairs: pairs lie along the contiguous direction of the packed tile."""

    def __init__(self, conversion: Conversion) -> None:
        self.conversion = conversion
        self.label = conversion.label

    def __call__(self, src: AnyTile, dst: AnyTile) -> None:
        packed = src if self.conversion.source.is_packed else dst
        column_major = isinstance(packed, Tile) and packed.layout.blayout == "col_major"
        rows, cols = src.valid_rows, src.valid_cols
        values = region(src, rows, cols)
        if column_major:
            values = values.T
        if self.conversion.target.is_packed and values.shape[1] % 2 and not self.conversion.source.is_packed:
            raise Fault("tcvt-shape", f"{rows}x{cols} elements cannot be packed in pairs")
        result = self.conversion.convert(np.ascontiguousarray(values))
        result = result.T if column_major else result
        if result.shape != (dst.valid_rows, dst.valid_cols):
            found = f"{result.shape[0]}x{result.shape[1]} and {dst.valid_rows}x{dst.valid_cols}"
            raise Fault("tcvt-shape", f"source and destination hold different numbers of elements: {found}")
        dst.write(result)


def _mode(op: PtoOp, name: str) -> str | None:
    attr = op.attributes.get(name)
    return attr.value if isinstance(attr, EnumAttr) else None


def conversion(source: Format, target: Format, rounding: str, mode: str | None) -> Callable[..., Any]:
    """The function (values, out) that converts; ``rounding`` is a round mode, ``mode`` of saturation or ``None``."""
    letter = ROUNDING_LETTERS[rounding.removeprefix("CAST_")]
    if source.storage == target.storage and source.name == target.name:
        return to_integral(letter) if source.name == "f32" and not rounding.endswith("NONE") else copy
    if source.name in ("f16", "bf16") and target.name == "f32":
        return widen
    saturate = saturates(source, target, mode)
    if letter == "R" and saturate and source.name == "f32" and target.name in ("f16", "bf16"):
        return NearestConversion(source, target, letter, saturate)
    return Conversion(source, target, letter, saturate)


def widen(values: Array, out: Array) -> None:
    """Exact widening; the halves may lie in the memory of the result."""
    copy_cast(out, values.copy() if np.may_share_memory(values, out) else values)


@kernel("pto.tcvt")
def tcvt(op: PtoOp, g: Generator) -> None:
    src: SSAValue = tile_operand(op, g, "src")
    dst = g.destination(op)
    source, target = tile_format(src, g), tile_format(dst, g)
    rounding, mode = _mode(op, "rmode") or "CAST_RINT", _mode(op, "sat_mode")
    if source.is_packed != target.is_packed:
        letter = ROUNDING_LETTERS[rounding.removeprefix("CAST_")]
        instruction = PackedConversion(Conversion(source, target, letter, saturates(source, target, mode)))
        g.call(instruction, src, dst, pipe=op.active_pipe(g.profile.arch))
    else:
        apply(op, g, conversion(source, target, rounding, mode), (src,), dst)
