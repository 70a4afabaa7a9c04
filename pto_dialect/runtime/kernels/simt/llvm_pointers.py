"""Pointers of LLVM, what they load and store, and elements of its vectors. Source: docs/reference/core-dialects.md,
"Pointers and vectors of LLVM".

Such a pointer is a pointer to bytes, of all work-items or one for each.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase, VectorType, i8
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core_dialects.llvm_pointers import llvm_space
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.faults import Fault
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.simt.access import Element
from pto_dialect.runtime.simt.addresses import PointersAt, advanced
from pto_dialect.runtime.simt.items import Mask, WorkItems
from pto_dialect.runtime.simt.scope import element_of

from ..buffers.pointers import PointerMaker, load_element, scalar_result, store_element
from ..core.scalar import wrapped
from ..registry import kernel, lane_kernel
from .lane_memory import define_addresses, define_pointers, load_from, store_to, wide_number
from .lane_values import ITEMS, invoke, lane, mask_of

_BYTE = np.dtype(np.uint8)
_DYNAMIC = -(1 << 31)
"""What ``rawConstantIndices`` states where an index is an operand."""


def _space(type_: Attribute, op: Operation, g: Generator) -> str:
    """Returns the memory of a pointer type."""
    space = llvm_space(type_)
    if space is None:
        raise g.error("unmodelled", f"{t.type_text(type_)} names no memory of the chip", op)
    return space


@kernel("llvm.inttoptr")
def pointer_at(op: Operation, g: Generator) -> None:
    """The pointer to a byte address."""
    (source,), result = op.operands, op.results[0]
    maker = PointerMaker(_space(result.type, op, g), g.format(i8))
    g.define(result, f"{g.argument(maker)}(core, {g.name(source)})")


@lane_kernel("llvm.inttoptr")
def pointers_at(op: Operation, g: Generator) -> None:
    """The pointers to byte addresses."""
    (source,), result = op.operands, op.results[0]
    define_pointers(result, source, PointersAt(_space(result.type, op, g), _BYTE, 1), g)


@kernel("llvm.ptrtoint")
def address_of(op: Operation, g: Generator) -> None:
    """The byte address of a pointer."""
    (source,), result = op.operands, op.results[0]
    g.define(result, wrapped(f"core.address_of({g.name(source)})", result.type))


@lane_kernel("llvm.ptrtoint")
def addresses(op: Operation, g: Generator) -> None:
    """The byte addresses of pointers."""
    (source,), result = op.operands, op.results[0]
    define_addresses(result, g.name(source), g)


@kernel("llvm.addrspacecast")
@lane_kernel("llvm.addrspacecast")
def same_space(op: Operation, g: Generator) -> None:
    """The same pointer, where both types name one memory."""
    (source,), result = op.operands, op.results[0]
    if t.type_text(source.type) != t.type_text(result.type):
        raise g.error("unmodelled", f"{op.name} between memories cannot be executed", op)
    g.define(result, g.name(source))


def _distance(op: Operation, g: Generator) -> tuple[SSAValue, SSAValue | int, int]:
    """Returns the pointer of a ``getelementptr``, its index, and the bytes of its elements."""
    pointer, *dynamic = op.operands
    raw, of = op.properties.get("rawConstantIndices"), op.properties.get("elem_type")
    indices = list(raw.get_values()) if isinstance(raw, DenseArrayBase) else []
    if len(indices) != 1 or of is None:
        raise g.error("unmodelled", f"{op.name} with other than one index cannot be executed", op)
    nbytes = element_of(of, g).nbytes
    return pointer, (dynamic[0] if indices[0] == _DYNAMIC else int(indices[0])), nbytes


@kernel("llvm.getelementptr")
def advance(op: Operation, g: Generator) -> None:
    """A pointer advanced by some elements."""
    pointer, index, nbytes = _distance(op, g)
    count = index if isinstance(index, int) else g.name(index)
    g.define(op.results[0], f"{g.name(pointer)}.advance({count} * {nbytes})")


@lane_kernel("llvm.getelementptr")
def advance_each(op: Operation, g: Generator) -> None:
    """Pointers advanced by some elements."""
    pointer, index, nbytes = _distance(op, g)
    if isinstance(index, int):
        distance = g.emitter.constant(np.array([index * nbytes]), "distance")
    else:
        distance = Expr(f"{wide_number(index, g)} * {nbytes}")
    g.define(op.results[0], invoke(g, advanced, g.name(pointer), distance))


# ------------------------------------------------------------ accesses


def _single_format(type_: Attribute, op: Operation, g: Generator) -> Format:
    if isinstance(type_, VectorType):
        raise g.error("unmodelled", f"{op.name} of {t.type_text(type_)} outside of SIMT bodies", op)
    return g.format(type_)


def _elements(pointer: SSAValue, fmt: Format, g: Generator) -> Expr:
    """Returns a pointer to numbers in place of one to bytes."""
    return Expr(f"{g.name(pointer)}.with_dtype({g.argument(fmt.storage)}, {fmt.bytes})")


@kernel("llvm.load")
def load(op: Operation, g: Generator) -> None:
    """The number at a pointer."""
    (pointer,), result = op.operands, op.results[0]
    fmt = _single_format(result.type, op, g)
    g.define(result, scalar_result(invoke(g, load_element, _elements(pointer, fmt, g), 0, fmt), result.type))


@lane_kernel("llvm.load")
def load_each(op: Operation, g: Generator) -> None:
    """The number or vector at the pointer of each running work-item."""
    (pointer,) = op.operands
    load_from(op.results[0], g.name(pointer), Expr("0"), g)


@kernel("llvm.store")
def store(op: Operation, g: Generator) -> None:
    """Stores a number at a pointer."""
    value, pointer = op.operands
    fmt = _single_format(value.type, op, g)
    g.call(store_element, _elements(pointer, fmt, g), 0, g.name(value), fmt)


@lane_kernel("llvm.store")
def store_each(op: Operation, g: Generator) -> None:
    """Stores the number or vector of each running work-item; of several at one address the highest work-item id
    wins."""
    value, pointer = op.operands
    store_to(value, g.name(pointer), Expr("0"), g)


# ------------------------------------------------------------ vectors


@lane_kernel("llvm.mlir.undef", "llvm.mlir.zero")
def no_numbers(op: Operation, g: Generator) -> None:
    """A vector of zeros, which also stand for values that the program leaves open."""
    element = element_of(op.results[0].type, g)
    zeros = np.zeros(element.shape(1), element.dtype)
    zeros.flags.writeable = False
    g.define(op.results[0], g.emitter.constant(zeros, "zeros"))


class _Position:
    """An element of a vector by its number; ``element`` describes the vector."""

    def __init__(self, element: Element) -> None:
        self.element = element

    def checked(self, items: WorkItems, mask: Mask, position: Array) -> Array:
        """Returns positions [count] as they are, zero where no work-item runs.

        Raises: Fault: ``mem-oob`` for a running work-item with a position outside of the vector.
        """
        position = items.spread(position).astype(np.int64)
        wrong = (position < 0) | (position >= self.element.parts)
        if items.both(mask, wrong).any():
            at = int(np.argmax(items.both(mask, wrong)))
            message = f"{items.name(at)} names element {int(position[at])} of a vector of {self.element.parts}"
            raise Fault("mem-oob", message)
        return np.where(wrong, 0, position)


class Insertion(_Position):
    """Replaces one element of a vector."""

    label = "insert"

    def __call__(self, items: WorkItems, mask: Mask, vector: Array, value: Array, position: Array) -> Array:
        """Returns vectors [count, parts] with ``value`` at ``position``."""
        result = items.spread(vector).copy()
        result[np.arange(items.count), self.checked(items, mask, position)] = items.spread(value)
        return result


class Extraction(_Position):
    """Selects one element of a vector."""

    label = "extract"

    def __call__(self, items: WorkItems, mask: Mask, vector: Array, position: Array) -> Array:
        """Returns the elements [count] at ``position``."""
        return items.spread(vector)[np.arange(items.count), self.checked(items, mask, position)]


@lane_kernel("llvm.insertelement")
def insert(op: Operation, g: Generator) -> None:
    """A vector with another number at one position."""
    vector, value, position = (lane(operand, g) for operand in op.operands)
    function = Insertion(element_of(op.results[0].type, g))
    g.define(op.results[0], invoke(g, function, ITEMS, mask_of(g), vector, value, position))


@lane_kernel("llvm.extractelement")
def extract(op: Operation, g: Generator) -> None:
    """One number of a vector."""
    vector, position = op.operands
    function = Extraction(element_of(vector.type, g))
    g.define(op.results[0], invoke(g, function, ITEMS, mask_of(g), lane(vector, g), lane(position, g)))
