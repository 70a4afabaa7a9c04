"""Elementwise operations as loops over registers, with a mask for what is left of a row.

Source: docs/reference/vectors.md, "Arithmetic", "Loads and stores", "Predicates".
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, operand_groups, signature
from pto_dialect.ir.vector.convert import VBrOp
from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer

from .registers import Registers, may_overlap, offset_in
from .table import ONE, Formula, Row, formula_of


def lower_row(writer: Writer, row: Row) -> None:
    """Writes the vector function of an operation. Raises :class:`NotLoweredError`."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer)
    dst = reader.tile(groups["dst"][0])
    sources = {name: reader.tile(groups[name][0]) for name in row.sources}
    number = groups[row.number][0] if row.number else None
    _check(writer, row, dst, sources, number)
    Loops(writer, row, dst, sources, number).write()


def _check(writer: Writer, row: Row, dst: Tile, sources: dict[str, Tile], number: SSAValue | None) -> None:
    op = writer.anchor
    if dst.element not in row.elements:
        raise NotLoweredError(op, f"the vector unit may compute other bits for {dst.element}")
    for name, tile in {"dst": dst, **sources}.items():
        if tile.type.element != dst.type.element:
            raise NotLoweredError(op, f"its tiles hold {dst.element} and {tile.element}")
        if name == row.column:
            _check_column(op, tile)
            continue
        if tile.kind != "ND":
            raise NotLoweredError(op, f"its tiles lie in the layout {tile.kind}, registers are loaded from rows")
        Reader(writer).aligned(tile.col, ROW_BYTES // tile.bytes, "column")
    if number is not None and number.type != dst.type.element:
        raise NotLoweredError(op, f"its number is no {dst.element}")
    kept = row.spread or row.column
    if kept and may_overlap(sources[kept], dst):
        raise NotLoweredError(op, "its destination takes the place of values that later rows need")


def _check_column(op: Operation, tile: Tile) -> None:
    """A tile of which the first element of each row is read."""
    if tile.kind == "DN":
        return
    if tile.kind != "ND":
        raise NotLoweredError(op, f"its values for rows lie in the layout {tile.kind}")
    if not isinstance(tile.cols, int) or tile.cols * tile.bytes == ROW_BYTES:
        raise NotLoweredError(op, "of a row vector with 32 bytes in each row backends take different elements")


class Loops:
    """The loops of one operation over rows and registers."""

    def __init__(self, writer: Writer, row: Row, dst: Tile, sources: dict[str, Tile], number: SSAValue | None) -> None:
        self.writer = writer
        self.row = row
        self.dst = dst
        self.sources = sources
        self.numbers = {row.number: number} if number is not None else {}
        self.registers = Registers(writer, dst.type.element)
        self.lanes = self.registers.lanes
        self.formula = formula_of(row)
        self.offsets: dict[object, Number] = {}
        self.everywhere: dict[object, SSAValue] = {}
        """Registers with one value in all lanes: numbers in the whole function, values of a row in its loop."""

    def write(self) -> None:
        """One loop where the rows of all tiles follow each other, else one over rows with one over registers in it."""
        tiles = (self.dst, *self.sources.values())
        rows, cols = self.dst.rows, self.dst.cols
        dense = not (self.row.spread or self.row.column)
        dense = dense and all(tile.whole.cols == cols and tile.col == 0 for tile in tiles)
        if dense and isinstance(cols, int):
            rows, cols = 1, self.writer.mul(rows, cols)

        def function() -> None:
            self._numbers(self.formula)
            self.writer.repeat(rows, lambda line: self._line(line, cols))

        self.writer.scope(function)

    def _numbers(self, formula: Formula) -> None:
        """Writes the registers with a number in all lanes once, before the loops."""
        if isinstance(formula, str):
            return
        cls, *parts = formula
        for part in parts:
            self._numbers(part)
        if cls is VBrOp:
            name = parts[0]
            assert isinstance(name, str)
            value = self.writer.function.constant(1.0, self.dst.type.element) if name == ONE else self.numbers[name]
            self.everywhere[formula] = self.writer.pto(VBrOp, {"value": value}, result=self.registers.type)

    def _line(self, line: Number, cols: Number) -> None:
        """Whole registers, and what is left of the row; a number that only a run knows is left step by step."""
        writer = self.writer
        if self.row.column:
            tile = self.sources[self.row.column]
            self.everywhere[self.row.column] = self.registers.spread(tile.pointer, offset_in(writer, tile, line))
        full, rest = divmod(cols, self.lanes) if isinstance(cols, int) else (0, 0)
        if full:
            mask = self.registers.whole()
            writer.repeat(full, lambda turn: self._register(line, writer.mul(turn, self.lanes), mask, None))
        if rest:
            self._tail(line, full * self.lanes, rest)
        if not isinstance(cols, int):
            writer.repeat(writer.ceildiv(cols, self.lanes), lambda turn: self._step(line, turn, cols))

    def _step(self, line: Number, turn: Number, cols: Number) -> None:
        at = self.writer.mul(turn, self.lanes)
        self._tail(line, at, self.writer.sub(cols, at))

    def _tail(self, line: Number, at: Number, left: Number) -> None:
        """``left`` elements. They are loaded in blocks of 32 bytes, of which no row shares one with another."""
        registers = self.registers
        self._register(line, at, registers.first(left), registers.blocks(left) if self._loads() else None)

    def _loads(self) -> bool:
        return any(name != self.row.column for name in self.sources)

    def _register(self, line: Number, at: Number, mask: SSAValue, blocks: SSAValue | None) -> None:
        self.offsets.clear()
        known: dict[tuple[SSAValue, Number], SSAValue] = {}
        values = dict(self.everywhere)
        for name, tile in self.sources.items():
            if name == self.row.column:
                continue
            place = (tile.pointer, self._offset(name, tile, line, at))
            if place not in known:
                known[place] = self.registers.load(*place, blocks)
            values[name] = known[place]
        made = self._value(self.formula, values, mask)
        self.registers.store(made, self.dst.pointer, self._offset("dst", self.dst, line, at), mask)

    def _value(self, formula: Formula, values: dict[object, SSAValue], mask: SSAValue) -> SSAValue:
        """The register that a formula stands for."""
        if formula in values:
            return values[formula]
        if isinstance(formula, str):
            return self.numbers[formula]
        cls, *parts = formula
        operands = [*(self._value(part, values, mask) for part in parts), mask]
        names = [slot.name for slot in signature(cls).operands]
        return self.writer.pto(cls, dict(zip(names, operands, strict=True)), result=self.registers.type)

    def _offset(self, name: str, tile: Tile, line: Number, at: Number) -> Number:
        writer = self.writer
        key = (name == self.row.spread, tile.row, tile.col, tile.whole.cols)
        if key not in self.offsets:
            row = tile.row if name == self.row.spread else writer.add(tile.row, line)
            start = writer.add(writer.mul(row, tile.whole.cols), tile.col)
            self.offsets[key] = writer.add(start, at)
        return self.offsets[key]
