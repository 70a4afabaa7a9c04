"""Memrefs of known types over given memory. Source: docs/reference/execution.md, "Pointers, tiles and views"."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, NoneAttr
from xdsl.ir import Attribute

from pto_dialect.ir.core import types as t
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.memref import MemRef, dense_strides
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.numerics.formats import Format


def static_strides(type_: MemRefType, g: Generator) -> tuple[int, ...] | None:
    """Returns the element strides that a type states; ``None`` for contiguous rows whose length is only known at run
    time.

    Raises the error ``unmodelled`` for a layout that is not strided or dynamic.
    """
    if isinstance(type_.layout, NoneAttr):
        shape = t.shape_of(type_)
        return None if t.DYNAMIC in shape[1:] else dense_strides(shape)
    strides = type_.get_strides()
    known = [stride for stride in strides or () if stride is not None]
    if strides is None or len(known) != len(strides):
        raise g.error("unmodelled", f"{t.type_text(type_)} has no layout to allocate")
    return tuple(known)


class MemRefOver:
    """Makes memrefs of one type over memory that a pointer names."""

    label = "memref"

    def __init__(self, shape: tuple[int, ...], strides: tuple[int, ...], fmt: Format) -> None:
        self.shape = shape
        self.strides = strides
        self.fmt = fmt

    def __call__(self, pointer: Pointer) -> MemRef:
        """Returns the memref whose first element is at ``pointer``."""
        return MemRef(pointer.with_dtype(self.fmt.storage, self.fmt.bytes), self.shape, self.strides, self.fmt)


def memref_over(type_: Attribute, g: Generator) -> MemRefOver:
    """Returns the builder of memrefs of a type with static extents over given memory."""
    assert isinstance(type_, MemRefType)
    shape = t.shape_of(type_)
    if t.DYNAMIC in shape:
        raise g.error("unmodelled", f"{t.type_text(type_)} does not say which elements it has")
    strides = static_strides(type_, g)
    assert strides is not None
    return MemRefOver(shape, strides, g.format(type_.element_type))
