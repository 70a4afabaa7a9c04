"""Conversions, reductions and histograms of logical vectors. Source: docs/reference/constraints.md, "Logical
vectors".
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.dialects.builtin import IntegerType, Signedness
from xdsl.ir import Attribute, Operation

from pto_dialect.analysis.type_facts import enumerator, vector_element
from pto_dialect.diagnostics.remedies.order import missing_entry
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import VmiMaskType, VmiVRegType, bit_width, element_name, is_float, type_text
from pto_dialect.ir.vmi.mask import VmiEnsureMaskGranularityOp
from pto_dialect.targets.element_types import FP4

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import STRUCTURE, TRIPLES
from .common import (
    layout_text,
    vmi,
)

# ------------------------------------------------------------ conversions


_S = Signedness.SIGNED
_SIGNED = ("fptosi", "sitofp", "extsi")
"""Conversions whose integers have a sign; integers without one count as unsigned in logical vectors."""


class Clauses(NamedTuple):
    """Rounding letters that a conversion takes (empty: none) and whether it requires or forbids a saturation."""

    rounding: str
    saturation: bool


_NARROW = Clauses("RAHZ", True)
_TO_INTEGER = Clauses("RAFCZ", True)

_FLOAT_PAIRS: dict[tuple[str, str], Clauses] = {
    **{("bf16x2", dst): Clauses("RAFZC", False) for dst in sorted(FP4)},
    **{(src, "bf16x2"): Clauses("", False) for src in sorted(FP4)},
    ("bf16", "f16"): _NARROW,
    ("f16", "bf16"): Clauses("RAHZ", False),
}
"""Conversions between floats that do not follow from the widths."""

_INTEGER_RESULTS: dict[tuple[str, str], Clauses] = {
    ("f32", "i32"): _TO_INTEGER,
    ("f32", "i16"): _TO_INTEGER,
    ("f16", "i32"): Clauses("RAFCZ", False),
    ("f16", "i16"): _TO_INTEGER,
    ("f16", "i8"): _TO_INTEGER,
    ("f16", "ui8"): _TO_INTEGER,
    ("bf16", "i32"): _TO_INTEGER,
}
"""Conversions from floats to integers; ``i`` means signed ones, integers without sign count as unsigned."""

_FLOAT_RESULTS = frozenset((("si32", "f32"), ("si16", "f32"), ("si16", "f16"), ("si8", "f16"), ("si8", "f32")))
_PACKED = frozenset((*FP4, "bf16x2", "hif8x2"))


def clauses_of(source: Attribute, target: Attribute) -> Clauses | str:
    """Returns the clauses of a conversion between element types, or the reason why there is none."""
    names = element_name(source), element_name(target)
    if is_float(source) and is_float(target):
        listed = _FLOAT_PAIRS.get(names)
        if listed is not None:
            return listed
        if _PACKED & set(names):
            return "packed pairs convert between bf16x2 and 4-bit floats only"
        widths = bit_width(source) or 0, bit_width(target) or 0
        if widths[0] == widths[1]:
            return "floats of one width convert between f16 and bf16 only"
        return _NARROW if widths[0] > widths[1] else Clauses("", False)
    if is_float(source):
        plain = names[1][1:] if names[1].startswith("si") else f"u{names[1].removeprefix('u')}"
        return _INTEGER_RESULTS.get((names[0], plain), f"{names[0]} does not convert to {names[1]}")
    if is_float(target):
        return Clauses("", False) if names in _FLOAT_RESULTS else "only integers with a sign convert to floats"
    widths = bit_width(source) or 0, bit_width(target) or 0
    if widths[0] == widths[1]:
        return "a conversion between integers changes their width"
    return Clauses("", widths[0] > widths[1])


_CONVERSIONS = vmi("vcvt extf extsi extui fptosi fptoui sitofp truncf trunci")


@checks(TRIPLES, *_CONVERSIONS)
def check_conversion(op: Operation, ctx: Context) -> None:
    """Checks lanes, element types and clauses of a conversion."""
    source, target = named(op, "source").type, op.results[0].type
    assert isinstance(source, VmiVRegType)
    assert isinstance(target, VmiVRegType)
    if source.lanes != target.lanes:
        message = f"a conversion keeps the lanes, found {source.lanes} and {target.lanes}"
        ctx.report("vmi-cvt", op, message)
    pair = f"{element_name(source.element)} to {element_name(target.element)}"
    problem = _direction_error(op.name, source.element, target.element)
    clauses = clauses_of(source.element, target.element) if problem is None else problem
    if isinstance(clauses, str):
        broken = "vmi-bf16x2" if "bf16x2" in pair and problem is None else "vmi-cvt"
        ctx.report(broken, op, f"there is no conversion {pair}: {clauses}")
        return
    rounding, saturation = enumerator(op, "rounding"), "saturate" in op.attributes
    if rounding and rounding not in clauses.rounding:
        allowed = f"rounds with {', '.join(clauses.rounding)}" if clauses.rounding else "does not round"
        ctx.report("vmi-cvt", op, f"the conversion {pair} {allowed}, found {rounding}", at="rounding")
    if clauses.saturation and not saturation:
        message = f"the conversion {pair} needs saturate"
        mended = tuple(missing_entry(f'saturate = "{word}"') for word in ("SAT", "NOSAT"))
        ctx.report("vmi-cvt", op, message, help='saturate = "SAT" or "NOSAT"', remedies=mended)
    elif saturation and not clauses.saturation:
        ctx.report("vmi-cvt", op, f"the conversion {pair} takes no saturate", at="saturate")
    elif pair == "si32 to si8" and enumerator(op, "saturate") == "SAT":
        message = "the conversion si32 to si8 does not saturate"
        ctx.report("vmi-cvt", op, message, at="saturate", help='saturate = "NOSAT"')


def _direction_error(name: str, source: Attribute, target: Attribute) -> str | None:
    """Returns why an operation of one direction does not convert these types."""
    kind = name.removeprefix("pto.vmi.")
    if kind == "vcvt":
        return None
    widths = bit_width(source) or 0, bit_width(target) or 0
    signs = [t.signedness.data if isinstance(t, IntegerType) else None for t in (source, target)]
    floats = [is_float(t) for t in (source, target)]
    if kind in ("extf", "truncf") and not all(floats):
        return f"{kind} has floats"
    if kind in ("fptosi", "fptoui") and floats != [True, False]:
        return f"{kind} converts floats to integers"
    if kind == "sitofp" and (floats != [False, True] or element_name(target) != "f32" or widths[0] != 32):
        return "sitofp converts signed integers of 32 bits to f32"
    if kind in ("extsi", "extui", "trunci") and any(floats):
        return f"{kind} has integers"
    if kind in _SIGNED and any(sign not in (None, _S) for sign in signs):
        return f"{kind} has signed integers (si8, si16, si32)"
    if kind in ("fptoui", "extui") and _S in signs:
        return f"{kind} has unsigned integers"
    if kind in ("extf", "extsi", "extui") and widths[0] >= widths[1]:
        return f"{kind} widens"
    if (kind == "truncf" and widths[0] < widths[1]) or (kind == "trunci" and widths[0] <= widths[1]):
        return f"{kind} narrows"
    return None


@checks(TRIPLES, "pto.vmi.bitcast", "pto.vmi.vinterpret_cast")
def check_reinterpretation(op: Operation, ctx: Context) -> None:
    """Checks a reinterpretation: the same bits in the same layout."""
    source, target = named(op, "source").type, op.results[0].type
    assert isinstance(source, VmiVRegType)
    assert isinstance(target, VmiVRegType)
    sizes = [t.lanes * (bit_width(t.element) or 0) for t in (source, target)]
    if sizes[0] != sizes[1]:
        message = f"a reinterpretation keeps all bits, found {sizes[0]} and {sizes[1]}"
        ctx.report("vmi-uniform", op, message)
    elif layout_text(source) != layout_text(target):
        message = f"a reinterpretation keeps the layout, found {type_text(source)} and {type_text(target)}"
        ctx.report("vmi-uniform", op, message)


@checks(TRIPLES, *vmi("ensure_layout ensure_mask_layout ensure_mask_granularity"))
def check_relayout(op: Operation, ctx: Context) -> None:
    """Checks a relayout: the same lanes in another layout or granularity."""
    source, target = named(op, "source").type, op.results[0].type
    if isinstance(source, VmiVRegType) and isinstance(target, VmiVRegType):
        same = (source.lanes, source.element) == (target.lanes, target.element)
    elif isinstance(source, VmiMaskType) and isinstance(target, VmiMaskType):
        same = source.lanes == target.lanes
        if isinstance(op, VmiEnsureMaskGranularityOp):
            if "pred" in (source.granularity, target.granularity):
                ctx.report("vmi-types", op, "both granularities are b8, b16 or b32")
        else:
            same = same and source.granularity == target.granularity
    else:
        return
    if not same:
        ctx.report("vmi-uniform", op, f"{op.name} keeps lanes, found {type_text(source)} and {type_text(target)}")
    layouts = [bool(layout_text(t)) for t in (source, target)]
    if isinstance(op, VmiEnsureMaskGranularityOp):
        if layouts[0] != layouts[1]:
            ctx.report("vmi-uniform", op, "source and result both have a layout, or none has")
    elif not all(layouts):
        ctx.report("vmi-uniform", op, f"source and result of {op.name} have a layout")


# ------------------------------------------------------------ reductions

_SUMS = vmi("reduce_addf group_reduce_addf vcadd")
_REDUCTIONS = vmi(
    "reduce_addf reduce_addi reduce_maxf reduce_maxi reduce_minf reduce_mini vcadd vcmax vcmin group_reduce_addf "
    "group_reduce_addi group_reduce_maxf group_reduce_maxi group_reduce_minf group_reduce_mini"
)


@checks(STRUCTURE, *_SUMS)
def check_reassociation(op: Operation, ctx: Context) -> None:
    """Checks that sums of floats may be reassociated."""
    source = named(op, "source").type
    assert isinstance(source, VmiVRegType)
    if is_float(source.element) and "reassoc" not in op.attributes:
        ctx.report("vmi-reassoc", op, f"{op.name} of floats needs reassoc", help="{reassoc}")


@checks(TRIPLES, *_REDUCTIONS)
def check_reduction(op: Operation, ctx: Context) -> None:
    """Checks the result of a reduction: the element type, one lane when there are no groups."""
    source, result = named(op, "source").type, op.results[0].type
    assert isinstance(source, VmiVRegType)
    assert isinstance(result, VmiVRegType)
    if source.element != result.element:
        message = f"{op.name} of {vector_element(source)} yields that type, found {vector_element(result)}"
        ctx.report("vmi-types", op, message, at=op.results[0])
    grouped = "group" in op.attributes or "num_groups" in op.attributes
    if not grouped and result.lanes != 1:
        ctx.report(
            "vmi-uniform", op, f"{op.name} without groups yields one lane, found {result.lanes}", at=op.results[0]
        )


@checks(TRIPLES, "pto.vmi.vchist", "pto.vmi.vdhist")
def check_histogram(op: Operation, ctx: Context) -> None:
    """Checks bins, bytes and mask."""
    acc, source, mask = (named(op, name).type for name in ("acc", "source", "mask"))
    result = op.results[0].type
    assert isinstance(acc, VmiVRegType)
    if acc.lanes not in (128, 256):
        ctx.report("vmi-hist", op, f"histograms have 128 or 256 bins, found {type_text(acc)}", at=named(op, "acc"))
    elif vector_element(acc) not in ("ui16", "i16"):
        message = f"bins are ui16 or i16, found {vector_element(acc)}"
        ctx.report("vmi-hist", op, message, at=named(op, "acc"))
    if vector_element(source) not in ("ui8", "i8"):
        message = f"histograms count ui8 or i8, found {vector_element(source)}"
        ctx.report("vmi-hist", op, message, at=named(op, "source"))
    assert isinstance(mask, VmiMaskType)
    if mask.granularity not in ("b8", "pred"):
        ctx.report("vmi-hist", op, f"the mask of bytes is b8, found {mask.granularity}", at=named(op, "mask"))
    assert isinstance(acc, VmiVRegType)
    assert isinstance(result, VmiVRegType)
    same = acc.lanes == result.lanes and layout_text(acc) == layout_text(result)
    if not same or vector_element(result) not in ("ui16", "i16"):
        ctx.report("vmi-hist", op, f"the result has the bins of {type_text(acc)}, found {type_text(result)}")
