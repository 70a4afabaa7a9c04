"""Stretches of operations on tall tiles that a loop over parts of their rows can execute.

Source: docs/reference/tiles.md, "Elementwise", "Broadcasts and reductions".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.buffers.views import AllocTileOp, TReshapeOp
from pto_dialect.ir.core.base import PtoOp, op_spec, operand_groups
from pto_dialect.ir.core.location import label_of
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.ir.tile.elementwise import TCvtOp
from pto_dialect.ir.tile.memory import TLoadOp, TStoreOp
from pto_dialect.passes.accesses.filling import Filling
from pto_dialect.passes.base import ObstacleError
from pto_dialect.passes.instructions.geometry import ROW_BYTES, bytes_of
from pto_dialect.passes.instructions.writer import is_handle
from pto_dialect.passes.lower_vector.reduce import ROWS
from pto_dialect.passes.lower_vector.table import row_of

from .arrays import Apart, array_of, has_own_elements, is_at_same_place, may_share, part_of


class NotTiledError(ObstacleError):
    """Why an operation cannot be tiled."""


def works_row_by_row(op: PtoOp) -> bool:
    """Returns whether the rows of an operation do not depend on each other."""
    return row_of(op) is not None or isinstance(op, TCvtOp) or ROWS.get(op.name) is not None


def _works_by_element(op: PtoOp) -> bool:
    """Returns whether the elements of an operation do not depend on each other."""
    row = row_of(op)
    return isinstance(op, TCvtOp) or (row is not None and not row.spread and not row.column)


def once_for_all_rows(op: PtoOp, value: SSAValue) -> bool:
    """Returns whether a tile has one row that serves all rows."""
    row = row_of(op)
    return row is not None and bool(row.spread) and value in operand_groups(op)[row.spread]


def column_of(value: SSAValue) -> SSAValue | None:
    """Returns the column of values for rows that a tile shows as one row."""
    if not isinstance(value.owner, TReshapeOp):
        return None
    source, shown, column = value.owner.src, value.type, value.owner.src.type
    if not isinstance(shown, TileBufType) or not isinstance(column, TileBufType) or column.loc != "vec":
        return None
    sizes = (shown.rows, shown.valid_rows, shown.cols, shown.valid_cols)
    turned = (column.cols, column.valid_cols, column.rows, column.valid_rows)
    dense = column.blayout == "col_major" and shown.blayout == "row_major" and column.cols == 1
    plain = column.slayout == shown.slayout == "none_box" and column.element == shown.element
    return source if sizes == turned and dense and plain else None


def rows_of(value: SSAValue) -> int:
    """Returns the rows of a vector tile, or of the column that it shows; 0 for others."""
    column = column_of(value)
    kind = value.type if column is None else column.type
    return kind.valid_rows if isinstance(kind, TileBufType) and kind.loc == "vec" else 0


def stretches(module: ModuleOp, rows: int) -> Iterator[Stretch]:
    """Runs of consecutive operations on tall tiles, between which only scalars and handles are computed, and tiles that
    have nothing to do with those before."""
    blocks = dict.fromkeys(op.parent for op in walk(module) if op.parent is not None)
    for block in blocks:
        ops: list[Operation] = []
        for op in block.ops:
            height = _height(op, rows)
            if height:
                if ops and height != _height(ops[0], rows):
                    yield Stretch(ops, rows)
                    ops = []
                ops.append(op)
            elif ops and not is_handle(op) and not _may_come_before(op, ops):
                yield Stretch(ops, rows)
                ops = []
        if ops:
            yield Stretch(ops, rows)


def _height(op: Operation, rows: int) -> int:
    """Returns the rows of the tallest vector tile among the operands, if they are more than ``rows``."""
    if not isinstance(op, PtoOp) or is_handle(op):
        return 0
    return max((height for value in op.operands if (height := rows_of(value)) > rows), default=0)


def _may_come_before(op: Operation, ops: list[Operation]) -> bool:
    """Returns whether operations compute the same if ``op``, which follows them, precedes them."""
    if not isinstance(op, PtoOp) or any(isinstance(one, TStoreOp) for one in ops):
        return False
    if not isinstance(op, TLoadOp) and not works_row_by_row(op):
        return False
    mine = [_allocated(value) for value in op.operands if isinstance(value.type, TileBufType)]
    theirs = [_allocated(value) for one in ops for value in one.operands if isinstance(value.type, TileBufType)]
    return None not in (*mine, *theirs) and not {*mine} & {*theirs}


def _allocated(value: SSAValue) -> AllocTileOp | None:
    """Returns the allocation of a tile whose bytes nothing else has, if that is known."""
    while isinstance(value.owner, TReshapeOp):
        value = value.owner.src
    return value.owner if isinstance(value.owner, AllocTileOp) and value.owner.addr is None else None


@dataclass
class Stretch:
    """Operations that one loop is to execute; ``rows`` are those of an iteration."""

    ops: list[Operation]
    rows: int
    tiles: dict[SSAValue, TileBufType] = field(default_factory=dict[SSAValue, TileBufType])
    """Tall tiles."""
    shown: dict[SSAValue, TileBufType] = field(default_factory=dict[SSAValue, TileBufType])
    """Rows that show columns among the tall tiles."""
    apart: Apart = field(default_factory=Apart)
    """Pairs of arguments that have to be different memory."""
    filling: Filling = field(default_factory=Filling)

    @property
    def height(self) -> int:
        """Rows of the tall tiles."""
        return _height(self.ops[0], self.rows)

    def check(self) -> None:
        """Raises :class:`NotTiledError` where the loop would compute something else."""
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
        column = column_of(value)
        by_columns = any(column_of(operand) is not None for operand in op.operands)
        if rows_of(value) != self.height or once_for_all_rows(op, value):
            if output or by_columns or (kind.valid_rows != 1 and not once_for_all_rows(op, value)):
                raise NotTiledError(op, f"a tile has {kind.valid_rows} rows beside one of {self.height}")
            return
        if by_columns and (column is None or not _works_by_element(op)):
            raise NotTiledError(op, "it takes a column as a row, and its elements depend on each other")
        if column is not None:
            self.shown[value] = kind
            value, kind = column, column.type
            assert isinstance(kind, TileBufType)
        if value not in written and not (output and self.filling.fills(op, value)):
            reason = "is not written as a whole first" if output else "comes from somewhere else"
            raise NotTiledError(op, f"{_name(value)} {reason}")
        written.add(value)
        if value not in self.tiles:
            self._own(op, value, kind)
            self.tiles[value] = kind

    def _own(self, op: PtoOp, value: SSAValue, kind: TileBufType) -> None:
        """Checks that nothing else uses a tile."""
        owner = value.owner
        if not isinstance(owner, AllocTileOp) or owner.addr is not None:
            raise NotTiledError(op, f"{_name(value)} has an address already, or is a part of another tile")
        users = [use.operation for use in value.uses]
        users += [use.operation for one in users if _shows_column(one) for use in one.results[0].uses]
        if any(user not in self.ops and not _shows_column(user) for user in users):
            raise NotTiledError(op, f"{_name(value)} is used elsewhere")
        if kind.slayout != "none_box":
            raise NotTiledError(op, f"{_name(value)} consists of blocks")

    def _part(self, op: Operation) -> None:
        part = part_of(op)
        if part is None:
            raise NotTiledError(op, "its array is no part of a view")
        sizes = [constant_of(size) for size in part.sizes]
        if len(sizes) < 2 or sizes[-2] != self.height or any(size != 1 for size in sizes[:-2]):
            raise NotTiledError(op, "the rows of its tile are not those of its view")

    def _arrays(self) -> None:
        """Checks that no iteration loads what an earlier one stored."""
        parts = [(op, part) for op in self.ops if (part := part_of(op)) is not None]
        stored = [part for op, part in parts if isinstance(op, TStoreOp)]
        for part in stored:
            if not has_own_elements(part):
                raise NotTiledError(self.ops[0], "rows of the array that is stored to share elements")
        for op, part in parts:
            for other in stored:
                same = other.source is part.source and tuple(other.offsets) == tuple(part.offsets)
                arrays = (array_of(other.result), array_of(part.result))
                if not same and may_share(*arrays):
                    raise NotTiledError(op, "another part of its array is stored to")
                if arrays[0] is not arrays[1] and not is_at_same_place(part, other):
                    self.apart[frozenset(array for array in arrays if array is not None)] = None


def flat(kind: TileBufType, rows: int) -> TileBufType:
    """Returns the type of ``rows`` rows of a tile; columns have whole blocks of 32 bytes."""
    whole = rows
    if kind.blayout == "col_major":
        unit = ROW_BYTES // bytes_of(kind.element)
        whole = -(-rows // unit) * unit
    layout = {name: getattr(kind, name) for name in ("blayout", "slayout", "fractal", "pad", "compact")}
    return TileBufType(kind.loc, whole, kind.cols, kind.element, (rows, kind.valid_cols), **layout)


def turned(kind: TileBufType, column: TileBufType) -> TileBufType:
    """Returns the type of a row that shows a column; ``kind`` is that of another one."""
    layout = {name: getattr(kind, name) for name in ("blayout", "slayout", "fractal", "pad", "compact")}
    valid = (column.valid_cols, column.valid_rows)
    return TileBufType(kind.loc, column.cols, column.rows, kind.element, valid, **layout)


def _shows_column(op: Operation) -> bool:
    return isinstance(op, TReshapeOp) and column_of(op.results[0]) is not None


def _name(value: SSAValue) -> str:
    return label_of(value, "a tile")
