"""Arithmetic and comparison of vector registers. Source: docs/reference/vectors.md, "Arithmetic"."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from xdsl.dialects.builtin import IntegerType

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.memory.spaces import Array
from pto_dialect.runtime.vector import collect
from pto_dialect.runtime.vector import compute as c
from pto_dialect.runtime.vector.register import constant, lanes
from pto_dialect.targets.vector_unit import VL_BYTES

from ..registry import kernel, kernels
from .values import define_result, direct, register_format, required_enumerator

INSTRUCTIONS: dict[str, c.LaneWise] = {
    f"pto.{name}": c.LaneWise(function, name)
    for table in (c.UNARY, c.BINARY, c.SCALAR)
    for name, function in table.items()
}
FUSED = c.LaneWise(c.fused, "fma")


@kernel(*INSTRUCTIONS)
def lane_wise(op: PtoOp, g: Generator) -> None:
    """The function of the operation on the active lanes; the others are 0."""
    define_result(op, g, INSTRUCTIONS[op.name], *op.operands)


@kernel("pto.vmula")
def vmula(op: PtoOp, g: Generator) -> None:
    """Active lanes = lhs·rhs + acc with one rounding."""
    acc, lhs, rhs, mask = (named(op, name) for name in ("acc", "lhs", "rhs", "mask"))
    define_result(op, g, FUSED, lhs, rhs, acc, mask)


@kernel("pto.vmadd")
def vmadd(op: PtoOp, g: Generator) -> None:
    """Active lanes = lhs·acc + rhs with one rounding."""
    acc, lhs, rhs, mask = (named(op, name) for name in ("acc", "lhs", "rhs", "mask"))
    define_result(op, g, FUSED, lhs, acc, rhs, mask)


@kernel("pto.vaxpy")
def vaxpy(op: PtoOp, g: Generator) -> None:
    """Active lanes = src0·alpha + src1 with one rounding."""
    src0, src1, alpha, mask = (named(op, name) for name in ("src0", "src1", "alpha", "mask"))
    define_result(op, g, FUSED, src0, alpha, src1, mask)


direct(
    {
        # Low and high words of the products of the active lanes.
        "pto.vmull": (c.long_product,),
        # Sums of unsigned 32-bit lanes and their carries; differences, and which of them borrow nothing.
        "pto.vaddc": (c.add_carry,),
        "pto.vsubc": (c.subtract_carry,),
        # Lanes of one register where the predicate is set, else of the other.
        "pto.vsel": (c.select,),
        # Lane i = the lane of the source whose index lane i of the index register holds.
        "pto.vselr": (c.select_lanes,),
    }
)


@kernels({"pto.vaddcs": c.add_carry, "pto.vsubcs": c.subtract_carry})
def with_carries(op: PtoOp, g: Generator, function: Callable[..., Any]) -> None:
    """As ``vaddc`` and ``vsubc``, with the carries of lower words."""
    lhs, rhs, carry_in, mask = (named(op, name) for name in ("lhs", "rhs", "carry_in", "mask"))
    define_result(op, g, function, lhs, rhs, mask, carry_in)


@kernel("pto.vexpdif")
def vexpdif(op: PtoOp, g: Generator) -> None:
    """Active lanes = e^(input − max) in float32; of 16-bit lanes those with even or odd indices."""
    define_result(
        op, g, c.exponential_difference, *op.operands, int(required_enumerator(op, g, "part").endswith("ODD"))
    )


@kernel("pto.vcmp", "pto.vcmps")
def compare(op: PtoOp, g: Generator) -> None:
    """The predicate of the active lanes that compare with those of another register or with a number."""
    define_result(op, g, c.Comparison(required_enumerator(op, g, "cmp_mode")), *op.operands)


# ------------------------------------------------------------ registers from scalars


def broadcast(value: Any, dtype: np.dtype[Any]) -> Array:
    """Returns ``value`` in every lane."""
    return np.full(VL_BYTES // dtype.itemsize, constant(value, dtype), dtype)


def masked_broadcast(value: Any, mask: Array, dtype: np.dtype[Any]) -> Array:
    """Returns ``value`` in the active lanes."""
    result = np.zeros(VL_BYTES // dtype.itemsize, dtype)
    active = lanes(mask, dtype.itemsize)
    result[... if active is True else active] = constant(value, dtype)
    return result


@kernel("pto.vbr")
def vbr(op: PtoOp, g: Generator) -> None:
    """A number in every lane."""
    define_result(op, g, broadcast, named(op, "value"), register_format(op.results[0], g).storage)


@kernel("pto.vdup")
def vdup(op: PtoOp, g: Generator) -> None:
    """A number, or the lowest or highest lane of a register, in the active lanes."""
    source, mask = (named(op, name) for name in ("input", "mask"))
    if isinstance(source.type, t.VRegType):
        define_result(op, g, collect.duplicate, source, mask, enumerator(op, "position") == "HIGHEST")
    else:
        define_result(op, g, masked_broadcast, source, mask, register_format(op.results[0], g).storage)


@kernel("pto.vci")
def vci(op: PtoOp, g: Generator) -> None:
    """Lane i = start + i, or start − i."""
    step = -1 if enumerator(op, "order") == "DESC" else 1
    define_result(op, g, c.sequence, named(op, "index"), register_format(op.results[0], g).storage, Expr(str(step)))


@kernel("pto.vtrc")
def vtrc(op: PtoOp, g: Generator) -> None:
    """Active lanes rounded to integral values. Raises ``ProgramError`` for integers."""
    letter = required_enumerator(op, g, "round_mode")
    if isinstance(register_format(op.results[0], g), IntegerType):
        raise g.error("unmodelled", "integers have no fraction", op)
    define_result(op, g, partial(c.truncated, letter=letter), *op.operands)
