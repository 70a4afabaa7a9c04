"""Which tile operations of vector cores are lowered, and what each becomes: one row for each operation.

Source: docs/reference/tiles.md, "Elementwise"; docs/reference/vectors.md, "Arithmetic".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Operation

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.placement import location
from pto_dialect.ir.vector.arith import (
    VAbsOp,
    VAddOp,
    VAddsOp,
    VAndOp,
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
    VSqrtOp,
    VSubOp,
    VXorOp,
)
from pto_dialect.ir.vector.convert import VDupOp

FLOATS = frozenset(("f16", "f32"))
WHOLE = frozenset(("i16", "i32"))
BOTH = FLOATS | WHOLE


class Row(NamedTuple):
    """An operation of vector registers, the tiles that it reads, the number that follows them, and the element types
    for which both compute the same bits. ``spread`` is the source of which one row serves all rows."""

    cls: type[PtoOp]
    sources: tuple[str, ...] = ("src",)
    number: str = ""
    elements: frozenset[str] = BOTH
    spread: str = ""


_TWO = ("src0", "src1")
_BINARY: dict[str, tuple[type[PtoOp], frozenset[str]]] = {
    "add": (VAddOp, BOTH),
    "sub": (VSubOp, BOTH),
    "mul": (VMulOp, BOTH),
    "div": (VDivOp, FLOATS),
    "max": (VMaxOp, BOTH),
    "min": (VMinOp, BOTH),
}

ROWS: dict[str, Row] = {
    **{f"pto.t{name}": Row(cls, _TWO, elements=kinds) for name, (cls, kinds) in _BINARY.items()},
    **{
        f"pto.tcolexpand{name}": Row(cls, _TWO, elements=kinds, spread="src1") for name, (cls, kinds) in _BINARY.items()
    },
    "pto.tand": Row(VAndOp, _TWO, elements=WHOLE),
    "pto.tor": Row(VOrOp, _TWO, elements=WHOLE),
    "pto.txor": Row(VXorOp, _TWO, elements=WHOLE),
    "pto.tabs": Row(VAbsOp),
    "pto.tneg": Row(VNegOp),
    "pto.tnot": Row(VNotOp, elements=WHOLE),
    "pto.trelu": Row(VReluOp, elements=FLOATS),
    "pto.texp": Row(VExpOp, elements=FLOATS),
    "pto.tlog": Row(VLnOp, elements=FLOATS),
    "pto.tsqrt": Row(VSqrtOp, elements=FLOATS),
    "pto.tadds": Row(VAddsOp, number="scalar"),
    "pto.tmuls": Row(VMulsOp, ("src0",), "scalar"),
    "pto.tmaxs": Row(VMaxsOp, number="scalar"),
    "pto.tmins": Row(VMinsOp, number="scalar"),
    "pto.tlrelu": Row(VLreluOp, number="slope", elements=FLOATS),
    "pto.texpands": Row(VDupOp, (), "scalar"),
}


def row_of(op: Operation) -> Row | None:
    """The row of an operation on tiles of a vector core."""
    row = ROWS.get(op.name)
    return row if row is not None and isinstance(op, PtoOp) and location(getattr(op, "dst", None)) == "vec" else None
