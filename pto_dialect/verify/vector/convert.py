"""Rules of conversions, reinterpretations, packs and index vectors.

Source: docs/reference/targets.md, "Conversions".
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import enumerator, scalar_fits, vector_bits, vector_element
from pto_dialect.diagnostics.remedies.statements import missing_attribute
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import VRegType, type_text
from pto_dialect.targets.element_types import signless
from pto_dialect.targets.vcvt_contract import VCVT_CONTRACT, vcvt_clauses

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import TRIPLES
from .elements import is_unsigned


@checks(TRIPLES, "pto.vcvt")
def check_conversion(op: Operation, ctx: Context) -> None:
    """Checks the pair of element types and the clauses that it needs."""
    source, target = vector_element(named(op, "input").type), vector_element(op.results[0].type)
    clauses = vcvt_clauses(source, target)
    if clauses is None:
        others = sorted(dst for src, dst in VCVT_CONTRACT if src == source or f"s{src}" == source)
        hint = f"{source} converts to {', '.join(others)}" if others else f"{source} is not converted"
        ctx.report("vcvt-contract", op, f"there is no conversion from {source} to {target}", help=hint)
        return
    pair = f"{source} to {target}"
    rounding = enumerator(op, "rnd")
    if clauses.rounding and not rounding:
        hint, mended = f"rnd is one of {', '.join(clauses.rounding)}", (missing_attribute("rnd", *clauses.rounding),)
        ctx.report("vcvt-contract", op, f"the conversion {pair} needs rnd", help=hint, remedies=mended)
    elif rounding and rounding not in clauses.rounding:
        allowed = ", ".join(clauses.rounding)
        message = f"found {enumerator(op, 'rnd')}, allowed are {allowed}" if allowed else "it is exact"
        ctx.report("vcvt-contract", op, f"the conversion {pair} does not round so: {message}", at="rnd")
    saturation = "sat" in op.attributes
    if clauses.saturation and not saturation:
        mended = (missing_attribute("sat", "SAT", "NOSAT"),)
        ctx.report("vcvt-contract", op, f"the conversion {pair} needs sat", help="sat is SAT or NOSAT", remedies=mended)
    elif saturation and not clauses.saturation:
        ctx.report("vcvt-contract", op, f"the conversion {pair} takes no sat", at="sat")
    part = enumerator(op, "part")
    if clauses.parts and not part:
        hint, mended = f"part is one of {', '.join(clauses.parts)}", (missing_attribute("part", *clauses.parts),)
        ctx.report("vcvt-contract", op, f"the conversion {pair} needs part", help=hint, remedies=mended)
    elif part and part not in clauses.parts:
        allowed = f"found {part}, allowed are {', '.join(clauses.parts)}" if clauses.parts else "the widths are equal"
        ctx.report("vcvt-contract", op, f"the conversion {pair} has no such part: {allowed}", at="part")


@checks(TRIPLES, "pto.vtrc")
def check_round_to_integral(op: Operation, ctx: Context) -> None:
    """Checks for element types that have fractions."""
    element = vector_element(named(op, "input").type)
    if element not in ("f16", "bf16", "f32"):
        ctx.report("vtrc-form", op, f"vtrc has f16, bf16, f32, found {element}", at=named(op, "input"))


@checks(TRIPLES, "pto.vci")
def check_index_vector(op: Operation, ctx: Context) -> None:
    """Checks the element type of the result and the type of the first index."""
    register = op.results[0].type
    element = vector_element(register)
    if signless(element) not in ("i8", "i16", "i32", "f16", "f32"):
        ctx.report("vci-form", op, f"vci yields 8-, 16- or 32-bit integers, f16 or f32, found {element}")
    elif isinstance(register, VRegType) and not scalar_fits(named(op, "index").type, register.element):
        found = type_text(named(op, "index").type)
        ctx.report("vci-form", op, f"the index of vci is {element}, found {found}", at=named(op, "index"))


@checks(TRIPLES, "pto.vpack")
def check_pack(op: Operation, ctx: Context) -> None:
    """Checks a pack: integers of half the width, unsigned."""
    source, target = named(op, "src").type, op.results[0].type
    bits = vector_bits(source)
    if not _is_integer(source) or bits not in (16, 32):
        message = f"vpack halves integers of 32 or 16 bits, found {vector_element(source)}"
        ctx.report("vpack-form", op, message, at=named(op, "src"))
    elif not isinstance(target, VRegType) or vector_bits(target) * 2 != bits or not is_unsigned(target.element):
        ctx.report(
            "vpack-form",
            op,
            f"vpack of {vector_element(source)} yields ui{bits // 2}, found {vector_element(target)}",
        )


@checks(TRIPLES, "pto.vsunpack", "pto.vzunpack")
def check_unpack(op: Operation, ctx: Context) -> None:
    """Checks an unpack: integers of twice the width."""
    source, target = named(op, "src").type, op.results[0].type
    if not _is_integer(source) or not _is_integer(target):
        found = vector_element(source) if not _is_integer(source) else vector_element(target)
        ctx.report("vpack-form", op, f"{op.name} has integers, found {found}")
    elif vector_bits(source) * 2 != vector_bits(target):
        message = f"{op.name} doubles the width of {vector_element(source)}, found {vector_element(target)}"
        ctx.report("vpack-form", op, message)


def _is_integer(type_: object) -> bool:
    return isinstance(type_, VRegType) and isinstance(type_.element, IntegerType)
