"""Binds arrays and numbers to the arguments of an entry function. Source: docs/reference/execution.md, "Cores and
memories", "Launches".
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IndexType, IntegerType, MemRefType, NoneAttr, VectorType
from xdsl.ir import Attribute

from pto_dialect.analysis.type_facts import space_of
from pto_dialect.ir.core import types as t
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.tile_layouts import PACKED_OPERANDS

from ..errors import BindingError
from ..faults import Fault
from ..kernels.buffers.tile_maker import tile_maker
from ..kernels.core.scalar import is_unsigned, rounder
from ..memory.layout import TileView
from ..memory.memref import MemRef
from ..memory.packed_element import pair_format, part_format
from ..memory.packed_view import PackedView, pair_shape
from ..memory.spaces import Arena, Array, Pointer
from ..memory.values import GmTensor, Tile, ValueTile, buffer_pointer
from ..numerics.formats import Format, format_of
from ..numerics.records import of_records
from .machine import Core
from .per_core import BoundPerCore, InParts, PartedPointer, PerCore


class HostTile(Tile):
    """A tile buffer that is an argument: a memory of its own, filled from ``host``: rows x columns of storage units
    (``host_shape``)."""

    __slots__ = ("host",)

    def __init__(self, tile: Tile, host: Array) -> None:
        super().__init__(tile.pointer, tile.layout, tile.fmt, tile.loc, tile.rows, tile.cols, tile.valid_rows,
                         tile.valid_cols, pad=tile.pad)  # fmt: skip
        self.host = host
        self._units.write(host)

    @property
    def _units(self) -> TileView:
        """Returns the tile as storage units: bytes where it counts the numbers of pairs."""
        return self.view.bytes if isinstance(self.view, PackedView) else self.view

    def at(self, pointer: Pointer) -> Tile:
        """Returns a handle of the tile whose memory is that of ``pointer``."""
        return Tile(pointer, self.layout, self.fmt, self.loc, self.rows, self.cols, self.valid_rows, self.valid_cols,
                    pad=self.pad)  # fmt: skip

    def hand_back(self) -> None:
        """Stores the content in the source array."""
        self.host[...] = self._units.read(*self.host.shape)


def argument_of_core(value: Any, core: Core) -> Any:
    """Returns a bound argument as ``core`` uses it: the second vector core of a block has a unified buffer
    of its own."""
    pointer = value if isinstance(value, Pointer) else getattr(value, "pointer", None)
    if not isinstance(pointer, Pointer) or pointer.arena.space == "gm":
        return value.of(core) if isinstance(value, (BoundPerCore, PartedPointer)) else value
    if core.index:
        pointer = Pointer(pointer.arena.copy(), pointer.offset, pointer.dtype, pointer.item_bytes)
    if isinstance(value, HostTile):
        return value.at(pointer)
    if isinstance(value, MemRef):
        return MemRef(pointer, value.shape, value.strides, value.fmt, value.offset)
    return pointer


def hand_back(bound: Sequence[Any]) -> None:
    """Stores tile buffers among the bound arguments in their source arrays."""
    for value in bound:
        if isinstance(value, HostTile):
            value.hand_back()


@lru_cache(1024)
def argument_format(type_: Attribute) -> Format | None:
    """Returns the element format of a buffer or vector argument; ``None`` for scalars."""
    element: Attribute | None = None
    if isinstance(type_, t.VmiMaskType):
        return format_of("i1")
    if isinstance(type_, MemRefType):
        element = type_.element_type
    elif isinstance(type_, (t.PtrType, t.ShapedView, t.TileType, t.TileBufType, t.VRegType, t.VmiVRegType)):
        element = type_.element
    if element is None:
        return None
    try:
        return pair_format(element) if isinstance(element, VectorType) else format_of(t.element_name(element))
    except ValueError:
        raise BindingError(f"arguments with elements of {t.type_text(element)} cannot be bound") from None


def host_shape(type_: t.TileType | t.TileBufType) -> tuple[int, int]:
    """Returns rows and columns of the storage units of a tile: those of its type, where matrix operands of 4-bit
    numbers have half as many along the direction in which two numbers share a byte."""
    fmt = argument_format(type_)
    assert fmt is not None
    if isinstance(type_, t.TileBufType) and fmt.bits == 4 and type_.loc in PACKED_OPERANDS:
        return pair_shape(type_.rows, type_.cols, type_.blayout, type_.slayout)
    return type_.rows, type_.cols


def binder(name: str, type_: Attribute, profile: Profile, otherwise: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Returns ``bind_argument`` for one argument, specialized for its type; ``otherwise`` binds values that are not
    plain arrays or numbers."""
    fmt = argument_format(type_)
    direct = fmt if isinstance(type_, t.PtrType) and (space_of(type_) or "gm") == "gm" else None

    def bind(value: Any) -> Any:
        # Most arguments are arrays that become global memory unchanged.
        if direct is not None and type(value) is np.ndarray and value.dtype == direct.storage:
            flags = value.flags
            if flags.c_contiguous and flags.writeable:
                return buffer_pointer(value, direct, name)
        if type(value) in _PLAIN:
            return bind_argument(name, type_, value, profile)
        return otherwise(value)

    return bind


