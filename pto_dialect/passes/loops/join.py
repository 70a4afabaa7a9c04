"""``join-transfers``: transfers of neighbouring columns become one.

Two tiles that are loaded from, or stored to, columns beside each other become parts of one tile, which is loaded and
stored as a whole. Source: docs/reference/layouts.md, "Views of global memory".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import ClassVar, NamedTuple

from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, ModuleOp, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from pto_dialect.analysis.affine import AffineAnalysis
from pto_dialect.analysis.constants import constant_of
from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.diagnostics.engine import DiagnosticEngine
from pto_dialect.ir.buffers.views import AllocTileOp, MakeTensorViewOp, PartitionViewOp, SubviewOp
from pto_dialect.ir.core.base import PtoOp, segment_sizes
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import PartitionViewType, TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.passes.base import PtoPass
from pto_dialect.passes.instructions.geometry import ROW_BYTES, bytes_of
from pto_dialect.passes.instructions.writer import is_handle
from pto_dialect.verify.engine.rule import read_rules

from .copies import erase_with_handles, index_constant, put
from .parts import users_of
from .stretches import works_row_by_row

_INDEX = IndexType()

UNCHANGED = read_rules("passes")["join-transfers-unchanged"]


@dataclass(frozen=True)
class JoinTransfersPass(PtoPass):
    """Makes one transfer of two that follow each other and whose columns lie side by side in an array; their tiles
    become parts of one tile. Tiles of more columns follow from pairs of pairs."""

    name: ClassVar[str] = "join-transfers"

    def run(self, module: ModuleOp, engine: DiagnosticEngine) -> None:
        """Changes ``module``; a function without such transfers gets a remark."""
        for function in [op for op in walk(module) if has_role(op, Role.FUNCTION) and op.regions[0].blocks]:
            joined = 0
            while (pair := next(_joinable(function), None)) is not None:
                _join(*pair)
                joined += 1
            if not joined and any(isinstance(op, (TLoadOp, TStoreOp)) for op in walk(function)):
                message = (
                    "join-transfers changes nothing: no two transfers that follow each other move neighbouring columns "
                    "of the same rows between an array and tiles that are used for nothing but such transfers and "
                    "operations on rows"
                )
                engine.report(UNCHANGED.at(function, message))


class Transfer(NamedTuple):
    """A load or store of the columns of ``part``; ``tile`` has all of them."""

    op: TLoadOp | TStoreOp
    part: PartitionViewOp
    tile: AllocTileOp


class Tiles(NamedTuple):
    """Two tiles that become one: their columns from left to right."""

    left: AllocTileOp
    right: AllocTileOp


Both = tuple[Transfer, Transfer]
"""Two transfers that become one: those of the left and of the right columns."""


def has_joinable(function: Operation) -> bool:
    """Returns whether :class:`JoinTransfersPass` would change a function."""
    return next(_joinable(function), None) is not None


def _joinable(function: Operation) -> Iterator[tuple[Tiles, list[Both]]]:
    """Yields the pairs of tiles with all their transfers, each with that of the other tile."""
    sums = AffineAnalysis()
    found: dict[Tiles, list[Both]] = {}
    for op in walk(function):
        first = _transfer(op)
        for second in _following(first) if first is not None else ():
            assert first is not None
            for left, right in ((first, second), (second, first)):
                if _are_neighbours(left.part, right.part, sums):
                    found.setdefault(Tiles(left.tile, right.tile), []).append((left, right))
    for tiles, pairs in found.items():
        transfers: set[Operation] = {one.op for pair in pairs for one in pair}
        alone = len(transfers) == 2 * len(pairs)
        if alone and _fit(tiles) and all(_may_be_part(tile, transfers) for tile in tiles):
            yield tiles, pairs


def _transfer(op: Operation) -> Transfer | None:
    """Returns what an operation moves, if that is all of a tile without address, in rows, from or to a part of a view
    of the same rows and columns."""
    if not isinstance(op, (TLoadOp, TStoreOp)) or len(op.operands) != 2 or op.results:
        return None
    shown, value = (op.src, op.dst) if isinstance(op, TLoadOp) else (op.dst, op.src)
    if shown is None or value is None:
        return None
    part, tile = shown.owner, value.owner
    if not isinstance(part, PartitionViewOp) or not isinstance(tile, AllocTileOp) or len(tile.operands):
        return None
    kind, view = tile.result.type, part.source.owner
    assert isinstance(kind, TileBufType)
    in_rows = (kind.loc, kind.blayout, kind.slayout) == ("vec", "row_major", "none_box") and not kind.compact
    whole = (kind.valid_rows, kind.valid_cols) == (kind.rows, kind.cols)
    if not in_rows or not whole or not isinstance(view, MakeTensorViewOp):
        return None
    by_rows = (enumerator(view, "layout") or "nd") == "nd" and constant_of(view.strides[-1]) == 1
    return Transfer(op, part, tile) if by_rows and _covers(part, kind) else None


def _covers(part: PartitionViewOp, tile: TileBufType) -> bool:
    """Returns whether a part has the rows and columns of a tile; a load of fewer leaves the others of the tile open."""
    *heights, width = (constant_of(size) for size in part.sizes)
    numbers = [number for number in heights if isinstance(number, int)]
    return len(numbers) == len(heights) and (prod(numbers), width) == (tile.rows, tile.cols)


def _following(first: Transfer) -> Iterator[Transfer]:
    """Transfers in the block that the first one may be executed with: a load may wait for further loads into other
    tiles, a store only for what computes numbers."""
    op = first.op.next_op
    while op is not None and first.tile.result not in op.operands:
        second = _transfer(op)
        alike = second is not None and type(op) is type(first.op) and _attributes(op) == _attributes(first.op)
        if second is not None and alike and second.part.source is first.part.source:
            yield second
        if not is_handle(op) and not (isinstance(op, TLoadOp) and isinstance(first.op, TLoadOp)):
            return
        op = op.next_op


def _attributes(op: Operation) -> dict[str, object]:
    """Returns everything that is stated about a transfer beside its operands."""
    sizes = ("operandSegmentSizes", "resultSegmentSizes")
    return {name: value for name, value in {**op.attributes, **op.properties}.items() if name not in sizes}


def _are_neighbours(left: PartitionViewOp, right: PartitionViewOp, sums: AffineAnalysis) -> bool:
    """Returns whether the columns of one part follow those of another in the same rows, which share no element."""
    *rows, first = (sums.expression_of(offset) for offset in left.offsets)
    *others, second = (sums.expression_of(offset) for offset in right.offsets)
    *heights, width = (constant_of(size) for size in left.sizes)
    *heights_right, width_right = (constant_of(size) for size in right.sizes)
    numbers = (*heights, width, width_right)
    if rows != others or heights != heights_right or not all(isinstance(number, int) for number in numbers):
        return False
    assert isinstance(width, int) and isinstance(width_right, int)
    if second != first.plus(sums.expression_of(left.sizes[-1])):
        return False
    view, span = left.source.owner, width + width_right
    assert isinstance(view, MakeTensorViewOp)
    for size, stride in zip(reversed(heights), list(map(constant_of, view.strides))[-2::-1], strict=True):
        if size == 1:
            continue
        if not isinstance(stride, int) or not isinstance(size, int) or stride < span:
            return False
        span = stride * (size - 1) + span
    return True


def _fit(tiles: Tiles) -> bool:
    """Returns whether two tiles may become columns of one."""
    left, right = (tile.result.type for tile in tiles)
    assert isinstance(left, TileBufType)
    assert isinstance(right, TileBufType)
    alike = (left.rows, left.element, left.pad) == (right.rows, right.element, right.pad)
    aligned = left.cols * bytes_of(left.element) % ROW_BYTES == 0
    return alike and aligned and tiles.left.parent is tiles.right.parent


def _may_be_part(tile: AllocTileOp, transfers: set[Operation]) -> bool:
    """Returns whether all that uses a tile beside ``transfers`` takes parts of tiles too."""
    return all(
        user in transfers or (isinstance(user, PtoOp) and works_row_by_row(user)) for user in users_of(tile.result)
    )


def _join(tiles: Tiles, pairs: list[Both]) -> None:
    """Makes one tile of two, and one transfer of each pair."""
    left, right = (tile.result.type for tile in tiles)
    assert isinstance(left, TileBufType)
    assert isinstance(right, TileBufType)
    at = tiles.left if tiles.left.is_before_in_block(tiles.right) else tiles.right
    layout = {name: getattr(left, name) for name in ("blayout", "slayout", "fractal", "pad", "compact")}
    width = left.cols + right.cols
    kind = TileBufType(left.loc, left.rows, width, left.element, (left.rows, width), **layout)
    made = AllocTileOp.create(result_types=[kind], attributes=dict(at.attributes), properties=dict(at.properties))
    hints = [tile.result.name_hint for tile in tiles]
    made.results[0].name_hint = "_and_".join(hint for hint in hints if hint) or None
    whole = put(made, InsertPoint.before(at), at).results[0]
    parts = [_part(tile, whole, first, at) for tile, first in ((tiles.left, 0), (tiles.right, left.cols))]
    for pair in pairs:
        _join_transfers(*pair, whole, width)
    for op in [*tiles, *(part for part in parts if not part.result.uses)]:
        op.detach()
        op.erase()


def _join_transfers(left: Transfer, right: Transfer, whole: SSAValue, width: int) -> None:
    """Replaces two transfers by one where the later one was."""
    first, last = (left.op, right.op) if left.op.is_before_in_block(right.op) else (right.op, left.op)
    kind = left.part.result.type
    assert isinstance(kind, PartitionViewType)
    point = InsertPoint.before(last)
    columns = index_constant(width, last, point)
    part = PartitionViewOp.create(
        operands=[left.part.source, *left.part.offsets, *left.part.sizes[:-1], columns],
        result_types=[PartitionViewType((*kind.shape[:-1], width), kind.element)],
        attributes=dict(left.part.attributes),
        properties=dict(left.part.properties),
    )
    hints = [one.part.result.name_hint for one in (left, right)]
    part.results[0].name_hint = "_and_".join(hint for hint in hints if hint) or None
    shown = put(part, point, last).results[0]
    made = type(left.op).create(
        operands=[shown, whole] if isinstance(left.op, TLoadOp) else [whole, shown],
        attributes=dict(left.op.attributes),
        properties=dict(left.op.properties),
    )
    put(made, point, last)
    erase_with_handles([last, first])


def _part(tile: AllocTileOp, whole: SSAValue, first: int, at: AllocTileOp) -> SubviewOp:
    """Replaces a tile by columns of ``whole`` from ``first`` on."""
    kind, hint = tile.result.type, tile.result.name_hint
    assert isinstance(kind, TileBufType)
    point = InsertPoint.before(at)
    offsets = [index_constant(number, at, point) for number in (0, first)]
    sizes = ArrayAttr(IntegerAttr(number, i64) for number in (kind.rows, kind.cols))
    counts = segment_sizes((1, 2, 0, 0))
    attributes: dict[str, Attribute] = {"sizes": sizes, "operandSegmentSizes": counts}
    made = SubviewOp.create(operands=[whole, *offsets], result_types=[kind], attributes=attributes)
    put(made, point, tile)
    made.result.name_hint = hint
    tile.result.replace_all_uses_with(made.result)
    return made
