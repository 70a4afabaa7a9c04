"""Rules of vector operations: registers of one type, and masks of the granularity of the register they govern."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, OpResult, SSAValue

from pto_dialect.analysis.type_facts import enumerator, vector_bits, vector_element
from pto_dialect.diagnostics.remedies.statements import other_mask
from pto_dialect.ir.core.base import signature
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import MaskType, VRegType, type_text

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import TRIPLES


def mnemonics(stem: str) -> tuple[str, ...]:
    """Returns operation names from a blank-separated list without the ``pto.`` prefix."""
    return tuple(f"pto.{name}" for name in stem.split())


# ------------------------------------------------------------ one type

UNARY = mnemonics("vabs vneg vexp vln vsqrt vnot vrelu vsqz vusqz vcmax vcmin vcgadd vcgmax vcgmin vcpadd")
BINARY = mnemonics("vadd vsub vmul vdiv vmax vmin vand vor vxor vprelu")
SCALAR = mnemonics("vadds vmuls vmaxs vmins vlrelu vshls vshrs")
CARRY = mnemonics("vaddc vsubc")
CARRY_CHAIN = mnemonics("vaddcs vsubcs")

SAME: dict[str, int] = {
    **dict.fromkeys(UNARY + SCALAR + mnemonics("vtrc vcbmax vcbmin vselr vselrv2 vshl vshr"), 1),
    **dict.fromkeys(BINARY + CARRY + CARRY_CHAIN, 2),
    **dict.fromkeys(mnemonics("vintlv vdintlv vintlvv2 vdintlvv2 vmull vaxpy vsel vcmp vaddreluconv vmulconv"), 2),
    **dict.fromkeys(mnemonics("vmula vmadd"), 3),
    "pto.vstsx2": 2,
    "pto.vldsx2": 0,
}
"""Number of leading operands that share one register type with each other and with the register results."""

_FREE_RESULT: dict[str, Sequence[OpResult]] = dict.fromkeys(mnemonics("vcmp vaddreluconv vmulconv"), ())
"""Operations whose result has a type of its own."""


@checks(TRIPLES, *SAME)
def check_one_type(op: Operation, ctx: Context) -> None:
    """Checks operands and results that must have one register type."""
    operands = list(zip(signature(type(op)).operands, op.operands, strict=False))[: SAME[op.name]]
    results = _FREE_RESULT.get(op.name, op.results)
    wanted = (operands[0][1] if operands else results[0]).type
    for slot, value in operands:
        if value.type != wanted:
            first, _ = operands[0]
            found = type_text(value.type)
            message = f"{first.name} and {slot.name} of {op.name} have one type, found {type_text(wanted)} and {found}"
            ctx.report("vec-shape", op, message, at=value)
    for result in results:
        if isinstance(result.type, VRegType) and result.type != wanted:
            message = f"the result of {op.name} is {type_text(wanted)}, found {type_text(result.type)}"
            ctx.report("vec-shape", op, message)


_LANES = {
    **dict.fromkeys(mnemonics("vselr vselrv2"), ("src0", "src1")),
    **dict.fromkeys(mnemonics("vshl vshr"), ("lhs", "rhs")),
}
"""Operands with the data, and with an integer for each lane."""


@checks(TRIPLES, *_LANES)
def check_lane_numbers(op: Operation, ctx: Context) -> None:
    """Checks a second register of integers as wide as the lanes of the first."""
    first, name = _LANES[op.name]
    at = named(op, name)
    data, numbers = named(op, first).type, at.type
    element = vector_element(numbers)
    if "i" not in element[:2] or "hif" in element:
        ctx.report("vec-shape", op, f"{name} of {op.name} holds integers, found {element}", at=at)
    elif vector_bits(data) != vector_bits(numbers):
        message = f"{name} of {op.name} has {vector_bits(data)}-bit elements, found {element}"
        ctx.report("vec-shape", op, message, at=at)


# ------------------------------------------------------------ granularity of masks

GOVERNED: dict[str, bool] = {
    **dict.fromkeys(UNARY + mnemonics("vcadd vtrc vcvt vcbmax vcbmin"), True),
    **dict.fromkeys(BINARY + SCALAR + CARRY + mnemonics("vshl vshr vsel vcmp vcmps vmull vexpdif vmulscvt"), True),
    **dict.fromkeys(CARRY_CHAIN + mnemonics("vmula vmadd vaxpy vsts vstsx2"), True),
    **dict.fromkeys(mnemonics("vgather2_bc vdup"), False),
}
"""Whether the operand ``mask`` governs the first operand; otherwise it governs the result.