_PLAIN = frozenset((int, float, bool))


def bind_argument(
    name: str, type_: Attribute, value: Any, profile: Profile | None = None, *, read_only: bool = False
) -> Any:
    """Returns the run-time value of one argument.

    Arrays stay shared with the caller, those of other libraries too (``foreign.as_array``): the kernel's writes appear
    in them, for tile buffers (which need the ``profile``) when they are handed back; vectors and logical predicates are
    values, which no kernel changes. A pointer into on-chip memory gets a memory of the array's size there. With
    ``read_only`` the kernel writes nothing through the argument, so the array may be read-only. Raises ``BindingError``
    for a value that does not fit the argument's type.
    """
    fmt = argument_format(type_)
    if not isinstance(value, (np.ndarray, int, float, PerCore, InParts)):
        from .foreign import as_array  # deferred: start-up

        value = as_array(value)
    if isinstance(value, InParts):
        return _parted(name, type_, value, profile, read_only)
    if fmt is None:
        if isinstance(value, PerCore):
            return BoundPerCore(name, value, lambda number: _scalar(name, type_, number))
        return _scalar(name, type_, value)
    if not isinstance(value, np.ndarray):
        raise BindingError(f"argument {name} ({t.type_text(type_)}) needs an array, found {reprlib.repr(value)}")
    if isinstance(type_, t.PtrType) and isinstance(type_.element, VectorType):
        value = _units(name, type_.element, value, fmt)
    if value.dtype.names is not None and isinstance(type_, t.PtrType):
        value = of_records(value, fmt)
    if value.dtype != fmt.storage:
        if value.dtype.itemsize != fmt.storage.itemsize or not _is_bits(value.dtype, fmt):
            raise BindingError(f"argument {name} needs elements of {fmt.name}, found an array of {value.dtype}")
        value = value.view(fmt.storage)
    if isinstance(type_, (t.VRegType, t.VmiVRegType, t.VmiMaskType)):
        if value.size != type_.lanes:
            raise BindingError(f"argument {name} needs an array of {type_.lanes} lanes, found {value.size}")
        return np.ascontiguousarray(value.reshape(-1))
    if isinstance(type_, (t.TileType, t.TileBufType)):
        rows, cols = value.shape if value.ndim == 2 else (1, value.size)
        expected = host_shape(type_)
        if (rows, cols) != expected:
            raise BindingError(f"argument {name} needs a {expected[0]}x{expected[1]} array, found {rows}x{cols}")
        value = value.reshape(rows, cols)
        return (
            _host_tile(name, type_, value, profile)
            if isinstance(type_, t.TileBufType)
            else ValueTile(rows, cols, fmt, value)
        )
    if not (value.flags.c_contiguous and (value.flags.writeable or read_only)):
        raise BindingError(f"argument {name} needs a writable, contiguous array")
    space = space_of(type_) or "gm"
    pointer = buffer_pointer(value, fmt, name, space, read_only=not value.flags.writeable)
    if isinstance(type_, t.PtrType):
        return pointer
    assert isinstance(type_, (MemRefType, t.ShapedView))
    shape, strides, offset = _extents(name, type_, value)
    if isinstance(type_, MemRefType):
        return MemRef(pointer.advance(offset), shape, strides, fmt, offset)
    return GmTensor(pointer.advance(offset), shape, strides, fmt)


def bind_foreign(
    name: str, type_: Attribute, value: Any, profile: Profile, may_write: Callable[[], bool], entry: str
) -> Any:
    """Binds as ``bind_argument`` arrays of other libraries, bytes, and arrays that are read-only.

    ``may_write`` returns whether function ``entry`` may write through the argument, which read-only memory refuses with
    ``BindingError``.
    """
    from .foreign import as_array  # deferred: start-up

    parts = value if isinstance(value, InParts) else None
    array = as_array(value if parts is None else parts.array)
    fmt = argument_format(type_)
    if isinstance(value, (bytes, bytearray, memoryview)) and fmt is not None and array.dtype == np.uint8:
        if array.nbytes % fmt.storage.itemsize:
            raise BindingError(f"argument {name} needs whole elements of {fmt.name}, found {array.nbytes} bytes")
        array = array.view(fmt.storage)
    read_only = isinstance(array, np.ndarray) and fmt is not None and not array.flags.writeable
    if read_only and may_write():
        raise BindingError(f"argument {name} is read-only, and @{entry} may write it; give it a copy")
    argument = array if parts is None else InParts(array, parts.by)
    return bind_argument(name, type_, argument, profile, read_only=read_only)


