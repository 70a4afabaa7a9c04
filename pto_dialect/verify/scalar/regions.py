"""Rules about the core that runs an operation, and about fusion regions.

Source: docs/reference/constraints.md, "Modules and functions"; docs/reference/execution.md, "Cores and memories".
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import kernel_kind
from pto_dialect.ir.core.base import Pipe, PtoOp, is_pto, op_spec
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.types import type_text
from pto_dialect.ir.core.walk import walk

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import STRUCTURE

_CUBE_PIPES = frozenset((Pipe.M, Pipe.MTE1, Pipe.FIX))
_PLACED_BY_OPERANDS = frozenset(("tile_move", "tile_memory"))
"""Families whose pipe depends on the locations of the tiles."""
_cores: dict[str, str | None] = {"pto.texpands": None}
"""Cached cores by operation; ``pto.texpands`` also fills tiles of the cube core."""


def core_of_operation(op: Operation) -> str | None:
    """Returns ``cube`` or ``vector`` for an operation that only one kind of core can execute."""
    try:
        return _cores[op.name]
    except KeyError:
        found = _cores[op.name] = _core(op)
        return found


def _core(op: Operation) -> str | None:
    row = OPS.get(op.name)
    if row is None or not is_pto(op) or op.regions or row[0] in _PLACED_BY_OPERANDS:
        return None
    pipe = op_spec(type(op)).pipe
    if pipe in _CUBE_PIPES:
        return "cube"
    return "vector" if pipe is Pipe.V else None


@checks(STRUCTURE, "func.call")
def check_called_cores(op: Operation, ctx: Context) -> None:
    """Checks for cube operations in the callees of a vector function."""
    function = ctx.function
    if not isinstance(function, FuncOp) or kernel_kind(function) != "vector":
        return
    for callee in ctx.symbols.reachable_from(op):
        if kernel_kind(callee) == "vector":
            continue
        for inner in walk(callee):
            if core_of_operation(inner) == "cube":
                name = callee.sym_name.data
                ctx.report(
                    "section-target", op, f"@{name} runs {inner.name}, the calling function is for the vector cores"
                )
                return


@checks(STRUCTURE, "pto.fusion_region")
def check_fusion(op: Operation, ctx: Context) -> None:
    """Checks what a fusion region yields."""
    # Other checks here load for every program; the classes of fusion regions load with the first region.
    from pto_dialect.ir.scalar.regions import YieldOp  # deferred: start-up

    assert isinstance(op, PtoOp)
    blocks = [block for region in op.regions for block in region.blocks]
    if len(blocks) != 1 or blocks[0].args:
        ctx.report("fusion-yield", op, f"{op.name} has one block without arguments")
        return
    last = blocks[0].last_op
    wanted = [result.type for result in op.results]
    if last is None or not isinstance(last, YieldOp):
        ctx.report("fusion-yield", op, f"{op.name} ends in pto.yield")
    elif [value.type for value in last.operands] != wanted:
        shown = ", ".join(type_text(kind) for kind in wanted) or "nothing"
        ctx.report("fusion-yield", last, f"pto.yield gives the results of the region: {shown}")
