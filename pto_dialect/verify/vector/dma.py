"""Rules of the burst transfers: directions, element widths, padding, field widths, alignment.

Source: docs/reference/layouts.md, "Transfers".
"""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.addresses import address_of, describe_space, element_bytes
from pto_dialect.analysis.type_facts import element_type, space_of
from pto_dialect.diagnostics.remedies.order import swap_operands
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import type_text
from pto_dialect.targets.dma_units import (
    COUNT_BITS,
    GM_STRIDE_BITS,
    L2_HINT_LIMIT,
    LOCAL_ALIGNMENT,
    LOCAL_STRIDE_BITS,
    PAD_COUNT_BITS,
)
from pto_dialect.targets.transfer_memories import BURSTS, is_open

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.moves import transfer_between
from ..engine.rule import ERROR, LOCATIONS, SHAPES, STRUCTURE, TRIPLES, WARNING

_OPEN: dict[str, bool] = dict.fromkeys(
    ("pto.mte_gm_ub", "pto.mte_gm_l1", "pto.copy_gm_to_ubuf", "pto.copy_ubuf_to_gm"), True
)
"""Operations that also take memrefs without an address space."""

_EQUAL_WIDTH = (
    "pto.mte_gm_ub",
    "pto.mte_ub_gm",
    "pto.mte_gm_l1",
    "pto.mte_gm_l1_frac",
    "pto.mte_l1_ub",
    "pto.copy_gm_to_ubuf",
    "pto.copy_ubuf_to_gm",
    "pto.copy_cbuf_to_ubuf",
)
_LOOPED = ("pto.mte_gm_ub", "pto.mte_ub_gm", "pto.mte_gm_l1", "pto.mte_l1_ub")
_BYTEWISE: dict[str, bool] = dict.fromkeys(
    ("pto.mte_gm_ub", "pto.mte_ub_gm", "pto.mte_gm_l1", "pto.copy_gm_to_ubuf", "pto.copy_ubuf_to_gm"), True
)
"""Operations whose fields count bytes."""
_BURSTS = (*(name for name in BURSTS if "multi" not in name), "pto.mte_l1_bt", "pto.mte_l1_fb")
_PAD_TYPES = frozenset(("i8", "i16", "i32", "f16", "bf16", "f32"))

_SRC_STRIDES = ("nburst_src_stride", "gm_stride", "burst_src_stride")
_DST_STRIDES = ("nburst_dst_stride", "ub_stride", "burst_dst_stride")
"""Names of the strides of operations that count in bytes."""
_PADS = ("left_padding_count", "right_padding_count")
_HINTS = ("l2_cache_ctl", "l2_cache_ctrl")

Groups = dict[str, tuple[SSAValue, ...]]


def _groups(op: Operation) -> Groups:
    assert isinstance(op, PtoOp)
    return operand_groups(op)


@checks(STRUCTURE, *_LOOPED)
def check_loops(op: Operation, ctx: Context) -> None:
    """Checks for complete loop groups and padding; the parser ensures them in the custom form."""
    groups = ctx.facts(op, _groups)
    counts = [len(groups[name]) for name in ("loop_counts", "loop_src_strides", "loop_dst_strides")]
    if len(set(counts)) > 1:
        found = f"{counts[0]} loop counts, {counts[1]} source strides and {counts[2]} destination strides"
        message = f"{op.name} has {found}"
        ctx.report("dma-loop-triple", op, message)
    if "pad_value" not in groups:
        return
    value, left, right = (groups[name] for name in ("pad_value", *_PADS))
    if len(left) != len(right) or (left and not value):
        ctx.report(
            "dma-pad-group", op, "pad takes a value, or a value and two counts", help="pad(%value, %left, %right)"
        )
    elif value and type_text(value[0].type) not in _PAD_TYPES:
        message = f"the pad value must be i8, i16, i32, f16, bf16 or f32, found {type_text(value[0].type)}"
        ctx.report("dma-pad-group", op, message, at=value[0])


@checks(LOCATIONS, *BURSTS)
def check_direction(op: Operation, ctx: Context) -> None:
    """Checks the memory spaces of source and destination."""
    wanted = BURSTS[op.name]
    given = (space_of(named(op, "source").type), space_of(named(op, "destination").type))
    if given == wanted[::-1] and given != wanted:
        message = f"source and destination of {op.name} are swapped: it goes from {' to '.join(wanted)}"
        help = "swap them, or use the transfer the other way"
        ctx.report("dma-direction", op, message, at=named(op, "source"), help=help, remedies=(swap_operands(True),))
        return
    other = transfer_between(*given)
    help = f"{other} copies from {given[0]} to {given[1]}" if other else None
    for name, space, found in zip(wanted._fields, wanted, given, strict=True):
        if found != space and (found is not None or not _OPEN.get(op.name)):
            value = named(op, name)
            described, severity = describe_space(value.type), WARNING if is_open(op.name, name, found) else ERROR
            ctx.report_memory("dma-direction", op, name, value, described, space, help=help, severity=severity)


@checks(TRIPLES, *_EQUAL_WIDTH)
def check_elements(op: Operation, ctx: Context) -> None:
    """Checks the element widths of source and destination."""
    source, destination = named(op, "source"), named(op, "destination")
    width = element_bytes(source.type)
    if width is None or element_bytes(destination.type) != width:
        message = f"{op.name} copies elements of equal width, found {_element(source)} and {_element(destination)}"
        ctx.report("dma-elem-width", op, message, at=destination)


def _element(value: SSAValue) -> str:
    element = element_type(value.type)
    return type_text(element) if element is not None else type_text(value.type)