The mask of ``vsldb`` and ``vsstb`` chooses blocks, not elements, so it may have any granularity.
"""

MASK_OF_BITS = {8: "b8", 16: "b16", 32: "b32", 64: "b32"}
"""Granularity of the mask by element width in bits."""

STORE_MASK = {
    "MRG4CHN_B8": "b32",
    "MRG2CHN_B8": "b16",
    "MRG2CHN_B16": "b32",
    "PK_B16": "b16",
    "PK_B32": "b32",
    "PK_B64": "b32",
    "PK4_B32": "b32",
}
"""Granularity that a store distribution fixes, whatever the elements are."""
_DISTRIBUTED = {"pto.vsts": STORE_MASK}
"""Operations whose mask follows their distribution."""


@checks(TRIPLES, *GOVERNED)
def check_granularity(op: Operation, ctx: Context) -> None:
    """Checks the governing mask, and masks that an operation makes."""
    first, *_ = op.operands
    governed: SSAValue = first if GOVERNED[op.name] else op.results[0]
    wanted = MASK_OF_BITS.get(vector_bits(governed.type))
    if op.attributes:
        wanted = _DISTRIBUTED.get(op.name, {}).get(enumerator(op, "dist"), wanted)
    if wanted is None:
        return
    mask = named(op, "mask")
    assert isinstance(mask.type, MaskType)
    if mask.type.granularity != wanted:
        _report(op, ctx, mask, mask.type, wanted, governed)
    carry = ctx.operand(op, "carry_in")
    if carry is not None and isinstance(carry.type, MaskType) and carry.type.granularity != wanted:
        _report(op, ctx, carry, carry.type, wanted, governed)
    for result in op.results:
        if isinstance(result.type, MaskType) and result.type.granularity != wanted:
            message = f"the mask that {op.name} makes of {type_text(governed.type)} is !pto.mask<{wanted}>"
            ctx.report("mask-granularity", op, f"{message}, found {result.type}")


def _report(op: Operation, ctx: Context, value: SSAValue, found: MaskType, wanted: str, governed: SSAValue) -> None:
    dist = enumerator(op, "dist")
    what = f"of {type_text(governed.type)}" + (f" stored with {dist}" if dist in STORE_MASK else "")
    mended = (other_mask(f"!pto.mask<{wanted}>", str(found)),)
    ctx.report(
        "mask-granularity", op, f"the mask {what} is !pto.mask<{wanted}>, found {found}", at=value, remedies=mended
    )


# ------------------------------------------------------------ low precision

_NO_LOW_PRECISION = mnemonics(
    "vadd vsub vmul vdiv vadds vmuls vmaxs vmins vlrelu vexp vln vneg vnot vsqrt vsqz vrelu vshl vshr vsel"
)
_LOW_PRECISION = frozenset(
    ("f8E4M3FN", "f8E4M3", "f8E5M2", "hif8", "hif8x2", "f4E1M2x2", "f4E2M1x2", "f8E8M0", "bf16x2")
)


@checks(TRIPLES, *_NO_LOW_PRECISION)
def check_low_precision(op: Operation, ctx: Context) -> None:
    """Checks elements that the vector unit only converts and moves."""
    first, *_ = op.operands
    element = vector_element(first.type)
    if element in _LOW_PRECISION:
        ctx.report(
            "vec-lowprec",
            op,
            f"{op.name} has no {element} form",
            at=first,
            help="convert with pto.vcvt",
        )


@checks(TRIPLES, "pto.vand", "pto.vor", "pto.vxor")
def check_bitwise_pairs(op: Operation, ctx: Context) -> None:
    """Checks that bitwise operations take 8-bit payloads of low precision, not pairs of bf16."""
    if vector_element(named(op, "lhs").type) == "bf16x2":
        ctx.report("vec-lowprec", op, f"{op.name} has no bf16x2 form", at=named(op, "lhs"))
