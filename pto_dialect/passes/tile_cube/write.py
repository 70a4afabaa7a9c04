"""Writes a product as a loop over blocks of the result and panels along k.

Each iteration loads a panel of both operands into L1, into the slot that the previous iteration does not use, and
multiplies it piece by piece: the accumulators of a block lie side by side, so one is stored while the next is computed.
One loop goes over everything: nothing is drained between blocks. What does not fill a block, at the edges, has loops of
its own.

Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm

from xdsl.dialects.arith import CeilDivSIOp, CmpiOp, DivUIOp, MaxSIOp, RemUIOp
from xdsl.dialects.scf import ForOp, IfOp, YieldOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pto_dialect.analysis.constants import constant_trip_count
from pto_dialect.ir.buffers.views import AllocMultiTileOp, AllocTileOp, MultiTileGetOp, PartitionViewOp
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.types import MultiTileBufType, PartitionViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.ir.tile.move import TExtractOp, TMovOp
from pto_dialect.passes.instructions.writer import INDEX, Function, Number, Writer
from pto_dialect.targets.matmul_types import MX_SCALE_GROUP

from .product import Product, Start, Window, roles_of, steps_of
from .repeats import computed_from, needed
from .shape import MOST_PANELS, SLOTS, OpenRange, Range, Shape, extents, round_up
from .share import Shares
from .sums import Sum

Pieces = Range | OpenRange

_ONCE = ("bias", "table")
"""Operands that are loaded once for each accumulator."""


def write(product: Product, shape: Shape, function: Function, shared: bool = False) -> None:
    """Writes ``product`` before its last operation; where it is ``shared``, for each block of a launch its part."""
    writer = Writer(function, product.place)
    shares = Shares(writer) if shared else None
    tiles = Writer(function, product.store.src.owner)  # pyright: ignore[reportArgumentType]
    panels = _pieces(product, writer, "depth", shape.panel)
    columns = _pieces(product, writer, "cols", shape.columns)
    for rows in _pieces(product, writer, "rows", shape.rows):
        for cols in columns:
            _Blocks(product, shape, writer, tiles, rows, cols, panels, shares).write()


def _pieces(product: Product, writer: Writer, axis: str, size: int) -> tuple[Pieces, ...]:
    """Returns the whole pieces of a direction of a product, and the rest: tiles of the program where only a run knows
    its size."""
    if axis not in product.open:
        return extents(product, axis, size)
    tile, trips = getattr(product, axis), trip_count(writer, product.open[axis])
    if tile % size == 0:
        return (OpenRange(0, writer.mul(trips, tile // size), size),)
    times = size // tile
    whole = writer.div(trips, times)
    return OpenRange(0, whole, size), OpenRange(writer.mul(whole, size), writer.rest(trips, times), tile)


def trip_count(writer: Writer, loop: ForOp) -> Number:
    """Returns how often a loop runs."""
    known = constant_trip_count(loop)
    if known is not None:
        return known
    low, high, step = map(writer.number, (loop.lb, loop.ub, loop.step))
    length = writer.put(MaxSIOp(writer.index(writer.sub(high, low)), writer.index(0)))
    return writer.put(CeilDivSIOp(length, writer.index(step)))


def _resized(kind: TileBufType, rows: int, cols: int, unit: tuple[int, int]) -> TileBufType:
    """Returns a type as ``kind`` for ``rows`` x ``cols`` elements, multiples of ``unit`` in memory; a single row is as
    tall as that of ``kind``."""
    layout = {name: getattr(kind, name) for name in ("blayout", "slayout", "fractal", "pad", "compact")}
    size = (kind.rows if unit[0] == 1 else round_up(rows, unit[0]), round_up(cols, unit[1]))
    return TileBufType(kind.loc, *size, kind.element, (rows, cols), **layout)


@dataclass
class _Blocks:
    """Blocks of equal size: their tiles and their loop."""

    product: Product
    shape: Shape
    writer: Writer
    tiles: Writer
    rows: Pieces
    cols: Pieces
    panels: tuple[Pieces, ...]
    shares: Shares | None = None
    made: dict[tuple[str, TileBufType, int], SSAValue] = field(default_factory=dict)
    known: dict[SSAValue, SSAValue] = field(default_factory=dict)
    """What values in the loops that repeat the product are now."""

    trips: dict[ForOp, Number] = field(default_factory=dict)
    turns: int = 0

    def __post_init__(self) -> None:
        columns = self.shape.parts_of(self.cols.size)
        self.accumulators = [Range(sum(columns[:at]), 1, size) for at, size in enumerate(columns)]
        self.count: Number = 0
        for one in self.panels:
            self.count = self.writer.add(self.count, one.count)

    def write(self) -> None:
        """Writes the loop."""
        writer = self.writer
        blocks = writer.mul(self.rows.count, self.cols.count)
        for loop in self.product.repeats:
            blocks = writer.mul(self._trips(loop), blocks)
        total = blocks
        if self.shares is not None:
            blocks = self.shares.count(total)
        known = isinstance(self.count, int) and (len(self.panels) > 1 and self.count <= MOST_PANELS)
        if not known and not self.product.family.scaled:
            self._loop(writer.mul(blocks, self.count), self._iteration)
        elif not isinstance(blocks, int) or self._panels() % SLOTS == 0 or blocks == 1:
            self._loop(blocks, self._block)
        else:
            # Slots alternate from one block to the next as well.
            self._loop(blocks // SLOTS, self._blocks)
            for block in range(blocks - blocks % SLOTS, blocks):
                self._block(block)
        if self.shares is not None:
            self.shares.go_on(total)

    def _loop(self, total: Number, body: Callable[[Number], None]) -> None:
        """Writes ``body`` for 0 to ``total`` - 1."""
        writer = self.writer
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
        """Returns the first row and column of a block."""
        block = block if self.shares is None else self.shares.tile(block)
        row, rest = self._split(block, self.rows.count)
        col = rest
        if self.product.repeats:
            col, rest = self._split(rest, self.cols.count)
            self._repeat(rest)
        return self._at(row, self.rows, "row"), self._at(col, self.cols, "col")

    def _trips(self, loop: ForOp) -> Number:
        """Returns how often a loop that repeats the product runs, computed before the new one."""
        if loop not in self.trips:
            self.trips[loop] = trip_count(self.writer, loop)
        return self.trips[loop]

    def _panels(self) -> int:
        """Returns the number of panels of a block, where the text has all of them."""
        assert isinstance(self.count, int)
        return self.count

    def _repeat(self, number: Number) -> None:
        """Computes the values of one iteration of the loops that repeat the product."""
        writer, product = self.writer, self.product
        self.known.clear()
        for at, loop in enumerate(product.repeats):
            turn = number
            if at + 1 < len(product.repeats):
                turn, number = self._split(number, self._trips(loop))
            low, step = writer.number(loop.lb), writer.number(loop.step)
            index = writer.index(writer.add(writer.mul(turn, step), low))
            if not isinstance(index.owner, Block):
                index.name_hint = loop.body.block.args[0].name_hint
            self.known[loop.body.block.args[0]] = index
        inside = {op for loop in product.repeats for op in walk(loop)}
        for value in needed(product):
            for one in (*computed_from(value, inside), value):
                op = one.owner
                if one in self.known or isinstance(op, Block) or op not in inside:
                    continue
                copy = op.clone({old: new for old, new in self.known.items() if old in op.operands})
                writer.put(copy)
                self.known.update(zip(op.results, copy.results, strict=True))

    def _now(self, value: SSAValue) -> SSAValue:
        """Returns a value of the program, as it is in this iteration."""
        return self.known.get(value, value)

    def _blocks(self, turn: Number) -> None:
        """As many blocks as there are slots."""
        for number in range(SLOTS):
            self._block(self.writer.add(self.writer.mul(turn, SLOTS), number), number * self._panels())

    def _block(self, block: Number, done: int = 0) -> None:
        """All panels of a block, after ``done`` others."""
        row, col = self._place(block)
        pieces = [(self._at(at, one, "k"), one.size) for one in self.panels for at in range(int(one.count))]  # pyright: ignore
        for number, (k, size) in enumerate(pieces):
            slot = (done + number) % SLOTS
            self._panel(row, col, slot, k, size, number == 0, number == len(pieces) - 1)

    def _iteration(self, step: Number) -> None:
        """A panel of a block."""
        panel, block = self._split(step, self.count)
        row, col = self._place(block)
        slot = self._rest(step, SLOTS)
        first = self._is(panel, 0)
        last = self._is(panel, self.writer.sub(self.count, 1))
        if len(self.panels) == 1:
            self._panel(row, col, slot, self._at(panel, self.panels[0], "k"), self.panels[0].size, first, last)
            return
        whole, rest = self.panels
        if not isinstance(rest.count, int):
            in_rest = self.writer.put(CmpiOp(self.writer.index(panel), self.writer.index(whole.count), "uge"))
            turn = self.writer.sub(panel, whole.count)
            self._either(
                in_rest,
                lambda: self._panel(row, col, slot, self._at(turn, rest, "k"), rest.size, first, last),
                lambda: self._panel(row, col, slot, self._at(panel, whole, "k"), whole.size, first, last),
            )
            return
        assert not isinstance(last, bool)
        self._either(
            last,
            lambda: self._panel(row, col, 0, rest.first, rest.size, False, True),
            lambda: self._panel(row, col, slot, self._at(panel, whole, "k"), whole.size, first, False),
        )

    def _split(self, number: Number, count: Number) -> tuple[Number, Number]:
        """Remainder and quotient."""
        if count == 1:
            return 0, number
        if isinstance(number, int) and isinstance(count, int):
            return number % count, number // count
        index = self.writer.index
        return self._rest(number, count), self.writer.put(DivUIOp(index(number), index(count)))

    def _rest(self, number: Number, count: Number) -> Number:
        if isinstance(number, int) and isinstance(count, int):
            return number % count
        return self.writer.put(RemUIOp(self.writer.index(number), self.writer.index(count)))

    def _is(self, number: Number, wanted: Number) -> SSAValue | bool:
        if isinstance(number, int) and isinstance(wanted, int):
            return number == wanted
        return self.writer.put(CmpiOp(self.writer.index(number), self.writer.index(wanted), "eq"))

    def _at(self, number: Number, blocks: Pieces, name: str) -> Number:
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
        product, units = self.product, self.shape.units
        panels = {
            role: self._loaded(role, (row, col, k), (self.rows.size, self.cols.size, depth), slot)
            for role in ("left", "right")
        }
        lengths = [min(self.shape.depth, depth - at) for at in range(0, depth, self.shape.depth)]
        scales = self._scales(row, col, k, lengths, slot) if product.family.scaled else {}
        for part in self.accumulators:
            kind = _resized(product.acc, self.rows.size, part.size, (units.rows, units.columns))
            sums = self._tile("sums", kind, part.first)
            bias = self._bias(col, part, first)
            for number, size in enumerate(lengths):
                at = number * self.shape.depth
                pieces = {
                    role: self._moved(role, tile, (0, part.first, at), (self.rows.size, part.size, size))
                    for role, tile in panels.items()
                }
                for role, tile in scales.get((number, part.first), {}).items():
                    pieces[role] = self._moved(role, tile, (0, 0, 0), (self.rows.size, part.size, size))
                self.turns += 1
                self._multiply(sums, pieces, bias, first if at == 0 else False)
            if last is True:
                self._store(sums, row, col, part)
            elif last is not False:
                self._either(last, lambda sums=sums, part=part: self._store(sums, row, col, part))

    def _scales(
        self, row: Number, col: Number, k: Number, lengths: list[int], slot: Number
    ) -> dict[tuple[int, int], dict[str, SSAValue]]:  # fmt: skip
        """Loads the scales of each piece of a panel for each accumulator: they are moved as whole tiles."""
        assert isinstance(slot, int)
        found: dict[tuple[int, int], dict[str, SSAValue]] = {}
        for number, size in enumerate(lengths):
            at = self.writer.add(k, number * self.shape.depth)
            tile = (number * SLOTS + slot) * len(self.accumulators)
            left = self._loaded("left_scale", (row, 0, at), (self.rows.size, 0, size), tile)
            for turn, part in enumerate(self.accumulators):
                place = (0, self.writer.add(col, part.first), at)
                right = self._loaded("right_scale", place, (0, part.size, size), tile + turn)
                found[number, part.first] = {"left_scale": left, "right_scale": right}
        return found

    # ------------------------------------------------------------ tiles

    def _tile(self, name: str, kind: TileBufType, number: int) -> SSAValue:
        """Returns a tile, made once."""
        known = self.made.get((name, kind, number))
        if known is None:
            known = self.made[name, kind, number] = self.tiles.pto(AllocTileOp, {}, result=kind)
            known.name_hint = name
        return known

    def _slot(self, name: str, kind: TileBufType, slot: Number) -> SSAValue:
        """Returns a slot of a tile."""
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
        """Returns an offset that is known in this iteration."""
        whole = lcm(*(Fraction(one).denominator for one in (offset.number, *offset.factors.values())))
        total: Number = int(offset.number * whole)
        for value, factor in offset.factors.items():
            number = self.writer.number(self._now(value))
            total = self.writer.add(self.writer.mul(number, int(factor * whole)), total)
        return self.writer.div(total, whole)

    def _part(self, window: Window, row: Number, col: Number, rows: int, cols: int) -> SSAValue:
        """Returns a part of an array in global memory."""
        writer, old = self.writer, window.part
        offsets = (writer.add(self._number(window.row), row), writer.add(self._number(window.col), col))
        kind = old.result.type
        assert isinstance(kind, PartitionViewType)
        groups = {
            "source": self._now(old.source),
            "offsets": (*map(self._now, old.offsets[:-2]), *map(writer.index, offsets)),
            "sizes": (*old.sizes[:-2], writer.index(rows), writer.index(cols)),
        }
        made = writer.pto(
            PartitionViewOp, groups, result=PartitionViewType((*kind.shape[:-2], rows, cols), kind.element)
        )
        made.name_hint = old.result.name_hint
        return made

    def _loaded(
        self, role: str, at: tuple[Number, Number, Number], size: tuple[int, int, int], slot: Number
    ) -> SSAValue:  # fmt: skip
        """Returns a part of an operand in L1: from a row, a column and an element along k on, of so many of each."""
        operand = self.product.inputs[role]
        kind = _resized(operand.level1, *steps_of(role, *size), self.shape.units.of(role))
        tile = self._slot(_hint(operand.load.dst), kind, slot)
        part = self._part(operand.window, *self._place_of(role, at), *steps_of(role, *size))
        self.writer.pto(TLoadOp, {"src": part, "dst": tile})
        return tile

    def _place_of(self, role: str, at: tuple[Number, Number, Number]) -> tuple[Number, Number]:
        """Returns the row and the column of an operand for those of the result and an element along k."""
        row, col, k = at
        if role.endswith("_scale"):
            k = self.writer.div(k, MX_SCALE_GROUP)
        return (row, k) if role.startswith("left") else (k, col)

    def _moved(self, role: str, source: SSAValue, at: tuple[int, int, int], size: tuple[int, int, int]) -> SSAValue:
        """Returns a part of an operand in the memory of the products."""
        operand = self.product.inputs[role]
        kind = _resized(operand.level0, *steps_of(role, *size), self.shape.units.of(role))
        tile = self._tile(_hint(operand.move.dst), kind, self.turns % SLOTS)  # pyright: ignore
        if role.endswith("_scale"):
            self.writer.pto(TMovOp, {"src": source, "dst": tile})
            return tile
        row, col = steps_of(role, *at)
        start = {"indexRow": self.writer.index(row), "indexCol": self.writer.index(col)}
        self.writer.pto(TExtractOp, {"src": source, "dst": tile, **start})
        return tile

    # ------------------------------------------------------------ products

    def _bias(self, col: Number, part: Range, first: SSAValue | bool) -> SSAValue | None:
        """Returns the biases of an accumulator, loaded before its first product."""
        if "bias" not in self.product.inputs or first is False:
            return None
        if first is True:
            return self._of_columns("bias", col, part)
        tile: SSAValue | None = None

        def load() -> None:
            nonlocal tile
            tile = self._of_columns("bias", col, part)

        self._either(first, load)
        return tile

    def _of_columns(self, role: str, col: Number, part: Range) -> SSAValue:
        """Loads what the columns of an accumulator have in common."""
        operand, unit = self.product.inputs[role], (1, self.shape.units.columns)
        level1 = self._tile(_hint(operand.load.dst), _resized(operand.level1, 1, part.size, unit), part.first)
        tile = self._tile(_hint(operand.move.dst), _resized(operand.level0, 1, part.size, unit), part.first)  # pyright: ignore
        source = self._part(operand.window, 0, self.writer.add(col, part.first), 1, part.size)
        self.writer.pto(TLoadOp, {"src": source, "dst": level1})
        self.writer.pto(TMovOp, {"src": level1, "dst": tile})
        return tile

    def _multiply(
        self, sums: SSAValue, pieces: Mapping[str, SSAValue], bias: SSAValue | None, first: SSAValue | bool
    ) -> None:
        """A product that begins the sums or adds to them."""

        def add() -> None:
            self._product(self.product.family.adding, {**pieces, "sums": sums}, sums)

        def begin() -> None:
            self._begin(self.product.start, {**pieces, **({"bias": bias} if bias is not None else {})}, sums)

        if first is False:
            add()
        elif first is True:
            begin()
        else:
            self._either(first, begin, add)

    def _begin(self, start: Start, operands: Mapping[str, SSAValue], sums: SSAValue) -> None:
        if start.when is None:
            assert start.op is not None
            self._product(type(start.op), operands, sums)
            return
        then, other = start.then, start.other
        assert then is not None
        assert other is not None
        self._either(
            self._now(start.when),
            lambda: self._begin(then, operands, sums),
            lambda: self._begin(other, operands, sums),
        )

    def _product(self, cls: type[PtoOp], operands: Mapping[str, SSAValue], sums: SSAValue) -> None:
        self.writer.pto(cls, {**{name: operands[role] for role, name in roles_of(cls).items()}, "dst": sums})

    def _store(self, sums: SSAValue, row: Number, col: Number, part: Range) -> None:
        """Writes an accumulator to global memory, as the program does."""
        old = self.product.store
        table = {"fp": self._of_columns("table", col, part)} if "table" in self.product.inputs else {}
        target = self._part(self.product.out, row, self.writer.add(col, part.first), self.rows.size, part.size)
        given = {name: tuple(map(self._now, values)) for name, values in operand_groups(old).items()}
        attributes = {
            name: value for name, value in {**old.attributes, **old.properties}.items() if name != "operandSegmentSizes"
        }
        self.writer.pto(TStoreOp, {**given, "src": sums, "dst": target, **table}, attributes)


def _hint(value: SSAValue | None) -> str:
    return (value and value.name_hint) or "tile"
