"""Barriers, fences and retained values of work-items. Source: docs/reference/work-items.md, "Launches"."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr

from pto_dialect.ir.core.base import PtoOp
from pto_dialect.ir.core.operands import named
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.simt.items import barrier
from pto_dialect.runtime.simt.scope import element_of
from pto_dialect.runtime.simt.slots import keep, resume

from ..registry import kernel, lane_kernel
from .lane_values import ITEMS, invoke, lane, mask_of, scope_of


@kernel("pto.syncthreads")
@lane_kernel("pto.syncthreads")
def wait_for_all(op: PtoOp, g: Generator) -> None:
    """Waits for all work-items of the block. Raises ``Fault`` at run time where some cannot arrive."""
    g.emitter.line(invoke(g, barrier, ITEMS, mask_of(g)))


@kernel("pto.threadfence", "pto.threadfence_block")
@lane_kernel("pto.threadfence", "pto.threadfence_block")
def fence(op: PtoOp, g: Generator) -> None:
    """Accesses take effect in the order of the program."""
    scope_of(g)


def _slot(op: PtoOp) -> int:
    slot = op.attributes["slot"]
    assert isinstance(slot, IntegerAttr)
    return slot.value.data


@kernel("pto.keep")
@lane_kernel("pto.keep")
def keep_value(op: PtoOp, g: Generator) -> None:
    """Retains a value of each running work-item in a slot for a later launch."""
    value = lane(named(op, "payload"), g)
    g.emitter.line(invoke(g, keep, Expr("core"), ITEMS, mask_of(g), _slot(op), value))


@kernel("pto.resume")
@lane_kernel("pto.resume")
def resume_value(op: PtoOp, g: Generator) -> None:
    """The value that an earlier launch has retained in a slot."""
    scope_of(g)
    dtype = element_of(op.results[0].type, g).dtype
    g.define(op.results[0], invoke(g, resume, Expr("core"), ITEMS, _slot(op), dtype))
