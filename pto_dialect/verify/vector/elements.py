"""Rules about the element and scalar types of vector operations. Source: docs/reference/constraints.md, "Vector
registers"."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import enumerator, scalar_fits, vector_element
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import F32, I16, VRegType, bit_width, element_name, type_text
from pto_dialect.ir.vector.arith import VAndOp, VOrOp, VXorOp
from pto_dialect.targets.element_types import LOW_PRECISION, signless

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import ERROR, TRIPLES, WARNING, rule_named
from .common import mnemonics

_INTS = frozenset(f"{sign}i{bits}" for sign in ("", "s", "u") for bits in (8, 16, 32, 64))
_WORDS = frozenset(("i32", "si32", "ui32"))
_FLOATS = frozenset(("f16", "bf16", "f32"))
_F16_F32 = frozenset(("f16", "f32"))
_EXTREMA = frozenset((*(n for n in _INTS if not n.endswith("64")), "f16", "f32"))
_REPEATED = _EXTREMA | {"bf16"}

ELEMENTS: dict[str, tuple[str, frozenset[str]]] = {
    **dict.fromkeys(mnemonics("vand vor vxor vnot"), ("vec-int-only", _INTS)),
    **dict.fromkeys(mnemonics("vexp vln vsqrt vdiv"), ("vec-float-only", _FLOATS)),
    "pto.vmul": ("vec-float-only", _FLOATS | {n for n in _INTS if n[-2:] in ("16", "32")}),
    **dict.fromkeys(mnemonics("vaddc vsubc vaddcs vsubcs"), ("vec-carry-32", _WORDS)),
    **dict.fromkeys(mnemonics("vcadd vcgadd vcgmax vcgmin vcbmax vcbmin"), ("vec-reduce-types", _EXTREMA)),
    "pto.vcpadd": ("vec-reduce-types", _F16_F32),
    "pto.vusqz": ("vec-reduce-types", frozenset(("i8", "i16", "i32", "si8", "si16", "si32"))),
    "pto.vrelu": ("vec-reduce-types", frozenset(("i32", "si32", "f16", "f32"))),
    "pto.vaxpy": ("vaxpy-form", _F16_F32),
    "pto.vmadd": ("vaxpy-form", _FLOATS),
    "pto.vmull": ("vmull-form", _WORDS),
    "pto.vprelu": ("vprelu-form", _F16_F32),
    "pto.vexpdif": ("vexpdif-form", _F16_F32),
    "pto.vmulscvt": ("vcvt-contract", frozenset(("f32",))),
    **dict.fromkeys(mnemonics("vshl vshr vshls vshrs"), ("vec-shift-i16", _INTS)),
}
"""The rule about the element type of the first register, and the set of types."""

_PAYLOADS = LOW_PRECISION - {"hif8x2", "bf16x2"}


@checks(TRIPLES, *ELEMENTS)
def check_elements(op: Operation, ctx: Context) -> None:
    """Checks the element type of the first register."""
    broken, allowed = ELEMENTS[op.name]
    first, *_ = op.operands
    element = vector_element(first.type)
    if element in allowed or (isinstance(op, (VAndOp, VOrOp, VXorOp)) and element in _PAYLOADS):
        return
    listed = ", ".join(sorted(n for n in allowed if n[0] not in "su" or signless(n) not in allowed))
    documented = "is documented for" if rule_named(broken).severity is WARNING else "has"
    ctx.report(broken, op, f"{op.name} {documented} {listed}, found {element}", at=first)


# ------------------------------------------------------------ scalars


_SCALAR_OF = {"pto.vbr": "value", "pto.vdup": "input"}
"""The operand that is broadcast to the lanes of the result; ``input`` may be a register, of which one lane is taken."""


@checks(TRIPLES, *mnemonics("vadds vmuls vmaxs vmins vlrelu vcmps vbr vdup"))
def check_scalars(op: Operation, ctx: Context) -> None:
    """Checks a scalar beside, or broadcast to, the lanes of a register."""
    name = _SCALAR_OF.get(op.name, "scalar")
    scalar = named(op, name)
    first, *_ = op.operands
    register = op.results[0].type if scalar is first else first.type
    assert isinstance(register, VRegType)
    if scalar_fits(scalar.type, register.element):
        return
    if isinstance(scalar.type, VRegType) and name == "input":
        if scalar.type != register:
            message = f"vdup repeats a lane of {type_text(register)}, found {type_text(scalar.type)}"
            ctx.report("vec-scalar-type", op, message, at=scalar)
        return
    message = f"the scalar of {op.name} is {element_name(register.element)}, found {type_text(scalar.type)}"
    ctx.report("vec-scalar-type", op, message, at=scalar)


@checks(TRIPLES, "pto.vdup")
def check_dup_position(op: Operation, ctx: Context) -> None:
    """Checks a lane position, which only a register has; the lanes have 8, 16 or 32 bits."""
    element = vector_element(op.results[0].type)
    if element not in _REPEATED:
        listed = ", ".join(sorted(n for n in _REPEATED if n[0] not in "su"))
        ctx.report("vec-scalar-type", op, f"vdup repeats {listed}, found {element}")
    if "position" in op.attributes and not isinstance(named(op, "input").type, VRegType):
        message = "position picks a lane of a register, but the input is a scalar"
        ctx.report("vec-scalar-type", op, message, at=enumerator(op, "position"))


@checks(TRIPLES, "pto.vshls", "pto.vshrs")
def check_shift_scalar(op: Operation, ctx: Context) -> None:
    """Checks the shift count."""
    count = named(op, "scalar")
    if count.type != I16:
        ctx.report("vec-shift-i16", op, f"the count of {op.name} is i16, found {type_text(count.type)}", at=count)


@checks(TRIPLES, "pto.vshl", "pto.vshr")
def check_shift_counts(op: Operation, ctx: Context) -> None:
    """Checks counts per lane, which are signed in the newer dialect."""
    element = vector_element(named(op, "rhs").type)
    if element[:1] != "s" and element in _INTS:
        message = f"the counts of {op.name} are signed, found {element}"
        # In the older dialect counts have the type of the data.
        severity = WARNING if element == vector_element(named(op, "lhs").type) else ERROR
        help = f"use s{signless(element)} elements"
        ctx.report("vec-shift-rhs", op, message, at=named(op, "rhs"), help=help, severity=severity)


# ------------------------------------------------------------ results of another type


@checks(TRIPLES, "pto.vcadd")
def check_widening_sum(op: Operation, ctx: Context) -> None:
    """Checks that sums of 8- and 16-bit integers are twice as wide."""
    source, result = named(op, "input").type, op.results[0].type
    assert isinstance(source, VRegType)
    assert isinstance(result, VRegType)
    lanes, element = source.lanes, source.element
    bits = bit_width(element) or 0
    if isinstance(element, IntegerType) and bits in (8, 16):
        lanes, element = lanes // 2, IntegerType(bits * 2, element.signedness)
    if result.lanes != lanes or result.element != element:
        wanted = f"!pto.vreg<{lanes}x{type_text(element)}>"
        message = f"the sum of {type_text(source)} is {wanted}, found {type_text(result)}"
        ctx.report("vec-reduce-types", op, message)


@checks(TRIPLES, "pto.vaxpy")
def check_axpy_factor(op: Operation, ctx: Context) -> None:
    """Checks that the factor has the element type."""
    register, alpha = named(op, "src0").type, named(op, "alpha")
    assert isinstance(register, VRegType)
    if alpha.type != register.element:
        message = f"alpha of vaxpy is {element_name(register.element)}, found {type_text(alpha.type)}"
        ctx.report("vaxpy-form", op, message, at=alpha)


@checks(TRIPLES, "pto.vexpdif")
def check_exponential_difference(op: Operation, ctx: Context) -> None:
    """Checks two registers of one type with an f32 result."""
    left, right = named(op, "input").type, named(op, "max").type
    if left != right:
        message = f"input and max of vexpdif have one type, found {type_text(left)} and {type_text(right)}"
        ctx.report("vexpdif-form", op, message, at=named(op, "max"))
    if vector_element(op.results[0].type) != "f32":
        ctx.report("vexpdif-form", op, f"vexpdif yields f32, found {type_text(op.results[0].type)}")


@checks(TRIPLES, "pto.vmulscvt")
def check_scaled_conversion(op: Operation, ctx: Context) -> None:
    """Checks f32 times an f32 scalar, rounded with A to f16."""
    if named(op, "scalar").type != F32:
        found = type_text(named(op, "scalar").type)
        ctx.report("vcvt-contract", op, f"the scalar of vmulscvt is f32, found {found}", at=named(op, "scalar"))
    if vector_element(op.results[0].type) != "f16":
        ctx.report("vcvt-contract", op, f"vmulscvt yields f16, found {type_text(op.results[0].type)}")
    if enumerator(op, "rnd") != "A":
        rounding = enumerator(op, "rnd")
        ctx.report("vcvt-contract", op, f"vmulscvt rounds with A, found {rounding}", at=rounding)


_BINS = frozenset(("i16", "ui16", "si16"))
_BYTES = frozenset(("i8", "ui8", "si8"))


@checks(TRIPLES, "pto.chistv2", "pto.dhistv2")
def check_histograms(op: Operation, ctx: Context) -> None:
    """Checks 128 bins of 16-bit counts of 256 bytes."""
    for value, allowed, what in ((named(op, "acc"), _BINS, "acc"), (named(op, "source"), _BYTES, "source")):
        element = vector_element(value.type)
        if element not in allowed:
            wanted = "128 x 16-bit integers" if what == "acc" else "256 x 8-bit integers"
            ctx.report("vec-reduce-types", op, f"{what} of {op.name} has {wanted}, found {element}", at=value)
    acc = named(op, "acc").type
    if op.results[0].type != acc:
        message = f"the result of {op.name} is {type_text(acc)}, found {type_text(op.results[0].type)}"
        ctx.report("vec-reduce-types", op, message)


def is_unsigned(type_: object) -> bool:
    """Returns whether a type is an unsigned integer."""
    return isinstance(type_, IntegerType) and type_.signedness.data is Signedness.UNSIGNED
