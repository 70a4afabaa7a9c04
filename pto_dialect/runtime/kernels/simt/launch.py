"""Launches of work-items. Source: docs/reference/work-items.md, "Launches"; docs/reference/execution.md, "Which core
runs what".
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation

from pto_dialect.ir.core.base import Pipe, PtoOp
from pto_dialect.runtime.compile.generator import Expr, Generator
from pto_dialect.runtime.compile.program import callee_name
from pto_dialect.runtime.simt.launch import launch, launch_stored, next_launch, store_dims
from pto_dialect.runtime.simt.scope import LaneScope

from ..registry import kernel
from ..scalar.regions import captured
from .lane_values import invoke


def _start(g: Generator, function: Any, body: str, arguments: Sequence[Any]) -> None:
    """Writes the start of a body on the vector pipe of vector cores."""
    with g.emitter.block("if core.vector:"):
        number = invoke(g, next_launch, Expr("core"))
        g.call(function, Expr("core"), number, Expr(body), *arguments, pipe=Pipe.V)


def _body(op: Operation, g: Generator) -> str:
    callee = g.unit.program.symbols.callee(op)
    if callee is None:
        raise g.error("callee", f"function @{callee_name(op)} has no body to execute", op)
    return g.unit.body_names[callee]


@kernel("pto.simt_launch")
def launch_body(op: PtoOp, g: Generator) -> None:
    """Runs a body for dimX x dimY x dimZ work-items on every vector core that reaches the launch."""
    _start(g, launch, _body(op, g), op.operands)


@kernel("pto.store_vfsimt_info")
def store_info(op: PtoOp, g: Generator) -> None:
    """Sets the dimensions of the next launch by a plain call."""
    with g.emitter.block("if core.vector:"):
        g.call(store_dims, Expr("core"), *op.operands, pipe=Pipe.V)


def call_body(op: Operation, g: Generator) -> None:
    """A call of a body by a core: a launch with the dimensions that were set."""
    _start(g, launch_stored, _body(op, g), op.operands)


@kernel("pto.section.simt")
def section(op: PtoOp, g: Generator) -> None:
    """Runs the region as a body of its own."""
    name = g.emitter.fresh("section")
    with g.emitter.block(f"def {name}({', '.join(['core', 'items', 'mask', *captured(op, g)])}):"):
        queued, g.queued = g.queued, False
        g.lanes = LaneScope(g.unit.code, g.unit.body_names)
        g.region(op.regions[0])
        g.emitter.line("return")
        g.lanes, g.queued = None, queued
    g.emitter.current = op
    dims = [op.attributes[f"dim{axis}"] for axis in "XYZ"]
    _start(g, launch, name, [dim.value.data for dim in dims if isinstance(dim, IntegerAttr)])
