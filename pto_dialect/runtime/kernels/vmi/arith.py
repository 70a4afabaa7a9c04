"""Lane-wise arithmetic, comparison and selection of logical vectors. Source: docs/reference/vectors.md, "Arithmetic",
"Logical vectors"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.vector import compute as c
from pto_dialect.runtime.vector import logical_compute as lc

from ..registry import kernel, kernels
from ..vector.values import define_result, required_enumerator
from .values import group_count, is_signed, is_signless, lanes_of, mask_of, number_format

_RAW = frozenset(("vand", "vor", "vxor", "vnot"))
"""Functions of bits, whatever the lanes hold."""

PLAIN: dict[str, str] = {
    **dict.fromkeys(("addf", "addi"), "vadd"),
    **dict.fromkeys(("subf", "subi"), "vsub"),
    **dict.fromkeys(("mulf", "muli"), "vmul"),
    **dict.fromkeys(("maxf", "maxi"), "vmax"),
    **dict.fromkeys(("minf", "mini"), "vmin"),
    **dict.fromkeys(("absf", "absi"), "vabs"),
    **dict.fromkeys(("negf", "negi"), "vneg"),
    "divf": "vdiv",
    "andi": "vand",
    "ori": "vor",
    "xori": "vxor",
    "not": "vnot",
    "shli": "vshl",
    "shrsi": "vshr",
    "relu": "vrelu",
    "exp": "vexp",
    "ln": "vln",
    "sqrt": "vsqrt",
}
"""Operations without masks, by their function."""

FUNCTIONS: dict[str, lc.LaneWise] = {
    **{name: lc.LaneWise(function, name) for name, function in {**c.UNARY, **c.BINARY}.items()},
    **{name: lc.WithScalar(function, name) for name, function in c.SCALAR.items()},
    "vmula": lc.LaneWise(lc.multiply_add, "vmula"),
    "vaxpy": lc.WithScalar(lc.scale_add, "vaxpy"),
}
MERGING: dict[str, lc.LaneWise] = {
    "vmula": lc.LaneWise(lc.multiply_add, "vmula", old=0),
    "vaxpy": lc.WithScalar(lc.scale_add, "vaxpy", old=1),
}
"""The two operations with an accumulator, which ``pmode`` merge retains."""

SHIFT_LOGICAL = lc.LaneWise(lc.shift_right_logical, "shift_right_logical")
FUSED = lc.LaneWise(c.fused, "fma")
MASK_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "and": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
    "not": np.logical_not,
}


def _lane_wise(op: PtoOp, g: Generator, name: str, operands: list[Any], mask: Any) -> None:
    if name not in _RAW:
        number_format(op.results[0], g)
    table = MERGING if name in MERGING and enumerator(op, "pmode") == "merge" else FUNCTIONS
    define_result(op, g, table[name], mask, *operands)


@kernel(*(f"pto.vmi.{name}" for name in PLAIN))
def plain(op: PtoOp, g: Generator) -> None:
    """The function of the operation on all lanes."""
    _lane_wise(op, g, PLAIN[op.name.removeprefix("pto.vmi.")], list(op.operands), None)


@kernel(*(f"pto.vmi.{name}" for name in FUNCTIONS))
def masked(op: PtoOp, g: Generator) -> None:
    """The function of the operation on the active lanes of vectors, or on the bits of predicates; the others are 0, or
    retain the accumulator."""
    name = op.name.removeprefix("pto.vmi.")
    if isinstance(op.results[0].type, t.VmiMaskType):
        define_result(op, g, MASK_FUNCTIONS[name.removeprefix("v")], *op.operands)
        return
    mask = mask_of(op, g)
    operands = [value for value in op.operands if value is not mask]
    _lane_wise(op, g, name, operands, mask)


@kernel("pto.vmi.vshr")
def vshr(op: PtoOp, g: Generator) -> None:
    """Active lanes shifted to the right, filled with the sign where the lanes have one."""
    if is_signless(named(op, "lhs")):
        define_result(op, g, SHIFT_LOGICAL, mask_of(op, g), named(op, "lhs"), named(op, "rhs"))
    else:
        masked(op, g)


@kernel(*(f"pto.vmi.mask_{name}" for name in MASK_FUNCTIONS))
def mask_logic(op: PtoOp, g: Generator) -> None:
    """Bits of predicates combined."""
    define_result(op, g, MASK_FUNCTIONS[op.name.removeprefix("pto.vmi.mask_")], *op.operands)


@kernel("pto.vmi.shrui")
def shrui(op: PtoOp, g: Generator) -> None:
    """Lanes shifted to the right, filled with zeros."""
    define_result(op, g, SHIFT_LOGICAL, None, *op.operands)


@kernel("pto.vmi.fma")
def fma(op: PtoOp, g: Generator) -> None:
    """Lanes = a·b + c with one rounding."""
    number_format(op.results[0], g)
    define_result(op, g, FUSED, None, *op.operands)


@kernel("pto.vmi.vmull")
def vmull(op: PtoOp, g: Generator) -> None:
    """Low and high words of the products of the active lanes."""
    a, b, mask = (named(op, name) for name in ("a", "b", "mask"))
    define_result(op, g, lc.long_product, mask, a, b)


@kernel("pto.vmi.vaddc")
def vaddc(op: PtoOp, g: Generator) -> None:
    """Sums of the active lanes, and which of them exceed the width of a lane."""
    a, b, mask = (named(op, name) for name in ("lhs", "rhs", "mask"))
    define_result(op, g, lc.add_carry, mask, a, b)


@kernel("pto.vmi.vaddcs")
def vaddcs(op: PtoOp, g: Generator) -> None:
    """As ``vaddc``, with the carries of lower words."""
    a, b, carry, mask = (named(op, name) for name in ("lhs", "rhs", "carry_in", "mask"))
    define_result(op, g, lc.add_carry, mask, a, b, carry)


@kernel("pto.vmi.vexpdif")
def vexpdif(op: PtoOp, g: Generator) -> None:
    """Active lanes = e^(a − max) in float32."""
    a, largest, mask = (named(op, name) for name in ("x", "max", "mask"))
    number_format(a, g)
    define_result(op, g, lc.exponential_difference, mask, a, largest)


@kernels({"pto.vmi.vcmp": "lhs", "pto.vmi.vcmps": "src"})
def compare(op: PtoOp, g: Generator, source: str) -> None:
    """Which active lanes of a vector compare with those of another one, or with a number."""
    lanes = named(op, source)
    mode = required_enumerator(op, g, "cmp")
    # Logical vectors compare integers without a sign as unsigned ones.
    unsigned = not number_format(lanes, g).is_float and not is_signed(lanes)
    define_result(op, g, lc.Comparison(mode, unsigned), *op.operands)


@kernel("pto.vmi.cmpf", "pto.vmi.cmpi")
def compare_plain(op: PtoOp, g: Generator) -> None:
    """Which lanes of two vectors compare. Raises ``ProgramError`` for a signed comparison of unsigned lanes."""
    mode = required_enumerator(op, g, "predicate")
    fmt = number_format(named(op, "lhs"), g)
    if fmt.is_float or mode in ("eq", "ne"):
        define_result(op, g, lc.Comparison(mode, False), *op.operands, None)
        return
    if mode[0] == "s" and fmt.kind == "uint":
        raise g.error("unmodelled", f"{mode} of unsigned lanes has no defined meaning", op)
    define_result(op, g, lc.Comparison(mode[1:], mode[0] == "u"), *op.operands, None)


@kernel("pto.vmi.select", "pto.vmi.vsel")
def select(op: PtoOp, g: Generator) -> None:
    """Lanes of one vector where the predicate is set, else of the other."""
    define_result(op, g, lc.select, *op.operands)


# ------------------------------------------------------------ sequences


@kernel("pto.vmi.iota", "pto.vmi.group_iota", "pto.vmi.vci")
def sequence(op: PtoOp, g: Generator) -> None:
    """Lane i of each group = start + i, or start − i."""
    result = op.results[0]
    step = Expr("-1" if enumerator(op, "order") == "DESC" else "1")
    fmt = number_format(result, g)
    define_result(op, g, lc.sequence, named(op, "base"), fmt.storage, step, lanes_of(result, g), group_count(op))
