"""Which operations are lowered, and what each becomes: one row for each operation and place of its operands.

Source: docs/reference/layouts.md, "Moves between tiles".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.placement import location
from pto_dialect.ir.cube.matmul import BiasedScaledProductOp, PhasedProductOp, TGetScaleAddrOp
from pto_dialect.ir.tile.memory import TLoadOp, TStoreFpOp, TStoreOp
from pto_dialect.ir.tile.move import ConvertingMoveOp, PaddingOp, ParameterWindowOp, TMovFpOp
from pto_dialect.passes.instructions.geometry import NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer
from pto_dialect.targets.profile import Profile

from .loads import load, move_bias, move_operand, move_table
from .products import FORMS, product
from .scales import bind, holds_scales, move_scales
from .stores import Window, move_out, store

Lower = Callable[[Writer, Profile], None]
Moved = Callable[[Writer, Tile, Tile, Number, Number], None]

MATRIX_PLACES = frozenset(("mat", "left", "right", "acc", "bias", "scaling"))
"""Locations of tiles in the memories of the cube core."""


class Row(NamedTuple):
    """What an operation becomes: the instructions, for reading, and the function that writes them."""

    instructions: str
    lower: Lower


_OPERANDS: dict[tuple[str, str], tuple[str, Moved]] = {
    ("mat", "left"): ("mte_l1_l0a", move_operand),
    ("mat", "right"): ("mte_l1_l0b", move_operand),
    ("mat", "bias"): ("mte_l1_bt", move_bias),
    ("mat", "scaling"): ("mte_l1_fb; mte_l1_l0a_mx, mte_l1_l0b_mx for MX scales", move_table),
}
"""Moves out of L1 by the locations of both tiles."""


def _ends(op: Operation) -> tuple[SSAValue, SSAValue]:
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    if not groups["dst"]:
        raise NotLoweredError(op, "its result is a value without memory")
    return groups["src"][0], groups["dst"][0]


def _start(writer: Writer) -> tuple[Number, Number]:
    assert isinstance(writer.anchor, PtoOp)
    groups = operand_groups(writer.anchor)
    row, col = (groups.get(name, ()) for name in ("indexRow", "indexCol"))
    return (writer.number(row[0]), writer.number(col[0])) if row and col else (0, 0)


def _operand(moved: Moved) -> Lower:
    def lower(writer: Writer, profile: Profile) -> None:
        source, dst = _ends(writer.anchor)
        if holds_scales(dst.type):
            move_scales(writer, source, dst)
            return
        reader = Reader(writer)
        moved(writer, reader.tile(source), reader.tile(dst), *_start(writer))

    return lower


def _moved(row: Number, col: Number) -> Window:
    return Window(whole=True)


def _extracted(row: Number, col: Number) -> Window:
    return Window(row, col)


def _inserted(row: Number, col: Number) -> Window:
    return Window(to_row=row, to_col=col, of_source=True)


def _out(window: Callable[[Number, Number], Window]) -> Lower:
    def lower(writer: Writer, profile: Profile) -> None:
        source, dst = _ends(writer.anchor)
        reader = Reader(writer)
        move_out(writer, profile, reader.tile(source), reader.tile(dst), window(*_start(writer)))

    return lower


def _bound(writer: Writer, profile: Profile) -> None:
    _, dst = _ends(writer.anchor)
    bind(writer, dst)


_MOVES: dict[str, Callable[[Number, Number], Window]] = {
    **dict.fromkeys(("pto.tmov", "pto.tmov.fp"), _moved),
    **dict.fromkeys(("pto.textract", "pto.textract_fp"), _extracted),
    **dict.fromkeys(("pto.tinsert", "pto.tinsert_fp"), _inserted),
}
"""Moves of accumulators by what they read and write."""

ROWS: dict[tuple[str, str, str], Row] = {
    ("pto.tload", "", "mat"): Row("mte_gm_l1_frac, mte_gm_l1 for rows", load),
    **{
        (name, *places): Row(instruction, _operand(moved))
        for name in ("pto.tmov", "pto.textract")
        for places, (instruction, moved) in _OPERANDS.items()
    },
    **{("pto.tget_scale_addr", side, "scaling"): Row("nothing", _bound) for side in ("left", "right")},
    **{(name, "", "acc"): Row(form.first.name.removeprefix("pto."), product) for name, form in FORMS.items()},
    **{
        (name, "acc", to): Row(instruction, _out(window))
        for name, window in _MOVES.items()
        for to, instruction in (("mat", "mte_l0c_l1"), ("vec", "mte_l0c_ub"))
    },
    **{(name, "acc", ""): Row("mte_l0c_gm", store) for name in ("pto.tstore", "pto.tstore_fp")},
}
"""By operation, location of the source (empty for products and loads) and of the destination (empty for stores)."""

_CUBE = (
    *(PhasedProductOp, BiasedScaledProductOp, TGetScaleAddrOp),
    *(ConvertingMoveOp, TMovFpOp, ParameterWindowOp, PaddingOp),
    *(TLoadOp, TStoreOp, TStoreFpOp),
)
"""Operations that the cube core carries out when one of their tiles lies in its memories."""


def places(op: Operation) -> tuple[str, str]:
    """Returns the locations of source and destination of ``op``; a product has no source."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    source, dst = (next(iter(groups.get(name, ())), None) for name in ("src", "dst"))
    if dst is None and op.results:
        dst = op.results[0]
    return location(source) or "", location(dst) or ""


def is_cube(op: Operation) -> bool:
    """Returns whether ``op`` is a tile operation of the cube core."""
    return isinstance(op, _CUBE) and not MATRIX_PLACES.isdisjoint(places(op))


def row_of(op: Operation) -> Row | None:
    """Returns the row of a tile operation of the cube core."""
    return ROWS.get((op.name, *places(op)))
