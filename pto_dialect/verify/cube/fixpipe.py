"""Rules of the accumulator write-back: allowed clauses, their combinations, and memory spaces."""

from __future__ import annotations

from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.addresses import describe_space
from pto_dialect.analysis.type_facts import space_of
from pto_dialect.diagnostics.remedies.names import choose
from pto_dialect.diagnostics.remedies.order import without_argument, without_clause
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.types import PtrType, type_text
from pto_dialect.ir.cube.fixpipe import MteL0cGmOp

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import LOCATIONS, STRUCTURE
from .acc_store import (
    DESTINATIONS,
    PACKED_DESTINATIONS,
    STORES,
    AccStore,
    read_acc_store,
)


@checks(STRUCTURE, *STORES)
def check_clauses(op: Operation, ctx: Context) -> None:
    """Checks which clauses and operands may be combined."""
    store = ctx.facts(op, read_acc_store)
    if (store.quant is None) != (store.quant_payload is None):
        ctx.report("fixp-quant-needs-both", op, "pre_quant needs a payload and a mode", at="pre_quant")
    elif store.quant is not None and store.quant.name == "no_convert":
        message, fixed = "no_convert ignores its payload", (without_clause("pre_quant"),)
        ctx.report("fixp-no-convert", op, message, at="no_convert", help="remove pre_quant", remedies=fixed)
    _check_relu(op, ctx, store)
    _check_layout(op, ctx, store)
    if (store.atomic_type is None) != (store.atomic_op is None):
        ctx.report("fixp-atomic-token", op, "atomic takes a type and an op", at="atomic")
    elif store.atomic_type is not None and not isinstance(op, MteL0cGmOp):
        message, fixed = f"{op.name} takes no atomic clause", (without_clause(None, False),)
        ctx.report("fixp-atomic-gm", op, message, at="atomic", help="only pto.mte_l0c_gm does", remedies=fixed)
    if store.dst_mode is not None:
        _check_dst_mode(op, ctx, store)


def _check_relu(op: Operation, ctx: Context, store: AccStore) -> None:
    mode, payload = store.relu, store.relu_payload
    if mode is None:
        if payload is not None:
            ctx.report(
                "fixp-relu-no-payload",
                op,
                "a payload of pre_relu needs the mode scalar_relu or vector_relu",
                at=payload,
            )
        if store.clip is not None:
            ctx.report("fixp-clip-in-relu", op, "clip needs a pre_relu clause", at=store.clip)
    elif mode in ("no_relu", "normal_relu") and payload is not None:
        message, help = f"{mode} takes no payload", f"pre_relu(mode = {mode})"
        ctx.report("fixp-relu-no-payload", op, message, at=payload, help=help, remedies=(without_argument(),))
    elif mode == "scalar_relu" and payload is None:
        help = "pre_relu(%alpha, mode = scalar_relu)"
        ctx.report("fixp-relu-scalar-payload", op, "scalar_relu needs an f16, bf16 or f32 payload", at=mode, help=help)
    elif mode == "vector_relu" and payload is None:
        help = "pre_relu(%table, mode = vector_relu)"
        ctx.report("fixp-relu-vector-fb", op, "vector_relu needs a pointer in fb as payload", at=mode, help=help)
    elif mode == "pwl":
        modes = ("no_relu", "normal_relu", "scalar_relu", "vector_relu")
        message, help = "pre_relu has no implementation of pwl", f"one of {', '.join(modes)}"
        ctx.report("fixp-relu-pwl", op, message, at=mode, help=help, remedies=(choose(None, *modes),))


