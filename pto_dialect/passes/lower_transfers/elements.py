"""``tgetval``, ``tsetval`` and ``tci`` as loads and stores of single elements.

Source: docs/reference/tiles.md, "Irregular operations".
"""

from __future__ import annotations

from xdsl.dialects.arith import AddiOp, IndexCastOp, SubiOp
from xdsl.dialects.builtin import IntegerAttr, IntegerType, Signedness
from xdsl.ir import SSAValue

from pto_dialect.ir.buffers.pointers import LoadOp, StoreOp
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.passes.instructions.geometry import NotLoweredError, Reader
from pto_dialect.passes.instructions.writer import Number, Writer
from pto_dialect.passes.lower_vector.registers import offset_in


def _element_offset(writer: Writer, name: str) -> tuple[SSAValue, SSAValue]:
    """Returns the pointer of a tile, and the offset of the element in elements."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer)
    if not groups[name]:
        raise NotLoweredError(op, "its result is a value without memory")
    tile = reader.tile(groups[name][0])
    rows = tile.kind in ("ND", "DN")
    first = offset_in(writer, tile, 0) if rows else reader.offset(tile, 0, 0)
    return tile.pointer, writer.index(writer.add(first, writer.number(groups["offset"][0])))


def _check(writer: Writer, pointer: SSAValue, number: SSAValue) -> None:
    element = pointer.type.element  # pyright: ignore[reportAttributeAccessIssue]
    if element != number.type:
        raise NotLoweredError(writer.anchor, f"its number is {number.type}, its tile holds {element}")


def get(writer: Writer) -> None:
    """``tgetval`` of a tile in the unified buffer. Raises :class:`NotLoweredError`."""
    (result,) = writer.anchor.results
    pointer, offset = _element_offset(writer, "src")
    _check(writer, pointer, result)
    made = writer.pto(LoadOp, {"ptr": pointer, "offset": offset}, result=result.type)
    made.name_hint = result.name_hint
    writer.function.replaced.append((result, made))


def put(writer: Writer) -> None:
    """``tsetval`` of a tile in the unified buffer. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    pointer, offset = _element_offset(writer, "dst")
    (value,) = operand_groups(op)["val"]
    _check(writer, pointer, value)
    writer.pto(StoreOp, {"ptr": pointer, "offset": offset, "value": value})


def count(writer: Writer) -> None:
    """``tci``: a loop of the scalar unit over the elements of the first row. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer)
    if not groups["dst"]:
        raise NotLoweredError(op, "its result is a value without memory")
    (start,), tile = groups["S"], reader.tile(groups["dst"][0])
    element = tile.type.element
    if tile.kind != "ND" or not isinstance(element, IntegerType) or element.signedness.data is not Signedness.SIGNLESS:
        raise NotLoweredError(op, f"{tile.element} in the layout {tile.kind} is not counted")
    _check(writer, tile.pointer, start)
    falls = op.attributes.get("descending")
    step = SubiOp if isinstance(falls, IntegerAttr) and falls.value.data else AddiOp

    def one(number: Number) -> None:
        distance = writer.put(IndexCastOp(writer.index(number), element))
        value = writer.put(step(start, distance))
        offset = writer.index(writer.add(offset_in(writer, tile, 0), number))
        writer.pto(StoreOp, {"ptr": tile.pointer, "offset": offset, "value": value})

    writer.repeat(tile.cols, one)
