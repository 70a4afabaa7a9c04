"""Rules about attributes and types of functions. Source: docs/reference/constraints.md, "Work-items and groups"."""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, IntegerType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import is_simt_entry
from pto_dialect.ir.core.types import StructType, type_text
from pto_dialect.targets.work_items import MAX_REGISTERS, MAX_WORK_ITEMS

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import STRUCTURE

_LIMITS = (("pto.simt_max_threads", MAX_WORK_ITEMS), ("pto.simt_max_regs", MAX_REGISTERS))


@checks(STRUCTURE, "func.func")
def check_simt_limits(op: Operation, ctx: Context) -> None:
    """Checks the limits of a SIMT body: largest launch and register budget."""
    for name, most in _LIMITS:
        value = op.attributes.get(name)
        if value is None:
            continue
        if not isinstance(value, IntegerAttr) or value.type != IntegerType(32):
            ctx.report("simt-max-threads", op, f"{name} is an i32, found {value}", at=name)
        elif not 1 <= value.value.data <= most:
            ctx.report("simt-max-threads", op, f"{name} is 1 to {most}, found {value.value.data}", at=name)
        if not is_simt_entry(op):
            ctx.report("simt-max-threads", op, f"{name} is for functions with pto.simt_entry", at=name)


@checks(STRUCTURE, "func.func")
def check_struct_signature(op: Operation, ctx: Context) -> None:
    """Checks that structs are not passed between functions."""
    assert isinstance(op, FuncOp)
    kind = op.function_type
    for role, types in (("argument", kind.inputs.data), ("result", kind.outputs.data)):
        for type_ in types:
            if type(type_) is StructType:
                message = f"a struct is no {role} of a function, found {type_text(type_)}"
                ctx.report("struct-place", op, message, help="declare it with pto.declare_struct")
                return
