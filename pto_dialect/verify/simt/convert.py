"""Rules of conversions of SIMT work items: pairs, rounding letters, saturation, signedness.

Source: docs/reference/numerics.md, "Rounding".
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType, VectorType
from xdsl.ir import Attribute, Operation

from pto_dialect.analysis.type_facts import enumerator
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import element_name, type_text

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import TRIPLES

_DIRECTED = "rafcz"

PAIRS: dict[tuple[str, str], str] = {
    **{("f32", dst): _DIRECTED for dst in ("i32", "i64", "bf16", "f32")},
    ("f32", "f16"): "rafczo",
    **{(src, dst): _DIRECTED for src in ("f16", "bf16") for dst in ("i32", "f32", "f16", "bf16")},
    **{("i32", dst): _DIRECTED for dst in ("f32", "f16", "bf16")},
    ("i64", "f32"): _DIRECTED,
    ("f32x2", "f16x2"): "rafczo",
    ("f32x2", "bf16x2"): _DIRECTED,
    ("f16x2", "f32x2"): _DIRECTED,
    ("bf16x2", "f32x2"): _DIRECTED,
    ("f32x2", "f8x2"): "r",
    **{(src, "hif8x2"): "ah" for src in ("f32x2", "f16x2")},
    **{(src, dst): _DIRECTED for src in ("f8x2", "hif8x2") for dst in ("f32x2", "f16x2")},
    ("bf16x2", "f4x2"): _DIRECTED,
    ("f4x2", "bf16x2"): _DIRECTED,
}
"""(source class, result class) -> allowed rounding letters."""

_PACKED_NAMES = {"hif8x2": "hif8x2", "f4E1M2x2": "f4x2", "f4E2M1x2": "f4x2", "bf16x2": "bf16x2"}
_ELEMENT_CLASS = {"f8E4M3FN": "f8", "f8E4M3": "f8", "f8E5M2": "f8"}


def conversion_class(type_: Attribute) -> str:
    """Returns the class of a scalar or packed pair: the name of the scalar, or of the element followed by ``x2``."""
    if isinstance(type_, VectorType):
        element = element_name(type_.element_type)
        if tuple(type_.get_shape()) != (2,):
            return type_text(type_)
        return f"{_ELEMENT_CLASS.get(element, element)}x2"
    name = element_name(type_)
    return _PACKED_NAMES.get(name, name)


@checks(TRIPLES, "pto.convert")
def check_conversion(op: Operation, ctx: Context) -> None:
    """Checks one conversion."""
    source, target = named(op, "src").type, op.results[0].type
    pair = f"{type_text(source)} to {type_text(target)}"
    allowed = PAIRS.get((conversion_class(source), conversion_class(target)))
    if allowed is None:
        both = isinstance(source, IntegerType) and isinstance(target, IntegerType)
        hint = "arith.extsi, arith.extui and arith.trunci convert integers" if both else None
        ctx.report("simt-convert", op, f"there is no conversion from {pair}", help=hint)
        return
    rounding = enumerator(op, "rounding")
    if rounding not in allowed:
        listed = ", ".join(allowed)
        message = f"the conversion {pair} rounds with {listed}, found {rounding}"
        ctx.report("simt-convert", op, message, at=rounding)
    if isinstance(target, IntegerType) and enumerator(op, "saturation") != "sat":
        ctx.report("simt-convert", op, f"the conversion {pair} saturates", at=enumerator(op, "saturation"), help="sat")
    integers = isinstance(source, IntegerType) or isinstance(target, IntegerType)
    if integers and "signedness" not in op.attributes:
        ctx.report("simt-convert", op, f"the conversion {pair} says signed or unsigned", help="signed or unsigned")
    elif not integers and "signedness" in op.attributes:
        ctx.report("simt-convert", op, f"the conversion {pair} has no signedness", at=enumerator(op, "signedness"))
