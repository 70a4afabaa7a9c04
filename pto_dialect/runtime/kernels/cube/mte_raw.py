"""Fractal loads as the hardware encodes them. Source: docs/reference/layouts.md, "Fractal copies"."""

from __future__ import annotations

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.cube.mte_raw import LoadCbufToCaOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.fractal_load import load_fractals
from pto_dialect.runtime.memory.spaces import Pointer

from ..registry import kernel
from .mte import OperandLoad

_NUMBERS = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")


@kernel("pto.load_cbuf_to_ca", "pto.load_cbuf_to_cb")
def load(op: PtoOp, g: Generator) -> None:
    """Fractals from L1 to L0A or L0B."""
    operands = [named(op, name) for name in ("destination", "source", *_NUMBERS)]
    flag = op.attributes.get("transpose")
    transpose = flag is not None and bool(flag.value.data)  # pyright: ignore[reportAttributeAccessIssue]
    fractals = OperandLoad(isinstance(op, LoadCbufToCaOp), transpose, packed=False).fractals
    g.call(fractals, *operands, pipe=Pipe.MTE1)


@kernel("pto.load_cbuf_to_ca_s4", "pto.load_cbuf_to_cb_s4")
def load_packed(op: PtoOp, g: Generator) -> None:
    """Fractals of 4-bit elements from L1 to L0A or L0B."""
    names = ("destination", "source", *_NUMBERS, "transpose")
    g.call(load_nibbles, *(named(op, name) for name in names), pipe=Pipe.MTE1)


def load_nibbles(dst: Pointer, src: Pointer, *numbers: int) -> None:
    """Fractals of 4-bit elements; the last operand states whether their matrix is transposed."""
    load_fractals(dst, src, *numbers[:6], transpose=bool(numbers[6]), packed=True)
