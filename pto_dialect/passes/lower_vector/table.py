"""Which tile operations of vector cores are lowered, and what each becomes: one row for each operation.

Source: docs/reference/tiles.md, "Elementwise"; docs/reference/vectors.md, "Arithmetic".
"""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple, TypeAlias

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.constants import constant_of
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.placement import element_of, location
from pto_dialect.ir.core.types import DYNAMIC, TileBufType
from pto_dialect.ir.tile.elementwise import TReluOp
from pto_dialect.ir.tile.move import TMovOp
from pto_dialect.ir.tile.partial import TPartAddOp, TPartMaxOp, TPartMinOp, TPartMulOp
from pto_dialect.ir.tile.scalar import TDivsOp, TLreluOp
from pto_dialect.ir.vector.arith import (
    VAbsOp,
    VAddOp,
    VAddsOp,
    VAndOp,
    VAxpyOp,
    VDivOp,
    VExpOp,
    VLnOp,
    VLreluOp,
    VMaxOp,
    VMaxsOp,
    VMinOp,
    VMinsOp,
    VMulOp,
    VMulsOp,
    VNegOp,
    VNotOp,
    VOrOp,
    VReluOp,
    VShlOp,
    VShlsOp,
    VShrsOp,
    VSqrtOp,
    VSubOp,
    VXorOp,
)
from pto_dialect.ir.vector.compare import VSelOp
from pto_dialect.ir.vector.convert import VBrOp, VDupOp

from .division import quotient, scaled_halves

FLOATS = frozenset(("f16", "f32"))
SIGNED = frozenset(("i8", "i16", "i32"))
WHOLE = SIGNED | {"ui8", "ui16", "ui32"}
BOTH = FLOATS | WHOLE
MULTIPLIED = BOTH - {"i8", "ui8"}
"""Elements that ``vmul`` takes."""
_SHIFTED_BITS = {"i16": 16, "i32": 32}
SHIFTED = frozenset(_SHIFTED_BITS)
DIVIDED = frozenset(("i16", "i32"))
"""Integers whose quotients :func:`.division.quotient` has."""
COPIED = BOTH | {"bf16"}
"""Elements that are not computed with."""
MOVED = COPIED | {"f8E4M3FN", "f8E5M2", "hif8"}
"""Elements that are loaded and stored."""


Formula: TypeAlias = "str | int | tuple[Any, ...]"
"""An operand by name, a number, or an operation of vector registers, or what writes several, and the formulas of its
operands; the third one of ``vsel`` is what has to be more than 0."""
ONE = "1"
"""The name of the number 1."""


class Row(NamedTuple):
    """A formula over vector registers, or an operation on all operands; the tiles that it reads, the scalar that
    follows them, and the element types for which both compute the same bits. ``spread`` is the source of which one row
    serves all rows, ``column`` the one of which the first element of a row serves the whole row. ``others`` states
    whether other element types are refused; else such operations stay. ``own`` states whether the scalar has its own
    type."""

    formula: type[PtoOp] | Formula
    sources: tuple[str, ...] = ("src",)
    number: str = ""
    elements: frozenset[str] = BOTH
    spread: str = ""
    column: str = ""
    others: bool = True
    own: bool = False


def formula_of(row: Row) -> Formula:
    """Returns the formula of a row with all its operands."""
    if isinstance(row.formula, type):
        return (row.formula, *row.sources, *([row.number] if row.number else []))
    return row.formula


_TWO = ("src0", "src1")
_BINARY: dict[str, tuple[type[PtoOp], frozenset[str]]] = {
    "add": (VAddOp, BOTH),
    "sub": (VSubOp, BOTH),
    "mul": (VMulOp, MULTIPLIED),
    "div": (VDivOp, FLOATS),
    "max": (VMaxOp, BOTH),
    "min": (VMinOp, BOTH),
}
_DIFFERENCE = (VExpOp, (VSubOp, *_TWO))


def _by_rows(name: str, vector: str) -> Row:
    """Returns ``trowexpand`` with arithmetic; ``vector`` has the values of rows."""
    if name == "expdif":
        return Row(_DIFFERENCE, _TWO, elements=FLOATS, column=vector)
    cls, kinds = _BINARY[name]
    return Row(cls, _TWO, elements=kinds, column=vector)


