"""``tile-loops``: operations on tall tiles become a loop over flat ones.

Source: docs/reference/tiles.md, "Elementwise", "Broadcasts and reductions".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from xdsl.dialects.arith import AddiOp, ConstantOp
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pto_dialect.analysis.constants import constant_of
from pto_dialect.diagnostics.diagnostic import Diagnostic
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.buffers.views import AllocTileOp, MakeTensorViewOp, PartitionViewOp
from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.location import label_of, span_of
from pto_dialect.ir.core.types import PartitionViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.cube.matmul import PhasedProductOp
from pto_dialect.ir.tile.elementwise import TCvtOp
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.passes.base import PtoPass
from pto_dialect.passes.instructions.geometry import ROW_BYTES, bytes_of
from pto_dialect.passes.instructions.writer import is_handle
from pto_dialect.passes.lower_vector.reduce import ROWS
from pto_dialect.passes.lower_vector.table import row_of
from pto_dialect.verify.engine.rule import read_rules

from .copies import erase_with_handles, put

# ------------------------------------------------------------ operations on rows


class NotTiledError(Exception):
    """Why an operation cannot be tiled."""

    def __init__(self, op: Operation, reason: str) -> None:
        super().__init__(reason)
        self.op = op
        self.reason = reason


def works_row_by_row(op: PtoOp) -> bool:
    """Whether the rows of an operation do not depend on each other."""
    return row_of(op) is not None or isinstance(op, TCvtOp) or ROWS.get(op.name) is not None


def once_for_all_rows(op: PtoOp, value: SSAValue) -> bool:
    """Whether a tile has one row that serves all rows."""
    row = row_of(op)
    return row is not None and bool(row.spread) and value in operand_groups(op)[row.spread]


_INDEX = IndexType()

_RULES = read_rules("passes")
UNSUPPORTED = _RULES["tile-loops-unsupported"]
PRODUCTS = _RULES["tile-loops-products"]


@dataclass(frozen=True)
class TileLoopsPass(PtoPass):
    """Replaces row-wise operations on tiles of more than ``rows`` rows by a loop over parts of ``rows`` rows, from
    their loads to their stores."""

    rows: str = "16"

    name: ClassVar[str] = "tile-loops"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; each stretch that cannot be split is an error, and nothing changes then."""
        runs: list[_Run] = []
        for stretch in _runs(module, int(self.rows)):
            try:
                stretch.check()
                runs.append(stretch)
            except NotTiledError as error:
                message = f"tile-loops cannot split {error.op.name}: {error.reason}"
                engine.report(Diagnostic(UNSUPPORTED.id, UNSUPPORTED.severity, message, span_of(error.op)))
        for stretch in runs if not engine.has_errors else ():
            stretch.split()
        product = next((op for op in walk(module) if isinstance(op, PhasedProductOp)), None)
        if product is not None:
            message = "tile-loops leaves tiles of the cube core as they are; tile-cube chooses those of products"
            engine.report(Diagnostic(PRODUCTS.id, PRODUCTS.severity, message, span_of(product)))


def _runs(module: ModuleOp, rows: int) -> Iterator[_Run]:
    """Runs of consecutive operations on tall tiles, between which only scalars and handles are computed."""
    blocks = dict.fromkeys(op.parent for op in walk(module) if op.parent is not None)
    for block in blocks:
        stretch: list[Operation] = []
        for op in block.ops:
            if _height(op, rows):
                if stretch and _height(op, rows) != _height(stretch[0], rows):
                    yield _Run(stretch, rows)
                    stretch = []
                stretch.append(op)
            elif stretch and not is_handle(op):
                yield _Run(stretch, rows)
                stretch = []
        if stretch:
            yield _Run(stretch, rows)


def _height(op: Operation, rows: int) -> int:
    """The rows of the tallest vector tile among the operands, if they are more than ``rows``."""
    if not isinstance(op, PtoOp) or is_handle(op):
        return 0
    types = [value.type for value in op.operands]
    heights = [kind.valid_rows for kind in types if isinstance(kind, TileBufType) and kind.loc == "vec"]
    return max((height for height in heights if height > rows), default=0)


