"""Writes a product as a loop over blocks of the result and panels along k.

Each iteration loads a panel of both operands into L1, into the slot that the previous iteration does not use, and
multiplies it piece by piece: the accumulators of a block lie side by side, so one is stored while the next is computed.
One loop goes over everything: nothing is drained between blocks. What does not fill a block, at the edges, has loops of
its own.

Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xdsl.dialects.arith import CmpiOp, DivUIOp, RemUIOp
from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pto_dialect.ir.buffers.views import AllocMultiTileOp, AllocTileOp, MultiTileGetOp, PartitionViewOp
from pto_dialect.ir.core.base import operand_groups
from pto_dialect.ir.core.types import MultiTileBufType, PartitionViewType, TileBufType
from pto_dialect.ir.cube.matmul import TMatmulAccOp, TMatmulBiasOp, TMatmulOp
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.ir.tile.move import TExtractOp, TMovOp
from pto_dialect.passes.instructions.writer import INDEX, Function, Number, Writer

from .product import Operand, Product, Start, Window
from .shape import MOST_PANELS, SLOTS, Range, Shape, ranges, round_up
from .sums import Sum


def write(product: Product, shape: Shape, function: Function) -> None:
    """Writes ``product`` before its last operation."""
    writer = Writer(function, product.place)
    tiles = Writer(function, product.store.src.owner)  # pyright: ignore[reportArgumentType]
    for rows in ranges(product.rows, shape.rows):
        for cols in ranges(product.cols, shape.columns):
            _Blocks(product, shape, writer, tiles, rows, cols).write()


def _resized(kind: TileBufType, rows: int, cols: int, unit: tuple[int, int]) -> TileBufType:
    """A type as ``kind`` for ``rows`` x ``cols`` elements, whole blocks of ``unit`` in memory."""
    layout = {name: getattr(kind, name) for name in ("blayout", "slayout", "fractal", "pad", "compact")}
    size = (round_up(rows, unit[0]), round_up(cols, unit[1]))
    return TileBufType(kind.loc, *size, kind.element, (rows, cols), **layout)


@dataclass
class _Blocks:
    """Blocks of equal size: their tiles and their loop."""

    product: Product
    shape: Shape
    writer: Writer
    tiles: Writer
    rows: Range
    cols: Range
    made: dict[tuple[str, TileBufType, int], SSAValue] = field(default_factory=dict)
    turns: int = 0

    def __post_init__(self) -> None:
        self.unit = self.shape.unit
        columns = self.shape.parts_of(self.cols.size)
        self.accumulators = [Range(sum(columns[:at]), 1, size) for at, size in enumerate(columns)]
        self.panels = ranges(self.product.depth, self.shape.panel)
        self.count = sum(one.count for one in self.panels)

    def write(self) -> None:
        """Writes the loop."""
        writer = self.writer
        blocks = self.rows.count * self.cols.count
        unrolled = len(self.panels) > 1 and self.count <= MOST_PANELS
        total, body = (blocks, self._block) if unrolled else (blocks * self.count, self._iteration)
        if total == 1:
            body(0)
            return
        block = Block(arg_types=[INDEX])
        block.args[0].name_hint = "step"
        block.add_op(YieldOp())
        writer.put(ForOp(writer.index(0), writer.index(total), writer.index(1), [], Region(block)))
        self._in(block, lambda: body(block.args[0]))

    def _in(self, block: Block, body: Callable[[], None]) -> None:
        assert block.last_op is not None
        outer, self.writer.point = self.writer.point, InsertPoint.before(block.last_op)
        body()
        self.writer.point = outer

    def _either(self, condition: SSAValue, then: Callable[[], None], other: Callable[[], None] | None = None) -> None:
        """Writes an ``scf.if``."""
        blocks = [Block([YieldOp()]), *([Block([YieldOp()])] if other else [])]
        self.writer.put(IfOp(condition, [], Region(blocks[0]), Region(blocks[1]) if other else Region()))
        for block, body in zip(blocks, (then, other), strict=False):
            assert body is not None
            self._in(block, body)

    # ------------------------------------------------------------ an iteration

    def _place(self, block: Number) -> tuple[Number, Number]:
        """The first row and column of a block."""
        row, col = self._split(block, self.rows.count)
        return self._at(row, self.rows, "row"), self._at(col, self.cols, "col")

    def _block(self, block: Number) -> None:
        """All panels of a block."""
        row, col = self._place(block)
        pieces = [(one.first + at * one.size, one.size) for one in self.panels for at in range(one.count)]
        for number, (k, size) in enumerate(pieces):
            self._panel(row, col, number % SLOTS, k, size, number == 0, number == self.count - 1)

    def _iteration(self, step: Number) -> None:
        """A panel of a block."""
        panel, block = self._split(step, self.count)
        row, col = self._place(block)
        slot = self._rest(step, SLOTS)
        first = self._is(panel, 0)
        last = self._is(panel, self.count - 1)
        if len(self.panels) == 1:
            self._panel(row, col, slot, self._at(panel, self.panels[0], "k"), self.panels[0].size, first, last)
            return
        whole, rest = self.panels
        assert not isinstance(last, bool)
        self._either(
            last,
            lambda: self._panel(row, col, 0, rest.first, rest.size, False, True),
            lambda: self._panel(row, col, slot, self._at(panel, whole, "k"), whole.size, first, False),
        )

    def _split(self, number: Number, count: int) -> tuple[Number, Number]:
        """Remainder and quotient."""
        if count == 1:
            return 0, number
        if isinstance(number, int):
            return number % count, number // count
        return self._rest(number, count), self.writer.put(DivUIOp(number, self.writer.index(count)))

    def _rest(self, number: Number, count: int) -> Number:
        if isinstance(number, int):
            return number % count
        return self.writer.put(RemUIOp(number, self.writer.index(count)))

    def _is(self, number: Number, wanted: int) -> SSAValue | bool:
        if isinstance(number, int):
            return number == wanted
        return self.writer.put(CmpiOp(number, self.writer.index(wanted), "eq"))

    def _at(self, number: Number, blocks: Range, name: str) -> Number:
        found = self.writer.add(blocks.first, self.writer.mul(number, blocks.size))
        if isinstance(found, SSAValue):
            found.name_hint = name
        return found

    def _panel(
        self,
        row: Number,
        col: Number,
        slot: Number,
        k: Number,
        depth: int,
        first: SSAValue | bool,
        last: SSAValue | bool,
    ) -> None:
        """Loads a panel and multiplies it into all accumulators; stores them after the last one."""
        product, both = self.product, (self.unit, self.unit)
        left = self._loaded(product.left, row, k, self.rows.size, depth, slot, both)
        right = self._loaded(product.right, k, col, depth, self.cols.size, slot, both)
        for part in self.accumulators:
            kind = _resized(product.acc, self.rows.size, part.size, both)
            sums = self._tile("sums", kind, part.first)
            bias = self._bias(col, part, first)
            for at in range(0, depth, self.shape.depth):
                size = min(self.shape.depth, depth - at)
                pair = (
                    self._moved(product.left, left, (0, at), self.rows.size, size),
                    self._moved(product.right, right, (at, part.first), size, part.size),
                )
                self.turns += 1
                self._multiply(sums, pair, bias, first if at == 0 else False)
            if last is True:
                self._store(sums, row, col, part)
            elif last is not False:
                self._either(last, lambda sums=sums, part=part: self._store(sums, row, col, part))

    # ------------------------------------------------------------ tiles

    def _tile(self, name: str, kind: TileBufType, number: int) -> SSAValue:
        """A tile, made once."""
        known = self.made.get((name, kind, number))
        if known is None:
            known = self.made[name, kind, number] = self.tiles.pto(AllocTileOp, {}, result=kind)
            known.name_hint = name
        return known

    def _slot(self, name: str, kind: TileBufType, slot: Number) -> SSAValue:
        """A slot of a tile."""
        slots = self.made.get((name, kind, -1))
        many = MultiTileBufType(kind, SLOTS)
        if isinstance(slot, int):
            return self._tile(name, kind, slot)
        if slots is None:
            slots = self.made[name, kind, -1] = self.tiles.pto(AllocMultiTileOp, {}, result=many)
            slots.name_hint = f"{name}_slots"
        found = self.writer.pto(MultiTileGetOp, {"source": slots, "slot": slot}, result=kind)
        found.name_hint = name
        return found

    def _number(self, offset: Sum) -> Number:
        """An offset that is known before the loops."""
        total: Number = offset.number
        for value, factor in offset.factors.items():
            number = value if value.type == INDEX else self.writer.number(value)
            total = self.writer.add(self.writer.mul(number, factor), total)
        return total

    def _part(self, window: Window, row: Number, col: Number, rows: int, cols: int) -> SSAValue:
        """A part of an array in global memory."""
        writer, old = self.writer, window.part
        offsets = (writer.add(self._number(window.row), row), writer.add(self._number(window.col), col))
        kind = old.result.type
        assert isinstance(kind, PartitionViewType)
        groups = {
            "source": old.source,
            "offsets": (*old.offsets[:-2], *map(writer.index, offsets)),
            "sizes": (*old.sizes[:-2], writer.index(rows), writer.index(cols)),
        }
        made = writer.pto(
            PartitionViewOp, groups, result=PartitionViewType((*kind.shape[:-2], rows, cols), kind.element)
        )
        made.name_hint = old.result.name_hint
        return made

    def _loaded(
        self, operand: Operand, row: Number, col: Number, rows: int, cols: int, slot: Number, unit: tuple[int, int]
    ) -> SSAValue:  # fmt: skip
        """A part of an operand in L1."""
        tile = self._slot(_hint(operand.load.dst), _resized(operand.level1, rows, cols, unit), slot)
        part = self._part(operand.window, row, col, rows, cols)
        self.writer.pto(TLoadOp, {"src": part, "dst": tile})
        return tile

    def _moved(self, operand: Operand, source: SSAValue, at: tuple[int, int], rows: int, cols: int) -> SSAValue:
        """A part of an operand in the memory of the products."""
        kind = _resized(operand.level0, rows, cols, (self.unit, self.unit))
        tile = self._tile(_hint(operand.move.dst), kind, self.turns % SLOTS)  # pyright: ignore
        start = {"indexRow": self.writer.index(at[0]), "indexCol": self.writer.index(at[1])}
        self.writer.pto(TExtractOp, {"src": source, "dst": tile, **start})
        return tile

    # ------------------------------------------------------------ products

    def _bias(self, col: Number, part: Range, first: SSAValue | bool) -> SSAValue | None:
        """The biases of an accumulator, loaded before its first product."""
        operand = self.product.bias
        if operand is None or first is False:
            return None
        unit = (1, self.unit)
        level1 = self._tile(_hint(operand.load.dst), _resized(operand.level1, 1, part.size, unit), part.first)
        tile = self._tile(_hint(operand.move.dst), _resized(operand.level0, 1, part.size, unit), part.first)  # pyright: ignore

        def load() -> None:
            source = self._part(operand.window, 0, self.writer.add(col, part.first), 1, part.size)
            self.writer.pto(TLoadOp, {"src": source, "dst": level1})
            self.writer.pto(TMovOp, {"src": level1, "dst": tile})

        if first is True:
            load()
        else:
            self._either(first, load)
        return tile

    def _multiply(
        self, sums: SSAValue, pair: tuple[SSAValue, SSAValue], bias: SSAValue | None, first: SSAValue | bool
    ) -> None:
        """A product that begins the sums or adds to them."""

        def add() -> None:
            self.writer.pto(TMatmulAccOp, {"acc_in": sums, "lhs": pair[0], "rhs": pair[1], "dst": sums})

        if first is False:
            add()
        elif first is True:
            self._begin(self.product.start, sums, pair, bias)
        else:
            self._either(first, lambda: self._begin(self.product.start, sums, pair, bias), add)

    def _begin(self, start: Start, sums: SSAValue, pair: tuple[SSAValue, SSAValue], bias: SSAValue | None) -> None:
        if start.when is not None:
            then, other = start.then, start.other
            assert then is not None
            assert other is not None
            self._either(
                start.when,
                lambda: self._begin(then, sums, pair, bias),
                lambda: self._begin(other, sums, pair, bias),
            )
        elif isinstance(start.op, TMatmulBiasOp):
            self.writer.pto(TMatmulBiasOp, {"a": pair[0], "b": pair[1], "bias": bias, "dst": sums})
        else:
            self.writer.pto(TMatmulOp, {"lhs": pair[0], "rhs": pair[1], "dst": sums})

    def _store(self, sums: SSAValue, row: Number, col: Number, part: Range) -> None:
        """Writes an accumulator to global memory, as the program does."""
        old = self.product.store
        target = self._part(self.product.out, row, self.writer.add(col, part.first), self.rows.size, part.size)
        groups = {**operand_groups(old), "src": sums, "dst": target}
        attributes = {
            name: value for name, value in {**old.attributes, **old.properties}.items() if name != "operandSegmentSizes"
        }
        self.writer.pto(TStoreOp, groups, attributes)


def _hint(value: SSAValue | None) -> str:
    return (value and value.name_hint) or "tile"
