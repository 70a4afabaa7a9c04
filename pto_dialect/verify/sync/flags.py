"""Rules of flags, buffer locks, cross-core semaphores and cache maintenance.

Source: docs/reference/targets.md, "Synchronisation resources".
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Attribute, Operation, SSAValue

from pto_dialect.analysis.type_facts import element_type, enumerator, integer_attribute, kernel_kind, space_of
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.ir.core.attributes import ENUMS
from pto_dialect.ir.core.base import PtoOp, operand_groups, section_of
from pto_dialect.ir.core.operands import named
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.types import DYNAMIC, EventIdArrayType, ShapedView, TileBufType, element_name, shape_of
from pto_dialect.ir.sync.cross_core import DcciOp, SetCrossBlockOp, WaitCrossBlockOp
from pto_dialect.targets.profile import Profile

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.functions import is_section
from ..engine.rule import ERROR, SHAPES, STRUCTURE

# ------------------------------------------------------------ flags and buffers


@checks(STRUCTURE, "pto.set_flag", "pto.wait_flag", "pto.set_flag_dyn", "pto.wait_flag_dyn")
def check_flag_pipes(op: Operation, ctx: Context) -> None:
    """Checks both ends of a flag."""
    source, target = op.attributes["src_pipe"], op.attributes["dst_pipe"]
    if source == target:
        name = enumerator(op, "src_pipe")
        ctx.report(
            "sync-same-pipe", op, f"{op.name} has {name} at both ends; pto.barrier orders the work of one pipe", at=name
        )


@checks(SHAPES, "pto.set_flag_dyn", "pto.wait_flag_dyn")
def check_dynamic_flag(op: Operation, ctx: Context) -> None:
    """Reports a flag id that is computed although it is constant."""
    number = ctx.constant(named(op, "event_id"))
    low, high = ctx.profile.sync.flag_ids
    if number is not None and not low <= number <= high:
        message = f"flags are numbered {low} to {high}, found {number}"
        ctx.report("sync-flag-range", op, message, at=named(op, "event_id"))


@checks(STRUCTURE, "pto.get_buf", "pto.rls_buf", "pto.get_buf_dyn", "pto.rls_buf_dyn")
def check_buffer_lock(op: Operation, ctx: Context) -> None:
    """Checks pipe, buffer id and mode of a buffer lock."""
    pipe = op.attributes["op_type"]
    name = enumerator(op, "op_type")
    if name in ("PIPE_ALL", "PIPE_UNASSIGNED") or (name not in ENUMS["pipe"].values and named_pipe(pipe) is None):
        ctx.report("sync-buf-range", op, f"{op.name} works for one pipe, found {name}", at=name)
    low, high = ctx.profile.sync.buf_ids or (0, 31)
    number = integer_attribute(op, "buf_id")
    value = ctx.operand(op, "buf_id")
    if number is None:
        number = ctx.constant(value)
    if number is not None and not low <= number <= high:
        at = str(number) if value is None else value
        ctx.report("sync-buf-range", op, f"buffers are numbered {low} to {high}, found {number}", at=at)
    mode = integer_attribute(op, "mode")
    if mode is not None and mode < 0:
        ctx.report("sync-buf-range", op, f"the mode of {op.name} is at least 0, found {mode}")


@checks(SHAPES, "pto.eventid_array_get", "pto.eventid_array_set")
def check_event_array(op: Operation, ctx: Context) -> None:
    """Checks a constant index into an array of event ids."""
    array = named(op, "array").type
    index = ctx.constant(named(op, "index"))
    if index is not None and isinstance(array, EventIdArrayType) and not 0 <= index < array.size:
        message = f"the array has entries 0 to {array.size - 1}, found index {index}"
        ctx.report("sync-event-array", op, message, at=named(op, "index"))


# ------------------------------------------------------------ between cores

_SEMAPHORES = (
    "pto.sync.set",
    "pto.sync.wait",
    "pto.set_intra_block",
    "pto.wait_intra_block",
    "pto.set_cross_block",
    "pto.wait_cross_block",
)
_ANY_PIPE = frozenset(ENUMS["pipe"].values)

_SENDER_PIPES: dict[str, Callable[[Profile], frozenset[str] | None]] = {
    "pto.sync.set": lambda p: p.sync.set_pipes,
    "pto.set_intra_block": lambda p: p.sync.block_pipes,
    "pto.set_cross_block": lambda p: p.sync.block_pipes,
}


_WAITING_PIPES: dict[str, Callable[[Profile], frozenset[str] | None]] = {
    "pto.sync.wait": lambda p: p.sync.wait_pipes,
    "pto.wait_intra_block": lambda p: p.sync.block_pipes,
    "pto.wait_cross_block": lambda p: p.sync.block_pipes,
}


@checks(STRUCTURE, *_SEMAPHORES)
def check_semaphore(op: Operation, ctx: Context) -> None:
    """Checks form, pipe, id and mode of one cross-core operation."""
    number = integer_attribute(op, "event_id")
    value = ctx.operand(op, "event_id_dyn")
    if (number is None) == (value is None):
        found = "none" if number is None else "both"
        ctx.report(
            "sync-event-form",
            op,
            f"{op.name} takes its number as an integer or as a value of type index, found {found}",
        )
        return
    _semaphore_pipe(op, ctx)
    mode = integer_attribute(op, "ffts_mode")
    if mode is not None:
        low, high = (0, 0) if isinstance(op, SetCrossBlockOp) else ctx.profile.sync.ffts_modes
        if not low <= mode <= high:
            allowed = "0" if low == high else f"{low} to {high}"
            ctx.report("sync-ffts-mode", op, f"ffts_mode of {op.name} is {allowed}, found {mode}", at="ffts_mode")
    if number is None:
        number = ctx.constant(value)
    if number is not None:
        group = mode is not None or isinstance(op, (SetCrossBlockOp, WaitCrossBlockOp))
        _semaphore_id(op, ctx, number, group)


def _semaphore_pipe(op: Operation, ctx: Context) -> None:
    sends = _SENDER_PIPES.get(op.name)
    broken = "sync-set-pipe" if sends is not None else "sync-wait-pipe"
    allowed = sends or _WAITING_PIPES[op.name]
    name = enumerator(op, "pipe")
    severity = ctx.refused(lambda p: name in (allowed(p) or _ANY_PIPE), ERROR)
    if severity is not None:
        listed = ", ".join(sorted(allowed(ctx.profile) or ()))
        message = f"{name} cannot {'signal' if sends else 'wait for'} another core on {ctx.profile.name}"
        ctx.report(broken, op, message, at=name, help=f"one of {listed}", severity=severity)


def _semaphore_id(op: Operation, ctx: Context, number: int, group: bool) -> None:
    def bounds(profile: Profile) -> tuple[int, int]:
        return profile.sync.ffts_ids if group else profile.sync.aic_ids

    at = ctx.operand(op, "event_id_dyn") or str(number)
    severity = ctx.refused(lambda p: bounds(p)[0] <= number <= bounds(p)[1], ERROR)
    if severity is not None:
        low, high = bounds(ctx.profile)
        message = f"{op.name} takes numbers {low} to {high} on {ctx.profile.name}, found {number}"
        ctx.report("sync-sem-range", op, message, at=at, severity=severity)
    elif number > ctx.profile.sync.aiv_ids[1] and _on_vector_core(op, ctx):
        high = ctx.profile.sync.aiv_ids[1]
        message = f"a vector core has numbers 0 to {high}; {number} means {number % (high + 1)} here"
        ctx.report("sync-sem-range", op, message, at=at, severity=Severity.WARNING)


def _on_vector_core(op: Operation, ctx: Context) -> bool:
    parent = op.parent_op()
    while parent is not None and parent is not ctx.function:
        if is_section(parent):
            return section_of(parent) == "vector"
        parent = parent.parent_op()
    return ctx.function is not None and kernel_kind(ctx.function) == "vector"


_LOCAL_WORKSPACES = {
    "aiv_only": ("ub_workspace",),
    "aic_only": ("l1_workspace",),
    "mix": ("ub_workspace", "l1_workspace"),
}
_WORKSPACE_SPACE = {"gm_workspace": "gm", "ub_workspace": "ub", "l1_workspace": "l1"}
_MINIMUM_WORKSPACE = 16
"""Minimum number of counters in a workspace in global memory."""


@checks(STRUCTURE, "pto.syncall")
def check_syncall(op: Operation, ctx: Context) -> None:
    """Checks the operands of a barrier over all cores."""
    assert isinstance(op, PtoOp)
    groups = operand_groups(op)
    given = [name for name in _WORKSPACE_SPACE if groups[name]]
    if enumerator(op, "mode") == "hard":
        if given or groups["used_cores"]:
            ctx.report("sync-syncall", op, "a hard syncall has no operands", at=next(iter(op.operands)))
        return
    if "gm_workspace" not in given:
        ctx.report("sync-syncall", op, "a soft syncall needs a workspace in gm", help="a gm pointer or view of i32")
        return
    local = tuple(name for name in given if name != "gm_workspace")
    core_type = enumerator(op, "core_type")
    older = bool(local) or isinstance(groups["gm_workspace"][0].type, MemRefType)
    if older and local != _LOCAL_WORKSPACES[core_type]:
        wanted = " and ".join(_WORKSPACE_SPACE[name] for name in _LOCAL_WORKSPACES[core_type])
        found = " and ".join(_WORKSPACE_SPACE[name] for name in local) or "none"
        ctx.report("sync-syncall", op, f"local workspaces of a soft {core_type} syncall lie in {wanted}, found {found}")
    for name in given:
        _workspace(op, ctx, groups[name][0], name)


def _workspace(op: Operation, ctx: Context, value: SSAValue, name: str) -> None:
    element = element_type(value.type)
    if element is None or element_name(element).lstrip("su") != "i32":
        found = "nothing" if element is None else element_name(element)
        ctx.report("sync-syncall", op, f"{name} holds 32-bit integers, found {found}", at=value)
        return
    space = space_of(value.type)
    if space is not None and space != _WORKSPACE_SPACE[name]:
        ctx.report("sync-syncall", op, f"{name} lies in {_WORKSPACE_SPACE[name]}, found {space}", at=value)
    shape = _static_shape(value.type)
    if shape is None:
        return
    size = 1
    for dim in shape:
        size *= max(dim, 0)
    if size == 0:
        ctx.report("sync-syncall", op, f"{name} has positive dimensions", at=value)
    elif name == "gm_workspace" and size < _MINIMUM_WORKSPACE:
        ctx.report("sync-syncall", op, f"{name} has at least {_MINIMUM_WORKSPACE} elements, found {size}", at=value)


def _static_shape(type_: Attribute) -> tuple[int, ...] | None:
    shape = shape_of(type_) if isinstance(type_, (TileBufType, ShapedView, MemRefType)) else (DYNAMIC,)
    return None if DYNAMIC in shape else shape


@checks(STRUCTURE, "pto.set_ffts")
def check_ffts_base(op: Operation, ctx: Context) -> None:
    """Checks the element type of the flag area."""
    element = element_type(named(op, "ffts").type)
    if element is None or element_name(element) not in ("i64", "i8", "si64", "ui64", "si8", "ui8"):
        found = "no element type" if element is None else element_name(element)
        ctx.report(
            "sync-ffts-type", op, f"the base of the flag area points to i64 or i8, found {found}", at=named(op, "ffts")
        )


@checks(STRUCTURE, "pto.dcci", "pto.cmo.cacheinvalid")
def check_cache_space(op: Operation, ctx: Context) -> None:
    """Checks the memory space of cache maintenance."""
    allowed = ("gm", "ub") if isinstance(op, DcciOp) else ("gm",)
    place = ctx.operand(op, "ptr") or ctx.operand(op, "addr")
    if place is not None:
        space = space_of(place.type)
        if space is not None and space not in allowed:
            message = f"{op.name} works on {' and '.join(allowed)}, found {space}"
            ctx.report("sync-cache-space", op, message, at=place)
    stated = enumerator(op, "space")
    if stated not in ("", "gm", "zero"):
        ctx.report("sync-cache-space", op, f"{op.name} works on {' and '.join(allowed)}, found {stated}", at=stated)
