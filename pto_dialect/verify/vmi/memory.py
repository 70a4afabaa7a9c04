"""Rules of logical vectors in memory: the unified buffer, element types, distribution modes, groups."""

from __future__ import annotations

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, Signedness
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.type_facts import (
    element_type,
    enumerator,
    integer_attribute,
    space_of,
    vector_bits,
    vector_element,
)
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import VmiMaskType, VmiVRegType, element_name, type_text
from pto_dialect.ir.vmi.convert import VmiGroupBroadcastOp, VmiGroupIotaOp, VmiVBrcOp
from pto_dialect.ir.vmi.load import VmiGatherOp, VmiVGatherOp
from pto_dialect.ir.vmi.rearrange import VmiChannelSplitOp
from pto_dialect.ir.vmi.store import VmiGroupStoreOp, VmiVStoreOp
from pto_dialect.targets.vector_unit import VL_BYTES

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import LOCATIONS, STRUCTURE, TRIPLES
from .common import (
    layout_text,
    vectors,
    vmi,
)

_LOADS = vmi(
    "load deinterleave_load masked_load expand_load gather group_load group_broadcast_load group_slot_load stride_load "
    "vload vgather vgatherb"
)
_STORES = vmi(
    "store interleave_store masked_store compress_store scatter group_store stride_store vstore vsstb vscatter"
)


_MEMORY = {**dict.fromkeys(_LOADS, "source"), **dict.fromkeys(_STORES, "destination")}
"""The operand that points to the memory."""


@checks(LOCATIONS, *_MEMORY)
def check_memory(op: Operation, ctx: Context) -> None:
    """Checks memory space and element type of the memory."""
    assert isinstance(op, PtoOp)
    name = _MEMORY[op.name]
    pointer = named(op, name)
    space = space_of(pointer.type)
    if space is not None and space != "ub":
        ctx.report_memory("vmi-memory", op, name, pointer, space, "ub")
    element = element_type(pointer.type)
    moved = vectors(tuple(op.results if name == "source" else op.operands))
    if element is None or not moved or enumerator(op, "dist_mode") == "unpack":
        return
    type_ = moved[0].type
    assert isinstance(type_, VmiVRegType)
    if type_.element == element or _promoted(op, element, type_) or _packed(op, element, type_):
        return
    message = f"memory has {element_name(element)} elements, the vector {element_name(type_.element)}"
    ctx.report("vmi-memory", op, message, at=pointer)


def _promoted(op: Operation, memory: object, data: VmiVRegType) -> bool:
    """Returns whether a gather widens 8-bit integers to 16 bits."""
    if not isinstance(memory, IntegerType) or not isinstance(op, (VmiGatherOp, VmiVGatherOp)):
        return False
    return isinstance(data.element, IntegerType) and (memory.width.data, data.element.width.data) == (8, 16)


def _packed(op: Operation, memory: object, data: VmiVRegType) -> bool:
    """Returns whether bytes are stored from wider slots of groups."""
    grouped = isinstance(op, VmiGroupStoreOp) or (isinstance(op, VmiVStoreOp) and "group" in op.attributes)
    if not grouped or not isinstance(memory, IntegerType) or not isinstance(data.element, IntegerType):
        return False
    return memory.width.data == 8 and vector_bits(data) > 8


# ------------------------------------------------------------ offsets


