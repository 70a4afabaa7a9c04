"""``tcvt``: conversion of element types. Source: docs/reference/numerics.md, "Narrowing and saturation", "Rounding";
docs/reference/tiles.md, "Conversion".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from pto_dialect.analysis.release import release_of
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.cast import copy_cast
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.memory.values import Tile
from pto_dialect.runtime.numerics.conversion import FormatConversion
from pto_dialect.runtime.numerics.direct import ROUNDINGS, by_steps, direct
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.numerics.rounding import round_to_integer
from pto_dialect.targets.backend import Backend
from pto_dialect.targets.release import Release
from pto_dialect.targets.rounding import ROUND_MODE_LETTERS
from pto_dialect.targets.tcvt_pairs import default_saturation, wraps_by_default

from ..registry import kernel
from .apply import apply
from .operands import AnyTile, region, tile_format, tile_operand


def rounding_letter(source: Format, target: Format, mode: str | None, backend: Backend | None) -> str:
    """Returns the letter of a round mode, ``RINT`` where none is given. With ``NONE`` floats become integers toward
    zero with ``emitc`` and to the nearest even with ``vpto``; other conversions round to the nearest even. hif8 rounds
    ties away from zero in every mode."""
    if target.name == "hif8":
        return "A"
    mode_name = mode or "RINT"
    if mode_name == "NONE" and backend == "emitc" and not target.is_float:
        return "Z"
    return ROUND_MODE_LETTERS[mode_name]


def saturates(source: Format, target: Format, mode: str | None, arch: str, backend: Backend, release: Release) -> bool:
    """Returns whether a conversion clamps: its attribute, otherwise the default of its pair for the ``backend`` and
    ``release`` (docs/reference/tiles.md, "Conversion").

    On a2a3 only the narrowing pairs can disable it.
    """
    mode = mode or default_saturation(backend, release)
    if target.name == "hif8" or wraps_by_default(source.name, target.name):
        return mode == "ON"
    return mode != "OFF" or arch == "a2a3"


class Conversion(FormatConversion):
    """Arrays of ``source`` elements into arrays of ``target`` elements, storage dtypes."""

    @property
    def label(self) -> str:
        """The name in generated code."""
        return f"{self.source.name}_to_{self.target.name}"

    def convert(self, values: Array) -> Array:
        """Returns the converted values as a new array."""
        return by_steps(values, self.source, self.target, self.letter, self.saturate)

    def __call__(self, values: Array, out: Array) -> None:
        """Converts ``values`` into ``out``, arrays of one shape."""
        np.copyto(out, self.convert(values))


class NearestConversion(Conversion):
    """f32 to f16 or bf16, nearest even with saturation: numpy's cast, repaired where it is not finite."""

    def __call__(self, values: Array, out: Array) -> None:
        """Converts ``values`` (float32) into ``out``, arrays of one shape."""
        if np.may_share_memory(values, out):
            super().__call__(values, out)
            return
        np.copyto(out, values, casting="same_kind")
        largest = 0x7BFF if self.target.name == "f16" else 0x7F7F
        if np.maximum.reduce(out.view(np.uint16) & np.uint16(0x7FFF), None, initial=0) > largest:
            super().__call__(values, out)


def to_integral(letter: str) -> Callable[[Array, Array], Any]:
    """Returns the function f32 to f32 that rounds to integral values (docs/reference/targets.md, "Conversions")."""
    if letter in ROUNDINGS:
        return ROUNDINGS[letter]

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
        """Converts the valid region of ``src`` into ``dst``."""
        packed = src if self.conversion.source.is_packed else dst
        column_major = isinstance(packed, Tile) and packed.layout.blayout == "col_major"
        rows, cols = src.valid_rows, src.valid_cols
        values = region(src, rows, cols)
        if column_major:
            values = values.T
        if self.conversion.target.is_packed and values.shape[1] % 2:
            raise Fault("tcvt-shape", f"{rows}x{cols} elements cannot be packed in pairs")
        result = self.conversion.convert(np.ascontiguousarray(values))
        result = result.T if column_major else result
        if result.shape != (dst.valid_rows, dst.valid_cols):
            actual = f"{result.shape[0]}x{result.shape[1]} and {dst.valid_rows}x{dst.valid_cols}"
            raise Fault("tcvt-shape", f"source and destination hold different numbers of elements: {actual}")
        dst.write(result)


def conversion(source: Format, target: Format, letter: str, saturate: bool) -> Callable[..., Any]:
    """Returns the function (values, out) that converts."""
    if source.name == target.name:
        return to_integral(letter) if source.name == "f32" else copy
    if source.name == "f16" and target.name == "f32":
        return widen
    if letter == "R" and saturate and source.name == "f32" and target.name in ("f16", "bf16"):
        return NearestConversion(source, target, letter, saturate)
    general = Conversion(source, target, letter, saturate)
    return direct(source, target, letter, saturate, general) or general


def widen(values: Array, out: Array) -> None:
    """Widens exactly; the halves may be in the memory of the result."""
    copy_cast(out, values.copy() if np.may_share_memory(values, out) else values)


@kernel("pto.tcvt")
def tcvt(op: PtoOp, g: Generator) -> None:
    """dst = src in the element type of dst, rounded and saturated according to the attributes."""
    src: SSAValue = tile_operand(op, g, "src")
    dst = g.destination(op)
    source, target = tile_format(src, g), tile_format(dst, g)
    letter = rounding_letter(source, target, enumerator(op, "rmode"), g.options.backend)
    stated = enumerator(op, "sat_mode")
    saturate = saturates(source, target, stated, g.profile.arch, g.options.backend or "emitc", release_of(op))
    if source.is_packed != target.is_packed:
        instruction = PackedConversion(Conversion(source, target, letter, saturate))
        g.call(instruction, src, dst, pipe=g.pipe(op))
    else:
        apply(op, g, conversion(source, target, letter, saturate), (src,), dst)
