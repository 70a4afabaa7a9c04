"""Enumerators and types of arithmetic that reader, printer and runtime share: predicates, operations of several types.

Source: docs/reference/core-dialects.md, "Operations".
"""

from __future__ import annotations

from typing import NamedTuple

CMPI = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
CMPF = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)
PREDICATES = {"arith.cmpi": CMPI, "arith.cmpf": CMPF}
"""Predicates of a comparison; the attribute is the index in the list."""


class Mixed(NamedTuple):
    """How an operation with operands or results of two types is written.

    ``types`` is the number of stated types; ``exponent`` states that the second one is that of the second operand,
    otherwise it is that of the second result.
    """

    types: int
    help: str
    exponent: bool = False


_HALVES = Mixed(1, "the type of the operands and of both halves: i32")
MIXED = {
    "arith.addui_extended": Mixed(2, "the type of the sum and that of the carry: i32, i1"),
    "arith.mulsi_extended": _HALVES,
    "arith.mului_extended": _HALVES,
    "math.fpowi": Mixed(2, "the type of the base and that of the exponent: f32, i32", exponent=True),
}
