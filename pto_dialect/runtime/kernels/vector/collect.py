"""Reductions, rearrangement and sorting of vector registers. Source: docs/reference/vectors.md, "Reductions and
rearrangement".
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.vector import collect, sort

from ..registry import kernel
from .values import give, register_format, word

STATE = Expr("core.state")


@kernel("pto.vcadd")
def vcadd(op: PtoOp, g: Generator) -> None:
    """The sum of the active lanes in lane 0, in the type of the result."""
    give(op, g, collect.total, *op.operands, register_format(op.results[0], g).storage)


@kernel("pto.vcmax")
def vcmax(op: PtoOp, g: Generator) -> None:
    """The largest active lane in lane 0, the number of its first lane in lane 1."""
    give(op, g, collect.extremum, *op.operands, True)


@kernel("pto.vcmin")
def vcmin(op: PtoOp, g: Generator) -> None:
    """The smallest active lane in lane 0, the number of its first lane in lane 1."""
    give(op, g, collect.extremum, *op.operands, False)


@kernel("pto.vcbmax")
def vcbmax(op: PtoOp, g: Generator) -> None:
    """The largest active lane in lane 0, and the predicate of the active lanes that equal it."""
    give(op, g, collect.broadcast_extremum, *op.operands, True)


@kernel("pto.vcbmin")
def vcbmin(op: PtoOp, g: Generator) -> None:
    """The smallest active lane in lane 0, and the predicate of the active lanes that equal it."""
    give(op, g, collect.broadcast_extremum, *op.operands, False)


@kernel("pto.vcgadd")
def vcgadd(op: PtoOp, g: Generator) -> None:
    """The sum of the active lanes of each block of 32 bytes, in lanes 0 to 7."""
    give(op, g, collect.group_sums, *op.operands)


@kernel("pto.vcgmax")
def vcgmax(op: PtoOp, g: Generator) -> None:
    """The largest active lane of each block of 32 bytes, in lanes 0 to 7."""
    give(op, g, collect.group_extrema, *op.operands, True)


@kernel("pto.vcgmin")
def vcgmin(op: PtoOp, g: Generator) -> None:
    """The smallest active lane of each block of 32 bytes, in lanes 0 to 7."""
    give(op, g, collect.group_extrema, *op.operands, False)


@kernel("pto.vcpadd")
def vcpadd(op: PtoOp, g: Generator) -> None:
    """The sums of neighbouring lanes in the lower half; lanes that are not active count 0."""
    give(op, g, collect.pair_sums, *op.operands)


@kernel("pto.chistv2")
def chistv2(op: PtoOp, g: Generator) -> None:
    """Adds to each of 128 bins how many active bytes are not larger than its number."""
    give(op, g, collect.histogram, *op.operands, True)


@kernel("pto.dhistv2")
def dhistv2(op: PtoOp, g: Generator) -> None:
    """Adds to each of 128 bins how many active bytes have its number."""
    give(op, g, collect.histogram, *op.operands, False)


@kernel("pto.vintlv")
def vintlv(op: PtoOp, g: Generator) -> None:
    """The lanes of two registers alternating, as two registers."""
    give(op, g, collect.interleave, *op.operands)


@kernel("pto.vdintlv")
def vdintlv(op: PtoOp, g: Generator) -> None:
    """The even lanes of two registers in one register, the odd ones in another."""
    give(op, g, collect.deinterleave, *op.operands)


@kernel("pto.vintlvv2")
def vintlvv2(op: PtoOp, g: Generator) -> None:
    """One of the two registers of ``vintlv``."""
    _half(op, g, collect.interleave)


@kernel("pto.vdintlvv2")
def vdintlvv2(op: PtoOp, g: Generator) -> None:
    """One of the two registers of ``vdintlv``."""
    _half(op, g, collect.deinterleave)


def _half(op: PtoOp, g: Generator, function: Callable[..., Any]) -> None:
    text = ", ".join(g.name(operand) for operand in op.operands)
    g.define(op.results[0], f"{g.argument(function)}({text})[{int(word(op, 'part') == 'HIGHER')}]")


@kernel("pto.vsqz")
def vsqz(op: PtoOp, g: Generator) -> None:
    """The active lanes moved together; their bytes are counted in register SQZN."""
    give(op, g, collect.squeeze, *op.operands, STATE)


@kernel("pto.vusqz")
def vusqz(op: PtoOp, g: Generator) -> None:
    """Lane i = the number of active lanes before it."""
    give(op, g, collect.ranks, *op.operands, STATE)


@kernel("pto.vpack")
def vpack(op: PtoOp, g: Generator) -> None:
    """The low halves of all lanes in one half of the register, 0 in the other."""
    target = register_format(op.results[0], g).storage
    give(op, g, collect.pack, named(op, "src"), word(op, "part") == "HIGHER", target)


@kernel("pto.vsunpack")
def vsunpack(op: PtoOp, g: Generator) -> None:
    """The lanes of one half, extended with their signs to lanes of twice the width."""
    give(op, g, collect.unpack, *op.operands, register_format(op.results[0], g).storage, True)


@kernel("pto.vzunpack")
def vzunpack(op: PtoOp, g: Generator) -> None:
    """The lanes of one half, extended with zeros to lanes of twice the width."""
    give(op, g, collect.unpack, *op.operands, register_format(op.results[0], g).storage, False)


@kernel("pto.vbitsort")
def vbitsort(op: PtoOp, g: Generator) -> None:
    """Records of scores and indices in the unified buffer, each 32 sorted by falling score."""
    g.call(sort.bit_sort, *op.operands, pipe=Pipe.V)


@kernel("pto.vmrgsort4")
def vmrgsort4(op: PtoOp, g: Generator) -> None:
    """Up to four sorted lists of records in the unified buffer merged into one."""
    destination, *sources, count, config = op.operands
    g.call(sort.merge_sort, destination, sources, count, config, STATE, pipe=Pipe.V)
