"""Reductions, broadcast and rearrangement of logical vectors. Source: docs/reference/vectors.md, "Reductions and
rearrangement", "Logical vectors".
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import DenseArrayBase

from pto_dialect.ir.core import types as t
from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.vector import logical_collect as collect
from pto_dialect.runtime.vector import logical_compute as lc
from pto_dialect.runtime.vector.compute import select_lanes

from ..registry import kernel, kernels
from ..vector.values import define_result, direct
from .mask import dense_values
from .values import group_count, lane_format, lanes_of, number_format

INTERLEAVE, DEINTERLEAVE = collect.Pairing(False), collect.Pairing(True)


@kernel("pto.vmi.vcadd", *(f"pto.vmi.{group}reduce_add{kind}" for group in ("", "group_") for kind in "fi"))
def total(op: PtoOp, g: Generator) -> None:
    """The sum of the active lanes of each group."""
    number_format(named(op, "source"), g)
    define_result(op, g, collect.sums, *op.operands, group_count(op))


@kernel("pto.vmi.vcmax", *(f"pto.vmi.{group}reduce_max{kind}" for group in ("", "group_") for kind in "fi"))
def maximum(op: PtoOp, g: Generator) -> None:
    """The largest active lane of each group."""
    number_format(named(op, "source"), g)
    define_result(op, g, collect.extrema, *op.operands, group_count(op), True)


@kernel("pto.vmi.vcmin", *(f"pto.vmi.{group}reduce_min{kind}" for group in ("", "group_") for kind in "fi"))
def minimum(op: PtoOp, g: Generator) -> None:
    """The smallest active lane of each group."""
    number_format(named(op, "source"), g)
    define_result(op, g, collect.extrema, *op.operands, group_count(op), False)


# ------------------------------------------------------------ broadcast


@kernels({"pto.vmi.broadcast": "value", "pto.vmi.vbrc": "value", "pto.vmi.group_broadcast": "source"})
def broadcast(op: PtoOp, g: Generator, source: str) -> None:
    """A number in every lane, or the lanes of a short vector, or values of groups, each in as many lanes."""
    value, result = named(op, source), op.results[0]
    if isinstance(value.type, t.VmiVRegType):
        define_result(op, g, collect.spread, value, lanes_of(result, g))
    else:
        define_result(op, g, lc.broadcast, value, number_format(result, g).storage, lanes_of(result, g))


@kernel("pto.vmi.constant")
def constant(op: PtoOp, g: Generator) -> None:
    """The lanes that the operation states. Raises ``ProgramError`` for packed lanes."""
    result = op.results[0]
    fmt = lane_format(result, g)
    if fmt.is_packed:
        raise g.error("unmodelled", f"constants of {fmt.name} lanes have no defined order", op)
    numbers = dense_values(op, g, lanes_of(result, g))
    if fmt.is_float:
        lanes = encode(np.array(numbers, np.float64), fmt, saturate=False)
    else:
        bits = [int(number) & ((1 << fmt.bits) - 1) for number in numbers]
        lanes = np.array(bits, f"u{fmt.bytes}").view(fmt.storage)
    g.define(result, g.emitter.constant(lanes, "constant"))


# ------------------------------------------------------------ rearrangement


direct(
    {
        # To each bin the number of active lanes that are not larger than its index, or equal to it, is added.
        "pto.vmi.vchist": (collect.histogram, True),
        "pto.vmi.vdhist": (collect.histogram, False),
        # The active lanes of two vectors alternating, as two vectors, and back.
        "pto.vmi.vintlv": (INTERLEAVE,),
        "pto.vmi.vdintlv": (DEINTERLEAVE,),
        # The active lanes moved together, followed by zeros.
        "pto.vmi.compress": (collect.compress,),
        # Lane i = the lane of the source whose index lane i of the index vector holds.
        "pto.vmi.vselr": (select_lanes,),
    }
)


@kernel("pto.vmi.shuffle")
def shuffle(op: PtoOp, g: Generator) -> None:
    """Lane i = the lane of the source whose index the attribute states at position i."""
    numbers = op.attributes["indices"]
    assert isinstance(numbers, DenseArrayBase)
    positions = g.emitter.constant(np.array(numbers.get_values(), np.int64), "places")
    g.define(op.results[0], f"{g.name(named(op, 'source'))}[{positions}]")


@kernel("pto.vmi.channel_split")
def channel_split(op: PtoOp, g: Generator) -> None:
    """Lanes that alternate between channels as one vector for each channel."""
    define_result(op, g, collect.split, named(op, "source"), Expr(str(len(op.results))))


@kernel("pto.vmi.channel_merge")
def channel_merge(op: PtoOp, g: Generator) -> None:
    """Lanes of the vectors alternating in one vector."""
    define_result(op, g, collect.merge, *op.operands)
