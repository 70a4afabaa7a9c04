"""Transfers into L1, L0, the bias table and the fixpipe buffer. Source: docs/reference/layouts.md, "Transfers", "Loads
with a change of layout", "Loads into L0", "MX scales".
"""

from __future__ import annotations

from typing import Any

from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.atomic import AtomicMode
from pto_dialect.runtime.memory.dma import burst_copy, gap_copy, l1_to_bt, l1_to_fb
from pto_dialect.runtime.memory.fractal_load import (
    gm_to_l1_frac,
    l1_to_l0_mx,
    l1_to_l0a,
    l1_to_l0b,
    load_fractals,
    load_mx_fragments,
    mx_scale_address,
)
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.run.machine import Core

from ..registry import kernel
from ..tile.memory import element_format


def first(groups: dict[str, tuple[SSAValue, ...]], name: str) -> SSAValue | None:
    """Operand ``name``, ``None`` when absent."""
    return next(iter(groups.get(name, ())), None)


def loop_groups(groups: dict[str, tuple[SSAValue, ...]]) -> list[list[SSAValue]]:
    """Loop triples (count, source stride, destination stride), inner to outer."""
    names = ("loop_counts", "loop_src_strides", "loop_dst_strides")
    return [list(triple) for triple in zip(*(groups.get(name, ()) for name in names), strict=True)]


def copy_bursts(
    dst: Pointer,
    src: Pointer,
    length: int,
    bursts: int,
    dst_stride: int,
    src_stride: int,
    loops: Any,
    mode: AtomicMode | None = None,
) -> None:
    """Start-to-start bursts in bytes."""
    burst_copy(dst, src, length, bursts, dst_stride, src_stride, loops, None, mode)


@kernel("pto.mte_gm_l1", "pto.mte_ub_gm")
def burst(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "nburst_dst_stride", "nburst_src_stride")
    arguments = [*(groups[name][0] for name in names), loop_groups(groups)]
    if op.name == "pto.mte_gm_l1":
        g.call(copy_bursts, *arguments, pipe=Pipe.MTE2)
    else:
        g.call(copy_bursts, *arguments, *g.atomic_mode(), pipe=Pipe.MTE3)


def copy_gaps(dst: Pointer, src: Pointer, length: int, bursts: int, dst_gap: int, src_gap: int, loops: Any) -> None:
    """Bursts in 32-byte units with gaps between them."""
    gap_copy(dst, src, length, bursts, dst_gap, src_gap, loops=loops)


@kernel("pto.mte_l1_ub")
def l1_ub(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "nburst_dst_stride", "nburst_src_stride")
    g.call(copy_gaps, *(groups[name][0] for name in names), loop_groups(groups), pipe=Pipe.MTE1)


@kernel("pto.mte_ub_l1", "pto.mte_ub_ub")
def ub_copy(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "dst_stride", "src_stride")
    pipe = Pipe.MTE3 if op.name == "pto.mte_ub_l1" else Pipe.V
    g.call(copy_gaps, *(groups[name][0] for name in names), (), pipe=pipe)


def load_bias(dst: Pointer, src: Pointer, length: int, bursts: int, dst_gap: int, src_gap: int, unit: int) -> None:
    """L1 to the bias table."""
    l1_to_bt(dst, src, length, bursts, dst_gap, src_gap, unit=unit)


def load_table(dst: Pointer, src: Pointer, length: int, bursts: int, dst_gap: int, src_gap: int, unit: int) -> None:
    """L1 to the fixpipe buffer."""
    l1_to_fb(dst, src, length, bursts, dst_gap, src_gap, unit=unit)


@kernel("pto.mte_l1_bt", "pto.mte_l1_fb")
def l1_table(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "nburst_dst_gap", "nburst_src_gap")
    short = op.name.removeprefix("pto.")
    function, pipe = (load_bias, Pipe.MTE1) if short == "mte_l1_bt" else (load_table, Pipe.FIX)
    unit = {"a2a3": {"mte_l1_bt": 64, "mte_l1_fb": 128}}.get(g.profile.arch, {"mte_l1_bt": 32, "mte_l1_fb": 64})[short]
    g.call(function, *(groups[name][0] for name in names), unit, pipe=pipe)