@checks(TRIPLES, *vmi("gather vgather vgatherb scatter vscatter"))
def check_offsets(op: Operation, ctx: Context) -> None:
    """Checks the offsets of gathers and scatters."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    value = (groups.get("offsets") or groups["indices"])[0]
    element = value.type.element if isinstance(value.type, VmiVRegType) else None
    wide = element.width.data if isinstance(element, IntegerType) else 0
    signed = isinstance(element, IntegerType) and element.signedness.data is Signedness.SIGNED
    if wide not in (16, 32) or signed:
        message = f"offsets of {op.name} are unsigned integers of 16 or 32 bits, found {vector_element(value.type)}"
        ctx.report("vmi-types", op, message, at=value)
    elif wide == 16 and isinstance(op, (VmiGatherOp, VmiVGatherOp)) and vector_bits(op.results[0].type) != 16:
        message = f"16-bit offsets gather 16-bit lanes, found {vector_element(op.results[0].type)}"
        ctx.report("vmi-types", op, message, at=value)


# ------------------------------------------------------------ modes of vload and vstore


@checks(STRUCTURE, "pto.vmi.vload", "pto.vmi.vstore")
def check_modes(op: Operation, ctx: Context) -> None:
    """Checks that distribution, groups and block strides exclude each other."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    stores = isinstance(op, VmiVStoreOp)
    moved: tuple[SSAValue, ...] = groups["values"] if stores else tuple(op.results)
    dist, group = enumerator(op, "dist_mode"), integer_attribute(op, "group")
    block, repeat = groups["block_stride"], groups["repeat_stride"]
    stride = groups["stride"]
    if group is not None and dist and (stores or dist != "brc"):
        ctx.report("vmi-load-modes", op, f"group excludes dist_mode {dist}", at="dist_mode")
    if block and dist:
        ctx.report("vmi-load-modes", op, f"a block stride excludes dist_mode {dist}", at="dist_mode")
    if block and group is not None:
        ctx.report("vmi-load-modes", op, "a block stride excludes group", at="group")
    if repeat and not block:
        ctx.report("vmi-load-modes", op, "a repeat stride comes with a block stride", at=repeat[0])
    if group is not None and not stride and not block:
        ctx.report("vmi-load-modes", op, "group needs a stride between the groups", at="group")
    elif group is None and stride:
        ctx.report("vmi-load-modes", op, "a stride comes with group", at=stride[0])
    if stores and group is not None and groups["mask"]:
        ctx.report("vmi-load-modes", op, "a store of groups takes no mask", at=groups["mask"][0])
    wanted = 2 if dist == "dintlv" else 1
    if len(moved) != wanted:
        what = f"dist_mode {dist}" if dist else "group" if group is not None else "this form"
        ctx.report("vmi-load-modes", op, f"{what} moves {wanted} vectors, found {len(moved)}")
    elif wanted == 2 and moved[0].type != moved[1].type:
        found = f"{type_text(moved[0].type)} and {type_text(moved[1].type)}"
        ctx.report("vmi-uniform", op, f"the two vectors of {op.name} have one type, found {found}")
    if stores and enumerator(op, "pmode") == "merge":
        ctx.report("vmi-load-modes", op, "a store has no pmode merge", at="pmode")
    if group is not None and moved:
        _groups(op, ctx, moved[0].type, group, "group")


@checks(STRUCTURE, "pto.vmi.vsstb")
def check_store_mode(op: Operation, ctx: Context) -> None:
    """Checks that inactive blocks are not written."""
    if enumerator(op, "pmode") == "merge":
        ctx.report("vmi-load-modes", op, "a store has no pmode merge", at="pmode")


# ------------------------------------------------------------ groups

DOCUMENTED_GROUPS = (1, 2, 4, 8)


def _groups(op: Operation, ctx: Context, type_: object, count: int, name: str) -> bool:
    if count <= 0:
        ctx.report("vmi-group", op, f"the number of groups is positive, found {count}", at=name)
    elif isinstance(type_, VmiVRegType) and type_.lanes % count:
        ctx.report("vmi-group", op, f"{count} groups do not divide {type_.lanes} lanes", at=name)
    else:
        if count not in DOCUMENTED_GROUPS:
            message = f"1, 2, 4 and 8 groups are documented, found {count}"
            ctx.report("vmi-group", op, message, at=name, severity=Severity.WARNING)
        return True
    return False


_GROUPED = {
    **dict.fromkeys(vmi("group_load group_broadcast_load group_slot_load"), ("num_groups", None)),
    **dict.fromkeys(vmi("group_broadcast"), ("num_groups", None)),
    **dict.fromkeys(vmi("group_iota vci vbrc"), ("group", None)),
    **dict.fromkeys(vmi("vcadd vcmax vcmin"), ("group", "source")),
    **dict.fromkeys(vmi("group_reduce_addf group_reduce_addi group_reduce_maxf"), ("num_groups", "source")),
    **dict.fromkeys(vmi("group_reduce_maxi group_reduce_minf group_reduce_mini"), ("num_groups", "source")),
    "pto.vmi.group_store": ("num_groups", "value"),
}
"""The attribute that counts groups, and the vector that they divide (``None``: the result)."""

_PER_GROUP = dict.fromkeys(
    vmi(
        "group_slot_load vcadd vcmax vcmin group_reduce_addf group_reduce_addi group_reduce_maxf group_reduce_maxi "
        "group_reduce_minf group_reduce_mini"
    ),
    True,
)
"""Operations whose result has one lane for each group."""


@checks(STRUCTURE, *_GROUPED)
def check_groups(op: Operation, ctx: Context) -> None:
    """Checks the number of groups, and lanes of results per group."""
    name, divided = _GROUPED[op.name]
    count = integer_attribute(op, name)
    if count is None:
        return
    type_ = op.results[0].type if divided is None else named(op, divided).type
    if not _groups(op, ctx, type_, count, name):
        return
    if isinstance(op, VmiGroupIotaOp) and count == 1:
        ctx.report("vmi-group", op, "group_iota has more than one group", at=name)
    if _PER_GROUP.get(op.name):
        result = op.results[0].type
        assert isinstance(result, VmiVRegType)
        if result.lanes != count:
            ctx.report("vmi-group", op, f"{count} groups yield {count} lanes, found {result.lanes}")
    if isinstance(op, (VmiGroupBroadcastOp, VmiVBrcOp)):
        (spread,) = op.operands
        source = spread.type
        if not isinstance(source, VmiVRegType):
            ctx.report("vmi-group", op, f"{op.name} with groups spreads a vector, found {type_text(source)}")
        elif source.lanes != count:
            ctx.report("vmi-group", op, f"{count} groups come from {count} lanes, found {source.lanes}", at=spread)
        elif isinstance(op, VmiGroupBroadcastOp) and vector_element(source) != vector_element(type_):
            message = f"{op.name} of {vector_element(source)} yields that type"
            ctx.report("vmi-group", op, f"{message}, found {vector_element(type_)}", at=spread)


