"""Misspelled attributes, and attributes of operations that nothing reads and that therefore have no effect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from xdsl.ir import Attribute

from pto_dialect.diagnostics.remedies.names import replace
from pto_dialect.diagnostics.suggest import did_you_mean
from pto_dialect.ir.core.attributes import EnumAttr
from pto_dialect.ir.core.base import SEGMENT_SIZES, PtoOp, signature
from pto_dialect.ir.core.index import OPS

from .context import Context
from .rule import ERROR

KNOWN_ATTRIBUTES: Final = frozenset(
    (
        "pto.kernel_kind",
        "pto.target_arch",
        "pto.device-spec",
        "pto.kernel",
        "pto.aicore",
        "pto.entry",
        "pto.simt_entry",
        "pto.simt_max_threads",
        "pto.simt_max_regs",
        "pto.backend",
        "pto.release",
        "pto.tilelang.instance",
        "pto.tilelang.inline_proc",
        "pto.tileop.helper",
        "pto.tileop.effects",
        "pto.fusion.group_id",
        "pto.fusion.order",
        "pto.unroll",
        "pto.persistent",
        "pto.inferred_layout",
        "pto.auto_sync_tail_hint",
        "pto.visibility",
        "pto.mode",
        "pto.view_semantics",
        "pto.multi_buffer_addrs",
        "pto.buffers",
        "pto.form",
        "pto.empty_else",
    )
)
"""Attributes with the dialect's prefix that have a meaning on modules, functions and operations."""

_EXPANSIONS: Final = tuple(name for name in OPS if name.startswith("pto.trowexpand"))
READ_ELSEWHERE: Final = frozenset(
    (
        ("pto.tload", "layout"),
        ("pto.tstore", "layout"),
        ("pto.thistogram", "isMSB"),
        ("pto.tconcatidx", "candidates"),
        ("pto.copy_gm_to_ubuf", "has_pad"),
        ("pto.ld_dev", "volatile"),
        ("pto.st_dev", "volatile"),
        *((name, hint) for name in _EXPANSIONS for hint in ("src0eqdst", "src1Col", "highPrecision")),
    )
)
"""Attributes of operations that older programs carry, or that select a template in template libraries."""

FIXED_BRACES: Final = frozenset(
    (
        *(name for name, (family, _, shape) in OPS.items() if family == "pipes" and shape != "OP_DPS"),
        "pto.tmrgsort",
    )
)
"""Operations whose braces are part of their syntax: no key may be added."""
_UNKNOWN_KEY: Final = dict.fromkeys(FIXED_BRACES, ERROR)
"""Severity of an unknown key, where it is not that of the rule."""


def unread_attributes(op: PtoOp) -> Iterator[str]:
    """Returns the names of the attributes of ``op`` that nothing reads; names of other dialects have a dot."""
    declared = signature(type(op)).attributes
    for name in op.attributes:
        if name in declared or name in SEGMENT_SIZES or "." in name:
            continue
        if (op.name, name) not in READ_ELSEWHERE:
            yield name


def report_unread(op: PtoOp, ctx: Context) -> list[str]:
    """Reports attributes that nothing reads; returns the declared names that were probably meant."""
    declared = signature(type(op)).attributes
    meant: list[str] = []
    for name in unread_attributes(op):
        near = _nearest_declared(op, name, op.attributes[name])
        message = f"attribute {name} of {op.name} is not known"
        severity = _UNKNOWN_KEY.get(op.name)
        if near is not None:
            meant.append(near)
            if declared[near].arity == "1":
                severity = ERROR
            help, mended = f"did you mean {near}?", (replace(name, near),)
            ctx.report("attr-misspelt", op, message, at=name, help=help, severity=severity, remedies=mended)
        else:
            help = f"its attributes are {', '.join(declared)}" if declared else "it has no attributes"
            ctx.report("attr-unknown", op, f"{message} and has no effect", at=name, help=help, severity=severity)
    return meant


def _nearest_declared(op: PtoOp, name: str, value: Attribute) -> str | None:
    """Returns the declared absent attribute that has a similar name, or takes values of this name or of this kind."""
    absent = {key: slot for key, slot in signature(type(op)).attributes.items() if key not in op.attributes}
    close = did_you_mean(name, absent)
    if close:
        return close[0]
    by_kind = {kind: key for key, slot in absent.items() for kind in slot.kind.enums}
    if isinstance(value, EnumAttr) and value.kind in by_kind:
        return by_kind[value.kind]
    close = did_you_mean(name, by_kind)
    return by_kind[close[0]] if close else None
