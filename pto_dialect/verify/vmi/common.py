"""Rules of lane-wise operations on logical vectors: element types, equal types, masks."""

from __future__ import annotations

from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.type_facts import enumerator, scalar_fits, vector_bits, vector_element
from pto_dialect.diagnostics.remedies.types import result_like_operand
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import VmiMaskType, VmiVRegType, element_name, is_float, type_text
from pto_dialect.ir.vmi.mask import VmiMaskLogicOp, VmiMaskNotOp, VmiPsetOp
from pto_dialect.ir.vmi.masked import VmiVAndOp, VmiVExpdifOp, VmiVNotOp, VmiVOrOp, VmiVXorOp
from pto_dialect.ir.vmi.reduce import VmiVChistOp, VmiVDhistOp

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import STRUCTURE, TRIPLES
from .tables import ELEMENTS, RESULT_ELEMENTS, admits, format_row

FAMILIES = (
    "vmi_load",
    "vmi_store",
    "vmi_plain",
    "vmi_mask",
    "vmi_masked",
    "vmi_convert",
    "vmi_reduce",
    "vmi_rearrange",
)
NAMES = tuple(name for name, (family, _, _) in OPS.items() if family in FAMILIES)
"""Names of all operations on logical vectors."""


def vmi(names: str) -> tuple[str, ...]:
    """Returns operation names from a blank-separated list without the ``pto.vmi.`` prefix."""
    return tuple(f"pto.vmi.{name}" for name in names.split())


def layout_text(type_: Attribute) -> str:
    """Returns the layout of a logical vector or mask type, empty when none is assigned."""
    layout = getattr(type_, "layout", None)
    return "" if layout is None else str(layout)


def vectors(values: tuple[SSAValue, ...]) -> list[SSAValue]:
    """Returns the logical vectors among ``values``."""
    return [value for value in values if isinstance(value.type, VmiVRegType)]


# ------------------------------------------------------------ lanes and elements

PUBLIC_LANES = frozenset((1, 2, 4, 8, 64, 128, 256))


@checks(STRUCTURE, *NAMES)
def check_lanes(op: Operation, ctx: Context) -> None:
    """Checks for numbers of lanes that are not documented; reports once for each function."""
    for result in op.results:
        type_ = result.type
        if isinstance(type_, VmiVRegType) and type_.lanes not in PUBLIC_LANES:
            message = f"logical vectors of {type_.lanes} lanes are not documented"
            ctx.report_once("vmi-lanes", op, ctx.function, message)
            return


@checks(STRUCTURE, "pto.vmi.vmull")
def check_wide_product(op: Operation, ctx: Context) -> None:
    """Checks the lanes of the two halves of a product; lanes without a product are zero."""
    type_, mode = named(op, "a").type, enumerator(op, "pmode")
    assert isinstance(type_, VmiVRegType)
    if type_.lanes not in (64, 128, 256):
        ctx.report("vmi-uniform", op, f"vmull has 64, 128 or 256 lanes, found {type_.lanes}", at=named(op, "a"))
    if mode and mode != "zero":
        ctx.report("vmi-types", op, f"pmode of vmull is zero, found {mode}", at="pmode")


@checks(TRIPLES, *ELEMENTS)
def check_elements(op: Operation, ctx: Context) -> None:
    """Checks the element type of the first logical vector."""
    first = next((v for v in op.operands if isinstance(v.type, VmiVRegType)), None)
    if first is None:
        return
    element = vector_element(first.type)
    if element == "bf16x2":
        ctx.report("vmi-bf16x2", op, f"{op.name} has no bf16x2 form", at=first)
    elif not admits(ELEMENTS[op.name], element):
        message = f"{op.name} has {format_row(ELEMENTS[op.name])}, found {element}"
        ctx.report("vmi-types", op, message, at=first)