def _parted(name: str, type_: Attribute, value: InParts, profile: Profile | None, read_only: bool) -> PartedPointer:
    plain = isinstance(type_, t.PtrType)
    pointer = bind_argument(name, type_, value.array, profile, read_only=read_only) if plain else None
    if not isinstance(pointer, Pointer) or pointer.arena.space != "gm":
        raise BindingError(f"argument {name} ({t.type_text(type_)}) is no pointer to global memory, which has parts")
    return PartedPointer(pointer, value.by, value.array.nbytes)


def _is_bits(dtype: np.dtype[Any], fmt: Format) -> bool:
    """Returns whether elements of the size of ``fmt`` may hold its bits: all but other floats and records."""
    if dtype.names is not None:
        return False
    if dtype.kind == "f" or dtype.isbuiltin == 2:
        return fmt.name == _SAME_BITS.get(dtype.name) or not fmt.is_float
    return True


_SAME_BITS = {"float8_e8m0fnu": "f8E8M0"}
"""Types of ``ml_dtypes`` that are stored as bits here."""


def _units(name: str, type_: VectorType, value: Array, fmt: Format) -> Array:
    """Returns an array of single numbers as one of vectors."""
    part = part_format(type_)
    if value.dtype.itemsize != part.bytes or part.bytes == fmt.bytes:
        return value
    if value.nbytes % fmt.bytes or not value.flags.c_contiguous:
        raise BindingError(f"argument {name} needs a contiguous array of whole {t.type_text(type_)}")
    return value.reshape(-1).view(fmt.storage)


def _host_tile(name: str, type_: t.TileBufType, value: Array, profile: Profile | None) -> HostTile:
    assert profile is not None
    if not value.flags.writeable:
        raise BindingError(f"argument {name} needs a writable array, because the program may change the tile")
    try:
        maker = tile_maker(type_, profile)
    except Fault as fault:
        raise BindingError(f"argument {name}: {fault.message}") from None
    memory = Arena(maker.space, maker.nbytes, name=name)
    valid = (
        (valid if valid != t.DYNAMIC else extent)
        for valid, extent in ((type_.valid_rows, type_.rows), (type_.valid_cols, type_.cols))
    )
    return HostTile(maker.at(memory.pointer(0, maker.fmt.storage, maker.fmt.bytes), *valid), value)


def _extents(name: str, type_: MemRefType | t.ShapedView, value: Array) -> tuple[Sequence[int], Sequence[int], int]:
    """Returns shape, element strides and element offset of a view of a whole buffer; an array without elements is a
    null pointer, which no access fits."""
    shape = t.shape_of(type_)
    if min(shape, default=1) < 0:
        fixed = [have for have, want in zip(value.shape, shape, strict=False) if want < 0 or have == want]
        if len(fixed) != len(shape) or value.ndim != len(shape):
            expected, actual = (t.dims_text(dims) or "()" for dims in (shape, value.shape))
            raise BindingError(f"argument {name} needs an array of shape {expected}, found {actual}")
        shape = value.shape
    strides = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    offset = 0
    if isinstance(type_, MemRefType) and not isinstance(type_.layout, NoneAttr):
        stated, start = type_.get_strides(), type_.get_offset()
        known = [stride for stride in stated or () if stride is not None]
        if start is None or stated is None or len(known) != len(shape):
            raise BindingError(f"argument {name} ({t.type_text(type_)}) has a layout that only the caller knows")
        strides, offset = known, start
    needed = 1 + offset + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    if 0 not in shape and 0 < value.size < needed:
        raise BindingError(f"argument {name} ({t.type_text(type_)}) needs {needed} elements, found {value.size}")
    return shape, strides, offset


def _scalar(name: str, type_: Attribute, value: Any) -> Any:
    """Returns a number in the form that generated code computes with: integers wrapped to their width,
    floats rounded."""
    if isinstance(value, np.ndarray):
        if value.size < 1:
            raise BindingError(f"argument {name} needs a number, found an empty array")
        value = value.reshape(-1)[0]
    if isinstance(value, np.generic):
        # Those of ``ml_dtypes`` are no ``np.number``.
        value = value.item()
    if isinstance(type_, (IntegerType, IndexType)):
        width = type_.width.data if isinstance(type_, IntegerType) else 64
        if (isinstance(value, bool) and width != 1) or not isinstance(value, int):
            raise BindingError(f"argument {name} ({t.type_text(type_)}) needs an integer, found {value!r}")
        if not -(1 << (width - 1)) <= int(value) < 1 << width:
            raise BindingError(f"argument {name}: {value} does not fit into {t.type_text(type_)}")
        if width == 1:
            return bool(value)
        bits = int(value) & ((1 << width) - 1)
        return bits - (1 << width) if bits >> (width - 1) and not is_unsigned(type_) else bits
    if t.is_float(type_) and not format_of(t.element_name(type_)).is_packed:
        if not isinstance(value, (int, float, np.number)):
            raise BindingError(f"argument {name} ({t.type_text(type_)}) needs a number, found {value!r}")
        round_to = rounder(type_)
        return float(value) if round_to is None else round_to(float(value))
    raise BindingError(f"arguments of type {t.type_text(type_)} cannot be bound")