@checks(TRIPLES, "pto.mte_gm_ub")
def check_pad_width(op: Operation, ctx: Context) -> None:
    """Checks the width of the pad value."""
    value = ctx.facts(op, _groups)["pad_value"]
    if value:
        found = type_text(value[0].type)
        bits = int("".join(c for c in found if c.isdigit()))
        destination = named(op, "destination")
        width = element_bytes(destination.type)
        if width is not None and bits != width * 8:
            message = f"the pad value is {found}, but the elements are {_element(destination)}"
            ctx.report("dma-pad-type", op, message, at=value[0])


@checks(SHAPES, *_BURSTS)
def check_fields(op: Operation, ctx: Context) -> None:
    """Checks constants against the fields that hold them."""
    groups = ctx.facts(op, _groups)
    bytewise = _BYTEWISE.get(op.name, False)
    _limit(op, ctx, "len_burst", groups["len_burst"], None)
    _limit(op, ctx, "the burst count", groups["n_burst"], COUNT_BITS)
    for value in groups.get("loop_counts", ()):
        _limit(op, ctx, "the loop count", (value,), COUNT_BITS)
    for name in _PADS:
        _limit(op, ctx, name, groups.get(name, ()), PAD_COUNT_BITS)
    if bytewise:
        source, destination = BURSTS[op.name]
        for names, loop, space in (
            (_SRC_STRIDES, "loop_src_strides", source),
            (_DST_STRIDES, "loop_dst_strides", destination),
        ):
            bits = GM_STRIDE_BITS if space == "gm" else LOCAL_STRIDE_BITS
            strides = [v for name in (*names, loop) for v in groups.get(name, ())]
            for value in strides:
                _limit_stride(op, ctx, value, bits)
    for name in _HINTS:
        for value in groups.get(name, ()):
            hint(op, ctx, value)
    if not ctx.failed:
        _check_destination(op, ctx, groups, bytewise)


def _limit(op: Operation, ctx: Context, name: str, values: tuple[SSAValue, ...], bits: int | None) -> None:
    for value in values:
        number = ctx.constant(value)
        if number is None:
            continue
        if number < 0:
            ctx.report("dma-nonneg", op, f"{name} of {op.name} must not be negative, found {number}", at=value)
        elif bits is not None and number >> bits:
            message = f"{name} of {op.name} is held in {bits} bits, found {number}"
            ctx.report("dma-nonneg", op, message, at=value, severity=WARNING)


def _limit_stride(op: Operation, ctx: Context, value: SSAValue, bits: int) -> None:
    number = ctx.constant(value)
    if number is not None and not 0 <= number < 1 << bits:
        message = f"this stride of {op.name} is held in {bits} bits, found {number}"
        ctx.report("dma-nonneg", op, message, at=value, severity=WARNING)


def hint(op: Operation, ctx: Context, value: SSAValue) -> None:
    """Checks a cache hint."""
    number = ctx.constant(value)
    if number is not None and not 0 <= number <= L2_HINT_LIMIT:
        ctx.report("dma-l2-ctl", op, f"the L2 cache hint must be 0 to {L2_HINT_LIMIT}, found {number}", at=value)


@checks(SHAPES, "pto.mte_gm_l1_frac", "pto.copy_gm_to_cbuf_multi_nd2nz", "pto.copy_gm_to_cbuf_multi_dn2nz")
def check_fractal_load(op: Operation, ctx: Context) -> None:
    """Checks hint and destination address of the fractal loads."""
    for value in ctx.facts(op, _groups)["l2_cache_ctrl"]:
        hint(op, ctx, value)
    _check_address(op, ctx)


def _check_destination(op: Operation, ctx: Context, groups: Groups, bytewise: bool) -> None:
    """Checks alignment and overlap of the destination bursts."""
    if space_of(named(op, "destination").type) in ("ub", "l1"):
        _check_address(op, ctx)
    if not bytewise:
        return
    count, length = ctx.constant(groups["n_burst"][0]), ctx.constant(groups["len_burst"][0])
    local = BURSTS[op.name][1] != "gm"
    stride_value = next(groups[name][0] for name in _DST_STRIDES if name in groups)
    stride = ctx.constant(stride_value)
    if count is not None and count > 1 and stride is not None:
        if local and stride % LOCAL_ALIGNMENT:
            _misaligned(op, ctx, stride_value, stride)
        elif length is not None and stride < length:
            message = f"bursts of {length} bytes are written every {stride} bytes and overlap"
            ctx.report("dma-overlap", op, message, at=stride_value)
    if local:
        pairs = zip(groups.get("loop_counts", ()), groups.get("loop_dst_strides", ()), strict=False)
        for loop_count, value in pairs:
            repeats, number = ctx.constant(loop_count), ctx.constant(value)
            if repeats is not None and repeats > 1 and number is not None and number % LOCAL_ALIGNMENT:
                _misaligned(op, ctx, value, number)


def _misaligned(op: Operation, ctx: Context, value: SSAValue, stride: int) -> None:
    message = f"a destination stride of {op.name} must be a multiple of {LOCAL_ALIGNMENT} bytes, found {stride}"
    ctx.report("dma-dst-align", op, message, at=value, help=f"{-(-stride // LOCAL_ALIGNMENT) * LOCAL_ALIGNMENT}")


def _check_address(op: Operation, ctx: Context) -> None:
    destination = named(op, "destination")
    address = address_of(destination)
    if address is not None and address % LOCAL_ALIGNMENT:
        message = f"the destination of {op.name} must be at a multiple of {LOCAL_ALIGNMENT} bytes, found {address}"
        ctx.report("dma-dst-align", op, message, at=destination)