@checks(TRIPLES, *RESULT_ELEMENTS)
def check_result_elements(op: Operation, ctx: Context) -> None:
    """Checks the element type of a result that is not that of the operands."""
    element = vector_element(op.results[0].type)
    if not admits(RESULT_ELEMENTS[op.name], element):
        ctx.report("vmi-types", op, f"{op.name} yields {format_row(RESULT_ELEMENTS[op.name])}, found {element}")


# ------------------------------------------------------------ one type

_SAME = vmi(
    "absf absi addf addi andi divf exp fma ln maxf maxi minf mini mulf muli negf negi not ori relu shli shrsi shrui "
    "sqrt subf subi xori vabs vadd vaddc vaddcs vadds vand vaxpy vdiv vexp vln vlrelu vmax vmaxs vmin vmins vmul vmula "
    "vmull vmuls vneg vnot vor vprelu vrelu vshl vshls vshr vshrs vsqrt vsub vxor select vsel compress masked_load "
    "expand_load deinterleave_load interleave_store cmpf cmpi vcmp"
)
_SAME_LANES = vmi("gather vgather scatter vscatter vexpdif")


@checks(TRIPLES, *(name for name in _SAME if name in OPS))
def check_one_type(op: Operation, ctx: Context) -> None:
    """Checks logical vectors that must have one type."""
    values = vectors((*op.operands, *op.results))
    if values:
        _agree(op, ctx, values, element=True)


@checks(TRIPLES, *_SAME_LANES)
def check_one_length(op: Operation, ctx: Context) -> None:
    """Checks logical vectors that must have one number of lanes and layout; data and offsets may differ in elements."""
    _agree(op, ctx, vectors((*op.operands, *op.results)), element=False)


def _agree(op: Operation, ctx: Context, values: list[SSAValue], *, element: bool) -> None:
    first = values[0].type
    assert isinstance(first, VmiVRegType)
    for value in values[1:]:
        type_ = value.type
        assert isinstance(type_, VmiVRegType)
        if type_ == first:
            continue
        if type_.lanes != first.lanes:
            what = "number of lanes"
        elif element and type_.element != first.element:
            what = "element type"
        elif layout_text(type_) != layout_text(first):
            what = "layout"
        else:
            continue
        message = f"the vectors of {op.name} have one {what}, found {type_text(first)} and {type_text(type_)}"
        mended = (result_like_operand(),)
        ctx.report("vmi-uniform", op, message, at=value if value in op.operands else None, remedies=mended)
        return


# ------------------------------------------------------------ scalars

_SCALARS = {
    **dict.fromkeys(vmi("vadds vmuls vmaxs vmins vcmps"), ("scalar", "src")),
    "pto.vmi.vlrelu": ("slope", "x"),
    "pto.vmi.vaxpy": ("alpha", "x"),
    **dict.fromkeys(vmi("iota group_iota vci"), ("base", None)),
}
"""The scalar and the vector whose lanes it joins (``None``: the result)."""
_EXACT = dict.fromkeys(vmi("vadds vmuls vmaxs vmins vcmps"), True)
"""Operations whose scalar also has the sign of the lanes."""


@checks(TRIPLES, *_SCALARS)
def check_scalars(op: Operation, ctx: Context) -> None:
    """Checks a scalar beside lanes."""
    name, register = _SCALARS[op.name]
    scalar = named(op, name)
    type_ = op.results[0].type if register is None else named(op, register).type
    exact = _EXACT.get(op.name, False)
    if not isinstance(type_, VmiVRegType):
        return
    if scalar.type != type_.element if exact else not scalar_fits(scalar.type, type_.element):
        message = f"the scalar of {op.name} is {element_name(type_.element)}, found {type_text(scalar.type)}"
        ctx.report("vmi-types", op, message, at=scalar)


