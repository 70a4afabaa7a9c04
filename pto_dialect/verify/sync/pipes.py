"""Rules of single operations on queues between cores. Source: docs/reference/constraints.md, "Queues and
communication".
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from xdsl.ir import Operation

from pto_dialect.analysis.queues import (
    C2V,
    CORE_INITS,
    HANDLE_INITS,
    HANDLE_OPERATIONS,
    ID_OPERATIONS,
    INITS,
    V2C,
    direction_mask,
    entry,
    slot_count,
)
from pto_dialect.analysis.type_facts import enumerator, integer_attribute
from pto_dialect.diagnostics.diagnostic import Severity
from pto_dialect.diagnostics.wording import listed
from pto_dialect.ir.core.operands import find
from pto_dialect.ir.core.types import DYNAMIC, TensorViewType, TileBufType, byte_width, type_text
from pto_dialect.ir.sync.pipes import TPushOp, TPushToAivOp
from pto_dialect.targets.sync_resources import A5_SYNC

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import ERROR, STRUCTURE

# ------------------------------------------------------------ initialization


@checks(STRUCTURE, *INITS)
def check_sizes(op: Operation, ctx: Context) -> None:
    """Checks direction and sizes of a queue."""
    mask = direction_mask(op)
    if mask not in (C2V, V2C, C2V | V2C):
        ctx.report("pipe-dir", op, f"dir_mask is 1, 2 or 3, found {mask}", at="dir_mask")
    for name in ("slot_size", "slot_num", "local_slot_num"):
        size = integer_attribute(op, name)
        if size is not None and size <= 0:
            ctx.report("pipe-sizes", op, f"{name} is positive, found {size}", at=name)
    local = integer_attribute(op, "local_slot_num")
    if local is not None and local > slot_count(op) > 0:
        message = f"local_slot_num is at most slot_num, which is {slot_count(op)}, found {local}"
        ctx.report("pipe-sizes", op, message, at="local_slot_num")


@checks(STRUCTURE, *CORE_INITS)
def check_core_buffers(op: Operation, ctx: Context) -> None:
    """Checks the memory space of the slots of a queue with an id."""
    tensor = find(op, "gm_slot_tensor")
    buffers = {name: find(op, f"{name}_consumer_buf") for name in ("c2v", "v2c")}
    if tensor is not None:
        if find(op, "gm_slot_buffer") is not None:
            message = "a queue has either gm_slot_tensor or gm_slot_buffer"
            ctx.report("pipe-buffers", op, message, at="gm_slot_buffer")
        severity = ctx.refused(lambda p: p.arch != "a5", Severity.WARNING)
        if severity is not None:
            message = "a queue on a5 moves its entries through local buffers, not through gm"
            ctx.report("pipe-local-a5", op, message, at="gm_slot_tensor", severity=severity)
        _slot_tensor(op, ctx, tensor.type)
        if not any(buffers.values()):
            if integer_attribute(op, "local_slot_num") is not None:
                ctx.report("pipe-buffers", op, "local_slot_num needs a consumer buffer", at="local_slot_num")
        elif direction_mask(op) != C2V or buffers["v2c"] is not None:
            message = "beside gm_slot_tensor a queue has dir_mask 1 and c2v_consumer_buf, or no consumer buffer"
            ctx.report("pipe-buffers", op, message, at="gm_slot_tensor")
        return
    mask = direction_mask(op)
    missing = [
        f"{name}_consumer_buf" for name, bit in (("c2v", C2V), ("v2c", V2C)) if mask & bit and buffers[name] is None
    ]
    if len(missing) == 1 or (missing and not any(buffers.values())):
        message = f"a queue with dir_mask {mask} needs {' and '.join(missing)}"
        ctx.report("pipe-buffers", op, message, help="an address from pto.reserve_buffer or pto.import_reserved_buffer")
    if integer_attribute(op, "local_slot_num") is not None:
        severity = ctx.refused(lambda p: p.arch != "a5", ERROR)
        if severity is not None:
            ctx.report(
                "pipe-local-a5", op, "a queue on a5 has no local_slot_num", at="local_slot_num", severity=severity
            )


def _slot_tensor(op: Operation, ctx: Context, type_: object) -> None:
    size = integer_attribute(op, "slot_size")
    slot = static_bytes(type_)
    if size is None or slot is None or size in (slot, 2 * slot):
        return
    message = f"slot_size is {slot} bytes of gm_slot_tensor, or {2 * slot} for split entries, found {size}"
    ctx.report("pipe-entry-type", op, message, at="slot_size")


def static_bytes(type_: object) -> int | None:
    """Returns the bytes of a view with static shape."""
    if not isinstance(type_, TensorViewType) or DYNAMIC in type_.shape:
        return None
    total = byte_width(type_.element) or 0
    for dim in type_.shape:
        total *= dim
    return total or None


@checks(STRUCTURE, *HANDLE_INITS)
def check_handle_buffers(op: Operation, ctx: Context) -> None:
    """Checks addresses and flags of a queue with a handle."""
    two_way = direction_mask(op) == C2V | V2C
    local, peer = find(op, "local_addr"), find(op, "peer_local_addr")
    if local is None:
        if peer is not None:
            ctx.report("pipe-buffers", op, "peer_local_addr needs local_addr", at=peer)
        if integer_attribute(op, "local_slot_num") is not None:
            ctx.report("pipe-buffers", op, "local_slot_num needs local_addr", at="local_slot_num")
    elif two_way and peer is None:
        ctx.report("pipe-buffers", op, "a queue with two directions needs peer_local_addr")
    elif peer is not None and not two_way:
        ctx.report("pipe-buffers", op, "peer_local_addr is for queues with two directions", at=peer)
    base = integer_attribute(op, "flag_base")
    if base is not None:
        width, budget = flags_of(op), A5_SYNC.pipe_flag_budget
        if base < 0 or base + width > budget:
            message = f"{width} flags from {base} are not among the {budget} hardware flags"
            ctx.report("pipe-flag-budget", op, message, at="flag_base")


def flags_of(init: Operation) -> int:
    """Returns the hardware flags that a queue uses."""
    return A5_SYNC.flags_two_way if direction_mask(init) == C2V | V2C else A5_SYNC.flags_one_way


# ------------------------------------------------------------ transfers


@checks(STRUCTURE, *ID_OPERATIONS, *HANDLE_OPERATIONS)
def check_split(op: Operation, ctx: Context) -> None:
    """Checks how the entry is divided between the two vector cores."""
    way = integer_attribute(op, "split")
    if way is None:
        return
    if not 0 <= way <= 4:
        ctx.report("pipe-split", op, f"split is 0 to 4, found {way}", at="split")
        return
    moved = entry(op)
    tile = moved.type if moved is not None else None
    if isinstance(op, (TPushOp, TPushToAivOp)) and isinstance(tile, TileBufType) and way:
        extent, what = (tile.valid_rows, "rows") if way in (1, 3) else (tile.valid_cols, "columns")
        if extent != DYNAMIC and extent % 2 != (way > 2):
            kind = "an odd" if way > 2 else "an even"
            message = f"split {way} divides {kind} number of {what}, found {extent}"
            ctx.report("pipe-split", op, message, at="split")
    if find(op, "aiv_subblockid") is not None:
        if way == 0:
            ctx.report("pipe-split", op, "aiv_subblockid is for split entries", at="aiv_subblockid")
        elif not isinstance(tile, TileBufType) or tile.loc != "vec":
            ctx.report("pipe-split", op, "aiv_subblockid is for tiles in vec", at="aiv_subblockid")


@checks(STRUCTURE, "pto.tpop_from_aic", "pto.tpop_from_aiv")
def check_valid_operands(op: Operation, ctx: Context) -> None:
    """Checks the valid region of the popped tile."""
    row, col = find(op, "valid_row"), find(op, "valid_col")
    tile = op.results[0].type
    dynamic = isinstance(tile, TileBufType) and DYNAMIC in (tile.valid_rows, tile.valid_cols)
    if (row is None) != (col is None):
        missing = "valid_row" if row is None else "valid_col"
        ctx.report("pipe-valid-operands", op, f"valid_row and valid_col come together, {missing} is missing")
    elif row is not None and not dynamic:
        message = f"valid_row and valid_col are for tiles with dynamic valid region, found {type_text(tile)}"
        ctx.report("pipe-valid-operands", op, message, at=row)
    elif row is None and isinstance(tile, TileBufType) and (integer_attribute(op, "split") or 0) > 2:
        ctx.report("pipe-valid-operands", op, "an uneven half has a dynamic valid region, with valid_row and valid_col")


_TRAVEL: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {"pto.tpush": ("vec", "acc"), "pto.tpop": ("vec", "mat")}
)
"""Transfer on a handle -> locations that a pipe pushes from or pops to."""


@checks(STRUCTURE, *(name for name in (*ID_OPERATIONS, *HANDLE_OPERATIONS) if "tpush" in name or "tpop" in name))
def check_tile_location(op: Operation, ctx: Context) -> None:
    """Checks that a pipe of the core can read or write the transferred tile."""
    moved, allowed = entry(op), _TRAVEL.get(op.name, ("vec", "mat", "acc"))
    if moved is not None and isinstance(moved.type, TileBufType) and moved.type.loc not in allowed:
        places = listed(allowed, "or")
        what = f"{op.name} moves tiles in {places}" if len(allowed) == 2 else f"tiles in {places} travel between cores"
        message = f"{what}, found {moved.type.loc}"
        ctx.report("pipe-entry-type", op, message, at=moved)


# ------------------------------------------------------------ reserved buffers


@checks(STRUCTURE, "pto.reserve_buffer")
def check_reserve(op: Operation, ctx: Context) -> None:
    """Checks size, location and base of a reserved buffer."""
    size, base = integer_attribute(op, "size"), integer_attribute(op, "base")
    if size is not None and size <= 0:
        ctx.report("reserve-form", op, f"the size of a reserved buffer is positive, found {size}", at="size")
    place = enumerator(op, "location")
    if place not in ("vec", "mat"):
        ctx.report("reserve-form", op, f"a reserved buffer lies in vec or mat, found {place}", at="location")
    if not integer_attribute(op, "autoAlloc") and base is None:
        ctx.report("reserve-form", op, "a reserved buffer with auto = false needs its base", at="auto")
    if base is not None and base < 0:
        ctx.report("reserve-form", op, f"the base of a reserved buffer is not negative, found {base}", at="base")
