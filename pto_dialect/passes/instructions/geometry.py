"""Tiles as the instructions of the cube core see them: a pointer, an image of blocks, a position in it.

Source: docs/reference/layouts.md, "Tile layouts", "Layouts of the memories".
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerType
from xdsl.dialects.scf import ForOp
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.affine import AffineAnalysis, AffineExpr, Term
from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.buffers.pointers import CastptrOp, TileBufAddrOp
from pto_dialect.ir.buffers.views import (
    AllocTileOp,
    BitcastOp,
    SubviewOp,
    TileValidColsOp,
    TileValidRowsOp,
    TReshapeOp,
)
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.types import DYNAMIC, PtrType, TileBufType, bit_width, byte_width, element_name
from pto_dialect.passes.base import ObstacleError
from pto_dialect.targets.memory import LOC_TO_SPACE
from pto_dialect.targets.tile_layouts import C0_BYTES, FRACTAL_ROWS, LAYOUT_NAME

from .writer import INDEX, Function, Number, Writer

ROW_BYTES = 32


class NotLoweredError(ObstacleError):
    """Why an operation cannot be lowered, and what may be done about it."""

    def __init__(self, op: Operation, reason: str, help: str | None = None) -> None:
        super().__init__(op, reason)
        self.help = help


@dataclass(frozen=True)
class Tile:
    """A tile operand. ``type`` is its own type, ``base`` the tile that it is a part of, with the type ``base_type``,
    ``pointer`` the address of that one; ``row`` and ``col`` are where it begins there, ``rows`` and ``cols`` its valid
    region, all in elements."""

    type: TileBufType
    base: SSAValue
    base_type: TileBufType
    pointer: SSAValue
    row: Number
    col: Number
    rows: Number
    cols: Number

    @property
    def element(self) -> str:
        """Name of the element type."""
        return element_name(self.type.element)

    @property
    def bytes(self) -> int:
        """Bytes of one element."""
        return bytes_of(self.type.element)

    @property
    def kind(self) -> str:
        """Layout: NZ, ZN, ZZ, NN, ND or DN."""
        type_ = self.base_type
        blayout = "col_major" if type_.loc == "left" and type_.slayout != "none_box" else type_.blayout
        return LAYOUT_NAME[blayout, type_.slayout]

    @property
    def width(self) -> int:
        """Columns of one column of blocks of the image, in elements."""
        if self.base_type.loc == "acc" or self.base_type.fractal == 1024:
            return 16
        return C0_BYTES // self.bytes

    @property
    def loadable(self) -> bool:
        """Whether its blocks are those of transfers and products: 32 bytes wide, accumulators 16 elements."""
        return self.base_type.loc == "acc" or self.width * self.bytes == ROW_BYTES

    @property
    def height(self) -> int:
        """Rows of the image: those of the tile, the columns of one whose blocks are turned."""
        rows = self.base_type.cols if self.kind == "ZN" else self.base_type.rows
        return FRACTAL_ROWS if self.base_type.loc == "acc" and rows == 1 else rows

    @property
    def turned(self) -> bool:
        """Whether the image is that of the transposed matrix."""
        return self.kind == "ZN"

    def image(self, row: Number, col: Number) -> tuple[Number, Number]:
        """Returns a position of the tile, or a size, as one of the image."""
        return (col, row) if self.turned else (row, col)


def bytes_of(element: Attribute) -> int:
    """Returns the bytes of an element of a tile that a :class:`Reader` takes, or of a register."""
    width = byte_width(element)
    assert width is not None
    return width


class Reader:
    """Reads the operands of one operation, by default the one that is written for. Raises
    :class:`NotLoweredError`."""

    def __init__(self, writer: Writer, op: Operation | None = None) -> None:
        self.writer = writer
        self.op = op or writer.anchor

    def tile(self, value: SSAValue) -> Tile:
        """Returns a tile operand."""
        type_ = value.type
        if not isinstance(type_, TileBufType):
            raise NotLoweredError(self.op, f"{type_} is a value without memory", "tiles of buffers have addresses")
        bits = bit_width(type_.element)
        assert bits is not None
        if bits < 8 or element_name(type_.element).startswith("f4"):
            raise NotLoweredError(self.op, f"elements of type {element_name(type_.element)} have no bytes of their own")
        base, row, col = value, 0, 0
        while isinstance(base.owner, SubviewOp):
            view = base.owner
            first, second = view.offsets
            row = self.writer.add(row, self.writer.number(first))
            col = self.writer.add(col, self.writer.number(second))
            base = view.source
        tile_type = base.type
        assert isinstance(tile_type, TileBufType)
        pointer = self._pointer(base, tile_type)
        rows, cols = self._valid(value, type_)
        return Tile(type_, base, tile_type, pointer, row, col, rows, cols)

    def _pointer(self, base: SSAValue, type_: TileBufType) -> SSAValue:
        """Returns the address of a tile that is not a part of another: written after its allocation, once."""
        space = LOC_TO_SPACE[type_.loc]
        if type_.loc == "scaling" and type_.fractal == ROW_BYTES:
            raise NotLoweredError(self.op, "scales of MX operands lie beside their operands")
        result = PtrType(type_.element, space)
        function = self.writer.function
        known = function.pointers.get((base, result))
        if known is not None:
            return known
        origin = base
        while isinstance(origin.owner, (TReshapeOp, BitcastOp)):
            origin = origin.owner.src
        owner = origin.owner
        at = Writer(function, base.owner if isinstance(base.owner, Operation) else self.op)
        if isinstance(owner, AllocTileOp):
            if owner.addr is None:
                name = label_of(origin, "a tile")
                raise NotLoweredError(self.op, f"{name} has no address", "assign-memory gives one")
            made = at.pto(CastptrOp, {"input": owner.addr}, result=result)
        else:
            made = self.writer.pto(TileBufAddrOp, {"src": base}, result=result)
        made.name_hint = base.name_hint or space
        if isinstance(owner, AllocTileOp):
            function.pointers[base, result] = made
        return made

    def _valid(self, value: SSAValue, type_: TileBufType) -> tuple[Number, Number]:
        extents: list[Number] = []
        for size, name, query in (
            (type_.valid_rows, "valid_row", TileValidRowsOp),
            (type_.valid_cols, "valid_col", TileValidColsOp),
        ):
            if size != DYNAMIC:
                extents.append(size)
            elif (stated := self.writer.function.valid_sizes.stated(value, name, self.op)) is not None:
                extents.append(self.writer.number(stated))
            else:
                extents.append(self.writer.pto(query, {"src": value}, result=INDEX))
        return extents[0], extents[1]

    def offset(self, tile: Tile, row: Number, col: Number) -> Number:
        """Returns the elements from the beginning of the image to a position of the tile, whose column begins a
        block."""
        row, col = tile.image(self.writer.add(tile.row, row), self.writer.add(tile.col, col))
        self.aligned(col, tile.width, "column" if not tile.turned else "row")
        return self.writer.add(self.writer.mul(col, tile.height), self.writer.mul(row, tile.width))

    def aligned(self, number: Number, unit: int, what: str) -> None:
        """Makes sure that a position is a multiple of ``unit``."""
        if not is_multiple(self.writer.function, number, unit):
            actual = str(number) if isinstance(number, int) else "what a run says"
            raise NotLoweredError(
                self.op, f"the {what} that it begins with must be a multiple of {unit}, found {actual}"
            )


def is_multiple(function: Function, number: Number, unit: int) -> bool:
    """Returns whether ``number`` must be a multiple of ``unit``."""
    if isinstance(number, int):
        return number % unit == 0
    return _multiple(function.sums, function.sums.expression_of(number), unit)


def _multiple(sums: AffineAnalysis, total: AffineExpr, unit: int, depth: int = 8) -> bool:
    if total.constant % unit or not depth:
        return False
    return all(factor % unit == 0 or _term(sums, term, unit, depth - 1) for term, factor in total.terms)


_Known = Callable[[AffineExpr, int], bool]


def _all(known: _Known, parts: Sequence[AffineExpr], unit: int) -> bool:
    return all(known(part, unit) for part in parts)


def _any(known: _Known, parts: Sequence[AffineExpr], unit: int) -> bool:
    return any(known(part, unit) for part in parts)


def _quotient(known: _Known, parts: Sequence[AffineExpr], unit: int) -> bool:
    divisor = parts[1].constant_value
    return bool(divisor) and known(parts[0], unit * divisor)


_DIVISIBILITY_RULES = {
    **dict.fromkeys(("arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui"), _all),
    "arith.muli": _any,
    **dict.fromkeys(("arith.divui", "arith.divsi"), _quotient),
}
"""Which of their operands have to be a multiple for the result of an operation to be one."""


def _term(sums: AffineAnalysis, term: Term, unit: int, depth: int) -> bool:
    name, *_ = term
    rule = _DIVISIBILITY_RULES.get(name) if isinstance(name, str) else None
    if rule is not None:
        parts = [part for part in term if isinstance(part, AffineExpr)]
        return rule(lambda part, needed: _multiple(sums, part, needed, depth), parts, unit)
    value = term[0]
    if not isinstance(value, SSAValue):
        return False
    loop = value.owner.parent_op()
    if not isinstance(loop, ForOp) or value is not loop.body.block.args[0]:
        return False
    return all(_multiple(sums, sums.expression_of(bound), unit, depth) for bound in (loop.lb, loop.step))


def constant_bits(value: SSAValue) -> int | None:
    """Returns a 64-bit constant without its sign."""
    constant = constant_of(value)
    if not isinstance(constant, int) or not isinstance(value.type, IntegerType):
        return None
    return constant & ((1 << 64) - 1)
