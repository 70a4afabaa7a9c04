"""Lane-wise arithmetic, comparison and choice of logical vectors. Source: docs/reference/vectors.md, "Arithmetic",
"Logical vectors".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.vector import compute as c
from pto_dialect.runtime.vector import logical_compute as lc

from ..registry import kernel
from ..vector.values import give, word
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
"""Operations without masks, by the name of what they compute."""

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
"""The two with an accumulator, which ``pmode`` merge keeps."""

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
    table = MERGING if name in MERGING and word(op, "pmode") == "merge" else FUNCTIONS
    give(op, g, table[name], mask, *operands)


@kernel(*(f"pto.vmi.{name}" for name in PLAIN))
def plain(op: PtoOp, g: Generator) -> None:
    _lane_wise(op, g, PLAIN[op.name.removeprefix("pto.vmi.")], list(op.operands), None)


@kernel(*(f"pto.vmi.{name}" for name in FUNCTIONS))
def masked(op: PtoOp, g: Generator) -> None:
    name = op.name.removeprefix("pto.vmi.")
    if isinstance(op.results[0].type, t.VmiMaskType):
        give(op, g, MASK_FUNCTIONS[name.removeprefix("v")], *op.operands)
        return
    mask = mask_of(op, g)
    operands = [value for value in op.operands if value is not mask]
    if name == "vshr" and is_signless(op.operands[0]):
        give(op, g, SHIFT_LOGICAL, mask, *operands)
    else:
        _lane_wise(op, g, name, operands, mask)


@kernel(*(f"pto.vmi.mask_{name}" for name in MASK_FUNCTIONS))
def mask_logic(op: PtoOp, g: Generator) -> None:
    give(op, g, MASK_FUNCTIONS[op.name.removeprefix("pto.vmi.mask_")], *op.operands)


@kernel("pto.vmi.shrui")
def shrui(op: PtoOp, g: Generator) -> None:
    give(op, g, SHIFT_LOGICAL, None, *op.operands)


@kernel("pto.vmi.fma")
def fma(op: PtoOp, g: Generator) -> None:
    number_format(op.results[0], g)
    give(op, g, FUSED, None, *op.operands)


@kernel("pto.vmi.vmull")
def vmull(op: PtoOp, g: Generator) -> None:
    a, b, mask = op.operands
    give(op, g, lc.long_product, mask, a, b)


@kernel("pto.vmi.vaddc")
def vaddc(op: PtoOp, g: Generator) -> None:
    a, b, mask = op.operands
    give(op, g, lc.add_carry, mask, a, b)


@kernel("pto.vmi.vaddcs")
def vaddcs(op: PtoOp, g: Generator) -> None:
    a, b, carry, mask = op.operands
    give(op, g, lc.add_carry, mask, a, b, carry)


@kernel("pto.vmi.vexpdif")
def vexpdif(op: PtoOp, g: Generator) -> None:
    a, largest, mask = op.operands
    number_format(a, g)
    give(op, g, lc.exponential_difference, mask, a, largest)


@kernel("pto.vmi.vcmp", "pto.vmi.vcmps")
def compare(op: PtoOp, g: Generator) -> None:
    mode = word(op, "cmp")
    assert mode is not None
    # Logical vectors compare integers without a sign as unsigned ones.
    unsigned = not number_format(op.operands[0], g).is_float and not is_signed(op.operands[0])
    give(op, g, lc.Comparison(mode, unsigned), *op.operands)


@kernel("pto.vmi.cmpf", "pto.vmi.cmpi")
def compare_plain(op: PtoOp, g: Generator) -> None:
    mode = word(op, "predicate")
    assert mode is not None
    fmt = number_format(op.operands[0], g)
    if fmt.is_float or mode in ("eq", "ne"):
        give(op, g, lc.Comparison(mode, False), *op.operands, None)
        return
    if mode[0] == "s" and fmt.kind == "uint":
        raise g.error("unmodelled", f"{mode} of unsigned lanes has no defined meaning", op)
    give(op, g, lc.Comparison(mode[1:], mode[0] == "u"), *op.operands, None)


@kernel("pto.vmi.select", "pto.vmi.vsel")
def select(op: PtoOp, g: Generator) -> None:
    give(op, g, lc.select, *op.operands)


# ------------------------------------------------------------ sequences


@kernel("pto.vmi.iota", "pto.vmi.group_iota", "pto.vmi.vci")
def sequence(op: PtoOp, g: Generator) -> None:
    result = op.results[0]
    step = Expr("-1" if word(op, "order") == "DESC" else "1")
    fmt = number_format(result, g)
    give(op, g, lc.sequence, op.operands[0], fmt.storage, step, lanes_of(result, g), group_count(op))
