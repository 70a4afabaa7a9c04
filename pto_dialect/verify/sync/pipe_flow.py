"""Rules of the queues of a function as a whole: cores, ids, directions, splits."""

from __future__ import annotations

from functools import partial

from xdsl.ir import Operation

from pto_dialect.analysis.queues import (
    C2V,
    CORE_INITS,
    HANDLE_OPERATIONS,
    ID_OPERATIONS,
    INITS,
    QUANT_SETTERS,
    V2C,
    action_of,
    direction_mask,
    entry,
    initialization_of_handle,
    lowered_queue_id,
    nosplit,
    queue_id,
)
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.diagnostics.diagnostic import Severity, notes_at
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import TensorViewType
from pto_dialect.ir.sync.pipes import InitializeL2g2lPipeOp, SetQuantScalarOp, SetQuantVectorOp
from pto_dialect.targets.profile import Profile
from pto_dialect.targets.sync_resources import A5_SYNC

from ..engine.context import Context
from ..engine.functions import FunctionScan, function_check
from ..engine.rule import ERROR
from .pipe_entries import entry_type, slots
from .pipe_epilogue import epilogue
from .pipe_peers import queues_of
from .pipes import (
    flags_of,
)

_DIRECTIONS = {C2V: "cube to vector", V2C: "vector to cube"}


@function_check("pipes")
def check_queue_flow(scan: FunctionScan, ctx: Context) -> None:
    """Runs all checks of queues; each part skips what an earlier one reported."""
    inits = list(scan.named(*INITS))
    by_number = _queue_ids(scan, ctx)
    _cores(scan, ctx)
    _budget(inits, ctx)
    _shared_flags(inits, ctx)
    users: dict[Operation, list[Operation]] = {init: [] for init in inits}
    configured = _configured(by_number, inits)
    for op in scan.named(*ID_OPERATIONS, *QUANT_SETTERS):
        scales = isinstance(op, (SetQuantScalarOp, SetQuantVectorOp))
        if scales and "id" not in op.attributes:
            continue
        init = _initialisation(scan, ctx, op, configured if scales else by_number)
        if init is not None:
            users[init].append(op)
    for op in scan.named(*HANDLE_OPERATIONS):
        init = initialization_of_handle(op)
        if init is None:
            value = find(op, "pipe_handle")
            if value is not None:
                message = "a queue handle comes from pto.initialize_l2l_pipe or pto.initialize_l2g2l_pipe"
                ctx.report("pipe-id", op, message, at=value)
        elif init in users:
            users[init].append(op)
    for init, operations in users.items():
        _splits(init, operations, ctx)
        for op in operations:
            entry_type(init, op, ctx)
        epilogue(init, operations, ctx)
    slots(inits, ctx)


def _queue_ids(scan: FunctionScan, ctx: Context) -> dict[int, Operation]:
    found: dict[int, Operation] = {}
    for init in scan.named(*CORE_INITS):
        key = queue_id(init)
        if key < 0:
            ctx.report("pipe-id", init, f"queue numbers are not negative, found {key}", at="id")
        elif key in found:
            place = span_of(found[key])
            notes = notes_at("the other one is here", place)
            ctx.report("pipe-id", init, f"queue {key} is initialised twice in this function", notes=notes)
        else:
            found[key] = init
    return found


def _configured(by_number: dict[int, Operation], inits: list[Operation]) -> dict[int, Operation]:
    """Returns the ids of queues that an operation sets the scale of; lowered queues keep their id."""
    lowered = {number: init for init in inits if (number := lowered_queue_id(init)) is not None}
    return lowered | by_number


