"""Pointers, elements and private memory of work-items. Source: docs/reference/execution.md, "Pointers, tiles and
views"; docs/reference/work-items.md, "Operations"."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator, is_integer
from pto_dialect.runtime.simt.access import load, store
from pto_dialect.runtime.simt.addresses import PointersAt, addresses_of, advanced, pointer_after, pointers
from pto_dialect.runtime.simt.integers import Resize
from pto_dialect.runtime.simt.scope import element_of

from ...faults import Fault
from ...memory.memref import MemRef, dense_strides
from ...memory.spaces import Arena, Array
from ...run.machine import Core
from ...simt.access import Element
from ...simt.addresses import Pointers
from ...simt.items import Mask, WorkItems
from ..buffers.pointers import PrintNumber, number_printer, pointer_format
from ..registry import lane_kernel
from .lane_values import ITEMS, invoke, lane, mask_of, scope_of

# ------------------------------------------------------------ private arrays


class PrivateArray:
    """Elements in row-major order, one array for each work-item; ``pointer`` is the start of each one."""

    __slots__ = ("pointer", "shape", "strides")

    def __init__(self, pointer: Pointers, shape: Sequence[int]) -> None:
        self.pointer = pointer
        self.shape = tuple(shape)
        self.strides = dense_strides(shape)


class PrivateMemory:
    """Allocates arrays of one element type."""

    def __init__(self, element: Element) -> None:
        self.element = element
        self.label = "private"

    def __call__(self, core: Core, items: WorkItems, shape: Sequence[int]) -> PrivateArray:
        """Returns new arrays with the fill pattern of the run."""
        nbytes = prod(shape) * self.element.nbytes
        arena = Arena("stack", nbytes * items.count, fill=core.block.options.fill)
        starts = np.arange(items.count) * nbytes
        return PrivateArray(Pointers((arena,), None, starts, self.element.dtype, self.element.nbytes), shape)


def element_number(items: WorkItems, mask: Mask, array: PrivateArray | MemRef, indices: tuple[Array, ...]) -> Array:
    """Returns the distance of an element from the first, in elements, for each work-item.

    Raises: Fault: ``mem-oob`` when an index of a running work-item is outside the extents.
    """
    distance = np.zeros(1, np.int64)
    for index, extent, stride in zip(indices, array.shape, array.strides, strict=True):
        wrong = items.both(mask, (index < 0) | (index >= extent))
        if wrong.any():
            at = int(np.argmax(wrong))
            position = [int(items.spread(other)[at]) for other in indices]
            shape = t.dims_text(array.shape)
            raise Fault("mem-oob", f"{items.name(at)} accesses element {position} of an array of shape {shape}")
        distance = distance + index * stride
    return distance


def pointer_text(value: SSAValue, g: Generator) -> Expr:
    """Returns the pointer, or one for each work-item, of a pointer, view or memref."""
    name = g.name(value)
    return name if isinstance(value.type, t.PtrType) else invoke(g, pointer_after, Expr("core"), name)


@lane_kernel("pto.addptr")
def addptr(op: PtoOp, g: Generator) -> None:
    """Pointers advanced by some elements."""
    pointer, offset = (named(op, name) for name in ("ptr", "offset"))
    g.define(op.results[0], invoke(g, advanced, g.name(pointer), lane(offset, g)))


@lane_kernel("pto.castptr", "pto.inttoptr", "pto.ptrtoint")
def castptr(op: PtoOp, g: Generator) -> None:
    """Addresses as pointers, pointers as those to other elements, or pointers as byte addresses."""
    (source,), result = op.operands, op.results[0]
    if isinstance(result.type, t.PtrType):
        fmt = pointer_format(result.type, g)
        if is_integer(source.type):
            define_pointers(result, source, PointersAt(result.type.space, fmt.storage, fmt.bytes), g)
        else:
            addresses = invoke(g, pointers, pointer_text(source, g))
            g.define(result, f"{addresses}.with_dtype({g.argument(fmt.storage)}, {fmt.bytes})")
        return
    define_addresses(result, pointer_text(source, g), g)


def wide_number(value: SSAValue, g: Generator) -> Expr:
    """Returns an integer of each work-item with 64 bits."""
    return invoke(g, Resize(np.dtype(np.int64), True), lane(value, g))


def define_pointers(result: SSAValue, address: SSAValue, maker: PointersAt, g: Generator) -> None:
    """Defines ``result`` as the pointers to byte addresses."""
    g.define(result, invoke(g, maker, Expr("core"), ITEMS, mask_of(g), wide_number(address, g)))


def define_addresses(result: SSAValue, pointer: Expr, g: Generator) -> None:
    """Defines ``result`` as the byte addresses of pointers."""
    numbers = invoke(g, addresses_of, Expr("core"), pointer)
    g.define(result, invoke(g, Resize(element_of(result.type, g).dtype, True), numbers))


# ------------------------------------------------------------ elements


def load_from(result: SSAValue, pointer: Expr, offset: Expr, g: Generator) -> None:
    """Defines ``result`` as what is ``offset`` elements after the pointer of each running work-item."""
    element = element_of(result.type, g)
    g.define(result, invoke(g, load, element, ITEMS, mask_of(g), pointer, offset))


def store_to(value: SSAValue, pointer: Expr, offset: Expr, g: Generator) -> None:
    """Stores the value of each running work-item ``offset`` elements after its pointer."""
    element = element_of(value.type, g)
    g.emitter.line(invoke(g, store, element, ITEMS, mask_of(g), pointer, offset, lane(value, g)))


@lane_kernel("pto.load", "pto.load_scalar", "pto.ldg", "pto.ld_dev")
def load_element(op: PtoOp, g: Generator) -> None:
    """The element ``offset`` elements after the pointer of each running work-item."""
    groups = g.operands(op)
    load_from(op.results[0], pointer_text(groups["ptr"][0], g), g.name(groups["offset"][0]), g)


@lane_kernel("pto.store", "pto.store_scalar", "pto.stg", "pto.st_dev")
def store_element(op: PtoOp, g: Generator) -> None:
    """Stores the value of each running work-item; of several at one address the highest work-item id wins."""
    groups = g.operands(op)
    store_to(groups["value"][0], pointer_text(groups["ptr"][0], g), g.name(groups["offset"][0]), g)


def _element_index(array: SSAValue, indices: tuple[SSAValue, ...], g: Generator) -> Expr:
    return invoke(g, element_number, ITEMS, mask_of(g), g.name(array), tuple(lane(index, g) for index in indices))


@lane_kernel("memref.load", "pto.local_array_get")
def load_indexed(op: Operation, g: Generator) -> None:
    """The element of a memref or local array at the indices of each running work-item."""
    array, *indices = op.operands
    load_from(op.results[0], Expr(f"{g.name(array)}.pointer"), _element_index(array, tuple(indices), g), g)


@lane_kernel("memref.store")
def store_indexed(op: Operation, g: Generator) -> None:
    """Stores the value of each running work-item in a memref; of several at one address the highest
    work-item id wins."""
    value, array, *indices = op.operands
    store_to(value, Expr(f"{g.name(array)}.pointer"), _element_index(array, tuple(indices), g), g)


@lane_kernel("pto.local_array_set")
def set_local(op: Operation, g: Generator) -> None:
    """Stores the value of each running work-item in its local array."""
    array, *indices, value = op.operands
    store_to(value, Expr(f"{g.name(array)}.pointer"), _element_index(array, tuple(indices), g), g)


# ------------------------------------------------------------ private memory


def _allocate(op: Operation, shape: tuple[Any, ...], element: Attribute, g: Generator) -> None:
    maker = PrivateMemory(element_of(element, g))
    g.define(op.results[0], invoke(g, maker, Expr("core"), ITEMS, shape))


@lane_kernel("memref.alloc", "memref.alloca")
def allocate(op: Operation, g: Generator) -> None:
    """Private memory of each work-item."""
    type_ = op.results[0].type
    assert isinstance(type_, MemRefType)
    if scope_of(g).code.variance.any(op.operands):
        raise g.error("unmodelled", "the size of this memory differs between work-items", op)
    sizes = iter(op.operands)
    shape = tuple(g.name(next(sizes)) if extent == t.DYNAMIC else extent for extent in t.shape_of(type_))
    _allocate(op, shape, type_.element_type, g)


@lane_kernel("pto.declare_local_array")
def declare_local_array(op: PtoOp, g: Generator) -> None:
    """A private array of each work-item."""
    type_ = op.results[0].type
    assert isinstance(type_, t.LocalArrayType)
    _allocate(op, tuple(type_.shape), type_.element, g)


@lane_kernel("memref.dealloc")
def deallocate(op: Operation, g: Generator) -> None:
    """Does nothing: memory is released when nothing refers to it any more."""


@lane_kernel("memref.cast")
def cast(op: Operation, g: Generator) -> None:
    """The same memory under another type."""
    g.define(op.results[0], g.name(named(op, "source")))


# ------------------------------------------------------------ reports


class PrintEach:
    """Prints the number of each running work-item, in their order."""

    label = "print"

    def __init__(self, printer: PrintNumber) -> None:
        self.printer = printer

    def __call__(self, items: Any, mask: Any, values: Any) -> None:
        """Prints ``values`` of the work-items of ``mask``."""
        for number in items.spread(values)[items.whole(mask)].tolist():
            self.printer(number)


@lane_kernel("pto.print")
def print_scalar(op: PtoOp, g: Generator) -> None:
    """Prints the number of each running work-item, in their order."""
    g.call(PrintEach(number_printer(op, g)), ITEMS, mask_of(g), lane(named(op, "scalar"), g))
