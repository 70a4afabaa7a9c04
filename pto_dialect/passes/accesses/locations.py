"""The memory locations that a handle may refer to, and whether two accesses may overlap.

A location is a memory space, a root object in it, and the known bytes or rectangle. Unknown locations overlap. Source:
docs/reference/execution.md, "Pointers, tiles and views"; docs/reference/synchronisation.md, "Dependences".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from math import inf
from typing import NamedTuple

from xdsl.ir import Block, Operation, SSAValue

from pto_dialect.analysis.affine import AffineAnalysis, AffineExpr
from pto_dialect.analysis.alias import Alias, Must, Pointees
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import space_of as space_of_type
from pto_dialect.ir.buffers.views import MakeTensorViewOp, MultiTileGetOp, PartitionViewOp, SubviewOp, TAssignOp
from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.extents import buffer_extent, slot_pitch
from pto_dialect.ir.core.operands import listed, named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import (
    MultiTileBufType,
    PartitionViewType,
    PtrType,
    TensorViewType,
    TileBufType,
    byte_width,
)
from pto_dialect.ir.core_dialects.structured import is_for, is_while
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.buffers.alloc import address_operand, space_of

GLOBAL = "gm"
SLOTS = "slots"
REGISTERS = "registers"
"""The space of machine state, which operations name by keywords."""
_ROUNDS = 24
"""Maximum number of fixpoint iterations over loop-carried handles; a handle that still changes may refer to any
location."""


class Extent(NamedTuple):
    """One dimension of a rectangle: the first index, and how many."""

    start: AffineExpr
    size: AffineExpr


_UNKNOWN_EXTENTS = (Extent(AffineExpr(0), AffineExpr(0)),)
"""Sides of a part of which nothing is known; they are in no frame."""


class MemoryLocation(NamedTuple):
    """The location of an access.

    ``space`` is the memory; ``root`` the object in it: an argument, an allocation without address, or ``"bytes"`` for
    those with one, whose bytes ``[start, stop)`` are then known; ``None`` is unknown. ``sides`` is a rectangle in the
    coordinates of ``frame``; ``stop`` is known for bytes only. ``alias`` states whether the handle must refer to this
    location.
    """

    space: str
    root: Hashable
    start: int = 0
    stop: int | None = None
    frame: Hashable = None
    sides: tuple[Extent, ...] = ()
    alias: Alias = Alias.MUST

    @property
    def part(self) -> MemoryLocation:
        """A part of it, of which nothing is known."""
        return self._replace(frame=None, sides=_UNKNOWN_EXTENTS)

    @property
    def unframed(self) -> MemoryLocation:
        """The same bytes under another type, in which its frame says nothing."""
        return self.part if self.sides else self._replace(frame=None)

    @property
    def location(self) -> MemoryLocation:
        """The location without its alias fact."""
        return self if self.alias.is_certain else self._replace(alias=Alias.MUST)

    @property
    def whole(self) -> bool:
        """Whether the location is all of its root, or known bytes."""
        return self.root is not None and not self.sides and (self.root != "bytes" or self.stop is not None)

    def must(self) -> Must[Hashable] | None:
        """Returns the root that every access to this location covers entirely; ``None`` where it may access another
        one, or a part."""
        return Must(self.root) if self.whole and self.alias.is_certain else None

    def holds(self, other: MemoryLocation) -> bool:
        """Returns whether all bytes of ``other`` are in this location, if both are must-alias facts."""
        if not self.whole or self.space != other.space or self.root != other.root:
            return False
        if self.root != "bytes":
            return True
        assert self.stop is not None
        return other.stop is not None and self.start <= other.start <= other.stop <= self.stop


class HandleLocations:
    """The locations of the handles of one function, for the chip of ``profile``; those of ``given`` are known."""

    def __init__(self, profile: Profile, given: dict[SSAValue, tuple[MemoryLocation, ...]] | None = None) -> None:
        self.profile = profile
        self.sums = AffineAnalysis()
        self.indices: dict[AffineExpr, list[SSAValue]] = {}
        """The values that are indices of slots, by the sums that they are."""
        self._known: dict[SSAValue, tuple[MemoryLocation, ...]] = dict(given or {})
        self._guessed: dict[SSAValue, tuple[MemoryLocation, ...]] = {}
        self._visited: set[SSAValue] = set()
        self._again = False

    def of(self, value: SSAValue) -> tuple[MemoryLocation, ...]:
        """Returns the locations that ``value`` may refer to; several at a control-flow join."""
        known = self._known.get(value)
        if known is not None:
            return known
        if self._visited:
            return self._visit(value)
        for _ in range(_ROUNDS):
            before, self._again = dict(self._guessed), False
            self._visit(value)
            self._visited.clear()
            if not self._again or self._guessed == before:
                break
        else:
            self._guessed = {one: (self._anywhere(one),) for one in self._guessed}
        # A handle without locations is unreachable.
        self._known |= {one: guessed or (self._anywhere(one),) for one, guessed in self._guessed.items()}
        self._guessed = {}
        return self._known[value]

    def pointees(self, value: SSAValue) -> Pointees[Hashable]:
        """Returns the objects that ``value`` may point to."""
        roots = frozenset(location.root for location in self.of(value))
        return Pointees(roots - {None}, None in roots)

    def _visit(self, value: SSAValue) -> tuple[MemoryLocation, ...]:
        """Returns the locations of a value and of its sources. A loop-carried value is its own source: it has the
        locations of the previous fixpoint iteration."""
        if value in self._visited:
            self._again = True
            return self._guessed.get(value, ())
        self._visited.add(value)
        locations = self._guessed[value] = _without_duplicates(self._locate(value))
        return locations

    def put(self, value: SSAValue, locations: tuple[MemoryLocation, ...]) -> None:
        """States the locations of a value that no operation defines."""
        self._known[value] = locations

    def element(self, tile: SSAValue, offset: SSAValue) -> tuple[MemoryLocation, ...]:
        """Returns the locations of one element of a tile, by its index in memory order."""
        kind, number = tile.type, self.sums.expression_of(offset)
        size = byte_width(kind.element) if isinstance(kind, TileBufType) else None
        locations: list[MemoryLocation] = []
        for location in self.of(tile):
            if location.sides or size is None:
                locations.append(location)
            elif number.constant_value is not None and location.root == "bytes":
                start = location.start + number.constant_value * size
                locations.append(location._replace(start=start, stop=start + size, frame=None))
            else:
                frame = ("elements", location.root, location.start, size)
                locations.append(location._replace(frame=frame, sides=(Extent(number, AffineExpr(1)),)))
        return tuple(locations)

    def _anywhere(self, value: SSAValue) -> MemoryLocation:
        kind = value.type
        if isinstance(kind, (PartitionViewType, TensorViewType)):
            return MemoryLocation(GLOBAL, None)
        tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
        if isinstance(tile, TileBufType):
            return MemoryLocation(space_of(tile, self.profile), None)
        return MemoryLocation(space_of_type(kind) or GLOBAL, None)

    def _locate(self, value: SSAValue) -> list[MemoryLocation]:
        owner = value.owner
        if isinstance(owner, Block):
            return self._argument(value, owner)
        if has_role(owner, Role.TILE_ALLOCATION):
            return [self._allocated(owner)]
        if isinstance(owner, TAssignOp):
            return [self._anywhere(value)]
        if isinstance(owner, MultiTileGetOp):
            return [self._slot(location, owner) for location in self.of(named(owner, "source"))]
        if isinstance(owner, SubviewOp):
            return [self._part(location, owner) for location in self.of(named(owner, "source"))]
        if isinstance(owner, MakeTensorViewOp):
            return [self._framed(location, owner) for location in self.of(named(owner, "ptr"))]
        if isinstance(owner, PartitionViewOp):
            return [self._rectangle(location, owner) for location in self.of(named(owner, "source"))]
        if has_role(owner, Role.DISPLACEMENT):
            return [location.part._replace(start=0, stop=None) for location in self.of(named(owner, "ptr"))]
        if has_role(owner, Role.ADDRESS):
            return self._pointer(value, owner)
        if has_role(owner, Role.VIEW):
            source, *_ = owner.operands
            # A pointer states where memory starts, not the size of the access.
            tile = isinstance(value.type, TileBufType)
            return [location.unframed if tile else location.part for location in self.of(source)]
        return self._locations_of_result(value, owner)

    def _locations_of_result(self, value: SSAValue, owner: Operation) -> list[MemoryLocation]:
        """Returns the result of an operation that makes no view."""
        if isinstance(owner, PtoOp) and op_spec(type(owner)).queue is not None:
            # The memory of a slot: between producer and consumer the queue itself keeps order.
            return [MemoryLocation(self._anywhere(value).space, value)]
        if has_role(owner, Role.SELECT):
            return [location for name in ("lhs", "rhs") for location in self.of(named(owner, name))]
        if has_role(owner, Role.ALLOCATION):
            return [MemoryLocation(self._anywhere(value).space, value)]
        if owner.regions:
            return self._joined(value, owner)
        anywhere = self._anywhere(value)
        # A tile that an operation gives as a value has memory of its own.
        return [anywhere._replace(root=value) if isinstance(value.type, TileBufType) else anywhere]

    def _argument(self, value: SSAValue, block: Block) -> list[MemoryLocation]:
        parent = block.parent_op()
        if parent is None:
            return [self._anywhere(value)]
        if has_role(parent, Role.FUNCTION):
            return [MemoryLocation(self._anywhere(value).space, value)]
        return self._joined(value, parent)

    def _joined(self, value: SSAValue, around: Operation) -> list[MemoryLocation]:
        """Returns a handle that an operation with regions gives, or gives to one of them: all that it may be. Where it
        is its own source alone, no round has found anything yet."""
        passed = list(_passed(value, around))
        return [location for one in passed for location in self.of(one)] if passed else [self._anywhere(value)]

    def _allocated(self, op: Operation) -> MemoryLocation:
        result = op.results[0]
        kind = result.type
        tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
        if not isinstance(tile, TileBufType):
            return self._anywhere(result)
        space = space_of(tile, self.profile)
        address = address_operand(op)
        if address is None:
            return MemoryLocation(space, result)
        start = constant_of(address)
        if not isinstance(start, int):
            return MemoryLocation(space, None)
        size = buffer_extent(kind, self.profile.arch)
        return MemoryLocation(space, "bytes", start, start + size if size else None)

    def _pointer(self, value: SSAValue, op: Operation) -> list[MemoryLocation]:
        source, *_ = op.operands
        if isinstance(source.type, (PtrType, TileBufType)):
            return [location.part for location in self.of(source)]
        start = constant_of(source)
        anywhere = self._anywhere(value)
        return [anywhere._replace(root="bytes", start=start) if isinstance(start, int) else anywhere]

    def _slot(self, location: MemoryLocation, op: Operation) -> MemoryLocation:
        slot = self.sums.expression_of(named(op, "slot"))
        result = op.results[0].type
        size = slot_pitch(result, self.profile.arch) if isinstance(result, TileBufType) else 0
        if slot.constant_value is not None and location.root == "bytes":
            start = location.start + slot.constant_value * size
            return location._replace(start=start, stop=start + size)
        kind = named(op, "source").type
        form = _form(result) if isinstance(result, TileBufType) else ()
        count = kind.count if isinstance(kind, MultiTileBufType) else 0
        frame = (SLOTS, location.root, location.start, *form, count)
        self.indices.setdefault(slot, []).append(named(op, "slot"))
        return location._replace(frame=frame, sides=(Extent(slot, AffineExpr(1)),))

    def _part(self, location: MemoryLocation, op: Operation) -> MemoryLocation:
        source = named(op, "source").type
        offsets = [self.sums.expression_of(offset) for offset in listed(op, "offsets")]
        result = op.results[0].type
        if not isinstance(source, TileBufType) or not isinstance(result, TileBufType) or len(offsets) != 2:
            return location.part
        kind = location.frame[0] if isinstance(location.frame, tuple) else None
        if location.sides and kind not in ("tile", SLOTS):
            return location.part
        sizes = [AffineExpr(int(size.value.data)) for size in op.attributes["sizes"]]  # pyright: ignore
        if kind == SLOTS:
            return _part_of_slot(location, offsets, sizes)
        if location.sides:
            offsets = [side.start.plus(offset) for side, offset in zip(location.sides, offsets, strict=True)]
            frame = location.frame
        else:
            frame = ("tile", location.root, location.start, *_form(source))
        part = location._replace(frame=frame, sides=tuple(Extent(*pair) for pair in zip(offsets, sizes, strict=True)))
        return _bytes_of_rows(part, source)

    def _framed(self, location: MemoryLocation, op: Operation) -> MemoryLocation:
        shape, strides = ([self.sums.expression_of(v) for v in listed(op, name)] for name in ("shape", "strides"))
        if covers_itself(shape, strides):
            return location.part
        pointer = named(op, "ptr")
        return location._replace(frame=("view", pointer, op.results[0].type, tuple(strides)), sides=())

    def _rectangle(self, location: MemoryLocation, op: Operation) -> MemoryLocation:
        if location.sides:
            return location.part
        offsets, sizes = ([self.sums.expression_of(v) for v in listed(op, name)] for name in ("offsets", "sizes"))
        return location._replace(sides=tuple(Extent(*pair) for pair in zip(offsets, sizes, strict=False)))


def _form(tile: TileBufType) -> tuple[Hashable, ...]:
    """Returns where the elements of a tile lie from its start on."""
    return tile.rows, tile.cols, byte_width(tile.element), tile.blayout, tile.slayout


def _part_of_slot(
    location: MemoryLocation, offsets: Sequence[AffineExpr], sizes: Sequence[AffineExpr]
) -> MemoryLocation:
    """Rows and columns of a slot, or of a part of one; the slot is the first side."""
    slot, *around = location.sides
    starts = [side.start.plus(offset) for side, offset in zip(around, offsets, strict=True)] if around else offsets
    return location._replace(sides=(slot, *(Extent(*pair) for pair in zip(starts, sizes, strict=True))))


def _without_duplicates(locations: Iterable[MemoryLocation]) -> tuple[MemoryLocation, ...]:
    """Returns the locations that a handle may refer to, each once; a single one is a must-alias."""
    known: dict[MemoryLocation, Alias] = {}
    for location in locations:
        bare = location.location
        known[bare] = known[bare].join(location.alias) if bare in known else location.alias
    only = Alias.MUST if len(known) < 2 else Alias.MAY
    return tuple(location._replace(alias=alias.join(only)) for location, alias in known.items())


def covers_itself(shape: Iterable[AffineExpr], strides: Iterable[AffineExpr]) -> bool:
    """Returns whether elements of a view with different indices share memory, by the sizes and strides that are
    constant."""
    pairs = ((stride.constant_value, size.constant_value) for size, stride in zip(shape, strides, strict=False))
    span = 0
    for stride, size in sorted((abs(stride), size or inf) for stride, size in pairs if stride is not None):
        if size > 1 and stride <= span:
            return True
        span += stride * (size - 1)
        if span == inf:
            break
    return False


def _passed(value: SSAValue, around: Operation) -> Iterable[SSAValue]:
    """Returns the values that a result of ``around``, or an argument of one of its regions, may be; none where that is
    not known."""
    number = value.index  # pyright: ignore[reportAttributeAccessIssue]
    if is_for(around):
        body = around.body.block
        position = number - 1 if value.owner is body else number
        # The first argument is the counter.
        return (around.iter_args[position], _ends(body)[position]) if position >= 0 else ()
    if is_while(around):
        if value.owner is around.before_region.block:
            return around.arguments[number], _ends(around.after_region.block)[number]
        _, *operands = _ends(around.before_region.block)
        return (operands[number],)
    if isinstance(value.owner, Block) or has_role(around, Role.LOOP):
        return ()
    return [_ends(region.blocks[-1])[number] for region in around.regions]


def _ends(block: Block) -> Sequence[SSAValue]:
    """Returns what a block hands on at its end."""
    last = block.last_op
    assert last is not None
    return last.operands


def _bytes_of_rows(location: MemoryLocation, source: TileBufType) -> MemoryLocation:
    """Returns ``location``, a part of ``source`` at known offsets, with the bytes from its first to its last
    element."""
    by_rows = source.blayout == "row_major"
    sides = location.sides if by_rows else location.sides[::-1]
    numbers = [
        number
        for side in sides
        for number in (side.start.constant_value, side.size.constant_value)
        if number is not None
    ]
    size, plain = byte_width(source.element), source.slayout == "none_box"
    if location.root != "bytes" or len(numbers) < 4 or size is None or not plain:
        return location
    (row, rows, column, columns), line = numbers, source.cols if by_rows else source.rows
    first, last = row * line + column, (row + rows - 1) * line + column + columns
    _, _, base, *_ = location.frame  # pyright: ignore[reportGeneralTypeIssues]
    return location._replace(start=base + first * size, stop=base + last * size)
