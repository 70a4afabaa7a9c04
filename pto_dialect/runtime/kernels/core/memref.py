"""``memref``: scratch memory and views of it. Source: docs/reference/core-dialects.md, "Operations";
docs/reference/execution.md, "Pointers, tiles and views".

A memref of an on-chip memory space is in that memory of the core; one without a space is memory of the scalar unit,
allocated each time the operation runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, MemRefType, StridedLayoutAttr
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.type_facts import space_of
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.extents import entry_of
from pto_dialect.runtime.memory.memref import MemRef, dense_strides
from pto_dialect.runtime.memory.spaces import Arena, Pointer
from pto_dialect.runtime.numerics.formats import Format
from pto_dialect.runtime.run.machine import Core

from ..buffers.pointers import scalar_result
from ..registry import kernel
from .memref_maker import static_strides


def memref_type(value: SSAValue) -> MemRefType:
    """Returns the type of a memref."""
    assert isinstance(value.type, MemRefType)
    return value.type


def _tuple(parts: Sequence[object]) -> str:
    return "(" + "".join(f"{part}, " for part in parts) + ")"


class Allocator:
    """Allocates memrefs of one type. ``address`` is their address in an on-chip memory, ``None`` for
    separate memory."""

    def __init__(self, space: str | None, address: int | None, fmt: Format, strides: tuple[int, ...] | None) -> None:
        self.space = space
        self.address = address
        self.fmt = fmt
        self.strides = strides
        self.label = "alloc"

    def __call__(self, core: Core, *shape: int) -> MemRef:
        """Returns a memref of ``shape``; new memory has the fill pattern of the run."""
        strides = self.strides or dense_strides(shape)
        if self.address is not None:
            assert self.space is not None
            return MemRef(self._pointer(core.arena(self.space), self.address), shape, strides, self.fmt)
        elements = 1 + sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
        size = elements * self.fmt.bytes if 0 not in shape else 0
        arena = Arena(self.space or "stack", size, fill=core.block.options.fill)
        # Allocated here, so that this operation is reported when memory is exhausted.
        arena.occupy()
        return MemRef(self._pointer(arena, 0), shape, strides, self.fmt)

    def _pointer(self, arena: Arena, offset: int) -> Pointer:
        return Pointer(arena, offset, self.fmt.storage, self.fmt.bytes)


@kernel("memref.alloc", "memref.alloca")
def allocate(op: Operation, g: Generator) -> None:
    """Memory of the type's shape in the space that the type names; dynamic extents are operands."""
    type_ = memref_type(op.results[0])
    space = space_of(type_)
    sizes = iter(op.operands)
    shape = [str(g.name(next(sizes))) if extent == t.DYNAMIC else str(extent) for extent in t.shape_of(type_)]
    maker = Allocator(space, g.placement.get(op), g.format(type_.element_type), static_strides(type_, g))
    g.define(op.results[0], f"{g.argument(maker)}({', '.join(['core', *shape])})")


@kernel("memref.dealloc")
def deallocate(op: Operation, g: Generator) -> None:
    """Does nothing: memory is released when nothing refers to it any more."""


# ------------------------------------------------------------ elements


@kernel("memref.load")
def load(op: Operation, g: Generator) -> None:
    """The element at the indices."""
    source, *indices = (g.name(v) for v in op.operands)
    result = op.results[0]
    g.define(result, scalar_result(f"{source}.load({', '.join(indices)})", result.type))


@kernel("memref.store")
def store(op: Operation, g: Generator) -> None:
    """Stores a number at the indices."""
    value, target, *indices = (g.name(v) for v in op.operands)
    g.emitter.line(f"{target}.store({', '.join([value, *indices])})")


@kernel("memref.copy")
def copy(op: Operation, g: Generator) -> None:
    """Copies all elements of one memref to another of the same shape."""
    source, target = (g.name(v) for v in op.operands)
    g.emitter.line(f"{target}.copy_from({source})")


@kernel("memref.dim")
def dim(op: Operation, g: Generator) -> None:
    """The extent of one dimension."""
    source, axis = (g.name(v) for v in op.operands)
    g.define(op.results[0], f"{g.argument(entry_of)}({source}.shape, {axis})")


@kernel("memref.rank")
def rank(op: Operation, g: Generator) -> None:
    """The number of dimensions."""
    g.define(op.results[0], f"len({g.name(named(op, 'source'))}.shape)")


# ------------------------------------------------------------ views


def _mixed(op: Operation, g: Generator) -> list[list[str]]:
    """Returns offsets, sizes and strides: static numbers, and operands in place of the marker for dynamic ones."""
    operands = iter(list(op.operands)[1:])
    lists: list[list[str]] = []
    for name in ("static_offsets", "static_sizes", "static_strides"):
        numbers = op.properties[name]
        assert isinstance(numbers, DenseArrayBase)
        values = [int(number) for number in numbers.get_values()]
        lists.append([str(g.name(next(operands))) if n == DYNAMIC_INDEX else str(n) for n in values])
    return lists


def retained_dimensions(sizes: Sequence[str], result: MemRefType) -> list[int]:
    """Returns the dimensions of a subview that its result retains: unit ones are dropped from the left until the ranks
    agree."""
    dropped = len(sizes) - len(result.get_shape())
    retained: list[int] = []
    for axis, size in enumerate(sizes):
        if dropped and size == "1":
            dropped -= 1
        else:
            retained.append(axis)
    return retained


@kernel("memref.subview")
def subview(op: Operation, g: Generator) -> None:
    """The part of a memref with the offsets, sizes and strides of attributes and operands; unit dimensions may be
    dropped."""
    offsets, sizes, strides = _mixed(op, g)
    result = op.results[0]
    retained = retained_dimensions(sizes, memref_type(result))
    if len(retained) != len(memref_type(result).get_shape()):
        raise g.error("unmodelled", "the result of this subview drops dimensions that are not 1", op)
    lists = ", ".join(_tuple(part) for part in (offsets, sizes, strides, retained))
    g.define(result, f"{g.name(named(op, 'source'))}.subview({lists})")


@kernel("memref.reinterpret_cast")
def reinterpret_cast(op: Operation, g: Generator) -> None:
    """The memory of a memref with other offset, sizes and strides, all in elements."""
    offsets, sizes, strides = _mixed(op, g)
    g.define(
        op.results[0],
        f"{g.name(named(op, 'source'))}.reinterpreted({offsets[0]}, {_tuple(sizes)}, {_tuple(strides)})",
    )


@kernel("memref.cast", "memref.memory_space_cast")
def cast(op: Operation, g: Generator) -> None:
    """The same memory: extents and strides that a type leaves dynamic are known at run time."""
    source, result = named(op, "source"), op.results[0]
    spaces = [space_of(value.type) for value in (source, result)]
    if None not in spaces and spaces[0] != spaces[1]:
        raise g.error("memref-cast", f"a memref in {spaces[0]} is not one in {spaces[1]}", op)
    g.define(result, str(g.name(source)))


@kernel("memref.extract_aligned_pointer_as_index")
def address(op: Operation, g: Generator) -> None:
    """The start of the memory of which the operand, without an offset, is the first part."""
    layout = memref_type(named(op, "source")).layout
    if isinstance(layout, StridedLayoutAttr) and layout.get_offset() != 0:
        raise g.error("unmodelled", "where the memory around a view with an offset begins is not known", op)
    g.define(op.results[0], f"core.address_of({g.name(named(op, 'source'))})")
