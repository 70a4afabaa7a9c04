"""Rules of the loads from L1 into L0A and L0B: memories, element widths, start positions, fractal windows.

Source: docs/reference/layouts.md, "Loads into L0".
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.addresses import address_of, describe_space, element_bits, element_bytes
from pto_dialect.analysis.type_facts import element_type, space_of
from pto_dialect.diagnostics.remedies.order import other_operation, swap_operands
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import F4E1M2x2Type, F4E2M1x2Type, type_text
from pto_dialect.ir.cube.mte import MteL1L0aMxOp, MteL1L0bMxOp, MteL1L0bOp
from pto_dialect.ir.cube.mte_raw import FractalCopyOp, Int4FractalCopyOp
from pto_dialect.targets.matmul_types import EXTENT_RANGE

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import LOCATIONS, SHAPES, STRUCTURE, TRIPLES

_LOADS = {"pto.mte_l1_l0a": "l0a", "pto.mte_l1_l0b": "l0b"}
_MX_LOADS = {"pto.mte_l1_l0a_mx": "l0a", "pto.mte_l1_l0b_mx": "l0b"}
_RAW_LOADS = {"pto.load_cbuf_to_ca": "l0a", "pto.load_cbuf_to_cb": "l0b"}
_RAW_S4_LOADS = {"pto.load_cbuf_to_ca_s4": "l0a", "pto.load_cbuf_to_cb_s4": "l0b"}
_RAW_MX_LOADS = {"pto.load_cbuf_to_ca_mx": "l0a", "pto.load_cbuf_to_cb_mx": "l0b"}
_ALL = {**_LOADS, **_MX_LOADS, **_RAW_LOADS, **_RAW_S4_LOADS, **_RAW_MX_LOADS}
_SCALES = {**dict.fromkeys(_ALL, False), **dict.fromkeys((*_MX_LOADS, *_RAW_MX_LOADS), True)}

_WINDOW_LIMITS = ((0, 65535), (0, 65535), (1, 255), (1, 255), (1, 65535), (1, 65535))
"""Inclusive ranges of the controls of a window: two start positions, two steps, source and destination stride."""
_WINDOW_NAMES = ("m_start", "k_start", "m_step", "k_step", "src_stride", "dst_stride")
_MX_SOURCE_ALIGNMENT, _MX_DESTINATION_ALIGNMENT = 32, 16
_TRANSPOSE_COLUMNS = 32
_PACKED_FP4 = (F4E1M2x2Type, F4E2M1x2Type)

Controls = list[tuple[str, SSAValue]]


def _controls(op: Operation) -> Controls:
    """Returns the control operands in declared order with their names."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    _, _, *names = groups
    return [(name, groups[name][0]) for name in names if groups[name]]


@checks(STRUCTURE, *_LOADS, *_MX_LOADS)
def check_forms(op: Operation, ctx: Context) -> None:
    """Checks that the operands are one of the three forms, complete and not mixed with another."""
    assert isinstance(op, PtoOp)
    _, _, *declared = operand_groups(op)
    given = [name for name, _ in ctx.facts(op, _controls)]
    if given not in (declared[:2], declared[:4], declared[4:]):
        sizes = ", ".join(declared[:2])
        message = f"{op.name} takes {sizes} and optionally a start, or a window, found {', '.join(given)}"
        help = f"{', '.join(declared[:4])}, or {', '.join(declared[4:])}"
        ctx.report("l1l0-operand-count", op, message, help=help)


@checks(STRUCTURE, "pto.load_cbuf_to_ca_mx")
def check_scale_controls(op: Operation, ctx: Context) -> None:
    """Checks the number of controls of a scale load: m and k, or a window."""
    found = len(op.operands) - 2
    if found not in (2, 6):
        ctx.report(
            "l1l0-operand-count",
            op,
            f"{op.name} takes m and k or the 6 controls of a window, found {found} controls",
        )


@checks(LOCATIONS, *_ALL)
def check_memories(op: Operation, ctx: Context) -> None:
    """Checks the memory spaces of source and destination."""
    source, destination = named(op, "source"), named(op, "destination")
    scales = _SCALES[op.name]
    if space_of(source.type) != "l1":
        rule, found = "l1l0-mx-spaces" if scales else "l1l0-src-space", describe_space(source.type)
        ctx.report_memory(rule, op, "source", source, found, "l1", remedies=(swap_operands(True),))
    wanted = _ALL[op.name]
    if space_of(destination.type) != wanted:
        found = space_of(destination.type)
        other = next((name for name, space in _ALL.items() if (space, _twin(name)) == (found, _twin(op.name))), None)
        mended = (other_operation(other, False),) if other is not None else ()
        rule, found = "l1l0-mx-spaces" if scales else "l1l0-dst-space", describe_space(destination.type)
        ctx.report_memory(rule, op, "destination", destination, found, wanted, remedies=mended)


def _twin(name: str) -> str:
    """Returns the name of a load without the operand that it fills."""
    return name.replace("l0a", "l0").replace("l0b", "l0").replace("_ca", "_c").replace("_cb", "_c")


