"""Sections and scopes: which core executes a region. Source: docs/reference/execution.md, "Which core runs what"."""

from __future__ import annotations

from xdsl.ir import SSAValue

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.ir.core.walk import walk
from pto_dialect.runtime.compile.generator import Expr, Generator

from ..registry import kernel, kernels


@kernels({"pto.section.cube": "cube", "pto.section.vector": "vector"})
def section(op: PtoOp, g: Generator, kind: str) -> None:
    """Runs the region on cores of one kind alone."""
    with g.emitter.block(f"if core.{kind}:"):
        g.region(op.regions[0])


@kernel("pto.vecscope")
def vecscope(op: PtoOp, g: Generator) -> None:
    """Runs the region as one instruction of the vector unit."""
    _scope(op, g)


@kernel("pto.strict_vecscope")
def strict_vecscope(op: PtoOp, g: Generator) -> None:
    """As ``vecscope``; the region names the values from outside by its arguments."""
    block = op.regions[0].block
    for argument, capture in zip(block.args, op.operands, strict=True):
        g.names[argument] = str(g.name(capture))
    _scope(op, g)


def _scope(op: PtoOp, g: Generator) -> None:
    """Writes the call of a scope: immediate, or, where instructions are queued, one instruction of the vector pipe."""
    if not g.queued:
        g.region(op.regions[0])
        return
    name = g.emitter.fresh("scope")
    with g.emitter.block(f"def {name}({', '.join(captured(op, g))}):"):
        g.queued = False
        g.region(op.regions[0])
        g.emitter.line("return")
        g.queued = True
    g.emitter.current = op
    g.call(Expr(name), pipe=Pipe.V)


def captured(op: PtoOp, g: Generator) -> list[str]:
    """Returns parameters that capture the present values for a region that runs later, when the loop around it may have
    advanced."""
    return [f"{local}={local}" for local in sorted({str(g.name(v)) for v in _captures(op) if v in g.names})]


def _captures(op: PtoOp) -> set[SSAValue]:
    """Returns the outer values that the region of ``op`` uses, and the block arguments that represent them."""
    inside = {inner for inner in walk(op)}
    used = {value for inner in inside if inner is not op for value in inner.operands}
    return {value for value in used if value.owner not in inside} | {
        value for value in used if value.owner is op.regions[0].block
    }
