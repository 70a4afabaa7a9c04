"""Rules about the layouts that operations on logical vectors support, once layouts are assigned.

Source: docs/reference/constraints.md, "Logical vectors".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.ir.core.types import VmiMaskType, VmiVRegType, type_text
from pto_dialect.ir.vmi.load import VmiVLoadOp
from pto_dialect.ir.vmi.rearrange import VmiChannelSplitOp
from pto_dialect.ir.vmi.store import VmiVStoreOp
from pto_dialect.syntax.types.vmi_layout import layout_fields

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import TRIPLES
from .common import layout_text, vectors, vmi

Demand = Callable[[str, int | None], str | None]
"""Returns the required layouts for a layout that is not supported; the number is that of the groups of
the operation."""


def contiguous(layout: str, groups: int | None) -> str | None:
    """Requires all lanes in order."""
    return None if "<contiguous" in layout else "contiguous"


def split(layout: str, groups: int | None) -> str | None:
    """Requires all lanes in order, or deinterleaved into 2 or 4 streams."""
    return None if "<contiguous" in layout or "deinterleaved" in layout else "contiguous or deinterleaved"


def grouped(layout: str, groups: int | None) -> str | None:
    """Requires one lane for each group."""
    return None if layout_fields(layout).get("num_groups") == groups else f"num_groups = {groups}"


def dense(layout: str, groups: int | None) -> str | None:
    """Requires a lane for each element."""
    return "no layout of groups" if "num_groups" in layout else None


_REDUCTIONS = vmi(
    "group_reduce_addf group_reduce_addi group_reduce_maxf group_reduce_maxi group_reduce_minf group_reduce_mini"
)
_WITH_GROUPS = dict.fromkeys(vmi("vbrc vcadd vcmax vcmin"), True)
OPERANDS: Final[Mapping[str, Demand]] = MappingProxyType(
    {
        **dict.fromkeys(vmi("vchist vdhist interleave_store vstore"), contiguous),
        **dict.fromkeys(vmi("group_broadcast vbrc"), grouped),
        **dict.fromkeys(_REDUCTIONS, split),
    }
)
RESULTS: Final[Mapping[str, Demand]] = MappingProxyType(
    {
        **dict.fromkeys(vmi("vchist vdhist deinterleave_load vload group_iota"), contiguous),
        **dict.fromkeys(vmi("group_slot_load vcadd vcmax vcmin"), grouped),
        **dict.fromkeys(_REDUCTIONS, grouped),
        **dict.fromkeys(vmi("group_broadcast_load group_broadcast vbrc"), dense),
    }
)
"""Requirements of operations on the layouts of their vectors."""


@checks(TRIPLES, *{**OPERANDS, **RESULTS})
def check_usable(op: Operation, ctx: Context) -> None:
    """Checks the layouts of operands and results."""
    groups = integer_attribute(op, "num_groups") or integer_attribute(op, "group")
    if groups is None and _WITH_GROUPS.get(op.name):
        return
    operands, results = vectors(tuple(op.operands)), vectors(tuple(op.results))
    if isinstance(op, (VmiVLoadOp, VmiVStoreOp)) and len(operands if isinstance(op, VmiVStoreOp) else results) != 2:
        return
    for values, demands in ((operands, OPERANDS), (results, RESULTS)):
        demand = demands.get(op.name)
        for value in values if demand is not None else ():
            if not _has(op, value, demand, groups, ctx):
                return


def _has(op: Operation, value: SSAValue, demand: Demand | None, groups: int | None, ctx: Context) -> bool:
    layout = layout_text(value.type)
    wanted = demand(layout, groups) if layout and demand is not None else None
    if wanted is not None:
        message = f"{op.name} works with {wanted}, found {type_text(value.type)}"
        ctx.report("vmi-layout-use", op, message, at=value if value in op.operands else None)
    return wanted is None


@checks(TRIPLES, "pto.vmi.vchist", "pto.vmi.vdhist")
def check_histogram_mask(op: Operation, ctx: Context) -> None:
    """Checks the mask of bytes, once its layout is assigned."""
    for value in op.operands:
        type_ = value.type
        if isinstance(type_, VmiMaskType) and layout_text(type_):
            if contiguous(layout_text(type_), None):
                ctx.report("vmi-layout-use", op, f"{op.name} works with contiguous, found {type_text(type_)}", at=value)
            elif type_.granularity != "b8":
                message = f"the mask of {op.name} has granularity b8, found {type_.granularity}"
                ctx.report("vmi-layout-use", op, message, at=value)


@checks(TRIPLES, "pto.vmi.channel_split", "pto.vmi.channel_merge")
def check_channels(op: Operation, ctx: Context) -> None:
    """Checks for contiguous channels, and a whole that is contiguous or deinterleaved into as many streams."""
    splits = isinstance(op, VmiChannelSplitOp)
    whole: Sequence[SSAValue] = op.operands if splits else op.results
    parts = vectors(tuple(op.results if splits else op.operands))
    values = [*vectors(tuple(whole)), *parts]
    layouts = [layout_text(value.type) for value in values]
    if not any(layouts):
        return
    if not all(layouts):
        ctx.report("vmi-layout-use", op, f"either all vectors of {op.name} have a layout or none")
        return
    for part in parts:
        if not _has(op, part, contiguous, None, ctx):
            return
    number = len(parts)
    if number in (2, 4) and not _is_deinterleaved(values[0].type, number):
        message = f"{number} channels make a contiguous vector or one with deinterleaved = {number}"
        at = values[0] if splits else None
        ctx.report("vmi-layout-use", op, f"{message}, found {type_text(values[0].type)}", at=at)


def _is_deinterleaved(whole: object, streams: int) -> bool:
    assert isinstance(whole, VmiVRegType)
    layout = layout_text(whole)
    fields = layout_fields(layout)
    plain = fields.get("lane_stride", 1) == 1
    return "<contiguous" in layout or (fields.get("deinterleaved") == streams and plain)