def _cores(scan: FunctionScan, ctx: Context) -> None:
    for op in scan.named(*CORE_INITS, *ID_OPERATIONS):
        action = action_of(op)
        assert action is not None
        wanted = action.core
        core = scan.core_of(op)
        if core != wanted:
            found = f"a {core} one" if core else "one without kernel kind"
            message = f"{op.name} belongs in a {wanted} function, this is {found}"
            hint = f"pto.kernel_kind = #pto.kernel_kind<{wanted}>, or pto.section.{wanted}"
            ctx.report("pipe-kind", op, message, help=hint)
    for op in scan.named(*HANDLE_OPERATIONS):
        if scan.core_of(op) is None:
            hint = "pto.section.cube, pto.section.vector, or a function with pto.kernel_kind"
            ctx.report("pipe-kind", op, f"{op.name} does not say on which core it runs", help=hint)
    if all(name in scan.by_name for name in CORE_INITS) and scan.kernel_kind is not None:
        second = scan.by_name[CORE_INITS[1]][0]
        ctx.report("pipe-kind", second, "a function initialises the queues of one core")


def _budget(inits: list[Operation], ctx: Context) -> None:
    total, budget = 0, A5_SYNC.pipe_flag_budget
    for init in inits:
        total += flags_of(init)
        if total > budget:
            message = f"the queues of this function use {total} hardware flags, there are {budget}"
            ctx.report("pipe-flag-budget", init, message)
            return


def _shared_flags(inits: list[Operation], ctx: Context) -> None:
    """Reports queues that signal with flags of another one; the same queue may be initialised in several places."""
    seen: list[tuple[range, Operation]] = []
    for init in inits:
        base = integer_attribute(init, "flag_base")
        if base is None:
            continue
        flags = range(base, base + flags_of(init))
        for others, other in seen:
            shared = range(max(flags.start, others.start), min(flags.stop, others.stop))
            same = flags == others and direction_mask(init) == direction_mask(other)
            if shared and (not same or _is_used_beside(other, init)):
                names = " and ".join(map(str, shared)) if len(shared) < 3 else f"{shared[0]} to {shared[-1]}"
                noun = "flag" if len(shared) == 1 else "flags"
                place = span_of(other)
                notes = notes_at("the other queue is here", place)
                message = f"this queue and another one of the function both signal with hardware {noun} {names}"
                ctx.report("pipe-flag-overlap", init, message, at="flag_base", notes=notes)
                break
        seen.append((flags, init))


def _is_used_beside(first: Operation, second: Operation) -> bool:
    """Returns whether two queues with the same flags differ and the one that is initialised first, on the way to the
    second, is still used then."""
    block = second.parent
    if block is None or first.parent is not block or [*first.operands] == [*second.operands]:
        return False
    users = [block.find_ancestor_op_in_block(use.operation) for result in first.results for use in result.uses]
    return any(user is not None and second.is_before_in_block(user) for user in users)


def _initialisation(
    scan: FunctionScan, ctx: Context, op: Operation, by_number: dict[int, Operation]
) -> Operation | None:
    """Returns the initialization of the queue that ``op`` names."""
    key = queue_id(op)
    init = by_number.get(key)
    if init is None:
        known = ", ".join(map(str, sorted(by_number))) or "none"
        ctx.report("pipe-id", op, f"queue {key} is not initialised in this function (initialised: {known})", at="id")
        return None
    if not scan.precedes(init, op):
        ctx.report("pipe-id", op, f"queue {key} is initialised after this use, or on another path")
    action = action_of(op)
    if action is not None and action.direction:
        needed = action.direction
        if not direction_mask(init) & needed:
            message = (
                f"{op.name} needs direction {_DIRECTIONS[needed]}, queue {key} has dir_mask {direction_mask(init)}"
            )
            ctx.report("pipe-id", op, message, help=f"dir_mask = {needed} or 3")
    return init


# ------------------------------------------------------------ splits


