"""Rules of the older chips' vector instructions on the unified buffer. Source:
docs/reference/language.md, "Versions"."""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.ir.core.index import OPS
from pto_dialect.ir.core.types import PtrType, type_text

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import LOCATIONS


@checks(LOCATIONS, *(name for name, (family, _, _) in OPS.items() if family == "ub_vector"))
def check_unified_buffer(op: Operation, ctx: Context) -> None:
    """Checks that every pointer is one into the unified buffer."""
    for value in op.operands:
        if isinstance(value.type, PtrType) and value.type.space != "ub":
            ctx.report("vec-ub", op, f"{op.name} works in ub, found {type_text(value.type)}", at=value)
