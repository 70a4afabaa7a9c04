"""Arithmetic and comparison of vector registers. Source: docs/reference/vectors.md, "Arithmetic"."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.vector import collect
from pto_dialect.runtime.vector import compute as c
from pto_dialect.runtime.vector.register import REGISTER_BYTES, constant, lanes

from ..registry import kernel
from .values import give, register_format, word

INSTRUCTIONS: dict[str, c.LaneWise] = {
    f"pto.{name}": c.LaneWise(function, name)
    for table in (c.UNARY, c.BINARY, c.SCALAR)
    for name, function in table.items()
}
FUSED = c.LaneWise(c.fused, "fma")


@kernel(*INSTRUCTIONS)
def lane_wise(op: PtoOp, g: Generator) -> None:
    give(op, g, INSTRUCTIONS[op.name], *op.operands)


@kernel("pto.vmula")
def vmula(op: PtoOp, g: Generator) -> None:
    acc, lhs, rhs, mask = op.operands
    give(op, g, FUSED, lhs, rhs, acc, mask)


@kernel("pto.vmadd")
def vmadd(op: PtoOp, g: Generator) -> None:
    acc, lhs, rhs, mask = op.operands
    give(op, g, FUSED, lhs, acc, rhs, mask)


@kernel("pto.vaxpy")
def vaxpy(op: PtoOp, g: Generator) -> None:
    src0, src1, alpha, mask = op.operands
    give(op, g, FUSED, src0, alpha, src1, mask)


@kernel("pto.vmull")
def vmull(op: PtoOp, g: Generator) -> None:
    give(op, g, c.long_product, *op.operands)


@kernel("pto.vaddc", "pto.vsubc")
def carry(op: PtoOp, g: Generator) -> None:
    give(op, g, c.add_carry if op.name == "pto.vaddc" else c.subtract_carry, *op.operands)


@kernel("pto.vaddcs", "pto.vsubcs")
def carry_chain(op: PtoOp, g: Generator) -> None:
    lhs, rhs, carry_in, mask = op.operands
    give(op, g, c.add_carry if op.name == "pto.vaddcs" else c.subtract_carry, lhs, rhs, mask, carry_in)


@kernel("pto.vexpdif")
def vexpdif(op: PtoOp, g: Generator) -> None:
    give(op, g, c.exponential_difference, *op.operands, int((word(op, "part") or "").endswith("ODD")))


@kernel("pto.vcmp", "pto.vcmps")
def compare(op: PtoOp, g: Generator) -> None:
    mode = word(op, "cmp_mode")
    assert mode is not None
    give(op, g, c.Comparison(mode), *op.operands)


@kernel("pto.vsel")
def vsel(op: PtoOp, g: Generator) -> None:
    give(op, g, c.select, *op.operands)


@kernel("pto.vselr")
def vselr(op: PtoOp, g: Generator) -> None:
    give(op, g, c.select_lanes, *op.operands)


# ------------------------------------------------------------ registers from scalars


def broadcast(value: Any, dtype: np.dtype[Any]) -> Array:
    """``value`` in every lane."""
    return np.full(REGISTER_BYTES // dtype.itemsize, constant(value, dtype), dtype)


def masked_broadcast(value: Any, mask: Array, dtype: np.dtype[Any]) -> Array:
    """``value`` in the active lanes."""
    result = np.zeros(REGISTER_BYTES // dtype.itemsize, dtype)
    active = lanes(mask, dtype.itemsize)
    result[... if active is True else active] = constant(value, dtype)
    return result


@kernel("pto.vbr")
def vbr(op: PtoOp, g: Generator) -> None:
    give(op, g, broadcast, op.operands[0], register_format(op.results[0], g).storage)


@kernel("pto.vdup")
def vdup(op: PtoOp, g: Generator) -> None:
    source, mask = op.operands
    if isinstance(source.type, t.VRegType):
        give(op, g, collect.duplicate, source, mask, word(op, "position") == "HIGHEST")
    else:
        give(op, g, masked_broadcast, source, mask, register_format(op.results[0], g).storage)


@kernel("pto.vci")
def vci(op: PtoOp, g: Generator) -> None:
    step = -1 if word(op, "order") == "DESC" else 1
    give(op, g, c.sequence, op.operands[0], register_format(op.results[0], g).storage, Expr(str(step)))


@kernel("pto.vtrc")
def vtrc(op: PtoOp, g: Generator) -> None:
    letter = (word(op, "round_mode") or "R").removeprefix("ROUND_")
    if isinstance(register_format(op.results[0], g), IntegerType):
        raise g.error("unmodelled", "integers have no fraction", op)
    give(op, g, partial(c.truncated, letter=letter), *op.operands)
