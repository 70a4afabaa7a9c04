"""Fractal loads as the hardware encodes them. Source: layouts page, section 7.2."""

from __future__ import annotations

from ...ir.base import Pipe, PtoOp
from ..generator import Generator
from .mte import OperandLoad
from .registry import kernel


@kernel("pto.load_cbuf_to_ca", "pto.load_cbuf_to_cb", "pto.load_cbuf_to_ca_s4", "pto.load_cbuf_to_cb_s4")
def load_cbuf(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    flag = op.attributes.get("transpose")
    if "transpose" in groups:
        raise g.error("unmodelled", f"{op.name} with a transpose operand cannot be executed", op)
    transpose = flag is not None and bool(flag.value.data)  # pyright: ignore[reportAttributeAccessIssue]
    load = OperandLoad(op.name.startswith("pto.load_cbuf_to_ca"), transpose, op.name.endswith("_s4"))
    names = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")
    numbers = [groups[name][0] for name in names]
    g.call(load.fractals, groups["destination"][0], groups["source"][0], *numbers, pipe=Pipe.MTE1)
