"""Views of global memory as matrices: rows and columns with their strides.

Source: docs/reference/layouts.md, "Views of global memory".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import SSAValue

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.buffers.pointers import TensorViewAddrOp
from pto_dialect.ir.buffers.views import (
    GetTensorViewDimOp,
    GetTensorViewStrideOp,
    MakeTensorViewOp,
    PartitionViewOp,
)
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import DYNAMIC, PtrType, ShapedView

from .geometry import NotLoweredError
from .writer import INDEX, Function, Number, Writer

_RANK = 5
_DIMENSIONS = {"nd": ((0, 1, 2, 3), (4,)), "dn": ((3,), (0, 1, 2, 4)), "nz": ((2, 3), (0, 1, 4))}
"""The dimensions, outermost first, whose product counts rows, and those that count columns."""


class Step(NamedTuple):
    """Elements along one direction: how many, and how far they are apart."""

    size: Number
    stride: Number


class View(NamedTuple):
    """A matrix in global memory: from ``pointer`` on, rows and columns as nested steps, outermost first; ``turned``
    states whether loads read column by column where they fill a tile of other sizes."""

    pointer: SSAValue
    rows: tuple[Step, ...]
    cols: tuple[Step, ...]
    turned: bool = False


def view_of(writer: Writer, value: SSAValue) -> View:
    """Returns what a view shows. Raises :class:`NotLoweredError`."""
    origin = value
    offsets: list[Number] = []
    sizes: list[Number] | None = None
    while isinstance(origin.owner, PartitionViewOp):
        part = origin.owner
        more = [writer.number(offset) for offset in part.offsets]
        offsets = [writer.add(*pair) for pair in zip(offsets, more, strict=True)] if offsets else more
        sizes = sizes or [writer.number(size) for size in part.sizes]
        origin = part.source
    view_op, layout = origin.owner, "nd"
    if isinstance(view_op, MakeTensorViewOp) and isinstance(view_op.ptr.type, PtrType):
        groups = operand_groups(view_op)
        start, strides = view_op.ptr, [writer.number(stride) for stride in groups["strides"]]
        sizes = sizes or [writer.number(size) for size in groups["shape"]]
        layout = enumerator(view_op, "layout") or layout
    elif _is_launched_with(writer.function, origin):
        start, strides, shape = _given(writer, origin)
        sizes = sizes or shape
    else:
        raise NotLoweredError(writer.anchor, "its view is not made in this function")
    if layout not in _DIMENSIONS:
        raise NotLoweredError(writer.anchor, f"a view in the layout {layout}")
    distance: Number = 0
    for offset, stride in zip(offsets, strides, strict=False):
        distance = writer.add(distance, writer.mul(offset, stride))
    pointer = writer.advanced(start, distance)
    steps = [Step(1, 0)] * (_RANK - len(sizes)) + [Step(*pair) for pair in zip(sizes, strides, strict=True)]
    rows, cols = (_merged(writer, [steps[number] for number in numbers]) for numbers in _DIMENSIONS[layout])
    return View(pointer, rows, cols, layout == "dn")


def _is_launched_with(function: Function, view: SSAValue) -> bool:
    """Returns whether a view must be an argument of a launch, whose last dimension is dense: one of a function in a
    module without calls."""
    return view.owner is function.entry and isinstance(view.type, ShapedView) and not function.calls


def _given(writer: Writer, view: SSAValue) -> tuple[SSAValue, list[Number], list[Number]]:
    """Pointer, strides and sizes of a view that a launch passes: what its type does not state is queried at run
    time."""
    type_ = view.type
    assert isinstance(type_, ShapedView)

    def query(cls: type[PtoOp], dimension: int) -> Number:
        return writer.pto(cls, {"tensor_view": view, "dim_index": writer.index(dimension)}, result=INDEX)

    pointer = writer.pto(TensorViewAddrOp, {"src": view}, result=PtrType(type_.element, "gm"))
    pointer.name_hint = view.name_hint
    last = len(type_.shape) - 1
    strides = [1 if number == last else query(GetTensorViewStrideOp, number) for number in range(last + 1)]
    shape = [query(GetTensorViewDimOp, number) if size == DYNAMIC else size for number, size in enumerate(type_.shape)]
    return pointer, strides, shape


def _merged(writer: Writer, steps: list[Step]) -> tuple[Step, ...]:
    """Without steps of one element, and with one in place of two that follow each other evenly."""
    merged: list[Step] = []
    for step in reversed(steps):
        if step.size == 1:
            continue
        if merged and _evenly(step, merged[-1]):
            inner = merged.pop()
            step = Step(writer.mul(step.size, inner.size), inner.stride)
        merged.append(step)
    return tuple(reversed(merged)) or (Step(1, 1),)


def _evenly(outer: Step, inner: Step) -> bool:
    known = (outer.stride, inner.size, inner.stride)
    if all(isinstance(number, int) for number in known):
        return outer.stride == inner.size * inner.stride  # pyright: ignore[reportOperatorIssue]
    return False


def fitted(
    writer: Writer, view: View, rows: Number, cols: Number, loads: bool = True
) -> tuple[View, tuple[Number, Number]]:
    """Returns how much of a matrix of ``rows`` x ``cols`` a view covers, and the view: what both have, or with as many
    elements all of them in their order. Raises :class:`NotLoweredError` where the text does not say which it is."""
    count = [_count(writer, steps) for steps in (view.rows, view.cols)]
    if not (writer.is_equal(count[0], rows) or writer.is_equal(count[1], cols)):
        if not isinstance(rows, int) or not isinstance(cols, int) or not all(isinstance(one, int) for one in count):
            raise NotLoweredError(writer.anchor, "its view and its tile have other rows and other columns")
        if count[0] * count[1] == rows * cols > 0:  # pyright: ignore[reportOperatorIssue]
            return _in_order(writer, view, rows, cols, loads and view.turned), (rows, cols)
    return view, (writer.least(count[0], rows), writer.least(count[1], cols))


def _in_order(writer: Writer, view: View, rows: int, cols: int, turned: bool) -> View:
    """Returns the elements of a view, taken row by row or column by column, as a matrix of other sizes."""
    steps = list(_merged(writer, [*view.cols, *view.rows] if turned else [*view.rows, *view.cols]))
    inner: list[Step] = []
    left = rows if turned else cols
    while left > 1:
        step = steps.pop()
        assert isinstance(step.size, int)
        taken = min(step.size, left)
        if step.size % taken or left % taken:
            raise NotLoweredError(writer.anchor, "lines of its view end in the midst of lines of its tile")
        inner.insert(0, Step(taken, step.stride))
        if step.size > taken:
            steps.append(Step(step.size // taken, writer.mul(step.stride, taken)))
        left //= taken
    outer, along = tuple(steps) or (Step(1, 1),), tuple(inner) or (Step(1, 1),)
    return View(view.pointer, along, outer) if turned else View(view.pointer, outer, along)


def _count(writer: Writer, steps: tuple[Step, ...]) -> Number:
    total: Number = 1
    for step in steps:
        total = writer.mul(total, step.size)
    return total