@checks(TRIPLES, "pto.vmi.broadcast", "pto.vmi.vbrc")
def check_broadcast(op: Operation, ctx: Context) -> None:
    """Checks a scalar or one-lane vector of the element type; slots of groups are checked with the groups."""
    value, result = named(op, "value"), op.results[0].type
    if not isinstance(result, VmiVRegType):
        return
    if isinstance(value.type, VmiVRegType):
        if value.type.element != result.element:
            message = f"{op.name} of {vector_element(value.type)} yields that type, found {vector_element(result)}"
            ctx.report("vmi-types", op, message, at=value)
        if value.type.lanes != 1 and "group" not in op.attributes:
            message = f"{op.name} spreads one lane, found {value.type.lanes}"
            ctx.report("vmi-uniform", op, message, at=value)
    elif value.type != result.element:
        message = f"the scalar of {op.name} is {element_name(result.element)}, found {type_text(value.type)}"
        ctx.report("vmi-types", op, message, at=value)


@checks(TRIPLES, "pto.vmi.vselr")
def check_lane_numbers(op: Operation, ctx: Context) -> None:
    """Checks that lane indices are integers as wide as the lanes."""
    source, index, result = named(op, "source").type, named(op, "index").type, op.results[0].type
    name = vector_element(index)
    if not name.removeprefix("u").removeprefix("s").startswith("i") or vector_bits(index) != vector_bits(source):
        message = f"index of vselr has {vector_bits(source)}-bit integers, found {name}"
        ctx.report("vmi-types", op, message, at=named(op, "index"))
    assert isinstance(index, VmiVRegType)
    assert isinstance(result, VmiVRegType)
    if index.lanes != result.lanes:
        message = f"vselr yields a lane for each lane of index, found {index.lanes} and {result.lanes}"
        ctx.report("vmi-uniform", op, message, at=named(op, "index"))
    if vector_element(source) != vector_element(result):
        ctx.report(
            "vmi-types", op, f"vselr of {vector_element(source)} yields that type, found {vector_element(result)}"
        )


@checks(TRIPLES, "pto.vmi.vexpdif")
def check_exponential_difference(op: Operation, ctx: Context) -> None:
    """Checks that both operands have one type."""
    left, right = named(op, "x").type, named(op, "max").type
    if left != right:
        message = f"x and max of vexpdif have one type, found {type_text(left)} and {type_text(right)}"
        ctx.report("vmi-uniform", op, message, at=named(op, "max"))


@checks(TRIPLES, "pto.vmi.vcmp", "pto.vmi.vcmps")
def check_predicate(op: Operation, ctx: Context) -> None:
    """Checks that integers are not compared with ordered-float predicates (those with an ``o``)."""
    cmp = enumerator(op, "cmp")
    first, *_ = op.operands
    if cmp.startswith("o") and not is_float(getattr(first.type, "element", first.type)):
        message = f"integers compare with eq, ne, lt, le, gt or ge, found {cmp}"
        ctx.report("vmi-types", op, message, at="cmp", help=f'cmp = "{cmp[1:]}"')


# ------------------------------------------------------------ masks

_GOVERNED_RESULT = dict.fromkeys(vmi("gather vgather vgatherb masked_load expand_load stride_load"), True)
_OWN_RULES = frozenset(
    vmi(
        "ensure_mask_granularity ensure_mask_layout pack unpack create_mask create_group_mask pset "
        "pge plt constant_mask"
    )
)
_GRANULARITY = {8: "b8", 16: "b16", 32: "b32"}
_CARRIES = dict.fromkeys(vmi("vaddc vaddcs"), True)
"""Operations whose masks all have one type."""


# Subtract tables by name, because checks are registered by operation name.
@checks(TRIPLES, *(name for name in NAMES if name not in _OWN_RULES))
def check_masks(op: Operation, ctx: Context) -> None:
    """Checks masks that govern a vector or come from one, and masks combined with each other."""
    found = [v for v in (*op.operands, *op.results) if isinstance(v.type, VmiMaskType)]
    if not found:
        return
    data = vectors((*(() if _GOVERNED_RESULT.get(op.name) else op.operands), *op.results))
    if isinstance(op, (VmiVChistOp, VmiVDhistOp)):
        data = data[1:]
    if not data or isinstance(op, (VmiMaskLogicOp, VmiMaskNotOp)):
        _one_mask_type(op, ctx, found)
        return
    if _CARRIES.get(op.name):
        _one_mask_type(op, ctx, found)
    type_ = data[0].type
    assert isinstance(type_, VmiVRegType)
    for mask in found:
        _fits(op, ctx, mask, type_)


