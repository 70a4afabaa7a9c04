"""Rules of unaligned streams: a missing flush, and accesses that must miss the position of their stream.

Source: docs/reference/vectors.md, "Loads and stores".
"""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from pto_dialect.analysis.addresses import address_of, element_bytes
from pto_dialect.analysis.constants import constant_of
from pto_dialect.diagnostics.diagnostic import Severity, notes_at
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find, named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.vector.memory import VLdasOp, VLdusOp, VStasOp, VSturOp, VStusOp
from pto_dialect.targets.vector_unit import VLANE_BYTES

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import STRUCTURE

Address = tuple[SSAValue | None, int]
"""A byte address: an offset from a pointer, or an absolute address."""


@checks(STRUCTURE, "pto.vstus", "pto.vstur", "pto.pstu")
def check_flushed(op: Operation, ctx: Context) -> None:
    """Checks that the last state of a stream of stores is flushed."""
    if not op.results or find(op, "base") is None:
        return
    state = op.results[0]
    if not state.uses and not ((offset := find(op, "offset")) is not None and constant_of(offset) == 0):
        flush = "pto.vstar" if isinstance(op, VSturOp) else "pto.vstas"
        message = f"what {op.name} leaves in the state of its stream is not flushed"
        ctx.report(
            "stream-flush", op, message, help=f"{flush} of the state where the stream ends", severity=_severity(op)
        )


def _severity(op: Operation) -> Severity:
    """Returns an error where bytes must be pending until the flush: the stream ends within a block of 32 bytes."""
    end = _end_of_store(op) if isinstance(op, VStusOp) else None
    pending = end is not None and end[0] is None and end[1] % VLANE_BYTES != 0
    return Severity.ERROR if pending else Severity.WARNING


@checks(STRUCTURE, "pto.vstus", "pto.vstas", "pto.vldus")
def check_stream_position(op: Operation, ctx: Context) -> None:
    """Checks that an operation on a stream accesses the position at which the previous one left the stream."""
    assert isinstance(op, PtoOp)
    if any(len(values) != 1 for name, values in operand_groups(op).items() if name != "increment"):
        return
    if isinstance(op, VLdusOp):
        _loads(op, ctx)
        return
    before = _maker(named(op, "value" if isinstance(op, VStasOp) else "align_in"))
    if not isinstance(before, VStusOp):
        return
    position = _end_of_store(before)
    if isinstance(op, VStasOp):
        address = _advanced(named(op, "destination"), named(op, "offset"), named(op, "destination"))
    else:
        address = _address_of(named(op, "base"))
    distance = None if position is None or address is None else _distance(position, address)
    if distance:
        verb = "flushes" if isinstance(op, VStasOp) else "continues"
        message = f"{op.name} {verb} its stream {_distance_text(distance)} where {before.name} has left it"
        _report(op, before, message, "the address is where the last store has left the stream", ctx)


def _loads(op: VLdusOp, ctx: Context) -> None:
    before = _maker(op.align)
    if not isinstance(before, VLdasOp):
        return
    source = find(before, "source")
    primed, address = None if source is None else _address_of(source), _address_of(op.source)
    if primed is None or address is None or primed[0] is not address[0]:
        return
    blocks = [offset // VLANE_BYTES for _, offset in (primed, address)]
    # Without an absolute address the block borders are unknown: two addresses that differ by one may be in two blocks.
    apart = blocks[0] != blocks[1] if primed[0] is None else abs(primed[1] - address[1]) >= VLANE_BYTES
    if apart:
        message = f"{op.name} begins its stream {_distance_text(address[1] - primed[1])} the address of {before.name}"
        _report(op, before, message, "pto.vldas of the address of the first load", ctx)


def _report(op: Operation, before: Operation, message: str, advice: str, ctx: Context) -> None:
    span = span_of(before)
    notes = notes_at(f"{before.name} is here", span)
    ctx.report("stream-address", op, message, help=advice, notes=notes, severity=Severity.WARNING)


def _distance_text(distance: int) -> str:
    return f"{abs(distance)} bytes {'behind' if distance > 0 else 'before'}"


# ------------------------------------------------------------ addresses


def _maker(state: SSAValue) -> Operation | None:
    return state.op if isinstance(state, OpResult) else None


def _address_of(pointer: SSAValue) -> Address | None:
    """Returns the address of a pointer, as far as the text states it; ``None`` where the elements are unknown."""
    size = element_bytes(pointer.type)
    if size is None:
        return None
    address = address_of(pointer)
    if address is not None:
        return None, address
    maker = _maker(pointer)
    if maker is None or not has_role(maker, Role.DISPLACEMENT):
        updated = isinstance(maker, VStusOp) and pointer is maker.results[-1] and len(maker.results) > 1
        return _end_of_store(maker) if updated and isinstance(maker, VStusOp) else (pointer, 0)
    return _advanced(named(maker, "ptr"), named(maker, "offset"), pointer)


def _advanced(pointer: SSAValue, offset: SSAValue, sized: SSAValue) -> Address | None:
    """Returns an address advanced by elements of ``sized``."""
    start, count, size = _address_of(pointer), constant_of(offset), element_bytes(sized.type)
    if start is None or not isinstance(count, int) or size is None:
        return None
    return start[0], start[1] + count * size


def _end_of_store(op: VStusOp) -> Address | None:
    """Returns the position of a stream after a store."""
    base, offset = find(op, "base"), find(op, "offset")
    return None if base is None or offset is None else _advanced(base, offset, base)


def _distance(one: Address, other: Address) -> int | None:
    """Returns the bytes between two addresses; ``None`` where they are unknown."""
    return other[1] - one[1] if one[0] is other[0] else None
