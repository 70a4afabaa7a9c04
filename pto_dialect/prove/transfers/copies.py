"""The bytes of transfers by pointer: bursts, their distances, and outer loops.

Source: docs/reference/layouts.md, "Transfers".
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.targets.dma_units import A2A3_BURST_UNITS, A5_BURST_UNITS
from pto_dialect.targets.vector_unit import VL_BYTES

from ..expressions import Expr
from ..values import Numbers
from .fractals import fractal_span
from .spans import Span, product, runs

_DISTANCES = {
    "source": ("nburst_src_stride", "nburst_src_gap", "src_stride", "burst_src_stride"),
    "destination": ("nburst_dst_stride", "nburst_dst_gap", "dst_stride", "burst_dst_stride"),
}
"""Operands with the distance of bursts, by the side that they are for."""
_LOOPS = {"source": "loop_src_strides", "destination": "loop_dst_strides"}
_RAW = ("pto.copy_gm_to_ubuf", "pto.copy_ubuf_to_gm")
"""Transfers whose outer loops are in registers."""


def span_of(op: PtoOp, name: str, numbers: Numbers, arch: str) -> Span | None:
    """Returns the bytes that a transfer or product touches at its operand ``name``; ``None`` for other operations."""
    fractal = fractal_span(op, name, numbers)
    if fractal is not None:
        return fractal
    units = A2A3_BURST_UNITS if arch == "a2a3" else A5_BURST_UNITS
    unit = units.get(op.name.removeprefix("pto."))
    groups = operand_groups(op)
    if unit is None or name not in _DISTANCES or not groups.get("n_burst"):
        return None

    def number(value: SSAValue | None) -> Expr | None:
        return None if value is None else numbers.number(value)

    def operand(which: str) -> SSAValue | None:
        return next(iter(groups.get(which, ())), None)

    length, bursts = number(operand("len_burst")), number(operand("n_burst"))
    distance = next((number(groups[each][0]) for each in _DISTANCES[name] if groups.get(each)), None)
    if length is None:
        return Span(None)
    scaled = length.times(unit.bytes)
    sure = scaled if runs(bursts) and runs(length) else None
    padded = bool(groups.get("pad_value")) and name == "destination"
    if distance is None or bursts is None or padded or op.name in _RAW:
        return Span(None, sure)
    step = distance.times(unit.bytes) if unit.stride == "start" else distance.plus(length).times(unit.bytes)
    reach = product(bursts.plus(-1), step)
    for count, stride in zip(groups.get("loop_counts", ()), groups.get(_LOOPS[name], ()), strict=False):
        times, by = number(count), number(stride)
        more = None if times is None or by is None else product(times.plus(-1), by)
        reach = None if reach is None or more is None else reach.plus(more)
        sure = sure if runs(times) else None
    contiguous = bursts.value == 1 or (step.value is not None and step == scaled)
    if reach is None:
        return Span(None, sure)
    whole = contiguous and not groups.get("loop_counts")
    gaps = not contiguous and not groups.get("loop_counts") and step.value is not None and scaled.value is not None
    rows = (bursts, step.value or 0, scaled.value or 0) if gaps else None
    return Span(reach.plus(scaled), reach.plus(scaled) if whole else sure, rows)


REGISTERS = 2 * VL_BYTES
"""The most bytes that one access of vector registers with an offset touches."""
