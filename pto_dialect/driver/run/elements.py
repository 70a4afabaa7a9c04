"""How elements lie in files and arrays: element types, and the numpy types that stand for them.

An element type that numpy knows (integers, f16, f32, f64, i1) is that numpy type. The others (bf16, 8-bit and
4-bit floats, packed pairs) are bit patterns: unsigned integers of the storage size, or the void type that
``numpy.save`` makes of an ml_dtypes array. Source: docs/reference/execution.md, "Launches"; docs/reference/numerics.md,
"Formats".
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute

from pto_dialect.diagnostics.suggest import nearest_or
from pto_dialect.ir.core import types as t
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.decode import decode
from pto_dialect.runtime.numerics.formats import FORMATS, Format, format_of
from pto_dialect.runtime.numerics.records import of_records

from .value_text import ValueTextError


class ElementMismatch(ValueError):
    """A mismatch of element kinds; the message states the one found."""


def element_format(name: str) -> Format:
    """Returns the element type spelled ``name`` (``!pto.`` may precede it); raises :class:`ValueTextError`."""
    try:
        found = format_of(name)
    except ValueError:
        hint = nearest_or(name, FORMATS, "expected one such as f16, bf16, f32, i8 or ui8", 2)
        raise ValueTextError(f"unknown element type '{name}'; {hint}") from None
    if found.compute_only:
        raise ValueTextError(f"{found.name} is a way to compute, no type of elements in memory")
    return found


def scalar_format(type_: Attribute) -> Format | None:
    """Returns the format of a scalar type; ``None`` for everything else."""
    if isinstance(type_, (IntegerType, IndexType)) or t.is_float(type_):
        try:
            return format_of(t.element_name(type_))
        except ValueError:
            return None
    return None


def is_bit_pattern(fmt: Format) -> bool:
    """Returns True when numpy has no type of its own for the elements."""
    # The types of ml_dtypes are known to numpy, but not to its files.
    return fmt.is_packed or fmt.storage.isbuiltin != 1 or (fmt.is_float and fmt.storage.kind != "f")


def to_saved(array: Array, fmt: Format) -> Array:
    """Storage units in a dtype that ``numpy.save`` writes and ``numpy.load`` reads back."""
    return array.view(f"u{fmt.bytes}") if is_bit_pattern(fmt) else array


def same_elements(stated: Format, needed: Format) -> bool:
    """Returns whether data stated as one type may be used where another is needed.

    Equal types, integers of equal width whatever their sign, and unsigned integers as the bits of a type that numpy
    does not have.
    """
    if stated is needed:
        return True
    if not stated.is_float and not needed.is_float:
        return stated.bits == needed.bits
    return stated.kind == "uint" and not stated.is_packed and is_bit_pattern(needed) and stated.bytes == needed.bytes


def to_storage(array: Array, stated: Format | None, needed: Format) -> Array:
    """Returns ``array`` as storage units of ``needed``, C-contiguous and in native byte order; its data may be
    shared.

    ``stated`` is what the user says the elements are; bits of any type are then accepted from unsigned
    integers. Raises :class:`ElementMismatch`.
    """
    if stated is not None and not same_elements(stated, needed):
        raise ElementMismatch(f"{stated.name} elements")
    holder = needed if stated is None else stated
    array = of_records(array, holder)
    dtype = array.dtype
    bits = dtype.names is None and dtype.kind in "uV" and dtype.itemsize == holder.bytes
    whole = dtype.kind in "iu" and dtype.itemsize == holder.bytes and holder.kind != "float" and holder.bits > 1
    native = dtype.newbyteorder("=")
    if not (native == holder.storage or whole or (bits and (stated is not None or is_bit_pattern(holder)))):
        raise ElementMismatch(f"{dtype} elements")
    if native != dtype:
        array = array.astype(native)
    return np.asarray(array, order="C").view(needed.storage)


def to_values(array: Array, fmt: Format) -> Array:
    """Returns the numbers that storage units hold, for people and comparisons; packed pairs double the last axis."""
    if fmt.is_packed and array.ndim == 0:
        array = array.reshape(1)
    return decode(array.reshape(1), fmt).reshape(()) if array.ndim == 0 else decode(array, fmt)
