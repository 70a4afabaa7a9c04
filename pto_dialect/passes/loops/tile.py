"""``tile-loops``: operations on tall tiles become a loop over flat ones.

Source: docs/reference/tiles.md, "Elementwise", "Broadcasts and reductions".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from xdsl.dialects.arith import AddiOp, MuliOp
from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.dialects.scf import ForOp, YieldOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from pto_dialect.analysis.constants import constant_of
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.buffers.views import AllocTileOp, PartitionViewOp, TReshapeOp
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.types import DYNAMIC, PartitionViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.cube.matmul import PhasedProductOp
from pto_dialect.passes.base import PtoPass
from pto_dialect.verify.engine.rule import read_rules

from .arrays import apart_remark
from .copies import erase_with_handles, index_constant, put
from .share import check_shared, share_of
from .stretches import NotTiledError, Stretch, column_of, flat, stretches, turned

_INDEX = IndexType()

_RULES = read_rules("passes")
UNSUPPORTED = _RULES["tile-loops-unsupported"]
PRODUCTS = _RULES["tile-loops-products"]
UNCHANGED = _RULES["tile-loops-unchanged"]
ARGUMENTS = _RULES["tile-loops-arguments"]


@dataclass(frozen=True)
class TileLoopsPass(PtoPass):
    """Replaces row-wise operations on tiles of more than ``rows`` rows by a loop over parts of ``rows`` rows, from
    their loads to their stores, and by the operations on the rows that are left. With ``blocks`` other than 1, the
    blocks of a launch share the parts."""

    rows: str = "16"
    blocks: str = "1"

    name: ClassVar[str] = "tile-loops"

    @property
    def is_shared(self) -> bool:
        """Whether blocks share the parts."""
        return self.blocks != "1"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; each stretch that cannot be split is an error, and nothing changes then."""
        found: list[Stretch] = []
        for stretch in stretches(module, int(self.rows)):
            try:
                stretch.check()
                if self.is_shared:
                    check_shared(stretch)
                found.append(stretch)
            except NotTiledError as error:
                message = f"tile-loops cannot split {error.op.name}: {error.reason}"
                engine.report(UNSUPPORTED.at(error.op, message))
        for stretch in found if not engine.has_errors else ():
            for pair in stretch.apart:
                engine.report(apart_remark(ARGUMENTS, "the loop over parts of rows", pair, stretch.ops[0]))
            _split(stretch, self.is_shared)
        product = next((op for op in walk(module) if isinstance(op, PhasedProductOp)), None)
        if product is not None:
            message = "tile-loops leaves tiles of the cube core as they are; tile-cube chooses those of products"
            engine.report(PRODUCTS.at(product, message))
        elif not found and not engine.has_errors:
            self._unchanged(module, engine)

    def _unchanged(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Reports why there is nothing to split."""
        reason, at = f"no operation uses a tile of a vector core with more than {self.rows} rows", module
        for op in walk(module):
            kind = op.result.type if isinstance(op, AllocTileOp) else None
            if not isinstance(kind, TileBufType) or kind.loc != "vec" or kind.valid_rows != DYNAMIC:
                continue
            if kind.rows > int(self.rows):
                name = label_of(op.results[0], "a tile")
                reason, at = f"only a run knows how many of the {kind.rows} rows of {name} are valid", op
                break
        message = f"tile-loops changes nothing: {reason}"
        engine.report(UNCHANGED.at(at, message))


def _split(stretch: Stretch, shared: bool) -> None:
    """Replaces the operations by the loop, and by those on the rows that are left."""
    last, height, rows = stretch.ops[-1], stretch.height, stretch.rows
    left = height % rows
    block = Block(arg_types=[_INDEX])
    end = InsertPoint.at_end(block)
    zero, size = index_constant(0, last), index_constant(rows, last)
    first: SSAValue = block.args[0]
    if shared:
        share = share_of(index_constant(height // rows, last), zero, last)
        stop, step = share.parts, index_constant(1, last)
        first = put(MuliOp(share.part(first, end, last), size), end, last).results[0]
    else:
        stop, step = index_constant(height - left, last), size
    first.name_hint = "row"
    _copies(stretch, rows, size, first, end)
    put(YieldOp(), end, last)
    put(ForOp(zero, stop, step, [], Region(block)), InsertPoint.before(last), last)
    if left:
        _copies(stretch, left, index_constant(left, last), stop, InsertPoint.before(last))
    erase_with_handles(reversed(stretch.ops))


def _copies(stretch: Stretch, rows: int, size: SSAValue, first: SSAValue, point: InsertPoint) -> None:
    """Writes the operations on ``rows`` rows from ``first`` on; ``size`` is their number."""
    known: dict[SSAValue, SSAValue] = {}
    for tile, kind in stretch.tiles.items():
        owner = tile.owner
        assert isinstance(owner, AllocTileOp)
        made = AllocTileOp.create(
            result_types=[flat(kind, rows)], attributes=dict(owner.attributes), properties=dict(owner.properties)
        )
        made.results[0].name_hint = tile.name_hint
        known[tile] = put(made, InsertPoint.before(owner), owner).results[0]
        for value, row in stretch.shown.items():
            if column_of(value) is tile:
                shown = TReshapeOp.create(operands=[known[tile]], result_types=[turned(row, flat(kind, rows))])
                shown.results[0].name_hint = value.name_hint
                known[value] = put(shown, InsertPoint.before(owner), owner).results[0]
    for op in stretch.ops:
        for value in op.operands:
            if isinstance(value.owner, PartitionViewOp) and value not in known:
                known[value] = _part(value.owner, rows, size, first, point, op)
        copy = type(op).create(
            operands=[known.get(value, value) for value in op.operands],
            attributes=dict(op.attributes),
            properties=dict(op.properties),
        )
        put(copy, point, op)


def _part(
    part: PartitionViewOp, rows: int, size: SSAValue, first: SSAValue, point: InsertPoint, like: Operation
) -> SSAValue:
    """Returns the part of a view that ``rows`` rows from ``first`` on are."""
    offsets, sizes = list(part.offsets), list(part.sizes)
    zero = constant_of(offsets[-2]) == 0
    offsets[-2] = first if zero else put(AddiOp(offsets[-2], first), point, like).results[0]
    sizes[-2] = size
    kind = part.result.type
    assert isinstance(kind, PartitionViewType)
    made = PartitionViewOp.create(
        operands=[part.source, *offsets, *sizes],
        result_types=[PartitionViewType((*kind.shape[:-2], rows, kind.shape[-1]), kind.element)],
        attributes=dict(part.attributes),
        properties=dict(part.properties),
    )
    made.results[0].name_hint = part.result.name_hint
    return put(made, point, like).results[0]
