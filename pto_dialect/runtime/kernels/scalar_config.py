"""The control register. Source: language page, section 6.1; numerics page, section 3.

A write-back or multiply-add without a saturation clause follows bit 48: set means IEEE results, clear means saturation.
"""

from __future__ import annotations

from ...ir.base import PtoOp
from ..generator import Generator
from .core_scalar import wrapped
from .registry import kernel


@kernel("pto.get_ctrl")
def get_ctrl(op: PtoOp, g: Generator) -> None:
    g.define(op.results[0], wrapped("core.state['ctrl']", op.results[0].type))


@kernel("pto.set_ctrl")
def set_ctrl(op: PtoOp, g: Generator) -> None:
    g.emitter.line(f"core.state['ctrl'] = {g.name(op.operands[0])} & {(1 << 64) - 1}")


@kernel("pto.sbitset0", "pto.sbitset1")
def set_bit(op: PtoOp, g: Generator) -> None:
    value, bit = (g.name(v) for v in op.operands)
    text = f"{value} | 1 << ({bit} & 63)" if op.name == "pto.sbitset1" else f"{value} & ~(1 << ({bit} & 63))"
    g.define(op.results[0], wrapped(text, op.results[0].type))
