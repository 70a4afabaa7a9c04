"""A function as the checker of certificates reads it: work and signals, in loops and branches.

Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects.builtin import IntegerType, MemRefType, UnregisteredOp
from xdsl.ir import Block, Operation, Region, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.target import profile_of
from pto_dialect.analysis.type_facts import enumerator, integer_attribute, space_of
from pto_dialect.ir.buffers.views import (
    MakeTensorViewOp,
    MultiTileGetOp,
    PartitionViewOp,
    SubviewOp,
    TAssignOp,
    TReshapeOp,
)
from pto_dialect.ir.core.base import Effect, PtoOp, op_spec, operand_groups, section_of
from pto_dialect.ir.core.extents import slot_pitch, tile_extent
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.operands import listed, named
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import MultiTileBufType, PartitionViewType, PtrType, TensorViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.core_dialects.structured import is_for, is_if, is_while
from pto_dialect.targets.profile import Profile
from pto_dialect.verify.buffers.alloc import address_operand
from pto_dialect.verify.buffers.alloc import space_of as space_of_tile

_OTHERS = Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL | Role.CALL | Role.LAUNCH | Role.SCOPE
_MEMORY = Role.ELEMENT_LOAD | Role.ELEMENT_STORE | Role.ATOMIC | Role.COPY
_GLOBAL = (MemRefType, PtrType, TensorViewType, PartitionViewType)
_DEEPEST, _MOST = 64, 4_000


class NotCoveredError(Exception):
    """Something that certificates do not cover: the reason, and the operation."""

    def __init__(self, reason: str, op: Operation | None = None) -> None:
        super().__init__(reason if op is None else f"{op.name}: {reason}")


@dataclass(frozen=True)
class Place:
    """Bytes ``low`` to ``high`` (``None``: to the end) of an object; ``root`` ``None`` is any object. ``sides`` are the
    indices and sizes of a part of a view of global memory: sums of constants and values, as ``(value, factor)``."""

    space: str
    root: Any = None
    low: int = 0
    high: int | None = None
    view: SSAValue | None = None
    sides: tuple[tuple[Sum, int], ...] = ()


@dataclass(frozen=True)
class Sum:
    """A constant and values with factors."""

    constant: int
    terms: frozenset[tuple[SSAValue, int]] = frozenset()


@dataclass(frozen=True)
class Access:
    """An access of a statement."""

    place: Place
    writes: bool


@dataclass(eq=False)
class Work:
    """An operation that accesses memory; ``number`` counts those of the function, ``loops`` surround it."""

    number: int
    op: Operation
    pipe: Pipe
    accesses: list[Access]
    loops: tuple[Loop, ...]


@dataclass(eq=False)
class Signal:
    """``set``, ``wait``, ``get``, ``release``, ``barrier`` of one pipe, or ``join`` of ``drains``."""

    op: Operation
    kind: str
    source: Pipe
    target: Pipe
    number: int = 0
    drains: frozenset[Pipe] = frozenset()


@dataclass(eq=False)
class Loop:
    """A loop that runs any number of times; ``step`` is ``None`` where it is no constant, ``counter`` where there is
    none."""

    number: int
    counter: SSAValue | None
    step: int | None
    body: list[Any] = field(default_factory=list)


@dataclass(eq=False)
class Branch:
    """Bodies of which one runs."""

    bodies: list[list[Any]]


class Course:
    """What one kind of core runs. Raises :class:`NotCoveredError`."""

    def __init__(self, function: Operation, target: str | None) -> None:
        self.profile: Profile = profile_of(function, target)
        self.arch = self.profile.arch
        self.work: list[Work] = []
        self.loops: list[Loop] = []
        sections = {section_of(op) for op in walk(function)} & {"cube", "vector"}
        if len(sections) > 1:
            raise NotCoveredError("it runs on two kinds of cores", function)
        self.body = self._region(function.regions[0], ())

    def _region(self, region: Region, loops: tuple[Loop, ...]) -> list[Any]:
        if not region.blocks:
            return []
        if len(region.blocks) > 1 or len(loops) > _DEEPEST:
            raise NotCoveredError("only structured loops and branches are covered", region.parent_op())
        return [item for op in region.block.ops for item in self._items(op, loops)]

    def _items(self, op: Operation, loops: tuple[Loop, ...]) -> list[Any]:
        if is_for(op):
            body = op.regions[0].block
            step = _constant(op.operands[2])
            loop = Loop(len(self.loops), body.args[0], step if step is not None and step > 0 else None)
            self.loops.append(loop)
            loop.body = self._region(op.regions[0], (*loops, loop))
            return [loop]
        if is_while(op):
            return self._repeated(op, loops)
        if is_if(op):
            return [Branch([self._region(region, loops) for region in op.regions])]
        if section_of(op) in ("cube", "vector"):
            return self._region(op.regions[0], loops)
        if op.regions or has_role(op, _OTHERS) or isinstance(op, UnregisteredOp):
            raise NotCoveredError("it is not covered", op)
        if not isinstance(op, PtoOp):
            if has_role(op, _MEMORY):
                raise NotCoveredError("it is not covered", op)
            return []
        return self._leaf(op, loops)

    def _repeated(self, op: Operation, loops: tuple[Loop, ...]) -> list[Any]:
        """A loop with a condition: what decides runs once, then again after each iteration."""
        decides, body = op.regions
        if any(has_role(inner, Role.LOOP) for block in decides.blocks for each in block.ops for inner in walk(each)):
            # It is read twice.
            raise NotCoveredError("loops in what decides are not covered", op)
        first = self._region(decides, loops)
        loop = Loop(len(self.loops), None, None)
        self.loops.append(loop)
        loop.body = [*self._region(body, (*loops, loop)), *self._region(decides, (*loops, loop))]
        return [*first, loop]

    def _leaf(self, op: PtoOp, loops: tuple[Loop, ...]) -> list[Any]:
        spec, form = op_spec(type(op)), form_of(op, self.arch)
        if spec.queue is not None:
            raise NotCoveredError("queues are not covered", op)
        if has_role(op, Role.LOCK) or has_role(op, Role.PIPES) or has_role(op, Role.JOINS) or form.self_ordered:
            return self._signal(op, form.pipe, form.drains)
        if spec.effect is Effect.HANDLE or form.pipe is None:
            return []
        if spec.pipes or form.pipe is Pipe.ALL:
            raise NotCoveredError("it works on several pipes", op)
        accesses = self._accesses(op)
        if not accesses:
            return []
        if len(self.work) >= _MOST:
            raise NotCoveredError(f"it has more than {_MOST} accesses", op)
        self.work.append(Work(len(self.work), op, form.pipe, accesses, loops))
        return [self.work[-1]]

    # ------------------------------------------------------------ signals

    def _signal(self, op: PtoOp, pipe: Pipe | None, drains: frozenset[Pipe]) -> list[Any]:
        if has_role(op, Role.LOCK):
            source = named_pipe(op.attributes.get("op_type"))
            kind = "get" if has_role(op, Role.SETS) else "release"
            if source is None or source is Pipe.ALL or integer_attribute(op, "mode"):
                raise NotCoveredError("it is not covered", op)
            return [Signal(op, kind, source, source, self._id(op, str(integer_attribute(op, "buf_id")), 32))]
        if has_role(op, Role.PIPES) and has_role(op, Role.BARRIER):
            if pipe is None:
                raise NotCoveredError("its pipe is not known", op)
            if pipe is Pipe.ALL:
                return [Signal(op, "join", Pipe.S, Pipe.S, drains=frozenset(Pipe))]
            useless = pipe is Pipe.S or (pipe is Pipe.V and self.arch != "a2a3")
            return [] if useless else [Signal(op, "barrier", pipe, pipe)]
        if not has_role(op, Role.PIPES):
            everything = not drains or Pipe.ALL in drains
            return [Signal(op, "join", Pipe.S, Pipe.S, drains=frozenset(Pipe) if everything else drains)]
        ends = ("src_pipe", "dst_pipe") if "src_pipe" in op.attributes else ("src_op", "dst_op")
        source, target = (named_pipe(op.attributes.get(name)) for name in ends)
        if source is None or target is None or Pipe.ALL in (source, target):
            raise NotCoveredError("its pipes are not known", op)
        kind = "set" if has_role(op, Role.SETS) else "wait"
        return [Signal(op, kind, source, target, self._id(op, enumerator(op, "event_id"), 8))]

    def _id(self, op: Operation, text: str, count: int) -> int:
        text = text.removeprefix("EVENT_ID")
        found = int(text) if text.isdecimal() else _constant(op.operands[0]) if len(op.operands) == 1 else None
        if found is None or not 0 <= found < count:
            raise NotCoveredError("its id is no constant that exists", op)
        return found

    # ------------------------------------------------------------ accesses

    def _accesses(self, op: PtoOp) -> list[Access]:
        form, groups = form_of(op, self.arch), operand_groups(op)
        found: dict[Access, None] = {}
        for writes, names in ((False, form.reads), (True, form.writes)):
            for value in (value for name in names for value in groups.get(name, ())):
                space = self._space(value)
                if space is not None:
                    found[Access(self._place(value, space), writes)] = None
        for value in op.results if form.writes_results else ():
            if isinstance(value.type, (TileBufType, MultiTileBufType)):
                found[Access(self._place(value, self._space(value) or "ub"), True)] = None
        return list(found)

    def _space(self, value: SSAValue) -> str | None:
        kind = value.type
        tile = kind.slot if isinstance(kind, MultiTileBufType) else kind
        if isinstance(tile, TileBufType):
            return space_of_tile(tile, self.profile)
        return space_of(kind) or ("gm" if isinstance(kind, _GLOBAL) else None)

    def _place(self, value: SSAValue, space: str) -> Place:
        """The bytes of a handle; what is not known is any byte of its memory."""
        op = value.owner
        if isinstance(op, Block):
            # Arguments of the function are objects of their own, those of loops any object.
            outermost = has_role(op.parent_op() or value.owner, Role.FUNCTION)  # pyright: ignore[reportArgumentType]
            return Place(space, value if outermost else None, view=value if outermost else None)
        if has_role(op, Role.TILE_ALLOCATION) or isinstance(op, TAssignOp):
            return self._tile(op, value, space)
        if isinstance(op, MultiTileGetOp):
            return self._slot(op, value, space)
        if isinstance(op, MakeTensorViewOp):
            source = self._place(op.operands[0], space)
            return Place(space, source.root, view=value if _has_own_bytes(op) else None)
        if isinstance(op, PartitionViewOp):
            source = self._place(op.operands[0], space)
            sides = () if _leaves_view(op) else _sides(op)
            return Place(space, source.root, view=source.view, sides=sides) if not source.sides else source
        if has_role(op, Role.VIEW) or isinstance(op, (SubviewOp, TReshapeOp)):
            # A view has bytes of its source.
            source = self._place(op.operands[0], self._space(op.operands[0]) or space)
            if source.space != space:
                return Place(space)
            if space != "gm":
                return source
            return Place(space, source.root)
        if has_role(op, Role.DISPLACEMENT):
            return Place(space, self._place(op.operands[0], space).root)
        return Place(space)

    def _tile(self, op: Operation, value: SSAValue, space: str) -> Place:
        kind = value.type
        if isinstance(kind, MultiTileBufType) and isinstance(kind.slot, TileBufType):
            size = slot_pitch(kind.slot, self.arch) * kind.count
        else:
            size = tile_extent(kind, self.arch) if isinstance(kind, TileBufType) else None
        address = named(op, "addr") if isinstance(op, TAssignOp) else address_operand(op)
        if address is None:
            return Place(space, value)
        low = _constant(address)
        if low is None or low < 0:
            return Place(space)
        return Place(space, "bytes", low, low + size if size else None)

    def _slot(self, op: Operation, value: SSAValue, space: str) -> Place:
        whole, number = self._place(op.operands[0], space), _constant(named(op, "slot"))
        if number is None or number < 0 or not isinstance(value.type, TileBufType) or whole.root is None:
            return whole
        low = whole.low + number * slot_pitch(value.type, self.arch)
        size = tile_extent(value.type, self.arch)
        return Place(space, whole.root, low, low + size if size else None)


def _constant(value: SSAValue) -> int | None:
    found = constant_of(value)
    return found if isinstance(found, int) else None


def _leaves_view(op: PartitionViewOp) -> bool:
    """Whether constants say that a part reaches beyond a dimension of its view, into what has other indices."""
    source = op.operands[0]
    for one, size, limit in zip(listed(op, "offsets"), listed(op, "sizes"), _shape(source), strict=False):
        start, length = _constant(one), _constant(size)
        if start is not None and start < 0:
            return True
        if limit is not None and length is not None and (start or 0) + length > limit:
            return True
    return False


def _shape(value: SSAValue) -> list[int | None]:
    """The sizes of a view, where they are constants."""
    if isinstance(value.owner, MakeTensorViewOp):
        return [_constant(one) for one in listed(value.owner, "shape")]
    kind = value.type
    shape = [int(size) for size in kind.shape] if isinstance(kind, (TensorViewType, PartitionViewType)) else []
    return [size if size >= 0 else None for size in shape]


def _has_own_bytes(op: MakeTensorViewOp) -> bool:
    """Whether a view is the same in the whole function, and each of its elements has bytes of its own: by constants,
    each stride is more than the dimensions of smaller strides reach together."""
    if not has_role(op.parent_op() or op, Role.FUNCTION):
        return False
    strides = [_constant(one) for one in listed(op, "strides")]
    shape = _shape(op.results[0])
    reach: int | None = 0
    for stride, size in sorted(zip(strides, shape, strict=False), key=lambda pair: pair[0] or 0):
        if stride is None or reach is None or stride <= reach:
            return False
        reach = None if size is None else reach + stride * max(size - 1, 0)
    return len(strides) == len(shape) > 0


def _sides(op: Operation) -> tuple[tuple[Sum, int], ...]:
    """Index and size of each dimension of a part of a view; none where a size is no constant."""
    offsets, sizes = listed(op, "offsets"), [_constant(one) for one in listed(op, "sizes")]
    if len(offsets) != len(sizes) or any(size is None or size < 0 for size in sizes):
        return ()
    return tuple((sum_of(one), size) for one, size in zip(offsets, sizes, strict=True) if size is not None)


def sum_of(value: SSAValue, depth: int = 0) -> Sum:
    """A number as a constant and values with factors; what is not followed is a value of its own."""
    number = _constant(value)
    if number is not None:
        return Sum(number)
    op = value.owner
    if isinstance(op, Operation) and depth < _DEEPEST and not any(map(_is_narrow, (value, *op.operands))):
        if op.name in ("arith.addi", "arith.subi"):
            one, other = (sum_of(each, depth + 1) for each in op.operands)
            return _added(one, other, 1 if op.name == "arith.addi" else -1)
        if op.name == "arith.muli":
            for one, other in (op.operands, op.operands[::-1]):
                factor = _constant(other)
                if factor is not None:
                    return _added(Sum(0), sum_of(one, depth + 1), factor)
        if op.name == "arith.index_cast":
            return sum_of(op.operands[0], depth + 1)
    return Sum(0, frozenset(((value, 1),)))


def _is_narrow(value: SSAValue) -> bool:
    """Whether a value is an integer of less than 32 bits, whose sums and casts wrap around."""
    return isinstance(value.type, IntegerType) and value.type.width.data < 32


def _added(one: Sum, other: Sum, factor: int) -> Sum:
    terms = dict(one.terms)
    for value, count in other.terms:
        terms[value] = terms.get(value, 0) + count * factor
    found = frozenset((value, count) for value, count in terms.items() if count)
    return Sum(one.constant + other.constant * factor, found)
