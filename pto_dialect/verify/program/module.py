"""Rules about modules and functions as a whole.

Source: docs/reference/constraints.md, "Whole programs"; docs/reference/language.md, "Discardable attributes";
docs/reference/execution.md, "Cores and memories".
"""

from __future__ import annotations

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import ENTRY_ATTRIBUTES
from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.types import TileType, type_text

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check, is_section
from ..engine.rule import STRUCTURE, WARNING
from ..scalar.regions import (
    core_of_operation,
)

# ------------------------------------------------------------ cores


@function_check(*{family for family, _, _ in OPS.values()})
def check_cores(scan: FunctionScan, ctx: Context) -> None:
    """Checks for operations on the wrong core; reports once for each section and function."""
    kind = scan.kernel_kind
    sectioned = any(name.startswith("pto.section.") for name in scan.by_name)
    if kind is None and not sectioned:
        return
    reported: set[Operation] = set()
    for operations in scan.by_name.values():
        core = core_of_operation(operations[0])
        if core is None or (core == kind and not sectioned):
            continue
        for op in operations:
            section = scan.enclosing(op, is_section) if sectioned else None
            runs_on = kind if section is None else section.name.rpartition(".")[2]
            scope = scan.function if section is None else section
            if runs_on not in (None, core) and scope not in reported:
                reported.add(scope)
                if section is not None:
                    message = f"{op.name} runs on the {core} core and is in {section.name}"
                    ctx.report("section-nesting", op, message)
                else:
                    message = f"{op.name} runs on the {core} core, the kernel kind is {runs_on}"
                    ctx.report("kernel-kind", op, message)
    for section in scan.named("pto.section.cube", "pto.section.vector"):
        outer = scan.enclosing(section, is_section)
        if outer is not None:
            ctx.report("section-nesting", section, f"{section.name} is inside {outer.name}")


# ------------------------------------------------------------ functions


@checks(STRUCTURE, "func.func")
def check_entry(op: Operation, ctx: Context) -> None:
    """Checks that an entry function returns nothing."""
    if not isinstance(op, FuncOp) or not any(name in op.attributes for name in ENTRY_ATTRIBUTES):
        return
    results = op.function_type.outputs.data
    if any(not isinstance(kind, TileType) for kind in results):
        shown = ", ".join(type_text(kind) for kind in results)
        ctx.report("entry-void", op, f"entry function @{op.sym_name.data} returns nothing, found {shown}")


@checks(STRUCTURE, "func.call")
def check_recursion(op: Operation, ctx: Context) -> None:
    """Checks for recursive calls."""
    function = ctx.function
    if isinstance(function, FuncOp) and function in ctx.symbols.reachable_from(op):
        message = f"@{function.sym_name.data} calls itself here; recursion cannot be executed"
        ctx.report("entry-void", op, message, severity=WARNING)