ROWS: dict[str, Row] = {
    **{f"pto.t{name}": Row(cls, _TWO, elements=kinds) for name, (cls, kinds) in _BINARY.items()},
    **{
        f"pto.tcolexpand{name}": Row(cls, _TWO, elements=kinds, spread="src1") for name, (cls, kinds) in _BINARY.items()
    },
    "pto.tcolexpandexpdif": Row(_DIFFERENCE, _TWO, elements=FLOATS, spread="src1"),
    **{f"pto.trowexpand{name}": _by_rows(name, "src1") for name in (*_BINARY, "expdif")},
    "pto.tcolexpand": Row("src", elements=COPIED, spread="src"),
    "pto.trowexpand": Row("src", elements=COPIED, column="src"),
    "pto.tand": Row(VAndOp, _TWO, elements=WHOLE),
    "pto.tor": Row(VOrOp, _TWO, elements=WHOLE),
    "pto.txor": Row(VXorOp, _TWO, elements=WHOLE),
    **{
        f"pto.t{name}s": Row((cls, "src", (VBrOp, "scalar")), number="scalar", elements=WHOLE)
        for name, cls in (("and", VAndOp), ("or", VOrOp), ("xor", VXorOp))
    },
    "pto.tshl": Row(VShlOp, _TWO, elements=frozenset(("i32",)), others=False),
    "pto.tshls": Row(VShlsOp, number="scalar", elements=SHIFTED, own=True),
    "pto.tshrs": Row(VShrsOp, number="scalar", elements=SHIFTED, own=True),
    "pto.tabs": Row(VAbsOp, elements=FLOATS | SIGNED),
    "pto.tneg": Row(VNegOp, elements=FLOATS | SIGNED),
    "pto.tnot": Row(VNotOp, elements=WHOLE),
    "pto.trelu": Row(VReluOp, elements=FLOATS),
    "pto.texp": Row(VExpOp, elements=FLOATS),
    "pto.tlog": Row(VLnOp, elements=FLOATS),
    "pto.tsqrt": Row(VSqrtOp, elements=FLOATS),
    "pto.tadds": Row(VAddsOp, number="scalar"),
    "pto.tmuls": Row(VMulsOp, ("src0",), "scalar", MULTIPLIED),
    "pto.tmaxs": Row(VMaxsOp, number="scalar"),
    "pto.tmins": Row(VMinsOp, number="scalar"),
    "pto.tlrelu": Row((VSelOp, "src", (VMulsOp, "src", "slope"), "src"), number="slope", elements=FLOATS),
    "pto.tprelu": Row((VSelOp, "src0", (VMulOp, *_TWO), "src0"), _TWO, elements=FLOATS),
    "pto.taddrelu": Row((VReluOp, (VAddOp, *_TWO)), _TWO, elements=frozenset(("f32",)), others=False),
    "pto.taxpy": Row((VAxpyOp, "src", "dst", "scalar"), ("src", "dst"), "scalar", elements=FLOATS),
    **{
        f"pto.tpart{name}": Row(_BINARY[name][0], _TWO, elements=_BINARY[name][1], others=False)
        for name in ("add", "mul", "max", "min")
    },
    "pto.tsubs": Row((VSubOp, "src", (VBrOp, "scalar")), number="scalar"),
    "pto.tdivs": Row((VDivOp, "src", (VBrOp, "scalar")), number="scalar", elements=FLOATS, others=False),
    "pto.trecip": Row((VDivOp, (VBrOp, ONE), "src"), elements=FLOATS),
    "pto.trsqrt": Row((VDivOp, (VBrOp, ONE), (VSqrtOp, "src")), elements=frozenset(("f32",)), others=False),
    "pto.tmov": Row("src", elements=MOVED),
    "pto.texpands": Row(VDupOp, (), "scalar", elements=COPIED),
}

_NUMBER_FIRST = Row((VDivOp, (VBrOp, "src"), "scalar"), ("scalar",), "src", elements=FLOATS, others=False)
"""A number divided by a tile: the only operation that takes both orders."""

