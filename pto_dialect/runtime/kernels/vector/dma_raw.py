"""Raw copies, whose outer loops and pad value are in registers. Source: docs/reference/layouts.md, "Transfers".

A register holds for later copies of its core until it is written again; a copy uses its content at the time of issue.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.memory.dma import LoopGroup, Padding, copy_bursts, gap_copy
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.numerics.encode import encode
from pto_dialect.runtime.run.machine import Core

from ..cube.mte import call_load_bias, call_load_table
from ..registry import kernel, kernels

LOOP_REGISTERS = ("set_loop_size", "set_loop1_stride", "set_loop2_stride")

_TABLE_GAPS = ("dst_gap", "source_gap")

LATCHES = (
    "set_loop1_stride_outtol1",
    "set_loop2_stride_outtol1",
    "set_loop_size_outtol1",
    "set_loop3_para",
    "set_channel_para",
    "set_mte2_nz_para",
    "set_pad_val_outtol1",
    "set_quant_pre",
    "set_relu_alpha",
    "set_fix_clip_relu",
    "set_fpc",
)
"""Registers of raw copies that are not executed: their content is never read."""


@kernel(*(f"pto.{name}_{direction}" for name in LOOP_REGISTERS for direction in ("outtoub", "ubtoout")))
def set_loop(op: PtoOp, g: Generator) -> None:
    """Writes a register with counts or strides of the outer loops of later copies."""
    first, second = (g.name(named(op, name)) for name in ("first", "second"))
    g.emitter.line(f"core.state[{op.name.removeprefix('pto.set_')!r}] = ({first}, {second})")


@kernel(*(f"pto.{name}" for name in LATCHES))
def latch(op: PtoOp, g: Generator) -> None:
    """Does nothing: no executed operation reads the register."""


def loops(core: Core, direction: str) -> tuple[LoopGroup, LoopGroup]:
    """Returns the outer loops of raw copies in one direction, inner to outer: count, source stride,
    destination stride."""
    inner, outer = core.state.get(f"loop_size_{direction}", (1, 1))
    return (
        (inner, *core.state.get(f"loop1_stride_{direction}", (0, 0))),
        (outer, *core.state.get(f"loop2_stride_{direction}", (0, 0))),
    )


@kernel("pto.set_mov_pad_val")
def set_pad_value(op: PtoOp, g: Generator) -> None:
    """Writes the register with the element that later padded loads add."""
    fmt = g.format(named(op, "value").type)
    value = g.name(named(op, "value"))
    text = f"[{value}], 'float32'" if fmt.is_float else f"[{value}], 'int64'"
    array = f"{g.argument(np.array)}({text})"
    g.emitter.line(f"core.state['pad'] = {g.argument(_pad_bytes)}({array}, {g.argument(fmt)})")


def _pad_bytes(value: Any, fmt: Any) -> bytes:
    encoded = encode(value, fmt, saturate=False) if fmt.is_float else value.astype(fmt.storage)
    return encoded.tobytes()


def copy_in(dst: Pointer, *operands: Any) -> None:
    """Copies global memory to the unified buffer. The last three operands are the pad element, ``None`` where padding
    is not selected, and the number of pad elements to the left and to the right, the others those of ``copy_bursts``.
    """
    *transfer, pad, left, right = operands
    padding = None if pad is None else Padding(pad[: dst.item_bytes].ljust(dst.item_bytes, b"\0"), left, right)
    copy_bursts(dst, *transfer, pad=padding)


@kernel("pto.copy_gm_to_ubuf")
def copy_gm_to_ubuf(op: PtoOp, g: Generator) -> None:
    """Bursts from global memory to the unified buffer, in the loops of the registers, optionally padded."""
    groups = {name: values[0] for name, values in g.operands(op).items() if values}
    pad = Expr(f"core.state.get('pad', bytes(8)) if {g.name(groups['data_select_bit'])} else None")
    g.call(
        copy_in,
        *(groups[name] for name in ("destination", "source", "len_burst", "n_burst", "ub_stride", "gm_stride")),
        Expr(f"{g.argument(loops)}(core, 'outtoub')"),
        pad,
        groups["left_padding_count"],
        groups["right_padding_count"],
        pipe=Pipe.MTE2,
    )


@kernel("pto.copy_ubuf_to_gm")
def copy_ubuf_to_gm(op: PtoOp, g: Generator) -> None:
    """Bursts from the unified buffer to global memory, in the loops of the registers, combined according to the control
    register."""
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "burst_dst_stride", "burst_src_stride")
    g.call(
        copy_bursts,
        *(groups[name][0] for name in names),
        Expr(f"{g.argument(loops)}(core, 'ubtoout')"),
        *g.atomic_mode(),
        pipe=Pipe.MTE3,
    )


def to_vector_core(core: Core, dst: Pointer, number: int) -> Pointer:
    """Returns ``dst`` in the unified buffer of vector core ``number``, which the cube core addresses."""
    if core.kind != "aic":
        return dst
    return Pointer(core.block.unified_buffers[number & 1], dst.offset, dst.dtype, dst.item_bytes)


@kernels({"pto.copy_ubuf_to_ubuf": Pipe.V, "pto.copy_ubuf_to_cbuf": Pipe.MTE3})
def copy_from_ubuf(op: PtoOp, g: Generator, pipe: Pipe) -> None:
    """Bursts of 32-byte units within the unified buffer, or from there to L1."""
    _copy_units(op, g, named(op, "destination"), pipe)


@kernel("pto.copy_cbuf_to_ubuf")
def copy_cbuf_to_ubuf(op: PtoOp, g: Generator) -> None:
    """Bursts of 32-byte units from L1 to the unified buffer of the vector core that ``sid`` names."""
    number, destination = g.name(named(op, "sid")), g.name(named(op, "destination"))
    _copy_units(op, g, Expr(f"{g.argument(to_vector_core)}(core, {destination}, {number})"), Pipe.MTE1)


def _copy_units(op: PtoOp, g: Generator, destination: Any, pipe: Pipe) -> None:
    names = ("source", "len_burst", "n_burst", "dst_stride", "src_stride")
    g.call(gap_copy, destination, *(named(op, name) for name in names), pipe=pipe)


@kernel("pto.copy_gm_to_cbuf")
def copy_gm_to_cbuf(op: PtoOp, g: Generator) -> None:
    """Bursts of 32-byte units from global memory to L1."""
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "dst_stride", "src_stride")
    g.call(gap_copy, *(groups[name][0] for name in names), pipe=Pipe.MTE2)


kernel("pto.copy_cbuf_to_bt")(partial(call_load_bias, gaps=_TABLE_GAPS))
kernel("pto.copy_cbuf_to_fbuf")(partial(call_load_table, gaps=_TABLE_GAPS))


@kernel("pto.get_vms4_sr")
def get_vms4_sr(op: PtoOp, g: Generator) -> None:
    """The numbers of records that the last merge took from each of its four lists."""
    for number, result in enumerate(op.results):
        g.define(result, f"core.state.get('vms4', (0, 0, 0, 0))[{number}]")