def _check_layout(op: Operation, ctx: Context, store: AccStore) -> None:
    layout = store.layout
    token = layout or "a write-back without layout"
    if layout == "nz2dn" and store.loop0 is None:
        help = "nz2dn(%loop0_src_stride), 1 for adjacent rows"
        ctx.report("fixp-nz2dn-loop0", op, "nz2dn needs the source stride of its innermost loop", at=layout, help=help)
    elif layout != "nz2dn" and store.loop0 is not None:
        message = f"{token} takes no source stride of an innermost loop"
        ctx.report("fixp-loop0-only-nz2dn", op, message, at=store.loop0, help="only nz2dn does")
    if layout != "nz2nz" and store.split is not None:
        ctx.report(
            "fixp-loop0-only-nz2dn", op, f"{token} takes no split operand", at=store.split, help="only nz2nz does"
        )
    if not store.loop3:
        return
    if len(store.loop3) != 3:
        ctx.report("fixp-loop3-arity", op, "loop3 needs count, source stride and destination stride", at="loop3")
    elif layout == "nz2nz":
        fixed = (without_clause(None, False),)
        ctx.report("fixp-nz2nz-loop3", op, "nz2nz excludes loop3", at="loop3", help="remove loop3", remedies=fixed)
    elif layout is None:
        ctx.report("fixp-loop3-layout", op, "loop3 needs nz2nd or nz2dn before it", at="loop3", help="nz2nd, loop3(..)")


def _check_dst_mode(op: Operation, ctx: Context, store: AccStore) -> None:
    if store.dst_mode == "single":
        if store.sub_block is None:
            ctx.report(
                "fixp-ub-dst-mode", op, "dst_mode needs a sub-block, split_m or split_n", help="dst_mode(%sub_block)"
            )
        return
    if store.sub_block is not None:
        ctx.report("fixp-ub-dst-mode", op, f"{store.dst_mode} takes no sub-block", at=store.sub_block)
    for present, token in (
        (store.quant is not None or store.quant_payload is not None, "pre_quant"),
        (store.relu is not None or store.relu_payload is not None or store.clip is not None, "pre_relu"),
        (store.layout == "nz2dn" or store.loop0 is not None, "nz2dn"),
        (store.layout == "nz2nz" or store.split is not None, "nz2nz"),
        (bool(store.loop3), "loop3"),
    ):
        if present:
            message = f"dst_mode({store.dst_mode}) excludes {token}"
            help, fixed = f"remove {token}, or store to one sub-block", (without_clause(None, False),)
            ctx.report("fixp-ub-split-plain", op, message, at=token, help=help, remedies=fixed)


@checks(LOCATIONS, *STORES)
def check_memories(op: Operation, ctx: Context) -> None:
    """Checks the memory spaces of source, destination and payload tables."""
    store = ctx.facts(op, read_acc_store)
    found = store.source.type
    if space_of(found) != "l0c":
        ctx.report_memory("fixp-src-space", op, "source", store.source, describe_space(found), "l0c")
    found, wanted = store.destination.type, DESTINATIONS[op.name]
    if space_of(found) != wanted:
        ctx.report_memory("fixp-dst-space", op, "destination", store.destination, describe_space(found), wanted)
    payload = store.quant_payload
    if store.quant is not None and store.quant.payload == "vec" and payload is not None:
        _check_table(op, ctx, "fixp-quant-vec-fb", store.quant.name, payload)
    if store.relu == "vector_relu" and store.relu_payload is not None:
        _check_table(op, ctx, "fixp-relu-vector-fb", store.relu, store.relu_payload)


def _check_table(op: Operation, ctx: Context, broken: str, mode: str, payload: SSAValue) -> None:
    if isinstance(payload.type, PtrType):
        if payload.type.space != "fb":
            ctx.report(broken, op, f"{mode} needs a pointer in fb as payload, found {payload.type.space}", at=payload)
    else:
        message = f"{mode} needs a pointer in fb as payload, found {type_text(payload.type)}"
        ctx.report(broken, op, message, at=payload)


@checks(LOCATIONS, *PACKED_DESTINATIONS)
def check_packed_memories(op: Operation, ctx: Context) -> None:
    """Checks the memory spaces of the operations with packed configuration words."""
    source, destination = named(op, "source"), named(op, "destination")
    wanted = PACKED_DESTINATIONS[op.name]
    if space_of(source.type) != "l0c":
        ctx.report_memory("fixp-src-space", op, "source", source, describe_space(source.type), "l0c")
    if space_of(destination.type) != wanted:
        ctx.report_memory("fixp-dst-space", op, "destination", destination, describe_space(destination.type), wanted)