@checks(TRIPLES, *_ALL)
def check_elements(op: Operation, ctx: Context) -> None:
    """Checks element widths, and which loads move packed 4-bit elements."""
    source, destination = named(op, "source"), named(op, "destination")
    width, written = element_bytes(source.type), element_bytes(destination.type)
    if width is None or written != width:
        message = f"{op.name} copies elements of equal width, found {_element(source)} and {_element(destination)}"
        ctx.report("l1l0-elem-width", op, message, at=destination)
        return
    kind = element_type(source.type)
    if isinstance(op, Int4FractalCopyOp):
        if element_bits(source.type) != 4 or kind != element_type(destination.type):
            found = f"{_element(source)} and {_element(destination)}"
            message = f"{op.name} moves 4-bit elements of one type, found {found}"
            ctx.report("l1l0-packed-4bit", op, message, at=source)
    elif isinstance(op, FractalCopyOp):
        for value in (source, destination):
            kind = element_type(value.type)
            if isinstance(kind, _PACKED_FP4):
                message = f"{op.name} does not move packed 4-bit floats, found {_element(value)}"
                wanted = f"{op.name}_s4"
                fixed = (other_operation(wanted, True),)
                ctx.report("l1l0-packed-4bit", op, message, at=value, help=f"use {wanted}", remedies=fixed)
                return


def _element(value: SSAValue) -> str:
    element = element_type(value.type)
    return type_text(element) if element is not None else type_text(value.type)


@checks(SHAPES, *_LOADS, *_MX_LOADS)
def check_extents(op: Operation, ctx: Context) -> None:
    """Checks sizes, start positions and windows."""
    controls = ctx.facts(op, _controls)
    if len(controls) == 6:
        _check_window(op, ctx, controls, scales=_SCALES[op.name])
    else:
        _check_sizes(op, ctx, controls)
    if _SCALES[op.name]:
        _check_alignment(op, ctx)


def _check_sizes(op: Operation, ctx: Context, controls: Controls) -> None:
    low, high = EXTENT_RANGE
    for name, value in controls[:2]:
        size = ctx.constant(value)
        if size is not None and not low <= size <= high:
            ctx.report("l1l0-extent", op, f"{name} of {op.name} must be {low} to {high}, found {size}", at=value)
    moved: list[str] = []
    for name, value in controls[2:]:
        start = ctx.constant(value)
        if start is not None and start < 0:
            ctx.report("l1l0-start-nonneg", op, f"{name} of {op.name} must not be negative, found {start}", at=value)
        elif start:
            moved.append(f"{name} {start}")
    if moved and not ctx.failed:
        message = f"{' and '.join(moved)} of {op.name} counts fractals of 16 rows and 32 bytes, not elements"
        ctx.report("l1l0-start-nonzero", op, message, at=controls[2][1])
    if isinstance(op, MteL1L0bOp) and element_bits(op.source.type) == 8 and _is_transposed(op):
        columns = ctx.constant(controls[1][1])
        if columns is not None and columns % _TRANSPOSE_COLUMNS:
            message = f"n is {columns}: columns are packed to a multiple of 16, not of {_TRANSPOSE_COLUMNS}"
            ctx.report("l1l0-transpose-8bit", op, message, at=controls[1][1])


def _is_transposed(op: Operation) -> bool:
    value = op.attributes.get("transpose")
    return isinstance(value, IntegerAttr) and value.value.data != 0


def _check_window(op: Operation, ctx: Context, controls: Controls, *, scales: bool) -> None:
    for (name, value), (low, high) in zip(controls, _WINDOW_LIMITS, strict=True):
        number = ctx.constant(value)
        if number is None:
            continue
        if scales:
            if number < 0 and (name.endswith("start") or isinstance(op, (MteL1L0aMxOp, MteL1L0bMxOp))):
                message = f"{name} of {op.name} must not be negative, found {number}"
                ctx.report("l1l0-start-nonneg", op, message, at=value)
        elif not low <= number <= high:
            ctx.report("l1l0-raw-range", op, f"{name} of {op.name} must be {low} to {high}, found {number}", at=value)


def _check_alignment(op: Operation, ctx: Context) -> None:
    ends = (
        (named(op, "source"), "source", _MX_SOURCE_ALIGNMENT),
        (named(op, "destination"), "destination", _MX_DESTINATION_ALIGNMENT),
    )
    for value, name, unit in ends:
        address = address_of(value)
        if address is not None and address % unit:
            message = f"{name} of {op.name} is at byte {address}, which is no multiple of {unit}"
            ctx.report("l1l0-mx-align", op, message, at=value)


@checks(SHAPES, *_RAW_LOADS, *_RAW_S4_LOADS, *_RAW_MX_LOADS)
def check_windows(op: Operation, ctx: Context) -> None:
    """Checks the ranges of the controls that the hardware encodes."""
    scales = _SCALES[op.name]
    _, _, *controls = op.operands
    if len(controls) >= len(_WINDOW_NAMES):
        names = ("x_start", "y_start", "x_step", "y_step", *_WINDOW_NAMES[4:]) if scales else _WINDOW_NAMES
        _check_window(op, ctx, list(zip(names, controls, strict=False)), scales=scales)
    if isinstance(op, Int4FractalCopyOp):
        transpose = op.transpose
        number = ctx.constant(transpose)
        if number is not None and number not in (0, 1):
            ctx.report("l1l0-raw-transpose", op, f"transpose of {op.name} must be 0 or 1, found {number}", at=transpose)
    if scales:
        _check_alignment(op, ctx)
