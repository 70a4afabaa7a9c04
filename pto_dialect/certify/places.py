"""The numbers of a function and the bytes that its operations access, as the checker of certificates knows them.

Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import IntegerType, MemRefType
from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import element_type, space_of
from pto_dialect.ir.buffers.views import MakeTensorViewOp, MultiTileGetOp, PartitionViewOp, TAssignOp
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.extents import slot_pitch, tile_extent
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.operands import listed, named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, PtrType, ShapedView, TileBufType, byte_width
from pto_dialect.targets.dma_units import A2A3_BURST_UNITS, A5_BURST_UNITS
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.buffers.alloc import address_operand
from pto_dialect.verify.buffers.alloc import space_of as space_of_tile

_DEEPEST = 8


@dataclass(frozen=True)
class Sum:
    """A constant and values with factors."""

    constant: int
    terms: frozenset[tuple[SSAValue, int]] = frozenset()

    def plus(self, other: Sum, factor: int = 1) -> Sum:
        terms = dict(self.terms)
        for value, count in other.terms:
            terms[value] = terms.get(value, 0) + count * factor
        kept = frozenset((value, count) for value, count in terms.items() if count)
        return Sum(self.constant + other.constant * factor, kept)


Sides = tuple[tuple[Sum, int], ...]


@dataclass(frozen=True)
class Place:
    """Bytes ``low`` to ``high`` (``None``: to the end) of an object; ``root`` ``None`` is any object. ``starts`` states
    that a handle points to ``low``. ``sides`` are the indices and sizes of a part of a view of global memory."""

    space: str
    root: Any = None
    low: int = 0
    high: int | None = None
    starts: bool = False
    view: SSAValue | None = None
    sides: Sides = ()


@dataclass(frozen=True)
class Access:
    """An access of a statement."""

    place: Place
    writes: bool


class Places:
    """Where handles point in ``function``, and what operations access."""

    def __init__(self, function: Operation, profile: Profile) -> None:
        self.function, self.profile = function, profile
        self.arguments = frozenset[SSAValue](function.regions[0].blocks[0].args)

    def accesses(self, op: PtoOp) -> list[Access]:
        form, groups = form_of(op, self.profile.arch), operand_groups(op)
        found = [
            Access(self._touched(op, name, value), writes)
            for writes, names in ((False, form.reads), (True, form.writes))
            for name in names
            for value in groups.get(name, ())
            if self.space(value) is not None
        ]
        results = [value for value in op.results if form.writes_results and self.space(value) is not None]
        return list(dict.fromkeys((*found, *(Access(self.place(value), True) for value in results))))

    def _touched(self, op: PtoOp, name: str, value: SSAValue) -> Place:
        """Returns the bytes that an operation accesses at one of its operands: from a pointer on those of the transfer,
        or any of its object, because offsets may be negative."""
        place = self.place(value)
        if not isinstance(value.type, (PtrType, MemRefType)):
            return place
        length = self._length(op, name) if place.starts else None
        return Place(place.space, place.root) if length is None else replace(place, high=place.low + length)

    def space(self, value: SSAValue) -> str | None:
        """Returns the memory of a handle; ``None`` for other values."""
        kind = value.type
        tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
        if isinstance(tile, TileBufType):
            return space_of_tile(tile, self.profile)
        return space_of(kind) or ("gm" if isinstance(kind, (MemRefType, PtrType, ShapedView)) else None)

    def place(self, value: SSAValue) -> Place:
        """Returns the bytes of a handle; what is not known is any byte of its memory."""
        space, op = self.space(value) or "gm", value.owner
        if isinstance(op, Block):
            # Arguments of the function are objects of their own.
            return Place(space, value, view=value) if value in self.arguments else Place(space)
        if has_role(op, Role.TILE_ALLOCATION) or isinstance(op, TAssignOp):
            return self._tile(op, value, space)
        if not op.operands or self.space(op.operands[0]) != space:
            # A pointer into global memory that is made from a number may point anywhere.
            low = natural(op.operands[0]) if has_role(op, Role.ADDRESS) and space != "gm" else None
            return Place(space) if low is None else Place(space, "bytes", low, starts=True)
        source = self.place(op.operands[0])
        if isinstance(op, MakeTensorViewOp):
            return Place(space, source.root, view=value if self._has_own_bytes(op) else None)
        if isinstance(op, PartitionViewOp):
            return replace(source, sides=self._sides(op)) if source.view is op.operands[0] else source
        if not has_role(op, Role.VIEW):
            return Place(space)
        if space == "gm":
            return Place(space, source.root)
        if isinstance(op, MultiTileGetOp) or has_role(op, Role.DISPLACEMENT):
            return self._moved(op, value, source)
        high = source.high if isinstance(value.type, (TileBufType, MultiTileBufType)) else None
        return replace(source, high=high, starts=source.starts and has_role(op, Role.ADDRESS))

    def _size(self, value: SSAValue) -> int | None:
        kind, arch = value.type, self.profile.arch
        if isinstance(kind, MultiTileBufType):
            return slot_pitch(kind.slot, arch) * kind.count if isinstance(kind.slot, TileBufType) else None
        return (tile_extent(kind, arch) or None) if isinstance(kind, TileBufType) else None

    def _tile(self, op: Operation, value: SSAValue, space: str) -> Place:
        address = named(op, "addr") if isinstance(op, TAssignOp) else address_operand(op)
        low, size = None if address is None else natural(address), self._size(value)
        if address is None or low is None:
            return Place(space, value if address is None else None)
        return Place(space, "bytes", low, low + size if size else None, True)

    def _moved(self, op: Operation, value: SSAValue, source: Place) -> Place:
        """Returns a slot of several tiles, or a pointer with an offset."""
        element = element_type(value.type)
        pitch = slot_pitch(value.type, self.profile.arch) if isinstance(value.type, TileBufType) else None
        pitch = byte_width(element) if isinstance(value.type, PtrType) and element is not None else pitch
        number, size = natural(op.operands[1]), self._size(value)
        if number is None or pitch is None:
            return replace(source, starts=False) if isinstance(op, MultiTileGetOp) else Place(source.space, source.root)
        low = source.low + number * pitch
        return Place(source.space, source.root, low, low + size if size else None, source.starts)

    def _length(self, op: PtoOp, name: str) -> int | None:
        """Returns the bytes from its pointer on that a transfer in bursts touches; ``None`` where they are not
        known."""
        groups, side = operand_groups(op), {"source": "src", "destination": "dst"}.get(name)
        units = A2A3_BURST_UNITS if self.profile.arch == "a2a3" else A5_BURST_UNITS
        unit = units.get(op.name.removeprefix("pto.")) if op.name.startswith("pto.mte") else None
        if unit is None or side is None or groups.get("pad_value"):
            return None
        words = (f"nburst_{side}_stride", f"nburst_{side}_gap", f"{side}_stride", f"burst_{side}_stride")
        steps = [groups[word][0] for word in words if groups.get(word)]
        loops = zip(groups.get("loop_counts", ()), groups.get(f"loop_{side}_strides", ()), strict=True)
        values = (*groups["len_burst"], *groups["n_burst"], *steps[:1], *(value for pair in loops for value in pair))
        numbers = [number for value in values if (number := natural(value)) is not None]
        if len(numbers) != len(values) or not steps:
            return None
        length, count, step, *rest = numbers
        reach = unit.bytes * (max(count - 1, 0) * (step + (length if unit.stride == "gap" else 0)) + length)
        return reach + sum(max(times - 1, 0) * by for times, by in zip(rest[::2], rest[1::2], strict=True))

    # ------------------------------------------------------------ views

    def _has_own_bytes(self, op: MakeTensorViewOp) -> bool:
        """Returns whether a view is the same in the whole function, and each of its elements has bytes of its own: by
        constants, each stride is more than the dimensions of smaller strides reach together."""
        strides, shape = [natural(one) for one in listed(op, "strides")], self._shape(op.results[0])
        if op.parent_op() is not self.function or None in strides or len(strides) != len(shape):
            return False
        reach: int | None = 0
        for stride, size in sorted(zip(strides, shape, strict=True), key=lambda pair: pair[0] or 0):
            if reach is None or (stride or 0) <= reach:
                return False
            reach = None if size is None else reach + (stride or 0) * max(size - 1, 0)
        return True

    def _shape(self, value: SSAValue) -> list[int | None]:
        """Returns the sizes of a view, where they are constants."""
        if isinstance(value.owner, MakeTensorViewOp):
            return [natural(one) for one in listed(value.owner, "shape")]
        return [size if size >= 0 else None for size in getattr(value.type, "shape", ())]

    def _sides(self, op: PartitionViewOp) -> Sides:
        """Index and size of each dimension of a part of a view; none where a size is no constant, or where constants
        say that it reaches beyond a dimension, into what has other indices."""
        starts, shape = [sum_of(one) for one in listed(op, "offsets")], self._shape(op.operands[0])
        sizes = [size for one in listed(op, "sizes") if (size := natural(one)) is not None]
        if not len(starts) == len(sizes) == len(shape):
            return ()
        for start, size, limit in zip(starts, sizes, shape, strict=True):
            first = 0 if start.terms else start.constant
            if first < 0 or (limit is not None and first + size > limit):
                return ()
        return tuple(zip(starts, sizes, strict=True))


# ------------------------------------------------------------ numbers


def natural(value: SSAValue) -> int | None:
    """Returns a constant that is not negative."""
    number = constant_of(value)
    return number if isinstance(number, int) and number >= 0 else None


def sum_of(value: SSAValue, depth: int = _DEEPEST) -> Sum:
    """Returns a number as a sum; what is not followed is a value of its own."""
    number, op = constant_of(value), value.owner
    if isinstance(number, int):
        return Sum(number)
    if isinstance(op, Operation) and depth and not any(map(_is_narrow, (value, *op.operands))):
        parts = [sum_of(one, depth - 1) for one in op.operands] if op.name.startswith("arith.") else []
        match op.name, parts:
            case "arith.index_cast", [one]:
                return one
            case "arith.addi" | "arith.subi", [one, other]:
                return one.plus(other, 1 if op.name == "arith.addi" else -1)
            case ("arith.muli", [one, Sum(factor, terms)]) | ("arith.muli", [Sum(factor, terms), one]) if not terms:
                return Sum(0).plus(one, factor)
            case _:
                pass
    return Sum(0, frozenset(((value, 1),)))


def _is_narrow(value: SSAValue) -> bool:
    """Returns whether a value is an integer of less than 32 bits, whose sums and casts wrap around."""
    return isinstance(value.type, IntegerType) and value.type.width.data < 32
