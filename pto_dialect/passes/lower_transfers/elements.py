"""``tgetval`` and ``tsetval`` as loads and stores of one element.

Source: docs/reference/tiles.md, "Irregular operations".
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from pto_dialect.ir.buffers.pointers import LoadOp, StoreOp
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.passes.instructions.geometry import NotLoweredError, Reader
from pto_dialect.passes.instructions.writer import Writer
from pto_dialect.passes.lower_vector.registers import offset_in


def _place(writer: Writer, name: str) -> tuple[SSAValue, SSAValue]:
    """The pointer of a tile, and how many elements behind it the element lies."""
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
    pointer, offset = _place(writer, "src")
    _check(writer, pointer, result)
    made = writer.pto(LoadOp, {"ptr": pointer, "offset": offset}, result=result.type)
    made.name_hint = result.name_hint
    writer.function.replaced.append((result, made))


def put(writer: Writer) -> None:
    """``tsetval`` of a tile in the unified buffer. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    pointer, offset = _place(writer, "dst")
    (value,) = operand_groups(op)["val"]
    _check(writer, pointer, value)
    writer.pto(StoreOp, {"ptr": pointer, "offset": offset, "value": value})
