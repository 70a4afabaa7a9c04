"""What operations read and write, to the byte where the text says it.

The facts are those of the record of operation forms. Source: docs/reference/order-proof.md, "Memory".
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.type_facts import element_type, enumerator
from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.facts.operation_form import OperationForm, form_of
from pto_dialect.ir.core.forms import OffsetLoadOp, OffsetStoreOp
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import (
    DYNAMIC,
    MultiTileBufType,
    PartitionViewType,
    PtrType,
    TensorViewType,
    TileBufType,
    VRegType,
    byte_width,
    element_name,
)
from pto_dialect.ir.core_dialects.llvm_pointers import is_llvm_pointer, llvm_memories
from pto_dialect.ir.tile.memory import TGetValOp, TSetValOp
from pto_dialect.ir.vector.predicate import PatternOp
from pto_dialect.targets.element_types import FP4
from pto_dialect.targets.vector_unit import VL_BYTES

from .expressions import TRUE, Expr
from .model import Access, Interval, Rectangle
from .places import MEMORY, Place, Places
from .transfers.copies import REGISTERS, span_of
from .transfers.spans import Span
from .values import width_of

_ELEMENTS = Role.ELEMENT_LOAD | Role.ELEMENT_STORE | Role.ATOMIC
_IN_PART = Role.PARTIAL


def accesses_of(op: Operation, places: Places) -> tuple[Access, ...]:
    """Returns what an operation reads and writes."""
    if not isinstance(op, PtoOp):
        return tuple(_plain(op, places))
    form = form_of(op, places.profile.arch)
    return tuple(dict.fromkeys(_declared(op, form, places)))


def _plain(op: Operation, places: Places) -> Iterator[Access]:
    """Yields the accesses of an operation of another dialect."""
    stores = has_role(op, Role.ELEMENT_STORE | Role.ATOMIC | Role.COPY)
    if not stores and not has_role(op, Role.ELEMENT_LOAD):
        return
    for value in op.operands:
        if is_llvm_pointer(value.type):
            for writes in (False, True) if stores else (False,):
                for space in llvm_memories(value.type):
                    yield Access(op, writes, space, None, None, TRUE, False)
        if isinstance(value.type, MemRefType):
            for place in places.of(value):
                low = place.offset
                part = None if low is None else Interval(low, None)
                for writes in (False, True) if stores else (False,):
                    yield Access(op, writes, place.space, place.root, part, place.condition, False)


def _declared(op: PtoOp, form: OperationForm, places: Places) -> Iterator[Access]:
    groups = operand_groups(op)
    whole = not has_role(op, _IN_PART) and not _takes_places(op)
    for writes, names in ((False, form.reads), (True, form.writes)):
        for name in names:
            for value in groups.get(name, ()):
                if isinstance(value.type, MEMORY):
                    sure = whole and (not writes or name in form.must_write or isinstance(value.type, PtrType))
                    sure = sure and not (writes and _is_in_part(op, value))
                    for place in places.of(value):
                        yield _access(op, name, value, writes, place, places, sure)
    if form.writes_results:
        for value in op.results:
            if isinstance(value.type, (TileBufType, MultiTileBufType)):
                for place in places.of(value):
                    yield _access(op, "", value, True, place, places, whole)


def _is_in_part(op: PtoOp, tile: SSAValue) -> bool:
    """Returns whether the view that a tile is loaded from has another number of elements than its valid region: the
    load moves the part that both have. Sizes that types do not state count as equal."""
    source = find(op, "src") if has_role(op, Role.TILE_LOAD) else None
    view, kind = source.type if source is not None else None, tile.type
    if not isinstance(view, PartitionViewType) or not isinstance(kind, TileBufType):
        return False
    packed = element_name(kind.element) in FP4
    sizes = (*view.shape, kind.valid_rows, kind.valid_cols)
    return not packed and DYNAMIC not in sizes and prod(view.shape) != kind.valid_rows * kind.valid_cols


def _takes_places(op: PtoOp) -> bool:
    """Returns whether an operation on tiles takes numbers that may say which part of them it touches."""
    if not any(isinstance(value.type, TileBufType) for value in op.operands):
        return False
    return any(width_of(value.type) for value in op.operands)


def _access(op: PtoOp, name: str, value: SSAValue, writes: bool, place: Place, places: Places, whole: bool) -> Access:
    """Returns the access to one of the locations of a handle."""
    kind = value.type
    part: Interval | Rectangle | None
    if isinstance(kind, (TensorViewType, PartitionViewType)):
        sure = (
            (place.offset, place.offset.plus(place.sure)) if whole and place.sure and place.offset is not None else None
        )
        interval = _span(place, sure)
        part = Rectangle(place.frame, place.sides, interval) if place.sides and place.frame else interval
        exact = isinstance(part, Rectangle) or sure is not None
    elif isinstance(op, (TGetValOp, TSetValOp)):
        part, exact = _element(op, kind, place, places)
    elif isinstance(kind, (TileBufType, MultiTileBufType)):
        sure = (
            (place.offset, place.offset.plus(place.sure)) if whole and place.sure and place.offset is not None else None
        )
        interval = None if place.offset is None else Interval(place.offset, _end(place), sure)
        part = interval
        if place.sides and place.frame and interval is not None:
            part = Rectangle(place.frame, place.sides, interval, certain=sure is not None)
        exact = sure is not None
    else:
        part, exact = _pointed(op, name, kind, place, places)
    certain = place.certain and exact and part is not None
    return Access(op, writes, place.space, place.root, part, place.condition, certain)


def _end(place: Place) -> Expr | None:
    return None if place.offset is None or place.extent is None else place.offset.plus(place.extent)


def _span(place: Place, sure: tuple[Expr, Expr] | None) -> Interval | None:
    return None if place.offset is None else Interval(place.offset, _end(place), sure)


def _element(op: PtoOp, kind: object, place: Place, places: Places) -> tuple[Interval | None, bool]:
    """Returns one element of a tile, by its index in memory order."""
    size = byte_width(kind.element) if isinstance(kind, TileBufType) else None
    (index,) = operand_groups(op)["offset"]
    number = places.numbers.number(index)
    if size is None or number is None or place.offset is None or place.sides:
        return _span(place, None), False
    low = place.offset.plus(number, size)
    return Interval(low, low.plus(size), (low, low.plus(size))), True


def _pointed(
    op: PtoOp, name: str, kind: object, place: Place, places: Places
) -> tuple[Interval | Rectangle | None, bool]:
    """Returns what an operation touches from a pointer on."""
    if place.offset is None:
        return None, False
    span = span_of(op, name, places.numbers, places.profile.arch)
    if span is not None:
        sure = None if span.sure is None else (place.offset, place.offset.plus(span.sure))
        high = None if span.length is None else place.offset.plus(span.length)
        interval = Interval(place.offset, high, sure)
        rows = _bursts(place, span, interval)
        return rows or interval, sure is not None or rows is not None
    offsets = operand_groups(op).get("offset", ())
    element = element_type(kind) if isinstance(kind, (PtrType, MemRefType)) else None
    size = None if element is None else byte_width(element)
    if not offsets:
        if has_role(op, Role.ATOMIC) and size is not None:
            return Interval(place.offset, place.offset.plus(size), (place.offset, place.offset.plus(size))), True
        return Interval(place.offset, None), False
    advances = any(isinstance(value.type, PtrType) for value in op.results)
    number = Expr(0) if advances else places.numbers.number(offsets[0])
    if number is None or size is None:
        return None, False
    low = place.offset.plus(number, size)
    if has_role(op, _ELEMENTS):
        return Interval(low, low.plus(size), (low, low.plus(size))), True
    if isinstance(op, (OffsetLoadOp, OffsetStoreOp)) and not _reaches_further(op):
        sure = (low, low.plus(VL_BYTES)) if _is_whole(op) else None
        return Interval(low, low.plus(REGISTERS), sure), sure is not None
    return Interval(low, None), False


def _is_whole(op: OffsetLoadOp | OffsetStoreOp) -> bool:
    """Returns whether a load fills a whole register, or a store writes one: one element after the other, under no mask
    or a full one."""
    groups = operand_groups(op)
    register = op.results[0] if isinstance(op, OffsetLoadOp) else next(iter(groups.get("value", ())), None)
    if register is None or enumerator(op, "dist") not in _as_they_are(register.type):
        return False
    if isinstance(op, OffsetLoadOp):
        return op_spec(type(op)).reads == ("source",) and isinstance(op.results[0].type, VRegType)
    masks = [value.owner for value in groups.get("mask", ())]
    full = all(isinstance(one, PatternOp) and enumerator(one, "pattern") == "PAT_ALL" for one in masks)
    stored = [value.type for value in groups.get("value", ())]
    return full and len(masks) == len(stored) == 1 and isinstance(stored[0], VRegType)


def _as_they_are(register: Attribute) -> tuple[str, ...]:
    """Returns the distributions, or none, that store the elements of a register, or load them, one after the other."""
    element = element_type(register)
    width = None if element is None else byte_width(element)
    return ("", "NORM") if width is None else ("", "NORM", f"NORM_B{8 * width}")


def _bursts(place: Place, span: Span, interval: Interval) -> Rectangle | None:
    """Bursts with gaps between them, as rows of a memory whose lines are as long as their distance."""
    start = None if place.offset is None else place.offset.value
    if span.rows is None or start is None:
        return None
    count, step, length = span.rows
    row, column = divmod(start, step) if step > 0 else (0, 0)
    if step <= 0 or column + length > step:
        return None
    sides = ((Expr(row), count), (Expr(column), Expr(length)))
    return Rectangle(("bursts", place.root, step), sides, interval)


def _reaches_further(op: PtoOp) -> bool:
    """Returns whether an operation may touch more than two registers."""
    return any(not isinstance(value.type, VRegType) for value in op.results if not isinstance(value.type, PtrType))
