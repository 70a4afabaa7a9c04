"""Unknown attributes of functions and modules: nothing reads them, so they have no effect.

Source: docs/reference/language.md, "Discardable attributes"; docs/reference/constraints.md, "Whole programs".
"""

from __future__ import annotations

from xdsl.ir import Operation

from pto_dialect.analysis.type_facts import KERNEL_KIND
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core.attribute_text import attribute_text
from pto_dialect.ir.core.attributes import EnumAttr, PlaceholderAttr
from pto_dialect.ir.core.walk import walk

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import INFO, STRUCTURE, WARNING
from ..engine.unread_attributes import (
    KNOWN_ATTRIBUTES,
)

"""Attribute of modules and functions that run on one kind of core."""


@checks(STRUCTURE, "func.func", "builtin.module")
def check_module_and_function(op: Operation, ctx: Context) -> None:
    """Checks attributes with the dialect's prefix on functions and modules."""
    for name in op.attributes:
        _prefixed(op, name, ctx, WARNING)


@checks(STRUCTURE, "func.func")
def check_inside(op: Operation, ctx: Context) -> None:
    """Checks attributes with the dialect's prefix on operations; only when remarks are requested, because they are
    harmless."""
    options = ctx.engine.options
    if not options.pedantic and "attr-unknown" not in options.deny:
        return
    for inner in walk(op):
        if inner is not op:
            for name in inner.attributes:
                _prefixed(inner, name, ctx, INFO)


def _prefixed(op: Operation, name: str, ctx: Context, severity: Severity) -> None:
    if name == KERNEL_KIND and not isinstance(op.attributes[name], (EnumAttr, PlaceholderAttr)):
        found = attribute_text(op.attributes[name])
        message = f"{name} is #pto.kernel_kind<cube> or #pto.kernel_kind<vector>; {found} has no effect"
        kind = getattr(op.attributes[name], "data", None)
        mended = (replace(found, f"#pto.kernel_kind<{kind}>"),) if kind in ("cube", "vector") else ()
        ctx.report("attr-unknown", op, message, at=name, severity=severity, remedies=mended)
        return
    if severity is WARNING and f"pto.{name}" in KNOWN_ATTRIBUTES:
        message = f"attribute {name} has no effect without its dialect"
        help, mended = f"did you mean pto.{name}?", (replace(name, f"pto.{name}"),)
        ctx.report("attr-unknown", op, message, at=name, help=help, severity=severity, remedies=mended)
        return
    if not name.startswith("pto.") or name in KNOWN_ATTRIBUTES or name.startswith("pto.ptodsl."):
        return
    close = did_you_mean(name, KNOWN_ATTRIBUTES)
    what = {"func.func": "a function", "builtin.module": "a module"}.get(op.name, op.name)
    help, mended = (f"did you mean {close[0]}?", (replace(name, close[0]),)) if close else (None, ())
    message = f"attribute {name} of {what} is not known"
    ctx.report("attr-unknown", op, message, at=name, help=help, severity=severity, remedies=mended)
