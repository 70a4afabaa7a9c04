"""Rules of the cube multiply-accumulate operations: memories, element types, clauses, extents.

Source: docs/reference/targets.md, "Products on pointers".
"""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.addresses import describe_space, element_bits
from pto_dialect.analysis.type_facts import space_of
from pto_dialect.diagnostics.remedies.order import without_clause
from pto_dialect.diagnostics.remedies.statements import cast
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.extents import round_up
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import I64, PtrType, element_name, is_float, type_text
from pto_dialect.ir.cube.mad import ScaledMadOp
from pto_dialect.targets.element_types import FP4, FP8
from pto_dialect.targets.matmul_types import (
    EXTENT_RANGE,
    MAD_DOCUMENTED,
    MAD_EVEN_K_BITS,
    MAD_MX,
    MX_K_MULTIPLE,
    TF32_COMBO,
    mad_key,
)

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import LOCATIONS, SHAPES, STRUCTURE, TRIPLES

_PLAIN = ("pto.mad", "pto.mad_acc", "pto.mad_bias")
_MX = ("pto.mad_mx", "pto.mad_mx_acc", "pto.mad_mx_bias")
_SEMANTIC = (*_PLAIN, *_MX)
_RAW = ("pto.mad_raw", "pto.mad_bias_raw", "pto.mad_mx_raw", "pto.mad_mx_bias_raw")
_BIASED = ("pto.mad_bias", "pto.mad_bias_raw", "pto.mad_mx_bias", "pto.mad_mx_bias_raw")
_BUFFERS = (("lhs", "l0a"), ("rhs", "l0b"), ("dst", "l0c"))
_SIZES = ("m", "n", "k")
_CLAUSES = {"sat_mode": "sat", "tf32_mode": "tf32_mode"}


def _sizes(op: Operation) -> tuple[SSAValue, SSAValue, SSAValue]:
    """Returns the operands m, n and k."""
    return named(op, "m"), named(op, "n"), named(op, "k")


def _element(value: SSAValue) -> Attribute:
    assert isinstance(value.type, PtrType)
    return value.type.element


def _clause_token(op: Operation, name: str) -> str:
    """Returns the token of a clause as the statement spells it."""
    value = op.attributes[name]
    return value.value if name == "sat_mode" and isinstance(value, EnumAttr) else _CLAUSES.get(name, name)


@checks(STRUCTURE, *_SEMANTIC)
def check_operand_types(op: Operation, ctx: Context) -> None:
    """Checks that operands are pointers and i64 sizes."""
    assert isinstance(op, PtoOp)
    for name, (value,) in operand_groups(op).items():
        type_ = value.type
        if isinstance(type_, PtrType) or type_ is I64:
            continue
        if name not in _SIZES:
            message = f"{name} of {op.name} must be a !pto.ptr, found {type_text(type_)}"
            ctx.report("mad-typed-ptr", op, message, at=value)
        elif type_ != I64:
            message = f"{name} of {op.name} must be i64, found {type_text(type_)}"
            integer = isinstance(type_, IntegerType | IndexType)
            mended = (cast(None, type_text(type_), "i64"),) if integer else ()
            ctx.report("mad-mnk-type", op, message, at=value, remedies=mended)


@checks(LOCATIONS, *_SEMANTIC, *_RAW)
def check_spaces(op: Operation, ctx: Context) -> None:
    """Checks the memory spaces of the operands."""
    for name, wanted in _BUFFERS:
        value = named(op, name)
        if space_of(value.type) != wanted:
            ctx.report_memory("mad-space", op, name, value, describe_space(value.type), wanted)
    bias = ctx.operand(op, "bias")
    if bias is not None and space_of(bias.type) != "bt":
        ctx.report_memory("mad-bias-space", op, "bias", bias, describe_space(bias.type), "bt")


@checks(TRIPLES, *_PLAIN)
def check_combination(op: Operation, ctx: Context) -> None:
    """Checks the combination of element types and the clauses that depend on it."""
    lhs, rhs, dst = (_element(named(op, name)) for name, _ in _BUFFERS)
    names = (element_name(lhs), element_name(rhs), element_name(dst))
    status = ctx.profile.mad_status(*names)
    spelled = f"{names[0]} x {names[1]} -> {names[2]}"
    if (names[0] == "hif8") != (names[1] == "hif8"):
        message = f"lhs and rhs of {op.name} must both be hif8 or neither, found {names[0]} and {names[1]}"
        ctx.report("mad-hif8-both", op, message, at=named(op, "lhs" if names[0] == "hif8" else "rhs"))
    elif status is None:
        message = f"{op.name} does not multiply {spelled} on {ctx.profile.name}"
        ctx.report("mad-unsupported-combo", op, message, at=named(op, "rhs"), help=_alternatives(names))
    elif status == "undocumented":
        message = f"{spelled} is not documented for {op.name}"
        ctx.report("mad-combo-undocumented", op, message, at=named(op, "dst"), help=_alternatives(names))
    if "tf32_mode" in op.attributes and mad_key(*names) != TF32_COMBO:
        message = f"tf32_mode requires f32 lhs, rhs and dst, found {spelled}"
        ctx.report(
            "mad-tf32-needs-f32", op, message, at="tf32_mode", help="remove tf32_mode", remedies=(without_clause(),)
        )
    _check_saturation(op, ctx, spelled, lhs, rhs, dst)


