"""Rules about element types of the accumulator write-back: quantization, payloads, clipping, conversions.

Source: docs/reference/targets.md, "Quantisation modes".
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.type_facts import element_type
from pto_dialect.diagnostics.remedies.order import without_clause
from pto_dialect.ir.core.types import PtrType, element_name, is_float, type_text
from pto_dialect.targets.element_types import finite_spelling, signed_as_signless, signless
from pto_dialect.targets.fixpipe_modes import DESTINATION_FAMILIES, QUANT_MODES, QuantMode

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import TRIPLES
from .acc_store import STORES, AccStore, read_acc_store

_FLOAT_PAYLOADS = frozenset(("f16", "bf16", "f32"))
_CLIP_PAYLOADS = {
    "f16": ("f16",),
    "ui8": ("ui16", "i16"),
    **dict.fromkeys(("i4", "i8", "i16"), ("i4", "i8", "i16")),
}
"""Types of the clip operand by destination type; signed integers count as signless."""
_SATURATION_TOKENS = {"sat_preserve_nan": "sat"}


@checks(TRIPLES, *STORES)
def check_element_types(op: Operation, ctx: Context) -> None:
    """Checks all rules that depend on element types."""
    store = ctx.facts(op, read_acc_store)
    source, destination = store.source_element, store.destination_element
    if store.quant is None:
        if signless(source) != signless(destination):
            help = _allowed_modes(source, destination)
            message = f"the destination is {destination} and the accumulator {source}, but there is no pre_quant"
            ctx.report("fixp-narrow-needs-quant", op, message, at=store.destination, help=help)
    elif store.quant.name != "no_convert":
        _check_quant_payload(op, ctx, store.quant, store.quant_payload)
        _check_quant_types(op, ctx, store, store.quant)
    _check_relu_payload(op, ctx, store)
    if store.clip is not None:
        _check_clip(op, ctx, destination, store.clip)
    if store.layout == "nz2nz" and destination != "f32":
        help = "use nz2nd or nz2dn"
        ctx.report("fixp-nz2nz-f32", op, f"nz2nz needs an f32 destination, found {destination}", at="nz2nz", help=help)
    _check_saturation(op, ctx, store)
    if store.atomic_type is not None and store.atomic_type.replace("s", "i", 1) != signed_as_signless(destination):
        message = f"atomic works on {store.atomic_type}, but the destination is {destination}"
        ctx.report("fixp-atomic-type-match", op, message, at="atomic")


def _check_quant_payload(op: Operation, ctx: Context, mode: QuantMode, payload: SSAValue | None) -> None:
    if payload is None:
        return
    if mode.payload == "vec":
        found = _table_element(payload)
        if found is not None and found not in _FLOAT_PAYLOADS:
            message = f"the table of {mode.name} must have f16, bf16 or f32 elements, found {found}"
            ctx.report("fixp-quant-vec-elem", op, message, at=payload)
    elif type_text(payload.type) not in _FLOAT_PAYLOADS:
        message = f"{mode.name} needs an f16, bf16 or f32 scalar, found {type_text(payload.type)}"
        ctx.report("fixp-quant-scalar", op, message, at=payload)


def _check_quant_types(op: Operation, ctx: Context, store: AccStore, mode: QuantMode) -> None:
    source, destination = store.source_element, finite_spelling(store.destination_element)
    if source not in ("f32", "i32"):
        message = f"pre_quant reads f32 or i32 accumulators, found {source}"
        ctx.report("fixp-quant-src", op, message, at=store.source)
    elif mode.source != source:
        message = f"{mode.name} reads {mode.source} accumulators, found {source}"
        ctx.report("fixp-quant-src-mode", op, message, at=mode.name, help=_allowed_modes(source, destination))
    elif destination not in DESTINATION_FAMILIES[mode.family]:
        allowed = ", ".join(DESTINATION_FAMILIES[mode.family])
        message = f"{mode.name} writes {allowed}, but the destination is {store.destination_element}"
        ctx.report("fixp-quant-dst-mode", op, message, at=mode.name, help=_allowed_modes(source, destination))
    elif mode.stem == "req4":
        ctx.report(
            "fixp-req4-unimplemented",
            op,
            f"{mode.name} is documented, but no other implementation accepts it",
            at=mode.name,
        )
    elif not _same_kind(mode, destination):
        message = f"{mode.name} rounds to another 8-bit format than that of the destination, {destination}"
        ctx.report("fixp-fp8-kind-mismatch", op, message, at=mode.name, help=_allowed_modes(source, destination))


def _same_kind(mode: QuantMode, destination: str) -> bool:
    """Returns False for a hif8 mode with an fp8 destination and the reverse, although both belong to one destination
    family."""
    return mode.family != "fp8" or ("hif8" in mode.destinations[:1]) == (destination == "hif8")


def _allowed_modes(source: str, destination: str) -> str | None:
    """Returns the quantization modes for these element types, as a suggestion."""
    destination = finite_spelling(destination)
    names = [
        mode.name
        for mode in QUANT_MODES.values()
        if mode.source == source and destination in mode.destinations and _same_kind(mode, destination)
    ]
    return f"modes from {source} to {destination}: {', '.join(names)}" if names else None


def _check_relu_payload(op: Operation, ctx: Context, store: AccStore) -> None:
    payload = store.relu_payload
    if payload is None:
        return
    if store.relu == "scalar_relu" and type_text(payload.type) not in _FLOAT_PAYLOADS:
        message = f"scalar_relu needs an f16, bf16 or f32 scalar, found {type_text(payload.type)}"
        ctx.report("fixp-relu-scalar-type", op, message, at=payload)
    elif store.relu == "vector_relu":
        found = _table_element(payload)
        if found is not None and found not in _FLOAT_PAYLOADS:
            message = f"the table of vector_relu must have f16, bf16 or f32 elements, found {found}"
            ctx.report("fixp-relu-vector-elem", op, message, at=payload)


def _table_element(payload: SSAValue) -> str | None:
    return element_name(payload.type.element) if isinstance(payload.type, PtrType) else None


def _check_clip(op: Operation, ctx: Context, destination: str, clip: SSAValue) -> None:
    allowed = _CLIP_PAYLOADS.get(signed_as_signless(destination))
    if allowed is None:
        message = f"clip needs an f16, ui8 or signed 4-, 8- or 16-bit destination, found {destination}"
        ctx.report("fixp-clip-dst", op, message, at=clip)
        return
    found = type_text(clip.type)
    if (found if destination == "ui8" else signed_as_signless(found)) not in allowed:
        message = f"clip of a {destination} destination must be {' or '.join(allowed)}, found {found}"
        ctx.report("fixp-clip-payload", op, message, at=clip)


def _check_saturation(op: Operation, ctx: Context, store: AccStore) -> None:
    element = element_type(store.destination.type)
    if store.saturation is not None and element is not None and _never_saturates(element):
        word = _SATURATION_TOKENS.get(store.saturation, store.saturation)
        message = f"{word} has no effect on a destination of {type_text(element)}"
        ctx.report("fixp-sat-noop", op, message, at=word, remedies=(without_clause(),))


def _never_saturates(element: Attribute) -> bool:
    return isinstance(element, IntegerType) or (is_float(element) and element_name(element) == "f32")
