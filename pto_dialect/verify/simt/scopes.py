"""Rules about SIMT operations inside and outside of SIMT bodies. Source: docs/reference/constraints.md, "Work-items and
groups"."""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Block, Operation

from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import bit_width
from pto_dialect.ir.simt.control import KeepOp, ResumeOp, SyncthreadsOp

from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check, is_simt_section
from ..vector.scopes import VECTOR_FAMILIES

_INSIDE = ("pto.syncthreads", "pto.threadfence", "pto.threadfence_block", "pto.keep", "pto.resume")
_ATOMICS = tuple(f"pto.atomic_{name}" for name in ("exch", "add", "sub", "min", "max", "cas"))
_HINT = "a function with pto.simt_entry, or pto.section.simt"


def _in_body(scan: FunctionScan, op: Operation) -> bool:
    return scan.is_simt_entry or scan.enclosing(op, is_simt_section) is not None


@function_check("simt_control", "simt_memory", "regions")
def check_body_side(scan: FunctionScan, ctx: Context) -> None:
    """Checks for operations on the wrong side of a SIMT body."""
    for op in scan.named("pto.simt_launch", "pto.store_vfsimt_info"):
        if _in_body(scan, op):
            ctx.report("simt-outside", op, f"{op.name} is inside a SIMT body")
    for op in scan.named("pto.section.simt"):
        if _in_body(scan, op):
            ctx.report("simt-outside", op, "pto.section.simt is inside a SIMT body")
    for op in scan.named(*_INSIDE):
        if not _in_body(scan, op):
            ctx.report("simt-inside", op, f"{op.name} is outside of SIMT bodies", help=_HINT)
    outside = next((op for op in scan.named("pto.ldg", "pto.stg") if not _in_body(scan, op)), None)
    if outside is not None:
        message = f"{outside.name} is outside of SIMT bodies"
        ctx.report("simt-inside", outside, message, help=_HINT, severity=Severity.WARNING)
    for op in scan.named(*_ATOMICS):
        value = find(op, "value")
        if value is not None and isinstance(value.type, VectorType) and not _in_body(scan, op):
            ctx.report("simt-inside", op, f"{op.name} of a packed pair is outside of SIMT bodies", help=_HINT)


@function_check(*VECTOR_FAMILIES)
def check_no_vectors(scan: FunctionScan, ctx: Context) -> None:
    """Checks for vector operations inside SIMT bodies; one report for each body."""
    if not scan.is_simt_entry and not scan.contains("pto.section.simt"):
        return
    reported: set[Operation | None] = set()
    for op in scan.of_families(*VECTOR_FAMILIES):
        section = scan.enclosing(op, is_simt_section)
        if (section is not None or scan.is_simt_entry) and section not in reported:
            reported.add(section)
            ctx.report("simt-no-vector", op, f"{op.name} is inside a SIMT body")


# ------------------------------------------------------------ retained values


@function_check("simt_control")
def check_kept_values(scan: FunctionScan, ctx: Context) -> None:
    """Checks that values are resumed at the start of a body and kept at its end, each in a slot of its own."""
    for block in {op.parent: None for op in scan.named("pto.resume") if op.parent is not None}:
        _prologue(block, ctx)
    for block in {op.parent: None for op in scan.named("pto.keep") if op.parent is not None}:
        _epilogue(block, ctx)


def _prologue(block: Block, ctx: Context) -> None:
    group: list[Operation] = []
    open_ = True
    for op in block.ops:
        if isinstance(op, ResumeOp):
            if open_:
                group.append(op)
            else:
                ctx.report("simt-keep", op, "values are resumed in one group at the start of the body, after constants")
        elif not has_role(op, Role.CONSTANT) or group:
            open_ = False
    _slots(group, ctx)


def _epilogue(block: Block, ctx: Context) -> None:
    parent = block.parent_op()
    last = block.last_op
    if last is not None and has_role(last, Role.RETURN):
        last = last.prev_op
    elif parent is None or not is_simt_section(parent):
        last = None
    while last is not None and isinstance(last, SyncthreadsOp):
        last = last.prev_op
    group: list[Operation] = []
    while last is not None and isinstance(last, KeepOp):
        group.append(last)
        last = last.prev_op
    group.reverse()
    _slots(group, ctx)
    final = set(group)
    for op in block.ops:
        if isinstance(op, KeepOp) and op not in final:
            _early(op, ctx)


def _early(op: Operation, ctx: Context) -> None:
    ctx.report("simt-keep", op, "values are kept in one group at the end of the body; only pto.syncthreads may follow")


def _slots(group: list[Operation], ctx: Context) -> None:
    taken: dict[int, Operation] = {}
    for op in group:
        first = integer_attribute(op, "slot")
        values = (*op.operands, *op.results)
        if first is None or not values:
            continue
        value = values[0]
        wide = bit_width(value.type) == 64
        for number in range(first, first + 1 + wide):
            if number in taken:
                ctx.report("simt-keep", op, f"slot {number} is taken by another value of this group", at="slot")
                break
            taken[number] = op