def load_frac(dst: Pointer, src: Pointer, mode: str, *sizes: Any) -> None:
    """Global memory to L1 fractals."""
    n_value, d_value, inner, outer, count, loop2, loop3, loop4 = sizes
    gm_to_l1_frac(dst, src, mode, n_value, d_value, inner, outer, count, loop2, loop3, loop4)  # pyright: ignore


@kernel("pto.mte_gm_l1_frac")
def gm_l1_frac(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    outer = first(groups, "src_outer_stride")
    names = ("group_count", "dst_loop2_stride", "dst_loop3_stride", "dst_loop4_stride")
    g.call(
        load_frac,
        groups["destination"][0],
        groups["source"][0],
        op.attributes["mode"].data[1],  # pyright: ignore[reportAttributeAccessIssue]
        groups["n_value"][0],
        groups["d_value"][0],
        groups["src_inner_stride"][0],
        0 if outer is None else outer,
        *(groups[name][0] for name in names),
        pipe=Pipe.MTE2,
    )


class OperandLoad:
    """L1 to L0A or L0B, by matrix extents or by fractals."""

    def __init__(self, left: bool, transpose: bool, packed: bool) -> None:
        self.left = left
        self.transpose = transpose
        self.packed = packed

    def extents(self, dst: Pointer, src: Pointer, outer: int, inner: int, row: int, col: int) -> None:
        """The form with matrix extents."""
        load = l1_to_l0a if self.left else l1_to_l0b
        load(dst, src, outer, inner, row, col, transpose=self.transpose, packed=self.packed)

    def fractals(self, dst: Pointer, src: Pointer, *numbers: int) -> None:
        """The form with starts, steps and strides in fractals."""
        load_fractals(dst, src, *numbers, transpose=self.transpose, packed=self.packed)


@kernel("pto.mte_l1_l0a", "pto.mte_l1_l0b")
def l1_l0(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    left = op.name == "pto.mte_l1_l0a"
    flag = op.attributes.get("transpose")
    transpose = flag is not None and bool(flag.value.data)  # pyright: ignore[reportAttributeAccessIssue]
    source, target = groups["source"][0], groups["destination"][0]
    load = OperandLoad(left, transpose, element_format(source.type, g).is_packed)
    raw = [first(groups, name) for name in ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")]
    if raw[0] is not None:
        g.call(load.fractals, target, source, *raw, pipe=Pipe.MTE1)
        return
    extents = [first(groups, name) for name in (("m", "k") if left else ("k", "n"))]
    starts = [first(groups, name) for name in ("start_row", "start_col")]
    g.call(load.extents, target, source, *extents, *(0 if s is None else s for s in starts), pipe=Pipe.MTE1)


class ScaleLoad:
    """MX scales from L1 to the scale memory beside L0A or L0B."""

    def __init__(self, space: str) -> None:
        self.space = space

    def extents(self, core: Core, dst: Pointer, src: Pointer, outer: int, k: int, row: int, col: int) -> None:
        """The form with matrix extents."""
        l1_to_l0_mx(core.arena(self.space), dst.offset, src, outer, k, row, col)

    def fragments(self, core: Core, dst: Pointer, src: Pointer, *numbers: int) -> None:
        """The form with starts, steps and strides in fragments."""
        load_mx_fragments(core.arena(self.space), mx_scale_address(dst.offset), src, *numbers)


@kernel("pto.mte_l1_l0a_mx", "pto.mte_l1_l0b_mx")
def l1_l0_mx(op: PtoOp, g: Generator) -> None:
    groups = g.operands(op)
    left = op.name == "pto.mte_l1_l0a_mx"
    load = ScaleLoad("scale_left" if left else "scale_right")
    source, target = groups["source"][0], groups["destination"][0]
    raw = [first(groups, name) for name in ("x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride")]
    if raw[0] is not None:
        g.call(load.fragments, g.core, target, source, *raw, pipe=Pipe.MTE1)
        return
    outer, k = (first(groups, name) for name in (("m", "k") if left else ("n", "k")))
    starts = [first(groups, name) for name in ("start_row", "start_col")]
    g.call(load.extents, g.core, target, source, outer, k, *(0 if s is None else s for s in starts), pipe=Pipe.MTE1)
