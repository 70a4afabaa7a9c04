"""Matrix products of tiles as multiply-adds.

Source: docs/reference/numerics.md, "Matrix products"; docs/reference/layouts.md, "Loads into L0".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import shown
from pto_dialect.ir.core.types import PtrType, is_float
from pto_dialect.ir.cube.mad import ClausedMadOp, MadAccOp, MadBiasOp, MadMxAccOp, MadMxBiasOp, MadMxOp, MadOp
from pto_dialect.passes.instructions.geometry import FRACTAL_ROWS, NotLoweredError, Reader, Tile
from pto_dialect.passes.instructions.writer import Number, Writer, enum
from pto_dialect.targets.profile import Profile

from .scales import check_scales


class Form(NamedTuple):
    """A form of a product: the names of its operands left, right and what it starts from, and its instruction."""

    left: str
    right: str
    start: str
    first: type[ClausedMadOp]
    scales: tuple[str, str] | tuple[()] = ()
    """The operands with the scales of left and right."""


_SCALES = ("a_scale", "b_scale")
FORMS = {
    "pto.tmatmul": Form("lhs", "rhs", "", MadOp),
    "pto.tmatmul.acc": Form("lhs", "rhs", "acc_in", MadAccOp),
    "pto.tmatmul.bias": Form("a", "b", "bias", MadBiasOp),
    "pto.tgemv": Form("lhs", "rhs", "", MadOp),
    "pto.tgemv.acc": Form("lhs", "rhs", "acc_in", MadAccOp),
    "pto.tgemv.bias": Form("a", "b", "bias", MadBiasOp),
    **{
        f"pto.{name}.mx{form}": Form("a", "b", start, cls, _SCALES)
        for name in ("tmatmul", "tgemv")
        for form, start, cls in (("", "", MadMxOp), (".acc", "c_in", MadMxAccOp), (".bias", "bias", MadMxBiasOp))
    },
}
"""The instruction of each product. A product in several parts continues with ``mad_acc``."""


def product(writer: Writer, profile: Profile) -> None:
    """A product: one multiply-add, or one for each part that lies as the instruction expects it."""
    op = writer.anchor
    assert isinstance(op, PtoOp)
    form, groups = FORMS[op.name], operand_groups(op)
    if not groups["dst"]:
        raise NotLoweredError(op, "its result is a value without memory")
    reader = Reader(writer)
    left, right, dst = (reader.tile(groups[name][0]) for name in (form.left, form.right, "dst"))
    start = reader.tile(groups[form.start][0]) if form.start else None
    if start is not None and form.start != "bias" and not _is_same_location(writer, start, dst):
        raise NotLoweredError(
            op,
            "it adds to another tile than the one that it writes",
            "sums-in-place adds in place where nobody needs the old sum, repeat-sums computes it twice",
        )
    made = Product(writer, form, left, right, dst, start)
    for name, side, operand in zip(form.scales, ("left", "right"), (form.left, form.right), strict=False):
        check_scales(writer, groups[name][0], groups[operand][0], side, made.k)
    made.write()


def _is_same_location(writer: Writer, one: Tile, other: Tile) -> bool:
    same = _address(one.pointer) == _address(other.pointer)
    layout = (one.height, one.base_type.element) == (other.height, other.base_type.element)
    return same and layout and writer.is_equal(one.row, other.row) and writer.is_equal(one.col, other.col)


def _address(pointer: SSAValue) -> object:
    """Returns what tells the addresses of tiles apart: the number or value that a pointer was made from."""
    made = pointer.owner
    operand = shown(made) if isinstance(made, PtoOp) else pointer
    number = constant_of(operand)
    return operand if number is None else number


class Product:
    """One product with its operands."""

    def __init__(self, writer: Writer, form: Form, left: Tile, right: Tile, dst: Tile, start: Tile | None) -> None:
        self.writer = writer
        self.form = form
        self.left = left
        self.right = right
        self.dst = dst
        self.bias = start if form.start == "bias" else None
        self.m, self.k, self.n = left.rows, left.cols, right.cols

    def write(self) -> None:
        """Writes the instructions."""
        self._check()
        writer = self.writer
        writer.unless_empty((self.m, self.k, self.n), self._parts)

    def _check(self) -> None:
        writer, op = self.writer, self.writer.anchor
        for tile, kinds in ((self.left, ("NZ",)), (self.right, ("ZN",)), (self.dst, ("NZ",))):
            if tile.kind not in kinds or not tile.loadable:
                raise NotLoweredError(op, f"a {tile.type.loc} tile in the layout {tile.kind}")
        if self.bias is not None and (self.bias.kind != "ND" or self.bias.base_type.rows != 1):
            raise NotLoweredError(op, "a bias is one row")
        if not writer.is_equal(self.k, self.right.rows) and not isinstance(self.right.rows, int):
            raise NotLoweredError(op, "its operands may have different sizes along k")

    def _parts(self) -> None:
        """Whole, or in parts along n where the accumulator has other rows than the instruction counts, and along k
        where an operand has."""
        writer = self.writer
        list_ = self.left.base_type.rows == 1
        by_n = not self._fits(self.m, self.dst.height)
        by_k = not ((list_ or self._fits(self.m, self.left.height)) and self._fits(self.n, self.right.height))
        if by_n and not isinstance(self.k, int):
            by_k = True
        by_k = by_k or (by_n and self.right.height != FRACTAL_ROWS)
        n_step = FRACTAL_ROWS if by_n else self.n
        n_count = writer.ceildiv(self.n, FRACTAL_ROWS) if by_n else 1

        def columns(block: Number) -> None:
            first = writer.mul(block, FRACTAL_ROWS) if by_n else 0
            n = writer.least(FRACTAL_ROWS, writer.sub(self.n, first)) if by_n else n_step
            if by_k and self.form.scales:
                raise NotLoweredError(writer.anchor, "MX operands with more rows or columns than are valid")
            if by_k:
                self._along_k(first, n)
            else:
                self._put(self.form.first, first, n, 0, self.k)

        writer.repeat(n_count, columns)

    def _fits(self, size: Number, rows: int) -> bool:
        """Returns whether ``size`` rounded up to whole blocks must be ``rows``."""
        if isinstance(size, int):
            return -(-size // FRACTAL_ROWS) * FRACTAL_ROWS == rows
        return rows == FRACTAL_ROWS

    def _along_k(self, first: Number, n: Number) -> None:
        writer, width = self.writer, self.left.width
        self._put(self.form.first, first, n, 0, writer.least(width, self.k))

        def more(block: Number) -> None:
            at = writer.mul(writer.add(block, 1), width)
            self._put(MadAccOp, first, n, at, writer.least(width, writer.sub(self.k, at)))

        writer.repeat(writer.sub(writer.ceildiv(self.k, width), 1), more)

    def _put(self, cls: type[ClausedMadOp], first: Number, n: Number, at: Number, k: Number) -> None:
        """One instruction: ``k`` products from ``at`` on, for ``n`` columns from ``first`` on."""
        writer, reader = self.writer, Reader(self.writer)
        list_ = self.left.base_type.rows == 1
        left = writer.add(self.left.col, at) if list_ else reader.offset(self.left, 0, at)
        right, out = reader.offset(self.right, at, first), reader.offset(self.dst, 0, first)
        operands: dict[str, SSAValue | tuple[SSAValue, ...] | None] = {
            "lhs": self._operand(self.left, left),
            "rhs": self._operand(self.right, right),
            "dst": writer.advanced(self._sums(), out),
            "m": writer.i64(self.m),
            "n": writer.i64(n),
            "k": writer.i64(k),
        }
        if self.bias is not None and cls is self.form.first:
            operands["bias"] = writer.advanced(self._sums(self.bias), writer.add(self.bias.col, first))
        writer.pto(cls, operands, self._clauses(list_))

    def _operand(self, tile: Tile, elements: Number) -> SSAValue:
        return self.writer.advanced(tile.pointer, elements)

    def _sums(self, tile: Tile | None = None) -> SSAValue:
        return (tile or self.dst).pointer

    def _clauses(self, list_: bool) -> dict[str, Attribute]:
        clauses: dict[str, Attribute] = {}
        if not list_ and (not isinstance(self.m, int) or self.m == 1):
            clauses["disable_gemv"] = UnitAttr()
        pointer = self.left.pointer.type
        assert isinstance(pointer, PtrType)
        if is_float(pointer.element):
            # Products of tiles follow IEEE 754, whatever the control register says.
            clauses["sat_mode"] = enum("mad_sat_mode", "nosat")
        return clauses
