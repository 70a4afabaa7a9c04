"""Elementwise arithmetic of a tile and a number. Source: docs/reference/tiles.md, "Elementwise"."""

from __future__ import annotations

from typing import Any

import numpy as np

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.spaces import Array

from ..registry import kernel, kernels
from .apply import Operand, Regions, apply_formula
from .formulas import SCALAR, TERNARY, Formula, leaky_relu, scaled_sum, scaled_sum_of_halves
from .operands import is_tile, number, tile_format, tile_operand


@kernel(*SCALAR)
def tile_and_number(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = src(r,c) op number, or number op src(r,c) where the number comes first."""
    dst = g.destination(op)
    fmt = tile_format(dst, g)
    # Only tdivs may have the number first; it is the operand "src" then.
    operands = [x for name in ("src", "src0", "scalar") for x in g.operands(op).get(name, ())]
    inputs: list[Operand] = [x if is_tile(x) else number(g, x, fmt) for x in operands]
    apply_formula(op, g, SCALAR[op.name], inputs, dst)


@kernels({"pto.taddsc": TERNARY["pto.taddc"], "pto.tsubsc": TERNARY["pto.tsubc"]})
def tile_number_tile(op: PtoOp, g: Generator, formula: Formula) -> None:
    """dst = src0 + scalar + src1, or src0 − scalar + src1."""
    dst = g.destination(op)
    first, second = tile_operand(op, g, "src0"), tile_operand(op, g, "src1")
    scalar = number(g, named(op, "scalar"), tile_format(dst, g))
    apply_formula(op, g, formula, (first, scalar, second), dst)


@kernel("pto.tlrelu")
def tlrelu(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = src(r,c), multiplied by the slope where it is negative."""
    src = tile_operand(op, g, "src")
    slope = g.name(named(op, "slope"))
    apply_formula(op, g, Formula(leaky_relu), (src, slope), g.destination(op))


@kernel("pto.taxpy")
def taxpy(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = src(r,c)·number + dst(r,c)."""
    src = tile_operand(op, g, "src")
    dst = g.destination(op)
    fmt = tile_format(src, g)
    factor = number(g, named(op, "scalar"), fmt)
    halves = g.profile.arch == "a2a3" and fmt.name == tile_format(dst, g).name == "f16"
    formula = scaled_sum_of_halves if halves else scaled_sum
    apply_formula(op, g, Formula(formula), (src, factor, dst), dst)


def fill(value: Any, out: Array) -> None:
    """Every element of ``out`` = ``value``."""
    np.copyto(out, value)


@kernel("pto.texpands")
def texpands(op: PtoOp, g: Generator) -> None:
    """dst(r,c) = number."""
    dst = g.destination(op)
    value = number(g, named(op, "scalar"), tile_format(dst, g))
    view = g.view(dst)
    pipe = g.pipe(op)
    if view is not None:
        g.call(np.copyto, view, value, pipe=pipe)
    else:
        g.call(Regions(fill), value, dst, pipe=pipe)
