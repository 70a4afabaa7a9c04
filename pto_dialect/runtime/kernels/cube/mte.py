"""Transfers into L1, L0, the bias table and the fixpipe buffer. Source: docs/reference/layouts.md, "Transfers", "Loads
with a change of layout", "Loads into L0", "MX scales".
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Generator
from pto_dialect.runtime.memory.dma import copy_bursts, gap_copy, l1_to_bt, l1_to_fb
from pto_dialect.runtime.memory.fractal_load import (
    gm_to_l1_frac,
    l1_to_l0,
    l1_to_l0_mx,
    load_fractals,
    load_mx_fragments,
    mx_scale_address,
)
from pto_dialect.runtime.memory.spaces import Pointer
from pto_dialect.runtime.run.machine import Core

from ..registry import kernel, kernels
from ..tile.memory import element_format


def first(groups: dict[str, tuple[SSAValue, ...]], name: str) -> SSAValue | None:
    """Returns operand ``name``, ``None`` when absent."""
    return next(iter(groups.get(name, ())), None)


def loop_groups(groups: dict[str, tuple[SSAValue, ...]]) -> list[list[SSAValue]]:
    """Returns the loop triples (count, source stride, destination stride), inner to outer."""
    names = ("loop_counts", "loop_src_strides", "loop_dst_strides")
    return [list(triple) for triple in zip(*(groups.get(name, ()) for name in names), strict=True)]


@kernel("pto.mte_gm_l1")
def gm_l1(op: PtoOp, g: Generator) -> None:
    """Bursts from global memory to L1."""
    g.call(copy_bursts, *_bursts(op, g), pipe=Pipe.MTE2)


@kernel("pto.mte_ub_gm")
def ub_gm(op: PtoOp, g: Generator) -> None:
    """Bursts from the unified buffer to global memory, combined according to the control register."""
    g.call(copy_bursts, *_bursts(op, g), *g.atomic_mode(), pipe=Pipe.MTE3)


def _bursts(op: PtoOp, g: Generator) -> list[Any]:
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "nburst_dst_stride", "nburst_src_stride")
    return [*(groups[name][0] for name in names), loop_groups(groups)]


def copy_gaps(dst: Pointer, src: Pointer, length: int, bursts: int, dst_gap: int, src_gap: int, loops: Any) -> None:
    """Bursts in 32-byte units with gaps between them."""
    gap_copy(dst, src, length, bursts, dst_gap, src_gap, loops=loops)


@kernel("pto.mte_l1_ub")
def l1_ub(op: PtoOp, g: Generator) -> None:
    """Bursts of 32-byte units from L1 to the unified buffer, with gaps between them and up to two outer loops."""
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "nburst_dst_stride", "nburst_src_stride")
    g.call(copy_gaps, *(groups[name][0] for name in names), loop_groups(groups), pipe=Pipe.MTE1)


@kernels({"pto.mte_ub_l1": Pipe.MTE3, "pto.mte_ub_ub": Pipe.V})
def from_ub(op: PtoOp, g: Generator, pipe: Pipe) -> None:
    """Bursts of 32-byte units from the unified buffer to L1, or within it."""
    groups = g.operands(op)
    names = ("destination", "source", "len_burst", "n_burst", "dst_stride", "src_stride")
    g.call(copy_gaps, *(groups[name][0] for name in names), (), pipe=pipe)


def load_bias(dst: Pointer, src: Pointer, length: int, bursts: int, dst_gap: int, src_gap: int, unit: int) -> None:
    """L1 to the bias table."""
    l1_to_bt(dst, src, length, bursts, dst_gap, src_gap, unit=unit)


def load_table(dst: Pointer, src: Pointer, length: int, bursts: int, dst_gap: int, src_gap: int, unit: int) -> None:
    """L1 to the fixpipe buffer."""
    l1_to_fb(dst, src, length, bursts, dst_gap, src_gap, unit=unit)


_TABLE_GAPS = ("nburst_dst_gap", "nburst_src_gap")


def call_load_bias(op: PtoOp, g: Generator, gaps: tuple[str, str]) -> None:
    """Writes the call of ``load_bias``; ``gaps`` are the operands with the gaps of destination and source."""
    names = ("destination", "source", "len_burst", "n_burst", *gaps)
    unit = 64 if g.profile.arch == "a2a3" else 32
    g.call(load_bias, *(named(op, name) for name in names), unit, pipe=Pipe.MTE1)


def call_load_table(op: PtoOp, g: Generator, gaps: tuple[str, str]) -> None:
    """Writes the call of ``load_table``; ``gaps`` are the operands with the gaps of destination and source."""
    names = ("destination", "source", "len_burst", "n_burst", *gaps)
    unit = 128 if g.profile.arch == "a2a3" else 64
    g.call(load_table, *(named(op, name) for name in names), unit, pipe=Pipe.FIX)


kernel("pto.mte_l1_bt")(partial(call_load_bias, gaps=_TABLE_GAPS))
kernel("pto.mte_l1_fb")(partial(call_load_table, gaps=_TABLE_GAPS))


def load_frac(dst: Pointer, src: Pointer, mode: str, *sizes: Any) -> None:
    """Global memory to L1 fractals."""
    n_value, d_value, inner, outer, count, loop2, loop3, loop4 = sizes
    gm_to_l1_frac(dst, src, mode, n_value, d_value, inner, outer, count, loop2, loop3, loop4)  # pyright: ignore


@kernel("pto.mte_gm_l1_frac")
def gm_l1_frac(op: PtoOp, g: Generator) -> None:
    """A matrix in global memory, in row-major or column-major order, as fractals in L1."""
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


@dataclass(eq=False)
class OperandLoad:
    """L1 to L0A or L0B, by matrix extents or by fractals."""

    left: bool
    transpose: bool
    packed: bool

    def extents(self, dst: Pointer, src: Pointer, rows: int, cols: int, row: int, col: int) -> None:
        """The form with matrix extents."""
        l1_to_l0(self.left, dst, src, rows, cols, row, col, transpose=self.transpose, packed=self.packed)

    def fractals(self, dst: Pointer, src: Pointer, *numbers: int) -> None:
        """The form with starts, steps and strides in fractals."""
        load_fractals(dst, src, *numbers, transpose=self.transpose, packed=self.packed)


def _l1_l0(op: PtoOp, g: Generator, left: bool) -> None:
    """A left operand from L1 to L0A, or a right one to L0B."""
    groups = g.operands(op)
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


kernel("pto.mte_l1_l0a")(partial(_l1_l0, left=True))
kernel("pto.mte_l1_l0b")(partial(_l1_l0, left=False))


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


def _l1_l0_mx(op: PtoOp, g: Generator, left: bool) -> None:
    """The scales of a left or right operand from L1 to the memory beside L0A or L0B."""
    groups = g.operands(op)
    load = ScaleLoad("scale_left" if left else "scale_right")
    source, target = groups["source"][0], groups["destination"][0]
    raw = [first(groups, name) for name in ("x_start", "y_start", "x_step", "y_step", "src_stride", "dst_stride")]
    if raw[0] is not None:
        g.call(load.fragments, g.core, target, source, *raw, pipe=Pipe.MTE1)
        return
    outer, k = (first(groups, name) for name in (("m", "k") if left else ("n", "k")))
    starts = [first(groups, name) for name in ("start_row", "start_col")]
    g.call(load.extents, g.core, target, source, outer, k, *(0 if s is None else s for s in starts), pipe=Pipe.MTE1)


kernel("pto.mte_l1_l0a_mx")(partial(_l1_l0_mx, left=True))
kernel("pto.mte_l1_l0b_mx")(partial(_l1_l0_mx, left=False))