@checks(STRUCTURE, "pto.vmi.group_iota", "pto.vmi.vci")
def check_numbered_groups(op: Operation, ctx: Context) -> None:
    """Checks that each group fills whole registers, or registers hold a whole number of groups."""
    count, type_ = integer_attribute(op, "group"), op.results[0].type
    if not isinstance(type_, VmiVRegType) or count is None or count < 2 or type_.lanes % count:
        return
    size, register = type_.lanes // count, 8 * VL_BYTES // (vector_bits(type_) or 8)
    if size % register and register % size:
        message = f"a group has a multiple of {register} lanes, or a number that divides {register}, found {size}"
        ctx.report("vmi-group", op, message, at="group")


@checks(STRUCTURE, "pto.vmi.create_group_mask")
def check_group_mask(op: Operation, ctx: Context) -> None:
    """Checks that groups and lanes per group make the lanes of the mask."""
    count, size = integer_attribute(op, "num_groups"), integer_attribute(op, "group_size")
    type_ = op.results[0].type
    if count is None or size is None or not isinstance(type_, VmiMaskType):
        return
    if count <= 0 or size <= 0:
        ctx.report("vmi-group", op, f"groups and lanes of each are positive, found {count} and {size}")
    elif count * size != type_.lanes:
        ctx.report("vmi-group", op, f"{count} groups of {size} lanes make {count * size} lanes, found {type_.lanes}")


# ------------------------------------------------------------ rearrangement


@checks(STRUCTURE, "pto.vmi.shuffle")
def check_shuffle(op: Operation, ctx: Context) -> None:
    """Checks one lane index for each lane of the result, inside the source."""
    source, result = named(op, "source").type, op.results[0].type
    numbers = op.attributes.get("indices")
    if not isinstance(numbers, DenseArrayBase) or not isinstance(source, VmiVRegType):
        return
    if not isinstance(result, VmiVRegType):
        return
    given = [int(number) for number in numbers.get_values()]
    if len(given) != result.lanes:
        ctx.report("vmi-uniform", op, f"the result has {result.lanes} lanes, found {len(given)} lane numbers")
    wrong = next((number for number in given if not 0 <= number < source.lanes), None)
    if wrong is not None:
        ctx.report("vmi-uniform", op, f"the source has lanes 0 to {source.lanes - 1}, found {wrong}", at=str(wrong))
    if source.element != result.element:
        message = f"shuffle of {vector_element(source)} yields that type, found {vector_element(result)}"
        ctx.report("vmi-types", op, message, at=op.results[0])


@checks(STRUCTURE, "pto.vmi.channel_split", "pto.vmi.channel_merge")
def check_channels(op: Operation, ctx: Context) -> None:
    """Checks channels of one type that make up the whole."""
    splits = isinstance(op, VmiChannelSplitOp)
    whole = op.source.type if isinstance(op, VmiChannelSplitOp) else op.results[0].type
    parts = vectors(tuple(op.results if splits else op.operands))
    if len(parts) < 2:
        ctx.report("vmi-uniform", op, f"{op.name} has at least two channels, found {len(parts)}")
        return
    first = parts[0].type
    if any(part.type != first for part in parts):
        ctx.report("vmi-uniform", op, f"the channels of {op.name} have one type")
        return
    assert isinstance(whole, VmiVRegType)
    assert isinstance(first, VmiVRegType)
    if whole.lanes != first.lanes * len(parts) or whole.element != first.element:
        message = f"{len(parts)} channels of {type_text(first)} do not make {type_text(whole)}"
        ctx.report("vmi-uniform", op, message)


@checks(TRIPLES, "pto.vmi.vintlv", "pto.vmi.vdintlv")
def check_interleave(op: Operation, ctx: Context) -> None:
    """Checks for equal lanes and elements; layouts on all vectors or on none."""
    values = vectors((*op.operands, *op.results))
    first = values[0].type
    assert isinstance(first, VmiVRegType)
    for value in values[1:]:
        type_ = value.type
        assert isinstance(type_, VmiVRegType)
        if type_.lanes != first.lanes or type_.element != first.element:
            found = f"{type_text(first)} and {type_text(type_)}"
            ctx.report("vmi-uniform", op, f"the vectors of {op.name} have equal lanes and elements, found {found}")
            return
        if bool(layout_text(type_)) != bool(layout_text(first)):
            ctx.report("vmi-uniform", op, f"either all vectors of {op.name} have a layout or none")
            return
