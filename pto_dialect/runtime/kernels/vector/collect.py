"""Reductions, rearrangement and sorting of vector registers. Source: docs/reference/vectors.md, "Reductions and
rearrangement".
"""

from __future__ import annotations

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.vector import collect, sort

from ..registry import kernel
from .values import give, register_format, word

STATE = Expr("core.state")


@kernel("pto.vcadd")
def vcadd(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.total, *op.operands, register_format(op.results[0], g).storage)


@kernel("pto.vcmax", "pto.vcmin")
def extremum(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.extremum, *op.operands, op.name.endswith("max"))


@kernel("pto.vcbmax", "pto.vcbmin")
def broadcast_extremum(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.broadcast_extremum, *op.operands, op.name.endswith("max"))


@kernel("pto.vcgadd")
def vcgadd(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.group_sums, *op.operands)


@kernel("pto.vcgmax", "pto.vcgmin")
def group_extrema(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.group_extrema, *op.operands, op.name.endswith("max"))


@kernel("pto.vcpadd")
def vcpadd(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.pair_sums, *op.operands)


@kernel("pto.chistv2", "pto.dhistv2")
def histogram(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.histogram, *op.operands, op.name == "pto.chistv2")


@kernel("pto.vintlv", "pto.vdintlv")
def interleave(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.interleave if op.name == "pto.vintlv" else collect.deinterleave, *op.operands)


@kernel("pto.vintlvv2", "pto.vdintlvv2")
def interleaved_half(op: PtoOp, g: Generator) -> None:
    function = collect.interleave if op.name == "pto.vintlvv2" else collect.deinterleave
    text = ", ".join(g.name(operand) for operand in op.operands)
    g.define(op.results[0], f"{g.argument(function)}({text})[{int(word(op, 'part') == 'HIGHER')}]")


@kernel("pto.vsqz")
def vsqz(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.squeeze, *op.operands, STATE)


@kernel("pto.vusqz")
def vusqz(op: PtoOp, g: Generator) -> None:
    give(op, g, collect.ranks, *op.operands, STATE)


@kernel("pto.vpack")
def vpack(op: PtoOp, g: Generator) -> None:
    target = register_format(op.results[0], g).storage
    give(op, g, collect.pack, op.operands[0], word(op, "part") == "HIGHER", target)


@kernel("pto.vsunpack", "pto.vzunpack")
def unpack(op: PtoOp, g: Generator) -> None:
    target = register_format(op.results[0], g).storage
    give(op, g, collect.unpack, *op.operands, target, op.name == "pto.vsunpack")


@kernel("pto.vbitsort")
def vbitsort(op: PtoOp, g: Generator) -> None:
    g.call(sort.bit_sort, *op.operands, pipe=Pipe.V)


@kernel("pto.vmrgsort4")
def vmrgsort4(op: PtoOp, g: Generator) -> None:
    destination, *sources, count, config = op.operands
    g.call(sort.merge_sort, destination, sources, count, config, STATE, pipe=Pipe.V)
