"""Rules about the release of the reference that a program names.

Source: docs/reference/releases.md, "Changes".
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Operation, SSAValue

from pto_dialect.analysis.queues import action_of
from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.facts.queues import QueueRole
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.core.walk import walk
from pto_dialect.targets.release import ATTRIBUTE, CHANGES, Release, known_releases, release_named

from ..engine.context import Context
from ..tile.facts import statically_differ


def check_release(module: Operation, ctx: Context) -> None:
    """Checks the release that a module states, and whether that release has what the module uses; nothing without a
    stated release."""
    stated = module.attributes.get(ATTRIBUTE)
    if stated is None:
        return
    release = release_named(stated.data) if isinstance(stated, StringAttr) else None
    if release is None:
        found = f"'{stated.data}'" if isinstance(stated, StringAttr) else "another kind of attribute"
        message = f"{ATTRIBUTE} names no known release of the reference, found {found}"
        ctx.report("release-unknown", module, message, at=ATTRIBUTE, help=f"known are {known_releases()}")
        return
    for op in walk(module):
        if isinstance(op, PtoOp):
            _check_operation(op, release, ctx)


def _check_operation(op: PtoOp, release: Release, ctx: Context) -> None:
    since = op_spec(type(op)).since
    newer = release.has("newer-dialect")
    if since == "august" and release.minor <= _OLDER:
        ctx.report(
            "release-refused", op, f"{op.name} is not part of release {release}", help=_is_newer("newer-dialect")
        )
    elif since == "june" and newer:
        ctx.report("release-refused", op, f"{op.name} is no longer part of release {release}")
    for key in _CONCERNED.get(op.name, ()):
        change = CHANGES[key]
        if release.has(key) == (change.kind == "refused") and _VERDICTS[key](op, ctx):
            state = change.after if change.kind == "refused" else change.before
            help = None if change.kind == "refused" else _is_newer(key)
            ctx.report("release-refused", op, f"release {release} refuses this {op.name}: {state}", help=help)


def _is_newer(key: str) -> str:
    return f"it is part of release {CHANGES[key].release}"


_OLDER = 44
"""The newest release that is known to have the older dialect; later ones up to the newer dialect may have parts
of it."""


def _has_packed_mask(op: PtoOp, ctx: Context) -> bool:
    """Returns whether a mask on a5 has another shape than the sources."""
    if ctx.profile.arch != "a5":
        return False
    mask, source = (value and value.type for value in (find(op, "dst"), find(op, "src0")))
    if not isinstance(mask, TileBufType) or not isinstance(source, TileBufType):
        return False
    return (mask.rows, mask.cols) != (source.rows, source.cols)


def _pops_before_free(op: PtoOp, ctx: Context) -> bool:
    """Returns whether a pop follows an earlier pop of the same queue in this block whose entry is not yet freed."""
    queue = _queue(op)
    before = op.prev_op
    while before is not None and not (_action(before) in ("pop", "free") and _queue(before) == queue):
        before = before.prev_op
    return before is not None and _action(before) == "pop"


def _has_scratch_on_a5(op: PtoOp, ctx: Context) -> bool:
    """Returns whether an operation on a5 has a scratch."""
    return ctx.profile.arch == "a5" and find(op, "tmp") is not None


def _has_other_scratch(op: PtoOp, ctx: Context) -> bool:
    """Returns whether the valid region of the scratch is known, and not that of the source."""
    scratch, source = (value and value.type for value in (find(op, "tmp"), find(op, "src")))
    if not isinstance(scratch, TileBufType) or not isinstance(source, TileBufType):
        return False
    pairs = ((scratch.valid_rows, source.valid_rows), (scratch.valid_cols, source.valid_cols))
    return any(statically_differ(one, other) for one, other in pairs)


def _action(op: Operation) -> QueueRole | None:
    action = action_of(op)
    return None if action is None else action.role


def _queue(op: Operation) -> object:
    """Returns the queue of a pop or free: its pipe where that is an operand, otherwise its id."""
    handle: SSAValue | None = find(op, "pipe_handle")
    return handle if handle is not None else (op.name.rpartition("_")[2], str(op.attributes.get("id")))


_VERDICTS: dict[str, Callable[[PtoOp, Context], bool]] = {
    "tcmp-packed-mask": _has_packed_mask,
    "live-pops": _pops_before_free,
    "scalar-memory": lambda op, ctx: True,
    "expand-scratch": _has_scratch_on_a5,
    "product-scratch": _has_other_scratch,
}
"""Whether the verdict of a change concerns an operation."""
_CONCERNED = {
    name: tuple(key for key in _VERDICTS if name in CHANGES[key].operations)
    for name in frozenset().union(*(CHANGES[key].operations for key in _VERDICTS))
}
"""The changes with a verdict that concern an operation, by its name."""
