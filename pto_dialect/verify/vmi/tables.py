"""Element types of the operations on logical vectors. Source: docs/reference/vectors.md, "Logical vectors";
docs/reference/operations.md, "Logical vectors: arithmetic with a mask".

An entry ``iN`` admits every sign, ``siN`` that sign only, ``uiN`` that sign and integers without one.
"""

from __future__ import annotations

from pto_dialect.targets.element_types import signless

_F16_F32 = frozenset(("f16", "f32"))
_FLOATS = frozenset(("f16", "bf16", "f32"))
_ANY_FLOAT = _FLOATS | {"f64", "f8E4M3FN", "f8E4M3", "f8E5M2", "hif8"}
_INTS = frozenset(("i8", "i16", "i32"))
_ANY_INT = _INTS | {"i64"}
_NUMBERS = _INTS | _FLOATS
_COUNTED = _INTS | _F16_F32

_ROWS: tuple[tuple[str, frozenset[str]], ...] = (
    ("absf divf exp ln negf sqrt vaxpy vdiv vexp vexpdif vln vlrelu vprelu vsqrt", _F16_F32),
    ("addf cmpf fma maxf minf mulf subf", _FLOATS),
    ("addi andi cmpi maxi mini negi not ori shli xori subi", _INTS),
    ("absi", frozenset(("si8", "si16", "si32"))),
    ("muli", frozenset(("i16", "i32"))),
    ("shrsi", frozenset(("si8", "si16", "si32"))),
    ("shrui", frozenset(("ui8", "ui16", "ui32"))),
    ("relu vrelu", frozenset(("si32", "f16", "f32"))),
    ("vabs", frozenset(("si8", "si16", "si32")) | _FLOATS),
    ("vadd vadds vcmp vcmps vmax vmaxs vmin vmins vsub", _NUMBERS),
    ("vneg", _COUNTED),
    ("vmul", frozenset(("i16", "i32")) | _FLOATS),
    ("vmuls", frozenset(("i16", "i32")) | _F16_F32),
    ("vmula", _ANY_INT | _ANY_FLOAT),
    ("vmull", frozenset(("ui32",))),
    ("vaddc vaddcs reduce_addi", frozenset(("i32",))),
    ("vand vor vxor vnot vshl vshr vshls vshrs", _ANY_INT),
    ("reduce_addf reduce_maxf reduce_minf", _F16_F32),
    ("group_reduce_addf group_reduce_maxf group_reduce_minf", _F16_F32),
    ("reduce_maxi reduce_mini group_reduce_addi group_reduce_maxi group_reduce_mini", _INTS),
    ("vcadd vcmax vcmin", _ANY_INT | _ANY_FLOAT),
)

ELEMENTS: dict[str, frozenset[str]] = {f"pto.vmi.{name}": row for names, row in _ROWS for name in names.split()}
"""Element types of the first logical vector among the operands."""

RESULT_ELEMENTS: dict[str, frozenset[str]] = {
    **{f"pto.vmi.{name}": _COUNTED for name in ("iota", "group_iota", "vci")},
    "pto.vmi.active_prefix_index": frozenset(("ui8", "ui16", "ui32")),
    "pto.vmi.vexpdif": frozenset(("f32",)),
}
"""Element types of the result, where it is not that of the operands."""


def admits(row: frozenset[str], element: str) -> bool:
    """Returns whether a row admits an element type."""
    if element in row or signless(element) in row:
        return True
    return f"u{element}" in row


def format_row(row: frozenset[str]) -> str:
    """Returns a row as text."""
    return ", ".join(sorted(row))
