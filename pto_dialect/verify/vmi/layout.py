"""Layouts of logical vectors, and constants of them. Source: docs/reference/language.md, "Types", "Attributes"."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, Operation

from pto_dialect.analysis.type_facts import vector_bits
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import I1, MaskType, VmiMaskType, VmiVRegType, VRegType, element_name, type_text
from pto_dialect.ir.vmi.convert import VmiPackOp
from pto_dialect.syntax.types.vmi_layout import layout_fields
from pto_dialect.targets.vector_unit import VL_BYTES

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import TRIPLES
from .common import layout_text, vmi

_REGISTER_BITS = 8 * VL_BYTES


# ------------------------------------------------------------ physical parts


@checks(TRIPLES, "pto.vmi.pack", "pto.vmi.unpack")
def check_physical_parts(op: Operation, ctx: Context) -> None:
    """Checks the registers or masks that one logical value consists of."""
    packs = isinstance(op, VmiPackOp)
    whole = op.results[0].type if packs else named(op, "source").type
    parts = [value.type for value in (op.operands if packs else op.results)]
    if not isinstance(whole, (VmiVRegType, VmiMaskType)):
        return
    if whole.layout is None or (isinstance(whole, VmiMaskType) and whole.granularity == "pred"):
        ctx.report("vmi-parts", op, f"{type_text(whole)} has no parts", help="assign a layout")
        return
    wanted = _part(whole)
    for part in parts:
        if part != wanted:
            ctx.report("vmi-parts", op, f"parts of {type_text(whole)} are {type_text(wanted)}, found {type_text(part)}")
            return
    number = _number_of_parts(whole)
    if number is not None and number != len(parts):
        ctx.report("vmi-parts", op, f"{type_text(whole)} has {number} parts, found {len(parts)}")


def _part(whole: VmiVRegType | VmiMaskType) -> Attribute:
    """Returns the type of one part; a stride between the lanes of a mask makes it coarser."""
    if isinstance(whole, VmiMaskType):
        bits = int(whole.granularity[1:]) * layout_fields(layout_text(whole)).get("lane_stride", 1)
        return MaskType(f"b{bits}")
    return VRegType(_REGISTER_BITS // vector_bits(whole), whole.element)


def _number_of_parts(whole: VmiVRegType | VmiMaskType) -> int | None:
    """Returns the number of registers that hold ``whole``; ``None`` where strides between lanes leave that open."""
    fields = layout_fields(layout_text(whole))
    if fields.get("lane_stride", 1) != 1:
        return None
    groups = fields.get("num_groups")
    if groups is not None:
        return -(-groups // fields.get("slots", groups))
    streams = fields.get("deinterleaved") or fields.get("block_deinterleaved") or 1
    bits = int(whole.granularity[1:]) if isinstance(whole, VmiMaskType) else vector_bits(whole)
    lanes = -(-whole.lanes // streams)
    return streams * -(-lanes * bits // _REGISTER_BITS)


@checks(TRIPLES, *vmi("constant constant_mask"))
def check_constants(op: Operation, ctx: Context) -> None:
    """Checks the elements of a constant."""
    value, type_ = op.attributes.get("value"), op.results[0].type
    if not isinstance(type_, (VmiVRegType, VmiMaskType)):
        return
    if not isinstance(value, DenseIntOrFPElementsAttr):
        ctx.report("vmi-constant", op, f"the value of {op.name} lists elements", at="value", help="dense<...>")
        return
    count = 1
    for dim in value.get_shape():
        count *= dim
    element: Attribute = value.get_element_type()
    wanted = type_.element if isinstance(type_, VmiVRegType) else I1
    if count != type_.lanes:
        ctx.report(
            "vmi-constant", op, f"{type_text(type_)} has {type_.lanes} lanes, found {count} elements", at="value"
        )
    elif element != wanted:
        found = f"found {element_name(element)}"
        ctx.report(
            "vmi-constant", op, f"elements of {type_text(type_)} are {element_name(wanted)}, {found}", at="value"
        )
