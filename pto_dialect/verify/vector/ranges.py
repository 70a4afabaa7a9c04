"""Rules of numbers that select a half of a register, count lanes or count repeats. Source: docs/reference/vectors.md,
"Loads and stores" and "Reductions and rearrangement"."""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import vector_bits
from pto_dialect.ir.core.operands import named
from pto_dialect.targets.vector_unit import HALVES, VL_BYTES, number_error

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import SHAPES

_HALF = {"pto.vsunpack": "part", "pto.vzunpack": "part", "pto.chistv2": "bin", "pto.dhistv2": "bin"}
"""Operands that select a half."""


@checks(SHAPES, *_HALF)
def check_half(op: Operation, ctx: Context) -> None:
    """Checks the number of a half."""
    name = _HALF[op.name]
    _check_range(op, name, HALVES - 1, ctx)


@checks(SHAPES, "pto.vstus")
def check_advance(op: Operation, ctx: Context) -> None:
    """Checks how far a stream of stores advances: a register has no more lanes."""
    bits = vector_bits(named(op, "value").type)
    if bits:
        _check_range(op, "offset", 8 * VL_BYTES // bits, ctx)


@checks(SHAPES, "pto.vbitsort")
def check_repeats(op: Operation, ctx: Context) -> None:
    """Checks the number of groups that are sorted."""
    _check_range(op, "repeat_times", None, ctx)


def _check_range(op: Operation, name: str, most: int | None, ctx: Context) -> None:
    number = ctx.constant(named(op, name))
    error = None if number is None else number_error(f"{name} of {op.name}", number, most)
    if error is not None:
        ctx.report("vec-number", op, error, at=named(op, name))
