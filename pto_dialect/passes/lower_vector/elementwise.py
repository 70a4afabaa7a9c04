"""Elementwise operations as loops over registers, with a mask for what is left of a row.

Source: docs/reference/vectors.md, "Arithmetic", "Loads and stores", "Predicates".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.arith import AndIOp, ExtUIOp, IndexCastOp, TruncIOp
from xdsl.dialects.builtin import IndexType, StringAttr, i16
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.core.base import PtoOp, operand_groups, signature
from pto_dialect.ir.core.types import MaskType
from pto_dialect.ir.tile.move import TMovOp
from pto_dialect.ir.vector.arith import VShlsOp, VShrsOp
from pto_dialect.ir.vector.compare import VCmpsOp, VSelOp
from pto_dialect.ir.vector.convert import VBrOp
from pto_dialect.passes.instructions.geometry import ROW_BYTES, NotLoweredError, Reader, Tile, bytes_of
from pto_dialect.passes.instructions.writer import Number, Writer

from .registers import Registers, offset_in
from .table import ONE, Formula, Row, formula_of
from .tiles import is_same_location, refuse_overlap, torn, transposed


@dataclass(frozen=True)
class Step:
    """One operation: its row, its tiles, its scalar. ``is_stored``: whether its result is stored; ``cyclic``: whether
    the columns of a row read its values cyclically."""

    op: Operation
    row: Row
    dst: Tile
    sources: dict[str, Tile]
    number: SSAValue | None
    is_stored: bool = True
    cyclic: bool = False

    @property
    def alone(self) -> frozenset[str]:
        """The sources whose elements are read at other positions than those of the destination."""
        return frozenset(name for name in (self.row.spread, self.row.column) if name)


def read_step(writer: Writer, op: Operation, row: Row) -> Step:
    """Returns the operands of an operation. Raises :class:`NotLoweredError`."""
    assert isinstance(op, PtoOp)
    groups, reader = operand_groups(op), Reader(writer, op)
    dst = reader.tile(groups["dst"][0])
    sources = {name: reader.tile(groups[name][0]) for name in row.sources}
    number = groups[row.number][0] if row.number else None
    if isinstance(op, TMovOp):
        # What both tiles have.
        (source,) = sources.values()
        rows, cols = writer.least(dst.rows, source.rows), writer.least(dst.cols, source.cols)
        dst = replace(dst, rows=rows, cols=cols)
    if dst.kind == "DN" and not row.spread and not row.column and all(one.kind == "DN" for one in sources.values()):
        dst, sources = transposed(dst), {name: transposed(tile) for name, tile in sources.items()}
    cyclic = row.column != "" and row.formula != row.column and _is_cyclic(writer, op, sources[row.column])
    if number is not None and not row.own:
        converted = writer.converted(number, dst.type.element)
        if converted is None:
            raise NotLoweredError(op, f"its number is {number.type}, its tiles hold {dst.element}")
        number = converted
    step = Step(op, row, dst, sources, number, cyclic=cyclic)
    _check(reader, step)
    return step


def lower_row(writer: Writer, row: Row) -> None:
    """Writes the vector function of an operation. Raises :class:`NotLoweredError`."""
    Loops(writer, [read_step(writer, writer.anchor, row)]).write()


def _check(reader: Reader, step: Step) -> None:
    op, row, dst = step.op, step.row, step.dst
    if dst.element not in row.elements:
        raise NotLoweredError(op, f"the vector unit may compute other bits for {dst.element}")
    for name, tile in {"dst": dst, **step.sources}.items():
        if tile.type.element != dst.type.element:
            raise NotLoweredError(op, f"its tiles hold {dst.element} and {tile.element}")
        if name == row.column:
            # A tile of which the first element of each row is read, or 32 bytes of each row.
            if tile.kind not in ("DN", "ND"):
                raise NotLoweredError(step.op, f"its values for rows lie in the layout {tile.kind}")
            if step.cyclic:
                reader.aligned(tile.col, ROW_BYTES // tile.bytes, "column")
            continue
        if tile.kind != "ND":
            raise NotLoweredError(op, f"its tiles lie in the layout {tile.kind}, registers are loaded from rows")
        reader.aligned(tile.col, ROW_BYTES // tile.bytes, "column")
    refuse_overlap(op, [step.sources[name] for name in step.alone], dst, "values that later rows need")
    others = [tile for name, tile in step.sources.items() if name not in step.alone and torn(tile, dst)]
    refuse_overlap(op, others, dst, "other elements, which are needed later")


def _is_cyclic(writer: Writer, op: Operation, tile: Tile) -> bool:
    """Returns whether the columns of a row take its values one after the other: emitc does so where they have 32 bytes
    in rows. Raises :class:`NotLoweredError` where only a run knows how many there are."""
    if writer.backend != "emitc" or tile.kind != "ND":
        return False
    if not isinstance(tile.cols, int):
        raise NotLoweredError(
            op,
            "how many values for a row it has only a run knows, and emitc takes 32 bytes of them one after the other",
            'pto.backend = "vpto" takes the first value of each row',
        )
    return tile.cols * tile.bytes == ROW_BYTES


class Loops:
    """Fused loops of some operations over rows and registers: each iteration executes all of them. The regions and the
    element widths are equal; intermediate results are in registers."""

    def __init__(self, writer: Writer, steps: Sequence[Step]) -> None:
        self.writer = writer
        self.steps = steps
        self.registers = Registers(writer, steps[0].dst.type.element)
        self.lanes = self.registers.lanes
        self.offsets: dict[object, Number] = {}
        self.everywhere: dict[object, SSAValue] = {}
        """Registers with one value in all lanes: numbers in the whole function, values of a row in its loop."""

    def write(self) -> None:
        """One loop where the rows of all tiles follow each other, else one over rows with one over registers in it."""
        dst = self.steps[0].dst
        rows, cols = dst.rows, dst.cols
        tiles = [tile for step in self.steps for tile in (step.dst, *step.sources.values())]
        dense = not any(step.alone for step in self.steps)
        dense = dense and all(tile.base_type.cols == cols and tile.col == 0 for tile in tiles)
        if dense:
            rows, cols = 1, self.writer.mul(rows, cols)

        def function() -> None:
            for step in self.steps:
                self.writer.locate(step.op)
                self._numbers(step, formula_of(step.row))
            self.writer.repeat(rows, lambda line: self._line(line, cols))

        self.writer.scope(function)
        self.writer.locate(self.writer.anchor)

    def _numbers(self, step: Step, formula: Formula) -> None:
        """Writes the registers with a number in all lanes once, before the loops."""
        if not isinstance(formula, tuple):
            return
        cls, *parts = formula
        for part in parts:
            self._numbers(step, part)
        if cls is VBrOp:
            value = self._number(step, parts[0])
            if value not in self.everywhere:
                kind = Registers(self.writer, step.dst.type.element).type
                self.everywhere[value] = self.writer.pto(VBrOp, {"value": value}, result=kind)

    def _number(self, step: Step, name: object) -> SSAValue:
        if name == ONE:
            return self.writer.function.constant(1.0, step.dst.type.element)
        if isinstance(name, int):
            return self.writer.function.constant(name, step.dst.type.element)
        assert step.number is not None
        return step.number

    def _line(self, line: Number, cols: Number) -> None:
        """Whole registers, and what is left of the row; a number that only a run knows is left step by step."""
        writer = self.writer
        for step in self.steps:
            if step.row.column:
                writer.locate(step.op)
                # The value of a row in all lanes, or its values in each 32 bytes.
                tile = step.sources[step.row.column]
                registers = Registers(self.writer, tile.type.element)
                take = registers.repeated if step.cyclic else registers.spread
                self.everywhere[_key(step, tile)] = take(tile.pointer, offset_in(self.writer, tile, line))
        full, rest = divmod(cols, self.lanes) if isinstance(cols, int) else (0, 0)
        if full:
            mask = self.registers.whole()
            writer.repeat(full, lambda turn: self._register(line, writer.mul(turn, self.lanes), mask, None))
        if rest:
            self._tail(line, full * self.lanes, rest)
        if not isinstance(cols, int):
            writer.repeat(writer.ceildiv(cols, self.lanes), lambda turn: self._step(line, turn, cols))

    def _step(self, line: Number, iteration: Number, cols: Number) -> None:
        at = self.writer.mul(iteration, self.lanes)
        self._tail(line, at, self.writer.sub(cols, at))

    def _tail(self, line: Number, at: Number, left: Number) -> None:
        """``left`` elements. They are loaded in blocks of 32 bytes, of which no row shares one with another."""
        registers = self.registers
        loads = any(name != step.row.column for step in self.steps for name in step.sources)
        self._register(line, at, registers.first(left), registers.blocks(left) if loads else None)

    def _register(self, line: Number, at: Number, mask: SSAValue, blocks: SSAValue | None) -> None:
        self.offsets.clear()
        known: list[tuple[Tile, bool, SSAValue]] = []
        for step in self.steps:
            self.writer.locate(step.op)
            values: dict[object, SSAValue] = {}
            for name, tile in step.sources.items():
                if name == step.row.column:
                    values[name] = self.everywhere[_key(step, tile)]
                    continue
                spread = name == step.row.spread
                value = next(
                    (one for other, row, one in known if row == spread and is_same_location(other, tile)), None
                )
                if value is None:
                    registers = Registers(self.writer, tile.type.element)
                    value = registers.load(tile.pointer, self._offset(spread, tile, line, at), blocks)
                    known.append((tile, spread, value))
                values[name] = value
            made = self._value(step, formula_of(step.row), values, mask)
            known = [one for one in known if not is_same_location(one[0], step.dst)]
            known.append((step.dst, False, made))
            if step.is_stored:
                self.registers.store(made, step.dst.pointer, self._offset(False, step.dst, line, at), mask)

    def _value(self, step: Step, formula: Formula, values: dict[object, SSAValue], mask: SSAValue) -> SSAValue:
        """Returns the register that a formula stands for."""
        if formula in values:
            return values[formula]
        if not isinstance(formula, tuple):
            return self._number(step, formula)
        cls, *parts = formula
        if cls is VBrOp:
            return self.everywhere[self._number(step, parts[0])]
        operands = [*(self._value(step, part, values, mask) for part in parts), mask]
        if cls in (VShlsOp, VShrsOp):
            operands[1] = self._count(step, operands[1])
        if cls is VSelOp:
            operands[2:] = [self._positive(step, operands[2], mask)]
        if not isinstance(cls, type):
            return cls(self.writer, mask, *operands[:-1])
        names = [slot.name for slot in signature(cls).operands]
        kind = Registers(self.writer, step.dst.type.element).type
        return self.writer.pto(cls, dict(zip(names, operands, strict=True)), result=kind)

    def _count(self, step: Step, number: SSAValue) -> SSAValue:
        """Returns the distance of a shift, modulo the width of the elements."""
        writer, last = self.writer, 8 * step.dst.bytes - 1
        known = constant_of(number)
        if isinstance(known, int):
            return writer.function.constant(known & last, i16)
        if isinstance(number.type, IndexType):
            number = writer.put(IndexCastOp(number, i16))
        elif bytes_of(number.type) < bytes_of(i16):
            number = writer.put(ExtUIOp(number, i16))
        elif number.type != i16:
            number = writer.put(TruncIOp(number, i16))
        return writer.put(AndIOp(number, writer.function.constant(last, i16)))

    def _positive(self, step: Step, value: SSAValue, mask: SSAValue) -> SSAValue:
        """Returns the lanes that are more than 0."""
        element = step.dst.type.element
        zero = self.writer.function.constant(0.0, element)
        operands = {"src": value, "scalar": zero, "mask": mask}
        kind = MaskType(f"b{8 * step.dst.bytes}")
        return self.writer.pto(VCmpsOp, operands, {"cmp_mode": StringAttr("gt")}, kind)

    def _offset(self, spread: bool, tile: Tile, line: Number, at: Number) -> Number:
        writer = self.writer
        key = (spread, tile.row, tile.col, tile.base_type.cols)
        if key not in self.offsets:
            row = tile.row if spread else writer.add(tile.row, line)
            start = writer.add(writer.mul(row, tile.base_type.cols), tile.col)
            self.offsets[key] = writer.add(start, at)
        return self.offsets[key]


def _key(step: Step, tile: Tile) -> object:
    return (tile.pointer, tile.row, tile.col, step.cyclic)