@dataclass
class _Run:
    """Operations that one loop is to execute; ``rows`` are those of an iteration."""

    ops: list[Operation]
    rows: int
    tiles: dict[SSAValue, TileBufType] = field(default_factory=dict)
    """Tall tiles, and their replacements in the loop."""

    @property
    def height(self) -> int:
        """Rows of the tall tiles."""
        return _height(self.ops[0], self.rows)

    def check(self) -> None:
        """Raises :class:`NotTiledError` where the loop would compute something else."""
        if self.height % self.rows:
            raise NotTiledError(self.ops[0], f"{self.height} rows are no multiple of {self.rows}")
        written: set[SSAValue] = set()
        for op in self.ops:
            assert isinstance(op, PtoOp)
            if not isinstance(op, (TLoadOp, TStoreOp)) and not works_row_by_row(op):
                raise NotTiledError(op, "its rows depend on each other, or nobody knows that they do not")
            groups, spec = operand_groups(op), op_spec(type(op))
            inputs = [value for name in (*spec.reads, *spec.in_place) for value in groups.get(name, ())]
            outputs = [value for name in spec.writes for value in groups.get(name, ())]
            for number, value in enumerate((*inputs, *outputs)):
                if isinstance(value.type, TileBufType):
                    self._tile(op, value, number >= len(inputs), written)
            if isinstance(op, (TLoadOp, TStoreOp)):
                self._part(op)
        self._arrays()

    def _tile(self, op: PtoOp, value: SSAValue, output: bool, written: set[SSAValue]) -> None:
        kind = value.type
        assert isinstance(kind, TileBufType)
        if kind.valid_rows != self.height or once_for_all_rows(op, value):
            if output or (kind.valid_rows != 1 and not once_for_all_rows(op, value)):
                raise NotTiledError(op, f"a tile has {kind.valid_rows} rows beside one of {self.height}")
            return
        if not output and value not in written:
            raise NotTiledError(op, f"{_name(value)} comes from somewhere else")
        written.add(value)
        if value in self.tiles:
            return
        owner = value.owner
        if not isinstance(owner, AllocTileOp) or owner.addr is not None:
            raise NotTiledError(op, f"{_name(value)} has an address already, or is a part of another tile")
        others = [use.operation for use in value.uses if use.operation not in self.ops]
        if others:
            raise NotTiledError(op, f"{_name(value)} is used elsewhere")
        if kind.slayout != "none_box":
            raise NotTiledError(op, f"{_name(value)} consists of blocks")
        self.tiles[value] = self._flat(kind)

    def _flat(self, kind: TileBufType) -> TileBufType:
        """The type of a tile of one iteration; columns have whole blocks of 32 bytes."""
        rows = self.rows
        if kind.blayout == "col_major":
            unit = ROW_BYTES // bytes_of(kind.element)
            rows = -(-rows // unit) * unit
        valid = (self.rows, kind.valid_cols)
        layout = {name: getattr(kind, name) for name in ("blayout", "slayout", "fractal", "pad", "compact")}
        return TileBufType(kind.loc, rows, kind.cols, kind.element, valid, **layout)

    def _part(self, op: Operation) -> None:
        part = _part_of(op)
        if part is None:
            raise NotTiledError(op, "its array is no part of a view")
        sizes = [constant_of(size) for size in part.sizes]
        if len(sizes) < 2 or sizes[-2] != self.height or any(size != 1 for size in sizes[:-2]):
            raise NotTiledError(op, "the rows of its tile are not those of its view")

    def _arrays(self) -> None:
        """Checks that no iteration loads what an earlier one stored."""
        parts = [(op, part) for op in self.ops if (part := _part_of(op)) is not None]
        stored = [part for op, part in parts if isinstance(op, TStoreOp)]
        for op, part in parts:
            for other in stored:
                same = other.source is part.source and tuple(other.offsets) == tuple(part.offsets)
                if not same and _array(other) is _array(part):
                    raise NotTiledError(op, "another part of its array is stored to")

    # ------------------------------------------------------------ the loop

    def split(self) -> None:
        """Replaces the operations by the loop."""
        last = self.ops[-1]
        known: dict[SSAValue, SSAValue] = {}
        for tile, kind in self.tiles.items():
            assert isinstance(tile.owner, AllocTileOp)
            made = AllocTileOp.create(
                result_types=[kind], attributes=dict(tile.owner.attributes), properties=dict(tile.owner.properties)
            )
            made.results[0].name_hint = tile.name_hint
            put(made, InsertPoint.before(tile.owner), tile.owner)
            known[tile] = made.results[0]
        block = Block(arg_types=[_INDEX])
        block.args[0].name_hint = "row"
        start, stop, step = (self._constant(number, last) for number in (0, self.height, self.rows))
        for op in self.ops:
            self._copy(op, block, known, step)
        put(YieldOp(), InsertPoint.at_end(block), last)
        put(ForOp(start, stop, step, [], Region(block)), InsertPoint.before(last), last)
        erase_with_handles(reversed(self.ops))

    def _constant(self, number: int, like: Operation) -> SSAValue:
        op = ConstantOp(IntegerAttr(number, _INDEX))
        op.result.name_hint = f"c{number}"
        return put(op, InsertPoint.before(like), like).results[0]

    def _copy(self, op: Operation, block: Block, known: dict[SSAValue, SSAValue], step: SSAValue) -> None:
        end = InsertPoint.at_end(block)
        for value in op.operands:
            part = value.owner
            if isinstance(part, PartitionViewOp) and value not in known:
                offsets, sizes = list(part.offsets), list(part.sizes)
                zero = constant_of(offsets[-2]) == 0
                offsets[-2] = block.args[0] if zero else put(AddiOp(offsets[-2], block.args[0]), end, op).results[0]
                sizes[-2] = step
                kind = part.result.type
                assert isinstance(kind, PartitionViewType)
                shape = (*kind.shape[:-2], self.rows, kind.shape[-1])
                made = PartitionViewOp.create(
                    operands=[part.source, *offsets, *sizes],
                    result_types=[PartitionViewType(shape, kind.element)],
                    attributes=dict(part.attributes),
                    properties=dict(part.properties),
                )
                made.results[0].name_hint = value.name_hint
                known[value] = put(made, end, op).results[0]
        copy = type(op).create(
            operands=[known.get(value, value) for value in op.operands],
            attributes=dict(op.attributes),
            properties=dict(op.properties),
        )
        put(copy, end, op)


def _part_of(op: Operation) -> PartitionViewOp | None:
    """The part of an array that an operation loads from or stores to."""
    return next((value.owner for value in op.operands if isinstance(value.owner, PartitionViewOp)), None)


def _array(part: PartitionViewOp) -> SSAValue:
    """The memory that a view shows."""
    source = part.source
    while isinstance(source.owner, (MakeTensorViewOp, PtoOp)) and source.owner.operands:
        source, *_ = source.owner.operands
    return source


def _name(value: SSAValue) -> str:
    return label_of(value, "a tile")