_NOT_NEGATIVE = Row((VMaxsOp, "src", 0), elements=SIGNED)
"""Integers, which ``vrelu`` does not take."""
_SLOPE_OF_HALVES = Row(
    (VSelOp, "src", (scaled_halves, "src", "slope"), "src"), number="slope", elements=frozenset(("f16",)), own=True
)
"""The slope has 32 bits, and so has the product before it is rounded."""
_RISING = Row(VLreluOp, number="slope", elements=FLOATS)
"""The slope is a finite number above 0: zeros, of which the register has its own opinion, stay zeros."""
_POWERS = frozenset(1 << bit for bit in range(1, 15))


def row_of(op: Operation) -> Row | None:
    """Returns the row of an operation on tiles of a vector core."""
    row = ROWS.get(op.name)
    if row is None or location(dst := find(op, "dst")) != "vec":
        return None
    assert isinstance(op, PtoOp)
    assert dst is not None
    if isinstance(op, TMovOp) and not _is_copy(op):
        return None
    if row.number and isinstance(operand_groups(op)[row.number][0].type, TileBufType):
        row = _NUMBER_FIRST
    elif row.column == "src1" and _swapped(op):
        row = _by_rows(op.name.removeprefix("pto.trowexpand"), "src0")
    element = element_of(dst)
    if isinstance(op, TReluOp) and element in SIGNED:
        row = _NOT_NEGATIVE
    if row.number and isinstance(op, (TLreluOp, TDivsOp)):
        row = _by_number(op, row, constant_of(operand_groups(op)[row.number][0]), element)
    if isinstance(op, _PARTS) and not _same_regions(op):
        return None
    if element in DIVIDED and _divides(row.formula):
        # The quotient of a formula, of integers.
        parts = row.formula[1:] if isinstance(row.formula, tuple) else _TWO
        row = row._replace(formula=(quotient, *parts, (VBrOp, 0), (VBrOp, 1)), elements=DIVIDED)
    return row if row.others or element in row.elements else None


def _divides(formula: Formula | type[PtoOp]) -> bool:
    return formula is VDivOp or (isinstance(formula, tuple) and formula[0] is VDivOp and (VBrOp, ONE) not in formula)


def _by_number(op: TLreluOp | TDivsOp, row: Row, number: Any, element: str | None) -> Row:
    """Returns the row of an operation whose number the text says."""
    if isinstance(op, TLreluOp):
        if element == "f16" and isinstance(op.slope.type, Float32Type):
            return _SLOPE_OF_HALVES
        return _RISING if isinstance(number, float) and 0 < number < inf else row
    if row is not _NUMBER_FIRST and number in _POWERS and element in _SHIFTED_BITS:
        # Integer divided by a power of two, toward zero: negative ones are brought up to the next multiple first.
        sign = (VShrsOp, "src", _SHIFTED_BITS[element] - 1)
        raised = (VAddOp, "src", (VAndOp, sign, (VBrOp, number - 1)))
        return Row((VShrsOp, raised, number.bit_length() - 1), elements=SHIFTED)
    return row


_PARTS = (TPartAddOp, TPartMulOp, TPartMaxOp, TPartMinOp)


def _same_regions(op: PtoOp) -> bool:
    """Returns whether both sources of a partial operation must be as large as its destination."""
    groups = operand_groups(op)
    sizes = [groups[name][0].type for name in ("src0", "src1", "dst")]
    regions = {(one.valid_rows, one.valid_cols) for one in sizes if isinstance(one, TileBufType)}
    return len(regions) == 1 and DYNAMIC not in next(iter(regions))


def _is_copy(op: PtoOp) -> bool:
    """Returns whether a move copies elements within the memory of vector tiles."""
    groups = operand_groups(op)
    others = any(values for name, values in groups.items() if name not in ("src", "dst"))
    return location(groups["src"][0]) == "vec" and not others and "grpAxis" not in op.attributes


def _swapped(op: PtoOp) -> bool:
    """Returns whether the first operand has the values of rows: the second alone has the region of the destination."""
    groups = operand_groups(op)
    first, second, dst = (_extent(groups[name][0]) for name in ("src0", "src1", "dst"))
    return first != dst and second == dst


def _extent(value: SSAValue) -> object:
    """Returns the valid region of a tile; where a run says it, its shape."""
    type_ = value.type
    if not isinstance(type_, TileBufType):
        return None
    sizes = ((type_.valid_rows, type_.rows), (type_.valid_cols, type_.cols))
    return tuple(size if valid == DYNAMIC else valid for valid, size in sizes)
