"""Where handles point: the object in a memory, the byte in it, and the rectangle of a view.

Source: docs/reference/execution.md, "Pointers, tiles and views"; docs/reference/layouts.md, "Views of global memory".
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Self

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, OpResult, SSAValue

from pto_dialect.analysis.type_facts import element_type
from pto_dialect.analysis.type_facts import space_of as space_of_type
from pto_dialect.ir.buffers.views import (
    BitcastOp,
    MakeTensorViewOp,
    MultiTileGetOp,
    PartitionViewOp,
    SubviewOp,
    TAssignOp,
    TReshapeOp,
)
from pto_dialect.ir.core.base import is_pto, operand_groups
from pto_dialect.ir.core.extents import slot_pitch, tile_extent
from pto_dialect.ir.core.operands import listed, named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import (
    DYNAMIC,
    MultiTileBufType,
    PartitionViewType,
    PtrType,
    TensorViewType,
    TileBufType,
    byte_width,
)
from pto_dialect.ir.core_dialects.structured import is_if
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.buffers.alloc import address_operand, space_of

from .cores.entries import is_entry, object_of
from .expressions import TRUE, Condition, Expr, Ordinal, Varying, both, negated, symbols_of
from .injective import Sides, are_distinct
from .values import Numbers

GLOBAL = "gm"
BYTES = "bytes"
"""The object of all handles with an address of their own."""
MEMORY = (TileBufType, MultiTileBufType, PtrType, TensorViewType, PartitionViewType, MemRefType)


@dataclass(frozen=True)
class Place:
    """Where a handle points if ``condition`` holds.

    ``offset`` is its first byte in ``root`` (``None`` where that is not known), ``extent`` the bytes that it covers
    (``None`` for pointers and views, and where nothing is known), ``sure`` how many of the first of them an operation
    on the whole handle must touch. ``sides`` are those of a part of ``frame``, ``strides`` the bytes from one index to
    the next of each dimension of a view, ``shape`` its sizes, ``unit`` the bytes of an element. ``slot`` is the first
    byte of a multi-buffer and the number of its slot that begins at ``offset``. ``certain`` states that nothing was
    widened."""

    space: str
    root: Hashable
    offset: Expr | None = None
    extent: Expr | None = None
    sure: int = 0
    frame: Hashable = None
    sides: Sides = ()
    strides: tuple[Expr | None, ...] = ()
    shape: tuple[Expr | None, ...] = ()
    unit: int = 1
    slot: tuple[Expr, Expr] | None = None
    condition: Condition = TRUE
    certain: bool = True


class Places:
    """The locations of the handles of one function body."""

    def __init__(self, profile: Profile, numbers: Numbers) -> None:
        self.profile = profile
        self.numbers = numbers
        self.assumed: dict[str, None] = {}
        """What comparisons of parts take for granted."""
        self._known: dict[SSAValue, tuple[Place, ...]] = {}

    def copy(self, numbers: Numbers) -> Self:
        """Returns another object that knows as much."""
        other = type(self)(self.profile, numbers)
        other._known = dict(self._known)
        other.assumed = self.assumed
        return other

    def bind(self, value: SSAValue, places: tuple[Place, ...]) -> None:
        """States where a handle points that no operation defines."""
        self._known[value] = places

    def of(self, value: SSAValue) -> tuple[Place, ...]:
        """Returns where a handle may point."""
        known = self._known.get(value)
        if known is None:
            self._known[value] = (self.anywhere(value),)
            known = self._known[value] = tuple(self._locate(value))
        return known

    def anywhere(self, value: SSAValue) -> Place:
        """Returns some location in the memory of a handle."""
        return Place(self.space(value), None, certain=False)

    def space(self, value: SSAValue) -> str:
        """Returns the memory of a handle."""
        kind = value.type
        tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
        if isinstance(tile, TileBufType):
            return space_of(tile, self.profile)
        return space_of_type(kind) or GLOBAL

    def argument(self, value: SSAValue) -> Place:
        """Returns the location of an argument of the function: an object of its own."""
        kind = value.type
        frame = ("view", value) if isinstance(kind, (TensorViewType, PartitionViewType)) else None
        sides: Sides = ()
        if isinstance(kind, PartitionViewType):
            shape = [int(size) for size in kind.shape]
            if all(size >= 0 for size in shape):
                sides = tuple((Expr(0), Expr(size)) for size in shape)
        offset = Expr(0) if frame is None else None
        extent, sure = self._tile_size(kind)
        return Place(self.space(value), value, offset, extent, sure, frame, sides)

    def _tile_size(self, kind: object) -> tuple[Expr | None, int]:
        if not isinstance(kind, TileBufType):
            return None, 0
        size = tile_extent(kind, self.profile.arch)
        return (Expr(size) if size else None), min(size, _sure_bytes(kind))

    # ------------------------------------------------------------ operations

    def _locate(self, value: SSAValue) -> Sequence[Place]:
        op = value.owner
        if isinstance(op, Block) or not isinstance(value, OpResult):
            return [self.anywhere(value)]
        if has_role(op, Role.TILE_ALLOCATION):
            return [self._allocated(op, value)]
        if isinstance(op, TAssignOp):
            return [self._addressed(value, named(op, "addr"))]
        for cls, method in _VIEWS:
            if isinstance(op, cls):
                source = op.operands[0]
                return [getattr(self, method)(place, op, value) for place in self.of(source)]
        if has_role(op, Role.DISPLACEMENT):
            return [self._advanced(place, op) for place in self.of(op.operands[0])]
        if has_role(op, Role.ADDRESS):
            return self._pointer(op, value)
        if has_role(op, Role.SELECT):
            return self._either(op.operands[0], op.operands[1], op.operands[2])
        if is_if(op):
            ends = [region.block.last_op for region in op.regions if region.blocks]
            if len(ends) == 2 and ends[0] is not None and ends[1] is not None:
                return self._either(op.operands[0], ends[0].operands[value.index], ends[1].operands[value.index])
        if has_role(op, Role.LOOP) and isinstance(value.type, MEMORY):
            return self._after(op, value)
        if has_role(op, Role.VIEW):
            return [self._viewed(place, op, value) for place in self.of(op.operands[0])]
        if is_entry(op):
            # A queue gives it another slot each time.
            extent, _ = self._tile_size(value.type)
            root = object_of(value, self.profile.arch)
            return [Place(self.space(value), root, Expr(0) if root is value else None, extent, certain=False)]
        if (is_pto(op) and isinstance(value.type, (TileBufType, MemRefType))) or has_role(op, Role.ALLOCATION):
            extent, sure = self._tile_size(value.type)
            return [Place(self.space(value), value, Expr(0), extent, sure)]
        return [self.anywhere(value)]

    def _allocated(self, op: Operation, value: SSAValue) -> Place:
        address = address_operand(op)
        if address is not None:
            return self._addressed(value, address)
        extent, sure = self._tile_size(value.type)
        return Place(self.space(value), value, Expr(0), extent, sure)

    def _addressed(self, value: SSAValue, address: SSAValue) -> Place:
        offset = self.numbers.number(address)
        extent, sure = self._tile_size(value.type)
        if offset is None:
            return self.anywhere(value)
        return Place(self.space(value), BYTES, offset, extent, sure)

    def _advanced(self, place: Place, op: Operation) -> Place:
        size, count = self._element(op.results[0]), self.numbers.number(op.operands[1])
        if size is None or count is None or place.offset is None:
            return replace(place, offset=None, certain=False)
        return replace(place, offset=place.offset.plus(count, size))

    def _element(self, value: SSAValue) -> int | None:
        element = element_type(value.type)
        return None if element is None else byte_width(element)

    def _pointer(self, op: Operation, value: SSAValue) -> Sequence[Place]:
        source = op.operands[0]
        if isinstance(source.type, MEMORY):
            return [replace(place, extent=None, sure=0) for place in self.of(source)]
        offset = self.numbers.number(source)
        space = self.space(value)
        if offset is None or space == GLOBAL:
            return [Place(space, None, certain=False)]
        return [Place(space, BYTES, offset)]

    def _either(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> Sequence[Place]:
        first, second = self.of(yes), self.of(no)
        if first == second:
            return first
        known = self.numbers.condition(condition)
        if known is None:
            return [replace(place, certain=False) for place in (*first, *second)]
        return [
            *(replace(place, condition=both(known, place.condition)) for place in first),
            *(replace(place, condition=both(negated(known), place.condition)) for place in second),
        ]

    def _after(self, op: Operation, value: OpResult) -> Sequence[Place]:
        """Returns what a loop gives at its end; see :class:`pto_dialect.prove.carried_handles.LoopPlaces`."""
        return [self.anywhere(value)]

    # ------------------------------------------------------------ views

    def _viewed(self, place: Place, op: Operation, value: SSAValue) -> Place:
        """Returns the same bytes under another type."""
        if isinstance(value.type, TileBufType):
            extent, sure = self._tile_size(value.type)
            return replace(place, extent=extent or place.extent, sure=sure, frame=None, sides=())
        return replace(place, extent=None, sure=0, frame=None, sides=(), certain=place.certain and not place.sides)

    def _slot(self, place: Place, op: Operation, value: SSAValue) -> Place:
        kind = value.type
        number = self.numbers.number(named(op, "slot"))
        if number is None or place.offset is None or not isinstance(kind, TileBufType):
            return replace(place, offset=None, certain=False)
        extent, sure = self._tile_size(kind)
        pitch = slot_pitch(kind, self.profile.arch)
        slot = (place.offset, number)
        return replace(place, offset=place.offset.plus(number, pitch), extent=extent, sure=sure, slot=slot)

    def _part(self, place: Place, op: Operation, value: SSAValue) -> Place:
        """Returns some rows and columns of a tile."""
        source, result = op.operands[0].type, value.type
        offsets = [self.numbers.number(one) for one in listed(op, "offsets")]
        plain = isinstance(source, TileBufType) and source.slayout == "none_box" and not place.sides
        if not plain or not isinstance(result, TileBufType) or len(offsets) != 2 or None in offsets:
            return replace(place, sure=0, certain=False)
        assert isinstance(source, TileBufType)
        row, column = (one for one in offsets if one is not None)
        rows, columns, line = result.rows, result.cols, source.cols
        if source.blayout != "row_major":
            row, column, rows, columns, line = column, row, columns, rows, source.rows
        size = byte_width(source.element)
        if size is None or place.offset is None or place.frame is not None:
            return replace(place, sure=0, certain=False)
        inside = column.value is None or 0 <= column.value <= line - columns
        frame = _frame("tile", place.root, place.offset, Expr(line), Expr(size)) if inside else None
        first = place.offset.plus(row, line * size).plus(column, size)
        sides: Sides = ((row, Expr(rows)), (column, Expr(columns)))
        if frame is None and None not in (row.value, column.value) and inside:
            frame, sides = self._in_slot(place, source, sides)
        extent = Expr(((rows - 1) * line + columns) * size)
        sure = min(columns * size, _sure_bytes(result)) if DYNAMIC not in (result.valid_rows, result.valid_cols) else 0
        return replace(place, offset=first, extent=extent, sure=sure, frame=frame, sides=sides)

    def _in_slot(self, place: Place, tile: TileBufType, sides: Sides) -> tuple[Hashable, Sides]:
        """Coordinates for parts of all slots of a multi-buffer, of which the first is the number of the slot."""
        pitch, size = slot_pitch(tile, self.profile.arch), byte_width(tile.element)
        (row, rows), _ = sides
        beyond = row.value is None or rows.value is None or not 0 <= row.value <= _lines(tile) - rows.value
        if place.slot is None or beyond or size is None:
            return None, sides
        if place.offset != place.slot[0].plus(place.slot[1], pitch):
            return None, sides
        frame = _frame("slots", place.root, place.slot[0], Expr(pitch), Expr(_columns(tile)), Expr(size))
        return frame, ((place.slot[1], Expr(1)), *sides)

    def _framed(self, place: Place, op: Operation, value: SSAValue) -> Place:
        strides = tuple(self.numbers.number(one) for one in listed(op, "strides"))
        size = self._element(value) or self._element(op.operands[0])
        bytes_ = tuple(None if one is None or size is None else one.times(size) for one in strides)
        shape = tuple(self.numbers.number(one) for one in listed(op, "shape"))
        frame = _frame("view", place.root, place.offset, *bytes_)
        return replace(place, extent=None, frame=frame, sides=(), strides=bytes_, shape=shape, unit=size or 1)

    def _rectangle(self, place: Place, op: Operation, value: SSAValue) -> Place:
        offsets = [self.numbers.number(one) for one in listed(op, "offsets")]
        sizes = [self.numbers.number(one) for one in listed(op, "sizes")]
        groups = operand_groups(op) if is_pto(op) else {}
        if place.sides or len(offsets) != len(sizes) or not groups:
            return replace(place, offset=None, extent=None, frame=None, sides=(), certain=False)
        if None in offsets or None in sizes:
            return replace(place, offset=None, extent=None, sides=(), certain=False, frame=None)
        sides: Sides = tuple(zip(offsets, sizes, strict=True))  # pyright: ignore[reportAssignmentType]
        frame = place.frame if are_distinct(place.shape, place.strides, sides) else None
        if frame is not None and any(stride is not None and stride.value is None for stride in place.strides):
            name = op.operands[0].name_hint
            self.assumed[f"rows of {f'%{name}' if name else 'a view'} do not overlap"] = None
        return replace(_spanned(place, sides), sides=sides, frame=frame)


_VIEWS = (
    (MultiTileGetOp, "_slot"),
    (SubviewOp, "_part"),
    (MakeTensorViewOp, "_framed"),
    (PartitionViewOp, "_rectangle"),
    (TReshapeOp, "_viewed"),
    (BitcastOp, "_viewed"),
)
"""Operations that make views of their first operand."""


def _spanned(place: Place, sides: Sides) -> Place:
    """Returns a part of a view with the bytes from its first to its last element, if its strides are constants."""
    if place.offset is None or len(place.strides) != len(sides):
        return replace(place, offset=None, extent=None)
    numbers = [None if stride is None else stride.value for stride in place.strides]
    if None in numbers or any(number is not None and number < 0 for number in numbers):
        return replace(place, offset=None, extent=None)
    first, span = place.offset, Expr(0)
    for (start, count), stride in zip(sides, numbers, strict=True):
        assert stride is not None
        first = first.plus(start, stride)
        span = span.plus(count.minus(1), stride)
    sizes = [count.value for _, count in sides]
    row = sizes[-1] if numbers[-1] == place.unit else 1
    sure = place.unit * (row or 0) if all(size is not None and size > 0 for size in sizes) else 0
    return replace(place, offset=first, extent=span.plus(place.unit), sure=sure)


def _lines(tile: TileBufType) -> int:
    """Returns the rows of a tile in memory."""
    return tile.rows if tile.blayout == "row_major" else tile.cols


def _columns(tile: TileBufType) -> int:
    """Returns the elements of a row of a tile in memory."""
    return tile.cols if tile.blayout == "row_major" else tile.rows


def _frame(kind: str, root: Hashable, *numbers: Expr | None) -> Hashable:
    """Coordinates in which parts compare; ``None`` where they may differ from one iteration to the next."""
    for number in numbers:
        if number is None or any(isinstance(one, (Ordinal, Varying)) for one in symbols_of(number)):
            return None
    return (kind, root, *numbers)


def _sure_bytes(tile: TileBufType) -> int:
    """Returns the first bytes of a tile that an operation on its valid region must touch."""
    size = byte_width(tile.element)
    rows, columns = tile.valid_rows, tile.valid_cols
    if size is None or min(rows, columns) < 1:
        return 0
    if tile.slayout != "none_box":
        return tile.rows * tile.cols * size if (rows, columns) == (tile.rows, tile.cols) else size
    line, lines, full = (columns, rows, tile.cols) if tile.blayout == "row_major" else (rows, columns, tile.rows)
    return (line * lines if line == full else line) * size
