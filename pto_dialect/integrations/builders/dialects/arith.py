"""The module `mlir.dialects.arith`."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from xdsl.dialects import builtin as xb
from xdsl.ir import Attribute as XAttribute

from ..declare import GeneratedOp, build
from ..ir.attributes import Attribute, FloatAttr, IntegerAttr, read_attribute, wrap
from ..ir.operations import register_view
from ..ir.types import IndexType
from .tables import add_function, add_ir, add_operations, read_form


class CmpIPredicate(IntEnum):
    """How integers are compared."""

    eq, ne, slt, sle, sgt, sge, ult, ule, ugt, uge = range(10)

    def __str__(self) -> str:
        return self.name


class CmpFPredicate(IntEnum):
    """How floating-point numbers are compared."""

    AlwaysFalse, OEQ, OGT, OGE, OLT, OLE, ONE, ORD, UEQ, UGT, UGE, ULT, ULE, UNE, UNO, AlwaysTrue = range(16)


class FastMathFlags(IntEnum):
    """What floating-point arithmetic may assume."""

    none, reassoc, nnan, ninf, nsz, arcp, contract, afn, fast = 0, 1, 2, 4, 8, 16, 32, 64, 127


class IntegerOverflowFlags(IntEnum):
    """Which overflow integer arithmetic may assume not to happen."""

    none, nsw, nuw = 0, 1, 2


def _predicate(enum: type[IntEnum]) -> Any:
    attributes = [xb.IntegerAttr(int(one), xb.i64) for one in enum]

    def convert(value: Any) -> XAttribute:
        if isinstance(value, str):
            names = {one.lower(): enum[one] for one in enum.__members__}
            if value.lower() not in names:
                raise ValueError(f"the value is one of {', '.join(enum.__members__)}, found {value!r}")
            value = names[value.lower()]
        if not isinstance(value, int) or not 0 <= value < len(enum):
            raise ValueError(f"the value is a {enum.__name__}, found {value!r}")
        return attributes[value]

    return convert


def _flags(kind: str, enum: type[IntEnum]) -> Any:
    def convert(value: Any) -> XAttribute:
        name = value if isinstance(value, str) else ",".join(one.name for one in enum if one & value) or "none"
        return read_attribute(f"#arith.{kind}<{'fast' if value == FastMathFlags.fast else name}>")

    return convert


_CONVERTS = {
    "fastmath": _flags("fastmath", FastMathFlags),
    "overflowFlags": _flags("overflow", IntegerOverflowFlags),
}
_INTEGER = """
    DivSIOp divsi
    DivUIOp divui
    CeilDivSIOp ceildivsi
    CeilDivUIOp ceildivui
    FloorDivSIOp floordivsi
    RemSIOp remsi
    RemUIOp remui
    AndIOp andi
    OrIOp ori
    XOrIOp xori
    ShRSIOp shrsi
    ShRUIOp shrui
    MinSIOp minsi
    MinUIOp minui
    MaxSIOp maxsi
    MaxUIOp maxui
"""
_FLAGGED = "AddIOp addi; SubIOp subi; MulIOp muli; ShLIOp shli"
_FLOAT = (
    "AddFOp addf; SubFOp subf; MulFOp mulf; DivFOp divf; RemFOp remf; MinimumFOp minimumf; MaximumFOp maximumf; "
    "MinNumFOp minnumf; MaxNumFOp maxnumf"
)
_CASTS = (
    "BitcastOp bitcast; ExtSIOp extsi; ExtUIOp extui; TruncIOp trunci; FPToSIOp fptosi; FPToUIOp fptoui; "
    "SIToFPOp sitofp; UIToFPOp uitofp; IndexCastOp index_cast; IndexCastUIOp index_castui"
)
_TABLE = "\n".join(
    [
        *(f"{line} lhs rhs : lhs" for line in _INTEGER.strip().splitlines()),
        *(f"{entry} lhs rhs #overflowFlags= : lhs" for entry in _FLAGGED.split("; ")),
        *(f"{entry} lhs rhs #fastmath= : lhs" for entry in _FLOAT.split("; ")),
        *(f"{entry} @out in_" for entry in _CASTS.split("; ")),
        "ExtFOp extf @out in_ #fastmath=",
        "TruncFOp truncf @out in_ #roundingmode= #fastmath=",
        "NegFOp negf operand #fastmath= : operand",
        "SelectOp select condition true_value false_value : true_value",
        "AddUIExtendedOp addui_extended @sum @overflow lhs rhs",
        "MulSIExtendedOp mulsi_extended lhs rhs : lhs lhs",
        "MulUIExtendedOp mului_extended lhs rhs : lhs lhs",
    ]
)
add_operations(globals(), "arith", _TABLE, _CONVERTS)
add_operations(
    globals(), "arith", "CmpIOp cmpi #predicate lhs rhs : bool lhs", {"predicate": _predicate(CmpIPredicate)}
)
add_operations(
    globals(),
    "arith",
    "CmpFOp cmpf #predicate lhs rhs #fastmath= : bool lhs",
    {**_CONVERTS, "predicate": _predicate(CmpFPredicate)},
)
_CONSTANT = read_form("arith", "ConstantOp constant @result #value")


@register_view
class ConstantOp(GeneratedOp):
    """The operation `arith.constant`: ConstantOp(type, number or attribute)."""

    FORM = _CONSTANT
    OPERATION_NAME = "arith.constant"

    def __init__(self, result: Any, value: Any = None, *, loc: Any = None, ip: Any = None) -> None:
        if value is None and isinstance(result, Attribute):
            value, result = result, result.type
        if isinstance(value, float):
            value = FloatAttr.get(result, value)
        elif not isinstance(value, Attribute):
            value = _number(result, value)
        build(self, _CONSTANT, (value.type if result is None else result, value), {"loc": loc, "ip": ip})

    @classmethod
    def create_index(cls, value: int, *, loc: Any = None, ip: Any = None) -> ConstantOp:
        """Makes a constant of type index."""
        return cls(IndexType.get(), value, loc=loc, ip=ip)

    @property
    def type(self) -> Any:
        """The type."""
        return self.result.type

    @property
    def value(self) -> Any:
        """The attribute of the number."""
        return wrap(self._x.properties["value"])

    @property
    def literal_value(self) -> int | float:
        """The number. Raises ``ValueError`` for a constant that is no number."""
        found = self.value
        if not isinstance(found.type._x, (xb.IntegerType, xb.IndexType, xb.AnyFloat)):
            raise ValueError("only integer and float constants have literal values")
        return found.value


_WHOLE = (xb.IndexType, xb.IntegerType)


def _number(of: Any, value: Any) -> Any:
    is_whole = isinstance(of, Attribute) and type(of._x) in _WHOLE
    if not is_whole and isinstance(of, Attribute) and isinstance(of._x, xb.AnyFloat) and isinstance(value, int):
        raise ValueError(f"a constant of type {of} is a float, found {value!r}")
    if not hasattr(type(value), "__index__"):
        raise TypeError(f"the value of a constant is a number or an attribute, found {type(value).__name__}")
    return IntegerAttr.get(of, value)


add_function(globals(), ConstantOp)
add_ir(globals())
