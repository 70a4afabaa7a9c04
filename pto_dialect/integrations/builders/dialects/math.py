"""The module `mlir.dialects.math`."""

from __future__ import annotations

from .arith import _CONVERTS
from .tables import add_operations

_UNARY = (
    "AbsFOp absf; AcosOp acos; AcoshOp acosh; AsinOp asin; AsinhOp asinh; AtanOp atan; AtanhOp atanh; CbrtOp cbrt; "
    "CeilOp ceil; CosOp cos; CoshOp cosh; ErfOp erf; ExpOp exp; Exp2Op exp2; ExpM1Op expm1; FloorOp floor; LogOp log; "
    "Log10Op log10; Log1pOp log1p; Log2Op log2; RoundOp round; RoundEvenOp roundeven; RsqrtOp rsqrt; SinOp sin; "
    "SinhOp sinh; SqrtOp sqrt; TanOp tan; TanhOp tanh; TruncOp trunc"
)
_INTEGER = "AbsIOp absi; CountLeadingZerosOp ctlz; CountTrailingZerosOp cttz; CtPopOp ctpop"
_BINARY = "Atan2Op atan2; CopySignOp copysign; FPowIOp fpowi; PowFOp powf"
_TABLE = "\n".join(
    [
        *(f"{entry} operand #fastmath= : operand" for entry in _UNARY.split("; ")),
        *(f"{entry} operand : operand" for entry in _INTEGER.split("; ")),
        *(f"{entry} lhs rhs #fastmath= : lhs" for entry in _BINARY.split("; ")),
        "IPowIOp ipowi lhs rhs : lhs",
        "FmaOp fma a b c #fastmath= : a",
    ]
)
add_operations(globals(), "math", _TABLE, _CONVERTS)
