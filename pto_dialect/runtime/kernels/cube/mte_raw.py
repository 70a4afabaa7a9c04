"""Fractal loads as the hardware encodes them. Source: docs/reference/layouts.md, "Fractal copies"."""

from __future__ import annotations

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.fractal_load import load_fractals
from pto_dialect.runtime.memory.spaces import Pointer

from ..registry import kernel
from .mte import OperandLoad


@kernel("pto.load_cbuf_to_ca", "pto.load_cbuf_to_cb", "pto.load_cbuf_to_ca_s4", "pto.load_cbuf_to_cb_s4")
def load_cbuf(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    names = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")
    operands = [groups[name][0] for name in ("destination", "source", *names)]
    if "transpose" in groups:
        g.call(load_nibbles, *operands, groups["transpose"][0], pipe=Pipe.MTE1)
        return
    flag = op.attributes.get("transpose")
    transpose = flag is not None and bool(flag.value.data)  # pyright: ignore[reportAttributeAccessIssue]
    load = OperandLoad(op.name.startswith("pto.load_cbuf_to_ca"), transpose, packed=False)
    g.call(load.fractals, *operands, pipe=Pipe.MTE1)


def load_nibbles(dst: Pointer, src: Pointer, *numbers: int) -> None:
    """Fractals of 4-bit elements; the last number says whether their matrix is transposed."""
    load_fractals(dst, src, *numbers[:6], transpose=bool(numbers[6]), packed=True)
