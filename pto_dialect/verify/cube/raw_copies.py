"""Rules of transfers in hardware encoding: packed configuration words, fills of L1.

Source: docs/reference/execution.md, "Control words".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.addresses import address_of, describe_space
from pto_dialect.analysis.type_facts import element_type, space_of
from pto_dialect.diagnostics.remedies.types import nearest_number
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import type_text
from pto_dialect.ir.cube.mte_raw import CreateCbufMatrixOp, RawFillL1Op
from pto_dialect.targets.dma_units import LOCAL_ALIGNMENT

from ..engine.checks import checks
from ..engine.context import Context, element_of
from ..engine.rule import LOCATIONS, SHAPES, TRIPLES


class Field(NamedTuple):
    """Bits ``low`` to ``high`` of a configuration word and the modelled values (``None``: all)."""

    name: str
    low: int
    high: int
    values: tuple[int, ...] | None = None


_COMMON: tuple[Field, ...] = (
    Field("source stride", 0, 15),
    Field("quantisation mode bit 5", 29, 29),
    Field("clip enable", 30, 31),
    Field("unit flag", 32, 33, (0, 2, 3)),
    Field("quantisation mode bits 0 to 4", 34, 38),
    Field("relu mode", 39, 41, (0, 1, 2, 3)),
    Field("channel split", 42, 42),
    Field("nz2nd", 43, 43),
    Field("nz2dn", 62, 62),
)
_L1_AND_GM = (*_COMMON, Field("L2 control", 16, 19))
_UB = (*_COMMON, Field("destination mode", 16, 17, (0, 1, 2)), Field("sub-block", 18, 18))
_SECOND_WORD = {
    "pto.copy_matrix_cc_to_cbuf": _L1_AND_GM,
    "pto.copy_matrix_cc_to_gm": _L1_AND_GM,
    "pto.copy_matrix_cc_to_ub": _UB,
}
_SECOND_WORD_OPERAND = {**dict.fromkeys(_SECOND_WORD, "config1"), "pto.copy_matrix_cc_to_gm": "xt"}
_FILL_LIMIT = 32767
_FILLS = ("pto.create_cbuf_matrix", "pto.raw_fill_l1")
_FILL_COUNTS = ("repeat_times", "block_num_32b", "dst_gap_32b")


@checks(SHAPES, *_SECOND_WORD)
def check_packed_word(op: Operation, ctx: Context) -> None:
    """Checks the fields of the second word; every bit of the first word belongs to a field."""
    value = named(op, _SECOND_WORD_OPERAND[op.name])
    number = ctx.constant(value)
    if number is None:
        return
    rest = number & 0xFFFF_FFFF_FFFF_FFFF
    for field in _SECOND_WORD[op.name]:
        mask = (1 << field.high - field.low + 1) - 1
        found = rest >> field.low & mask
        rest &= ~(mask << field.low)
        if field.values is not None and found not in field.values:
            message = f"{field.name} of {op.name} is {found}, which is not modelled"
            ctx.report("raw-copy-params", op, message, at=value)
    if rest:
        bits = ", ".join(str(i) for i in range(64) if rest >> i & 1)
        ctx.report("raw-copy-params", op, f"bits {bits} of the second word of {op.name} are not modelled", at=value)


@checks(SHAPES, "pto.copy_cbuf_to_bt")
def check_bias_conversion(op: Operation, ctx: Context) -> None:
    """Checks the conversion flag against the element types: 1 converts f16 to f32."""
    value = named(op, "conv_control")
    flag = ctx.constant(value)
    source, destination = element_of(named(op, "source").type), element_of(named(op, "destination").type)
    if flag is not None and bool(flag) != ((source, destination) == ("f16", "f32")):
        action = "converts f16 to f32" if flag else "copies bytes"
        message = f"conv_control {action}, but the elements are {source} and {destination}"
        ctx.report("raw-copy-params", op, message, at=value)


@checks(LOCATIONS, *_FILLS)
def check_fill_memory(op: Operation, ctx: Context) -> None:
    """Checks the memory space of a fill."""
    destination = named(op, "dst")
    if space_of(destination.type) != "l1":
        ctx.report_memory("dma-direction", op, "destination", destination, describe_space(destination.type), "l1")


@checks(TRIPLES, *_FILLS)
def check_fill_word(op: Operation, ctx: Context) -> None:
    """Checks the width of the fill value."""
    given = op.attributes.get("fill_word_bits")
    bits = given.value.data if isinstance(given, IntegerAttr) else 0
    destination = named(op, "dst")
    element = element_type(destination.type)
    if bits not in (16, 32):
        message, mended = f"fill_word_bits must be 16 or 32, found {bits}", (nearest_number(bits, "16", "32"),)
        ctx.report("l1-fill-word", op, message, at="fill_word_bits", remedies=mended)
    elif isinstance(op, CreateCbufMatrixOp) and element is not None and type_text(element) != f"ui{bits}":
        message = f"{op.name} fills ui{bits} elements, found {type_text(element)}"
        ctx.report("l1-fill-word", op, message, at=destination)


@checks(SHAPES, *_FILLS)
def check_fill_extents(op: Operation, ctx: Context) -> None:
    """Checks the counts and the start of a fill."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    for name in _FILL_COUNTS:
        value = groups[name][0]
        number = ctx.constant(value)
        if number is not None and not 0 <= number <= _FILL_LIMIT:
            message = f"{name} of {op.name} must be 0 to {_FILL_LIMIT}, found {number}"
            ctx.report("l1-fill-range", op, message, at=value)
    if isinstance(op, RawFillL1Op):
        _check_offset(op, ctx, groups["byte_offset"][0])
    address = address_of(named(op, "dst"))
    if address is not None and address % LOCAL_ALIGNMENT:
        message = f"the destination of {op.name} must be at a multiple of {LOCAL_ALIGNMENT} bytes, found {address}"
        ctx.report("dma-dst-align", op, message, at=named(op, "dst"))


def _check_offset(op: Operation, ctx: Context, value: SSAValue) -> None:
    offset = ctx.constant(value)
    if offset is None:
        return
    if offset < 0:
        ctx.report("l1-fill-range", op, f"byte_offset of {op.name} must not be negative, found {offset}", at=value)
    elif offset % LOCAL_ALIGNMENT:
        message = f"byte_offset of {op.name} must be a multiple of {LOCAL_ALIGNMENT}, found {offset}"
        ctx.report("dma-dst-align", op, message, at=value)