def _one_mask_type(op: Operation, ctx: Context, masks: list[SSAValue]) -> None:
    first = masks[0].type
    for mask in masks[1:]:
        if mask.type != first:
            message = f"the masks of {op.name} have one type, found {type_text(first)} and {type_text(mask.type)}"
            ctx.report("vmi-mask-lanes", op, message, at=mask if mask in op.operands else None)
            return


def _fits(op: Operation, ctx: Context, mask: SSAValue, data: VmiVRegType) -> None:
    type_ = mask.type
    assert isinstance(type_, VmiMaskType)
    at = mask if mask in op.operands else None
    if type_.lanes != data.lanes:
        message = f"the mask of {type_text(data)} has {data.lanes} lanes, found {type_.lanes}"
        ctx.report("vmi-mask-lanes", op, message, at=at)
    elif not isinstance(op, VmiVExpdifOp):
        wanted = _GRANULARITY.get(vector_bits(data))
        if type_.granularity not in ("pred", wanted) and wanted is not None:
            message = f"the mask of {type_text(data)} is pred or {wanted}, found {type_.granularity}"
            ctx.report("vmi-mask-lanes", op, message, at=at)
        elif layout_text(type_) != layout_text(data):
            message = f"the mask of {type_text(data)} has its layout, found {type_text(type_)}"
            ctx.report("vmi-mask-lanes", op, message, at=at)


@checks(STRUCTURE, *(name for name in NAMES if OPS[name][0] in ("vmi_masked", "vmi_store")))
def check_mask_count(op: Operation, ctx: Context) -> None:
    """Checks for at most one governing mask; none for predicate logic."""
    assert isinstance(op, PtoOp)
    governing = operand_groups(op).get("mask", ())
    first, *_ = op.operands
    if isinstance(first.type, VmiMaskType) and isinstance(op, (VmiVAndOp, VmiVOrOp, VmiVXorOp, VmiVNotOp)):
        if governing:
            ctx.report("vmi-mask-bool", op, f"{op.name} of masks takes no governing mask", at=governing[0])
        if "pmode" in op.attributes:
            ctx.report("vmi-mask-bool", op, f"{op.name} of masks takes no pmode", at="pmode")
    elif len(governing) > 1:
        ctx.report("vmi-mask-bool", op, f"{op.name} takes one mask at most, found {len(governing)}", at=governing[1])


@checks(TRIPLES, "pto.vmi.pset", "pto.vmi.pge", "pto.vmi.plt")
def check_made_mask(op: Operation, ctx: Context) -> None:
    """Checks that a mask of a width is the mask of a vector with a layout; before layouts are assigned it
    is ``pred``."""
    for result in op.results:
        type_ = result.type
        if isinstance(type_, VmiMaskType) and type_.granularity != "pred" and not layout_text(type_):
            message = f"a mask of {op.name} is pred, or has a layout beside its width, found {type_text(type_)}"
            ctx.report("vmi-mask-layout", op, message)


@checks(STRUCTURE, "pto.vmi.pset", "pto.vmi.pge")
def check_pattern(op: Operation, ctx: Context) -> None:
    """Checks patterns of logical predicates."""
    name = enumerator(op, "pattern")
    type_ = op.results[0].type
    if isinstance(op, VmiPsetOp):
        if name != "PAT_ALL":
            ctx.report("vmi-types", op, f"the pattern of pset is PAT_ALL, found {name}", at=name)
    elif not name.startswith("PAT_VL"):
        ctx.report("vmi-types", op, f"the pattern of pge is PAT_VL1 to PAT_VL128, found {name}", at=name)
    elif isinstance(type_, VmiMaskType) and int(name.removeprefix("PAT_VL")) > type_.lanes:
        ctx.report("vmi-types", op, f"{name} is more than the {type_.lanes} lanes of the mask", at=name)
