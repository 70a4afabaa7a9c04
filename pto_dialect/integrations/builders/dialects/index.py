"""The module `mlir.dialects.index`."""

from __future__ import annotations

from .tables import add_operations

_BINARY = (
    "AddOp add; SubOp sub; MulOp mul; DivSOp divs; DivUOp divu; CeilDivSOp ceildivs; CeilDivUOp ceildivu; "
    "FloorDivSOp floordivs; RemSOp rems; RemUOp remu; MaxSOp maxs; MaxUOp maxu; MinSOp mins; MinUOp minu; ShlOp shl; "
    "ShrSOp shrs; ShrUOp shru; AndOp and; OrOp or; XOrOp xor"
)
add_operations(
    globals(),
    "index",
    "\n".join([*(f"{entry} lhs rhs : index" for entry in _BINARY.split("; ")), "CastSOp casts @output input"]),
)