def _splits(init: Operation, users: list[Operation], ctx: Context) -> None:
    ways = [(op, way) for op in users if (way := integer_attribute(op, "split")) is not None and 0 <= way <= 4]
    stated = nosplit(init)
    first = ways[0] if ways else None
    for op, way in ways:
        if first is not None and bool(way) != bool(first[1]):
            message = f"one queue has split entries or whole ones, found split = {way} after split = {first[1]}"
            ctx.report("pipe-split", op, message, at="split")
        elif stated is not None and stated == bool(way):
            # The transfers agree with each other, so the queue works; the reference refuses to compile it.
            wanted = "split = 0" if stated else "split = 1 or 2"
            message = f"this queue has nosplit = {str(stated).lower()} and needs {wanted}, found split = {way}"
            ctx.report("pipe-split", op, message, at="split", severity=Severity.WARNING)
        allowed = partial(_uneven_allowed, init, op)
        severity = ctx.refused(allowed, ERROR) if way > 2 else None
        if severity is not None:
            message = f"split = {way} is for tiles from cube to vector through slots in gm to a local buffer"
            help = "gm_slot_tensor" if find(init, "gm_slot_buffer") is not None else None
            ctx.report("pipe-split", op, message, at="split", severity=severity, help=help)
    queues = queues_of(init, ctx)
    peer = queues.peer(init)
    if peer is None:
        other_end = queues.peer_of_handle(init)
        if other_end is not None:
            _check_halves(users, [use.operation for result in other_end.results for use in result.uses], ctx)
        return
    others = queues.users(peer)
    _check_halves(users, others, ctx)
    mine, other = _is_unsplit(init, users), _is_unsplit(peer, others)
    if mine is not None and other is not None and mine != other:
        place = span_of(peer)
        notes = notes_at("the other end is here", place)
        message = "the other end of this queue has " + ("split entries" if mine else "whole entries")
        ctx.report("pipe-split", init, message, notes=notes, severity=Severity.WARNING)


_HALVES = {1: "rows", 2: "columns", 3: "rows", 4: "columns"}
"""What an entry is split by."""


def _check_halves(users: list[Operation], others: list[Operation], ctx: Context) -> None:
    """Reports an end that splits entries by rows where the other end, which ``others`` use, does so by columns."""
    for direction in (C2V, V2C):
        mine, theirs = _halves(users, direction), _halves(others, direction)
        if len(mine) == len(theirs) == 1 and mine.keys() != theirs.keys():
            (half, op), (other_half, other) = *mine.items(), *theirs.items()
            message = f"entries are split by {half} here, and by {other_half} at the other end"
            notes = notes_at("the other end is here", span_of(other))
            ctx.report("pipe-split", op, message, at="split", notes=notes, severity=Severity.WARNING)


def _halves(users: list[Operation], direction: int) -> dict[str, Operation]:
    """Returns what entries of a direction are split by, with the first transfer that does so."""
    found: dict[str, Operation] = {}
    for op in users:
        action, way = action_of(op), integer_attribute(op, "split")
        if action is not None and action.transfers and way in _HALVES and (action.direction or direction) == direction:
            found.setdefault(_HALVES[way], op)
    return found


def _uneven_allowed(init: Operation, op: Operation, profile: Profile) -> bool:
    action, moved = action_of(op), entry(op)
    assert action is not None
    if (action.direction or C2V) != C2V or direction_mask(init) != C2V:
        return False
    if isinstance(init, InitializeL2g2lPipeOp):
        placed = find(init, "local_addr") is not None
    else:
        tensor, buffer = find(init, "gm_slot_tensor"), find(init, "gm_slot_buffer")
        through_gm = tensor is not None or (buffer is not None and profile.arch != "a5")
        placed = through_gm and find(init, "c2v_consumer_buf") is not None
    return placed and not (moved is not None and isinstance(moved.type, TensorViewType))


def _is_unsplit(init: Operation, users: list[Operation]) -> bool | None:
    """Returns whether the entries of one end are not split; ``None`` when nothing states it."""
    for op in users:
        if "split" in op.attributes:
            return not integer_attribute(op, "split")
    return nosplit(init)
