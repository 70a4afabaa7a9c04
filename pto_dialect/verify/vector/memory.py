"""Rules of vector loads, stores, gathers, scatters and sorts in the unified buffer. Source:
docs/reference/constraints.md, "Vector registers"."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import element_type, enumerator, space_of, vector_bits, vector_element
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.remedies.statements import other_mask
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import I16, MaskType, PtrType, VRegType, bit_width, element_name, type_text
from pto_dialect.ir.vector.memory import SprstiOp, VLdusOp, VStsx2Op

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import LOCATIONS, SHAPES, STRUCTURE, TRIPLES
from .common import MASK_OF_BITS, mnemonics

# ------------------------------------------------------------ memory space

MEMORY: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(mnemonics("vlds vldsx2 vsldb uvld vldas vldus vgather2 vgather2_bc vgatherb"), ("source",)),
    **dict.fromkeys(mnemonics("plds pldi"), ("source",)),
    **dict.fromkeys(mnemonics("vsts vsstb vstsx2 vscatter vstas vstar psts psti sprsti sprsts"), ("destination",)),
    **dict.fromkeys(mnemonics("vstus vstur pstu"), ("base",)),
    "pto.vbitsort": ("destination", "source", "indices"),
    "pto.vmrgsort4": ("destination", "source0", "source1", "source2", "source3"),
}
"""Operands that are addresses."""


@checks(LOCATIONS, *MEMORY)
def check_in_ub(op: Operation, ctx: Context) -> None:
    """Checks the addresses of vector operations."""
    for name in MEMORY[op.name]:
        value = named(op, name)
        if isinstance(value.type, PtrType) and value.type.space == "ub":
            continue
        space = space_of(value.type)
        if space is not None and space != "ub":
            ctx.report_memory("vec-ub", op, name, value, space, "ub")


@checks(STRUCTURE, "pto.vsldb", "pto.vsstb")
def check_stride_types(op: Operation, ctx: Context) -> None:
    """Checks strides in blocks."""
    for name in ("block_stride", "repeat_stride"):
        value = named(op, name)
        if value.type != I16:
            ctx.report("vsldb-i16", op, f"{name} of {op.name} is i16, found {type_text(value.type)}", at=value)


_UPDATED = {
    **dict.fromkeys(mnemonics("vlds vsldb plds pldi vstus pstu"), 1),
    **dict.fromkeys(mnemonics("vsts vsstb vstas psts psti sprsti sprsts"), 0),
    "pto.vldsx2": 2,
    "pto.vldus": 2,
}
"""Position of the result that is the updated base."""


@checks(TRIPLES, *_UPDATED)
def check_updated_base(op: Operation, ctx: Context) -> None:
    """Checks the base after the access."""
    position = _UPDATED[op.name]
    results = op.results
    if isinstance(op, VLdusOp) and (len(results) > position) != (ctx.operand(op, "increment") is not None):
        ctx.report("vec-post-type", op, "vldus has an increment exactly when it yields the updated base")
    if len(results) <= position:
        return
    base = named(op, MEMORY[op.name][0]).type
    if results[position].type != base:
        found = type_text(results[position].type)
        ctx.report("vec-post-type", op, f"the updated base is {type_text(base)}, found {found}")


# ------------------------------------------------------------ elements and distributions

_LOAD_BITS = {
    "BRC_B8": (8,),
    "BRC_B16": (16,),
    "BRC_B32": (32,),
    "US_B8": (8,),
    "US_B16": (16,),
    "DS_B8": (8,),
    "DS_B16": (16,),
    "UNPK_B8": (8, 16),
    "UNPK_B16": (16, 32),
    "UNPK_B32": (32, 64),
    "UNPK4": (8, 32),
    "SPLT4CHN": (8,),
    "SPLT2CHN_B8": (8,),
    "SPLT2CHN_B16": (16,),
    "E2B_B16": (16,),
    "E2B_B32": (32,),
    "DINTLV_B8": (8,),
    "DINTLV_B16": (16,),
    "DINTLV_B32": (32,),
}
"""Widths of register elements that a load distribution supports."""

_STORE_BITS = {
    **{f"{kind}_B{bits}": bits for kind in ("NORM", "1PT", "INTLV") for bits in (8, 16, 32)},
}
"""Width of register elements that a store distribution supports."""

_CHANGES_WIDTH = ("UNPK", "PK", "SPLT", "MRG")


@checks(TRIPLES, *mnemonics("vlds vldsx2 vsldb vldus uvld"))
def check_load_elements(op: Operation, ctx: Context) -> None:
    """Checks elements in memory, elements in the register, and the distribution between them."""
    register = op.results[0].type
    bits = vector_bits(register)
    dist = enumerator(op, "dist") if op.attributes else ""
    if dist:
        allowed = _LOAD_BITS.get(dist)
        if allowed is not None and bits not in allowed:
            message = f"{dist} is meant for {' or '.join(map(str, allowed))}-bit elements"
            ctx.report("vlds-dist-width", op, f"{message}, found {vector_element(register)}", at="dist")
            return
    _same_element(op, ctx, register, dist)


@checks(TRIPLES, *mnemonics("vsts vstsx2 vsstb vstus vstur"))
def check_store_elements(op: Operation, ctx: Context) -> None:
    """Checks elements in the register, elements in memory, and the distribution between them."""
    value = named(op, "low" if isinstance(op, VStsx2Op) else "value").type
    bits = vector_bits(value)
    dist = enumerator(op, "dist") if op.attributes else ""
    if dist:
        if dist.startswith("MRG"):
            ctx.report("vsts-mrg-unsupported", op, f"no hardware stores with {dist}", at="dist")
        allowed = _STORE_BITS.get(dist)
        if allowed is not None and bits != allowed:
            message = f"{dist} is meant for {allowed}-bit elements, found {vector_element(value)}"
            ctx.report("vsts-dist", op, message, at=dist, severity=Severity.WARNING)
            return
    _same_element(op, ctx, value, dist)


def _same_element(op: Operation, ctx: Context, register: object, dist: str) -> None:
    address = named(op, MEMORY[op.name][0])
    memory = element_type(address.type)
    assert memory is not None
    assert isinstance(register, VRegType)
    if memory is register.element:
        return
    if memory != register.element and not dist.startswith(_CHANGES_WIDTH):
        message = f"memory has {element_name(memory)} elements, the register {element_name(register.element)}"
        ctx.report("vlds-elem", op, message, at=address)


# ------------------------------------------------------------ gathers and scatters


@checks(TRIPLES, "pto.vgather2")
def check_gather(op: Operation, ctx: Context) -> None:
    """Checks offsets and mask as wide as the lanes of the result."""
    result, offsets = op.results[0].type, named(op, "offsets").type
    bits = vector_bits(result)
    if bits not in (16, 32):
        message = f"vgather2 yields 16- or 32-bit lanes, found {vector_element(result)}"
        ctx.report("vgather-forms", op, message)
    elif _fitting_offsets(op, ctx, "vgather-forms", bits, bits):
        if vector_element(offsets).startswith("s"):
            message = f"offsets of vgather2 are unsigned, found {vector_element(offsets)}"
            ctx.report("vgather-forms", op, message, at=named(op, "offsets"))
        else:
            _check_mask(op, ctx, "vgather-forms", bits, bits)
    memory = element_type(named(op, "source").type)
    assert memory is not None
    assert isinstance(result, VRegType)
    if memory != result.element:
        widths = (bit_width(memory), bits)
        kinds = [name[0] for name in (element_name(memory).removeprefix("s"), vector_element(result).removeprefix("s"))]
        if widths not in ((bits, bits), (8, 16)) or kinds not in (["i", "i"], ["u", "u"]):
            message = f"vgather2 of {element_name(memory)} does not yield {vector_element(result)}"
            ctx.report("vgather-forms", op, message)


@checks(TRIPLES, "pto.vgather2_bc")
def check_gather_words(op: Operation, ctx: Context) -> None:
    """Checks 32-bit offsets, one for each lane."""
    offsets, result = named(op, "offsets").type, op.results[0].type
    if not _integers(offsets, 32):
        message = f"offsets of vgather2_bc are 32-bit integers, found {vector_element(offsets)}"
        ctx.report("vgather-forms", op, message, at=named(op, "offsets"))
    elif vector_bits(result) != 32:
        ctx.report("vgather-forms", op, f"vgather2_bc yields 32-bit lanes, found {vector_element(result)}")


@checks(TRIPLES, "pto.vgatherb")
def check_gather_blocks(op: Operation, ctx: Context) -> None:
    """Checks 32-bit offsets of blocks."""
    offsets, mask = named(op, "offsets").type, named(op, "mask").type
    if not _integers(offsets, 32):
        message = f"offsets of vgatherb are 32-bit integers, found {vector_element(offsets)}"
        ctx.report("vgatherb-b32", op, message, at=named(op, "offsets"))
    assert isinstance(mask, MaskType)
    if mask.granularity != "b32":
        ctx.report("vgatherb-b32", op, f"the mask of vgatherb is b32, found {mask.granularity}", at=named(op, "mask"))


@checks(TRIPLES, "pto.vscatter")
def check_scatter(op: Operation, ctx: Context) -> None:
    """Checks offsets and mask that fit the lanes."""
    value = named(op, "value").type
    bits = vector_bits(value)
    if bits not in (8, 16, 32):
        message = f"vscatter has 8-, 16- or 32-bit lanes, found {vector_element(value)}"
        ctx.report("vscatter-forms", op, message, at=named(op, "value"))
        return
    wide = max(bits, 16)
    _fitting_offsets(op, ctx, "vscatter-forms", bits, wide)
    _check_mask(op, ctx, "vscatter-forms", bits, wide)
    memory = element_type(named(op, "destination").type)
    assert memory is not None
    assert isinstance(value, VRegType)
    if memory != value.element:
        message = f"vscatter of {vector_element(value)} goes to memory of that type, found {element_name(memory)}"
        ctx.report("vscatter-forms", op, message, at=named(op, "destination"))


def _fitting_offsets(op: Operation, ctx: Context, wrong: str, bits: int, wide: int) -> bool:
    """Returns whether the offsets for lanes of ``bits`` are integers of ``wide`` bits."""
    offsets = named(op, "offsets")
    fits = _integers(offsets.type, wide)
    if not fits:
        name, found = op.name.removeprefix("pto."), vector_element(offsets.type)
        message = f"offsets of {name} for {bits}-bit lanes are {wide}-bit integers, found {found}"
        ctx.report(wrong, op, message, at=offsets)
    return fits


def _check_mask(op: Operation, ctx: Context, wrong: str, bits: int, wide: int) -> None:
    """Checks that the mask for lanes of ``bits`` is one of ``wide`` bits."""
    mask, wanted = named(op, "mask"), MASK_OF_BITS[wide]
    assert isinstance(mask.type, MaskType)
    if mask.type.granularity != wanted:
        name = op.name.removeprefix("pto.")
        message = f"the mask of {name} for {bits}-bit lanes is {wanted}, found {mask.type.granularity}"
        mended = (other_mask(f"!pto.mask<{wanted}>", type_text(mask.type)),)
        ctx.report(wrong, op, message, at=mask, remedies=mended)


def _integers(type_: object, bits: int) -> bool:
    assert isinstance(type_, VRegType)
    if not isinstance(type_.element, IntegerType):
        return False
    return type_.element.width.data == bits


# ------------------------------------------------------------ sorts and special registers


@checks(TRIPLES, "pto.vmrgsort4")
def check_merge_sort(op: Operation, ctx: Context) -> None:
    """Checks five pointers of one type."""
    first = named(op, "destination").type
    element = element_type(first)
    assert element is not None
    if element_name(element) not in ("f16", "f32"):
        ctx.report(
            "vms4-types", op, f"vmrgsort4 merges f16 or f32, found {element_name(element)}", at=named(op, "destination")
        )
    _, *lists = MEMORY[op.name]
    for value in (named(op, name) for name in lists):
        if value.type != first:
            found = type_text(value.type)
            message = f"the lists of vmrgsort4 have one type, found {type_text(first)} and {found}"
            ctx.report("vms4-types", op, message, at=value)


@checks(SHAPES, "pto.sprsti", "pto.sprsts")
def check_special_register_store(op: Operation, ctx: Context) -> None:
    """Checks the destination of the special register."""
    element = element_type(named(op, "destination").type)
    assert element is not None
    if element_name(element) not in ("ui32", "i32"):
        message = f"AR is stored as ui32 or i32, found {element_name(element)}"
        ctx.report("sprclr-ar", op, message, at=named(op, "destination"))
    offset = ctx.constant(named(op, "offset"))
    if isinstance(op, SprstiOp) and (offset is None or not -128 <= offset <= 127):
        found = "one that is computed" if offset is None else str(offset)
        message = f"the offset of sprsti is a constant from -128 to 127, found {found}"
        help = "use pto.sprsts" if offset is None else None
        ctx.report("sprclr-ar", op, message, at=named(op, "offset"), help=help)
