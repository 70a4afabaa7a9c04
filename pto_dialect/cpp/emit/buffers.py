"""Pointers, tiles and tensors: what is a variable in C++, and what only says how others are made.

Source: docs/reference/execution.md, "Pointers, tiles and views".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from xdsl.dialects.builtin import IntegerAttr

from pto_dialect.analysis.mx_layouts import inferred_layout
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp, operand_groups

from .ctypes import element, pointer
from .errors import fail
from .expression import ATOM, Expr, add, cast, integer, multiply
from .writer import View, Writer, emits

if TYPE_CHECKING:
    from xdsl.ir import Operation, SSAValue

_RANK = 5
_SCALES = {"a_scale": "ScaleLeft", "b_scale": "ScaleRight"}
_SAME = ("pto.treshape", "pto.subview", "pto.bitcast", "pto.tassign")


def groups_of(op: Operation) -> dict[str, tuple[SSAValue, ...]]:
    """Returns the operands of an operation by their declared names."""
    assert isinstance(op, PtoOp)
    return operand_groups(op)


# ---- tiles


def _location(value: SSAValue) -> str:
    """Returns the location of tiles of scales, which follows from the side of a product that they scale."""
    if not isinstance(value.type, t.TileBufType) or value.type.loc != "scaling":
        return ""
    for use in value.uses:
        if isinstance(use.operation, PtoOp) and ".mx" in use.operation.name:
            for name, values in operand_groups(use.operation).items():
                if name in _SCALES and value in values:
                    return _SCALES[name]
        if use.operation.name in _SAME and (found := _location(use.operation.results[0])):
            return found
    return ""


def declare_tile(
    op: Operation, w: Writer, row: Expr | None, col: Expr | None, type_: t.TileBufType | None = None
) -> Expr:
    """Declares the tile that an operation gives, with its run-time sizes; ``type_`` replaces that of the result."""
    result = op.results[0]
    type_ = type_ or w.tile_type(result, op)
    w.tile_types[result] = type_
    alias = w.shared.aliases.tile(type_, op, _location(result))
    name = w.name(result, "tile")
    stated = ((row, type_.valid_rows, type_.rows), (col, type_.valid_cols, type_.cols))
    sizes = [str(room) if one is None else one.text for one, valid, room in stated if valid == t.DYNAMIC]
    w.line(f"{alias} {name}({', '.join(sizes)});" if sizes else f"{alias} {name};")
    found = Expr(name)
    w.bind(result, found)
    return found


def _optional(values: tuple[SSAValue, ...], op: Operation, w: Writer) -> Expr | None:
    return w.get(values[0], op) if values else None


def _valid_of(tile: Expr) -> tuple[Expr, Expr]:
    """Returns the run-time sizes of a tile."""
    return Expr(f"{tile.text}.GetValidRow()"), Expr(f"{tile.text}.GetValidCol()")


def address(expression: Expr) -> Expr:
    """Returns an address, in hexadecimal digits if it is constant."""
    return expression if expression.number is None else Expr(hex(expression.number), ATOM, expression.number)


@emits("pto.alloc_tile")
def emit_tile(op: Operation, w: Writer) -> None:
    """A tile and its address."""
    groups = groups_of(op)
    row, col = (_optional(groups[name], op, w) for name in ("valid_row", "valid_col"))
    placed = _optional(groups["addr"], op, w)
    if placed is None and w.shared.placed:
        fail(op, "this tile has no address, others have one", "run -p assign-memory first, so that all have one")
    tile = declare_tile(op, w, row, col)
    if placed is not None:
        w.line(f"TASSIGN({tile.text}, {address(placed).text});")


@emits("pto.tassign")
def emit_assignment(op: Operation, w: Writer) -> None:
    """The tile at another address: a new variable."""
    tile, at = (w.get(value, op) for value in op.operands)
    new = declare_tile(op, w, *_valid_of(tile))
    w.line(f"TASSIGN({new.text}, {address(at).text});")


@emits("pto.treshape", "pto.bitcast")
def emit_reshape(op: Operation, w: Writer) -> None:
    """The same bytes as another tile."""
    if isinstance(op.operands[0].type, t.ShapedView):
        fail(op, "a tensor in another shape has no form in C++", "make another view of its pointer")
    source = w.get(op.operands[0], op)
    new = declare_tile(op, w, *_valid_of(source))
    w.line(f"TRESHAPE({new.text}, {source.text});")


@emits("pto.subview")
def emit_window(op: Operation, w: Writer) -> None:
    """A window of a tile."""
    groups = groups_of(op)
    source = w.get(groups["source"][0], op)
    offsets = [w.get(value, op) for value in groups["offsets"]]
    row, col = (_optional(groups[name], op, w) for name in ("valid_row", "valid_col"))
    parent, part = w.tile_type(groups["source"][0], op), w.tile_type(op.results[0], op)
    if not _is_whole_lines(parent, part):
        if parent.slayout != "none_box":
            fail(op, "a window of a boxed tile has no form in C++", "take it with textract")
        # Its lines lie as far apart as those of the whole tile, whose type it has therefore.
        part = parent.replace(valid=(part.valid_rows, part.valid_cols))
    new = declare_tile(op, w, row, col, part)
    w.line(f"TSUBVIEW({new.text}, {source.text}, {offsets[0].text}, {offsets[1].text});")


def _is_whole_lines(parent: t.TileBufType, part: t.TileBufType) -> bool:
    """Returns whether a window has all of each row or column that is contiguous in its tile."""
    by_rows = parent.blayout == "row_major"
    return part.cols == parent.cols if by_rows else part.rows == parent.rows


@emits("pto.set_validshape")
def emit_valid_sizes(op: Operation, w: Writer) -> None:
    """Sets the run-time sizes of a tile."""
    tile, row, col = (w.get(value, op) for value in op.operands)
    type_ = w.tile_type(op.operands[0], op)
    for word, size, stated in (("Row", row, type_.valid_rows), ("Col", col, type_.valid_cols)):
        if stated == t.DYNAMIC:
            w.line(f"{tile.text}.SetValid{word}({size.text});")


@emits("pto.get_validshape")
def emit_valid_shape(op: Operation, w: Writer) -> None:
    """The run-time sizes of a tile."""
    tile = w.get(op.operands[0], op)
    for at, word in enumerate(("Row", "Col")):
        if list(op.results[at].uses):
            w.declare(op, Expr(f"{tile.text}.GetValid{word}()"), at)


@emits("pto.tile_valid_rows", "pto.tile_valid_cols")
def emit_valid_size(op: Operation, w: Writer) -> None:
    """One run-time size of a tile."""
    word = "Row" if op.name.endswith("rows") else "Col"
    if list(op.results[0].uses):
        w.declare(op, Expr(f"{w.get(op.operands[0], op).text}.GetValid{word}()"))


@emits("pto.tgetval")
def emit_get_value(op: Operation, w: Writer) -> None:
    """An element of a tile."""
    tile, offset = (w.get(value, op) for value in op.operands)
    w.declare(op, Expr(f"{tile.text}.GetValue({offset.text})"))


@emits("pto.tsetval")
def emit_set_value(op: Operation, w: Writer) -> None:
    """An element of a tile gets a value."""
    groups = groups_of(op)
    names = [name for name, values in groups.items() if values and name != "dst"]
    tile = w.get(groups["dst"][0], op)
    offset, value = (w.get(groups[name][0], op) for name in names)
    w.line(f"{tile.text}.SetValue({offset.text}, {value.text});")


# ---- pointers


@emits("pto.addptr")
def emit_offset(op: Operation, w: Writer) -> None:
    """A pointer some elements further."""
    base, offset = (w.get(value, op) for value in op.operands)
    w.define(op, add(base, offset))


@emits("pto.castptr", "pto.inttoptr", "pto.ptrtoint")
def emit_pointer_cast(op: Operation, w: Writer) -> None:
    """A pointer as another one or as a number."""
    operand = w.get(op.operands[0], op)
    type_ = op.results[0].type
    name = pointer(type_, op) if isinstance(type_, t.PtrType) else element(type_, op)
    w.define(op, cast(name.strip(), operand))


@emits("pto.load_scalar", "pto.load")
def emit_load(op: Operation, w: Writer) -> None:
    """An element of global memory."""
    groups = groups_of(op)
    base, offset = (w.get(groups[name][0], op) for name in ("ptr", "offset"))
    if list(op.results[0].uses):
        w.declare(op, Expr(f"{base.at(ATOM)}[{offset.text}]"))


@emits("pto.store_scalar", "pto.store")
def emit_store(op: Operation, w: Writer) -> None:
    """An element of global memory gets a value."""
    groups = groups_of(op)
    base, offset, value = (w.get(groups[name][0], op) for name in ("ptr", "offset", "value"))
    w.line(f"{base.at(ATOM)}[{offset.text}] = {value.text};")


# ---- tensors


@emits("pto.make_tensor_view")
def emit_view(op: Operation, w: Writer) -> None:
    """A view is written where its parts are."""
    groups = groups_of(op)
    type_ = op.results[0].type
    assert isinstance(type_, t.TensorViewType)
    layout = enumerator(op, "layout")
    if not layout and t.element_name(type_.element) == "f8E8M0":
        layout = inferred_layout(op.results[0])
    sizes, strides = (tuple(w.get(value, op) for value in groups[name]) for name in ("shape", "strides"))
    w.bind(op.results[0], View(w.get(groups["ptr"][0], op), sizes, strides, layout or "nd", type_.element))


@emits("pto.partition_view")
def emit_part(op: Operation, w: Writer) -> None:
    """A part of a view is a tensor that begins further on."""
    groups = groups_of(op)
    view = w.view(groups["source"][0], op)
    offsets, sizes = (tuple(w.get(value, op) for value in groups[name]) for name in ("offsets", "sizes"))
    type_ = op.results[0].type
    assert isinstance(type_, t.PartitionViewType)
    known = tuple(integer(n) if n != t.DYNAMIC else size for n, size in zip(type_.shape, sizes, strict=True))
    base = view.base
    for offset, stride in zip(offsets, view.strides, strict=True):
        base = add(base, multiply(offset, stride))
    declare_tensor(op, View(base, known, view.strides, view.layout, view.element), w)


def declare_tensor(op: Operation, view: View, w: Writer, value: SSAValue | None = None) -> None:
    """Declares a tensor as a value, the result of an operation if no other is named."""
    value = value or op.results[0]
    w.parts[value] = view
    missing = _RANK - len(view.sizes)
    if view.layout.startswith("mx") and missing:
        fail(op, "a tensor of scales with two dimensions has no form in C++", "give it five dimensions")
    sizes = [integer(1)] * missing + list(view.sizes)
    strides = [integer(1)] * missing + list(view.strides)
    for at in reversed(range(missing)):
        strides[at] = multiply(sizes[at + 1], strides[at + 1])
        if strides[at].number is None:
            strides[at] = integer(1)
    shape, steps = ([t.DYNAMIC if one.number is None else one.number for one in axis] for axis in (sizes, strides))
    elements = element(view.element, op)
    alias = w.shared.aliases.tensor(elements, view.layout, shape, steps, t.element_name(view.element))
    arguments = [view.base.text]
    open_ = [[one.text for one in axis if one.number is None] for axis in (sizes, strides)]
    if any(open_):
        arguments.append(f"{alias}::Shape({', '.join(open_[0])})")
    if open_[1]:
        arguments.append(f"{alias}::Stride({', '.join(open_[1])})")
    name = w.name(value, "part")
    w.line(f"{alias} {name}({', '.join(arguments)});")
    w.bind(value, Expr(name))


def tensor(value: SSAValue, op: Operation, w: Writer) -> Expr:
    """Returns the variable of a tensor; a whole view gets one where it is used."""
    found = w.known(value)
    if not isinstance(found, View):
        return w.get(value, op)
    missing = _RANK - len(found.sizes)
    assert missing >= 0
    fail(op, "a whole view has no form in C++ here", "take a part of it with partition_view")


@emits("pto.get_tensor_view_dim", "pto.get_tensor_view_stride")
def emit_dimension(op: Operation, w: Writer) -> None:
    """A size or stride of a view."""
    view = w.known(op.operands[0])
    at = w.get(op.operands[1], op).number
    if not isinstance(view, View) or at is None:
        fail(op, f"{op.name} of this value has no form in C++", "use the number that the view was made with")
    w.bind(op.results[0], (view.sizes if op.name.endswith("dim") else view.strides)[at])


@emits("pto.tensor_view_addr")
def emit_view_address(op: Operation, w: Writer) -> None:
    """The pointer of a view."""
    view = w.known(op.operands[0])
    if isinstance(view, View):
        w.bind(op.results[0], view.base)
        return
    w.define(op, Expr(f"{w.get(op.operands[0], op).text}.data()"))


def number_of(attribute: object) -> int | None:
    """Returns the number of an integer attribute."""
    return int(attribute.value.data) if isinstance(attribute, IntegerAttr) else None


__all__ = ["address", "declare_tensor", "declare_tile", "groups_of", "number_of", "tensor"]