def _check_saturation(op: Operation, ctx: Context, spelled: str, *elements: Attribute) -> None:
    if "sat_mode" in op.attributes and not all(map(is_float, elements)):
        token = _clause_token(op, "sat_mode")
        message = f"{token} requires floating lhs, rhs and dst, found {spelled}"
        help = f"remove {token}: integers have no saturation mode"
        ctx.report("mad-sat-needs-float", op, message, at=token, help=help, remedies=(without_clause(),))


def _alternatives(names: tuple[str, str, str]) -> str:
    """Returns the documented combinations that share an operand type with ``names``."""
    lhs, rhs, _ = mad_key(*names)
    near = [c for c in sorted(MAD_DOCUMENTED) if c[0] == lhs or c[1] == rhs]
    listed = near or sorted(MAD_DOCUMENTED)
    return "supported: " + ", ".join(f"{a} x {b} -> {c}" for a, b, c in listed)


@checks(TRIPLES, *_MX, "pto.mad_mx_raw", "pto.mad_mx_bias_raw")
def check_mx_elements(op: Operation, ctx: Context) -> None:
    """Checks the element types of the scaled forms."""
    lhs, rhs, dst = (_element(named(op, name)) for name, _ in _BUFFERS)
    names = (element_name(lhs), element_name(rhs), element_name(dst))
    spelled = f"{names[0]} x {names[1]} -> {names[2]}"
    if mad_key(*names) not in MAD_MX:
        families = " or ".join(f"two of {', '.join(sorted(family))}" for family in (FP8, FP4))
        message = f"{op.name} multiplies two fp8 or two fp4 operands into f32, found {spelled}"
        wrong = next((i for i, n in enumerate(mad_key(*names)[:2]) if n not in FP8 | FP4), 1)
        at = named(op, ("lhs", "rhs")[wrong] if names[2] == "f32" or wrong == 0 else "dst")
        ctx.report("mad-mx-elem", op, message, at=at, help=f"operands: {families}; dst: f32")
    _check_saturation(op, ctx, spelled, lhs, rhs, dst)


@checks(TRIPLES, *_BIASED)
def check_bias_element(op: Operation, ctx: Context) -> None:
    """Checks the element type of the bias."""
    dst, bias = named(op, "dst"), named(op, "bias")
    if _element(bias) != _element(dst):
        found, wanted = type_text(_element(bias)), type_text(_element(dst))
        message = f"the bias of {op.name} must have the element type of dst, {wanted}, found {found}"
        ctx.report("mad-bias-elem", op, message, at=bias)


@checks(SHAPES, *_SEMANTIC)
def check_extents(op: Operation, ctx: Context) -> None:
    """Checks the ranges of m, n and k, and what depends on them."""
    values = _sizes(op)
    sizes = [ctx.constant(value) for value in values]
    for name, value, size in zip(_SIZES, values, sizes, strict=True):
        if size is None:
            continue
        if size < EXTENT_RANGE[0]:
            ctx.report("mad-mnk-positive", op, f"{name} of {op.name} must be at least 1, found {size}", at=value)
        elif size > EXTENT_RANGE[1]:
            message = f"{name} of {op.name} must be at most {EXTENT_RANGE[1]}, found {size}"
            ctx.report("mad-mnk-range", op, message, at=value)
    m, n, k = sizes
    if ctx.failed:
        return
    if k is not None and isinstance(op, ScaledMadOp) and k % MX_K_MULTIPLE:
        message = f"k of {op.name} is consumed in groups of {MX_K_MULTIPLE} elements, found {k}"
        ctx.report("mad-mx-k64", op, message, at=values[2])
    if m is not None and m != 1 and "disable_gemv" in op.attributes:
        ctx.report(
            "mad-disable-gemv-noop",
            op,
            f"disable_gemv has no effect, m is {m}",
            at="disable_gemv",
            remedies=(without_clause(),),
        )
    if k is not None and k % 2:
        for name in ("lhs", "rhs"):
            value = named(op, name)
            if element_bits(value.type) == MAD_EVEN_K_BITS:
                message = f"{name} of {op.name} has 4-bit elements, which need an even k, found {k}"
                ctx.report("mad-4bit-even-k", op, message, at=values[2])
                return
    _check_footprint(op, ctx, m or 1, n or 1, k or 1)


def _check_footprint(op: Operation, ctx: Context, m: int, n: int, k: int) -> None:
    """Checks the bytes of the operands against their memories; an extent that is not constant counts as 1."""
    gemv = m == 1 and "disable_gemv" not in op.attributes
    shapes = (("lhs", "l0a", 1 if gemv else round_up(m, 16)), ("rhs", "l0b", round_up(n, 16)))
    sizes: list[tuple[str, str, int, SSAValue]] = []
    for name, space, rows in shapes:
        value = named(op, name)
        bits = element_bits(value.type)
        if bits is not None:
            sizes.append((name, space, rows * round_up(k, 256 // bits) * bits // 8, value))
    # An element in L0C takes 4 bytes, whatever its type.
    sizes.append(("dst", "l0c", round_up(m, 16) * round_up(n, 16) * 4, named(op, "dst")))
    for name, space, needed, value in sizes:
        capacity = ctx.profile.capacity_of(space)
        if capacity is not None and needed > capacity:
            message = f"{name} of {op.name} needs {needed} bytes of {space}, which has {capacity}"
            ctx.report("mad-l0-footprint", op, message, at=value)
