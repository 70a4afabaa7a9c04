"""Reductions, rearrangement and sorting of vector registers. Source: docs/reference/vectors.md, "Reductions and
rearrangement".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.vector import collect, sort

from ..registry import kernel, kernels
from .values import define_result, direct, register_format

STATE = Expr("core.state")


@kernel("pto.vcadd")
def vcadd(op: PtoOp, g: Generator) -> None:
    """The sum of the active lanes in lane 0, in the type of the result."""
    define_result(op, g, collect.total, *op.operands, register_format(op.results[0], g).storage)


direct(
    {
        # Largest and smallest active lane in lane 0, and in lane 1 the index of its first lane.
        "pto.vcmax": (collect.extremum, True),
        "pto.vcmin": (collect.extremum, False),
        # The same in lane 0, and the predicate of the active lanes that equal it.
        "pto.vcbmax": (collect.broadcast_extremum, True),
        "pto.vcbmin": (collect.broadcast_extremum, False),
        # Of the active lanes of each block of 32 bytes, in lanes 0 to 7.
        "pto.vcgadd": (collect.group_sums,),
        "pto.vcgmax": (collect.group_extrema, True),
        "pto.vcgmin": (collect.group_extrema, False),
        # The sums of adjacent lanes in the lower half; lanes that are not active count 0.
        "pto.vcpadd": (collect.pair_sums,),
        # To each of 128 bins the number of active bytes that are not larger than its index, or equal to it, is added.
        "pto.chistv2": (collect.histogram, True),
        "pto.dhistv2": (collect.histogram, False),
        # The lanes of two registers alternating, as two registers, and back.
        "pto.vintlv": (collect.interleave,),
        "pto.vdintlv": (collect.deinterleave,),
        # The active lanes moved together, counted in bytes in register SQZN; the number of active lanes before each
        # lane.
        "pto.vsqz": (collect.squeeze, STATE),
        "pto.vusqz": (collect.ranks, STATE),
    }
)


@kernels({"pto.vintlvv2": collect.interleave, "pto.vdintlvv2": collect.deinterleave})
def half(op: PtoOp, g: Generator, function: Callable[..., Any]) -> None:
    """Returns one of the two registers of ``vintlv`` or ``vdintlv``."""
    text = ", ".join(g.name(operand) for operand in op.operands)
    g.define(op.results[0], f"{g.argument(function)}({text})[{int(enumerator(op, 'part') == 'HIGHER')}]")


@kernel("pto.vpack")
def vpack(op: PtoOp, g: Generator) -> None:
    """The low halves of all lanes in one half of the register, 0 in the other."""
    target = register_format(op.results[0], g).storage
    define_result(op, g, collect.pack, named(op, "src"), enumerator(op, "part") == "HIGHER", target)


@kernels({"pto.vsunpack": True, "pto.vzunpack": False})
def unpack(op: PtoOp, g: Generator, signs: bool) -> None:
    """The lanes of one half, extended with their signs or with zeros to lanes of twice the width."""
    define_result(op, g, collect.unpack, *op.operands, register_format(op.results[0], g).storage, signs)


@kernel("pto.vbitsort")
def vbitsort(op: PtoOp, g: Generator) -> None:
    """Records of scores and indices in the unified buffer, each 32 sorted by descending score."""
    g.call(sort.bit_sort, *op.operands, pipe=Pipe.V)


@kernel("pto.vmrgsort4")
def vmrgsort4(op: PtoOp, g: Generator) -> None:
    """Up to four sorted lists of records in the unified buffer merged into one."""
    destination, *sources, count, config = op.operands
    g.call(sort.merge_sort, destination, sources, count, config, STATE, pipe=Pipe.V)
