"""Unaligned streams whose flush is missing, and accesses that are certainly not where their stream stands.

Source: docs/reference/vectors.md, "Loads and stores".
"""

from __future__ import annotations

from xdsl.ir import Operation, OpResult, SSAValue

from pto_dialect.analysis.addresses import address_of, element_bytes
from pto_dialect.analysis.constants import constant_of
from pto_dialect.diagnostics.diagnostic import Note, Severity
from pto_dialect.ir.core.base import PtoOp, operand_groups
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.operands import find, named
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.vector.memory import VLdasOp, VLdusOp, VStasOp, VSturOp, VStusOp
from pto_dialect.targets.vector_unit import VLANE_BYTES

from ..engine.checks import checks
from ..engine.context import Context
from ..engine.rule import STRUCTURE
from ..program.runs import RUN_RULES

FLUSH = RUN_RULES["stream-flush"]
PLACE = RUN_RULES["stream-address"]
Place = tuple[SSAValue | None, int]
"""A byte address: so many bytes behind a pointer, or an address of its own."""


@checks(STRUCTURE, "pto.vstus", "pto.vstur", "pto.pstu")
def flushed(op: Operation, ctx: Context) -> None:
    """The last state of a stream of stores is flushed."""
    if not op.results or find(op, "base") is None:
        return
    state = op.results[0]
    if not state.uses and not ((offset := find(op, "offset")) is not None and constant_of(offset) == 0):
        flush = "pto.vstar" if isinstance(op, VSturOp) else "pto.vstas"
        message = f"what {op.name} leaves in the state of its stream is not flushed"
        ctx.report(FLUSH, op, message, help=f"{flush} of the state where the stream ends", severity=_severity(op))


def _severity(op: Operation) -> Severity:
    """An error where bytes certainly wait for the flush: the stream ends within a block of 32 bytes."""
    end = _end(op) if isinstance(op, VStusOp) else None
    pending = end is not None and end[0] is None and end[1] % VLANE_BYTES != 0
    return Severity.ERROR if pending else Severity.WARNING


@checks(STRUCTURE, "pto.vstus", "pto.vstas", "pto.vldus")
def at_its_place(op: Operation, ctx: Context) -> None:
    """An operation on a stream accesses the place where the operation before it has left the stream."""
    assert isinstance(op, PtoOp)
    if any(len(values) != 1 for name, values in operand_groups(op).items() if name != "increment"):
        return
    if isinstance(op, VLdusOp):
        _loads(op, ctx)
        return
    before = _maker(named(op, "value" if isinstance(op, VStasOp) else "align_in"))
    if not isinstance(before, VStusOp):
        return
    stands = _end(before)
    if isinstance(op, VStasOp):
        place = _moved(named(op, "destination"), named(op, "offset"), named(op, "destination"))
    else:
        place = _place(named(op, "base"))
    distance = None if stands is None or place is None else _distance(stands, place)
    if distance:
        verb = "flushes" if isinstance(op, VStasOp) else "continues"
        message = f"{op.name} {verb} its stream {_away(distance)} where {before.name} has left it"
        _report(op, before, message, "the address is where the last store has left the stream", ctx)


def _loads(op: VLdusOp, ctx: Context) -> None:
    before = _maker(op.align)
    if not isinstance(before, VLdasOp):
        return
    source = find(before, "source")
    primed, place = None if source is None else _place(source), _place(op.source)
    if primed is None or place is None or primed[0] is not place[0]:
        return
    blocks = [address // VLANE_BYTES for _, address in (primed, place)]
    # Without an address of its own it is not known where blocks begin: two places apart by one are in two of them.
    apart = blocks[0] != blocks[1] if primed[0] is None else abs(primed[1] - place[1]) >= VLANE_BYTES
    if apart:
        message = f"{op.name} begins its stream {_away(place[1] - primed[1])} the address of {before.name}"
        _report(op, before, message, "pto.vldas of the address of the first load", ctx)


def _report(op: Operation, before: Operation, message: str, advice: str, ctx: Context) -> None:
    place = span_of(before)
    notes = (Note(f"{before.name} is here", place),) if place is not None else ()
    ctx.report(PLACE, op, message, help=advice, notes=notes)


def _away(distance: int) -> str:
    return f"{abs(distance)} bytes {'behind' if distance > 0 else 'before'}"


# ------------------------------------------------------------ places


def _maker(state: SSAValue) -> Operation | None:
    return state.op if isinstance(state, OpResult) else None


def _place(pointer: SSAValue) -> Place | None:
    """Where a pointer points to, as far as the text says; ``None`` for none of known elements."""
    size = element_bytes(pointer.type)
    if size is None:
        return None
    address = address_of(pointer)
    if address is not None:
        return None, address
    maker = _maker(pointer)
    if maker is None or not has_role(maker, Role.DISPLACEMENT):
        updated = isinstance(maker, VStusOp) and pointer is maker.results[-1] and len(maker.results) > 1
        return _end(maker) if updated and isinstance(maker, VStusOp) else (pointer, 0)
    return _moved(named(maker, "ptr"), named(maker, "offset"), pointer)


def _moved(pointer: SSAValue, offset: SSAValue, sized: SSAValue) -> Place | None:
    """So many elements of ``sized`` behind a pointer."""
    start, count, size = _place(pointer), constant_of(offset), element_bytes(sized.type)
    if start is None or not isinstance(count, int) or size is None:
        return None
    return start[0], start[1] + count * size


def _end(op: VStusOp) -> Place | None:
    """Where a stream stands behind a store."""
    base, offset = find(op, "base"), find(op, "offset")
    return None if base is None or offset is None else _moved(base, offset, base)


def _distance(one: Place, other: Place) -> int | None:
    """Bytes from one place to the other; ``None`` where it is not known."""
    return other[1] - one[1] if one[0] is other[0] else None
