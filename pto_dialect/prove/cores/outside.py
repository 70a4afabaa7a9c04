"""Signals to and from other cores, and queues, as one core sees them: what it signals, and where it waits.

Nothing is known about the others, so that a wait orders nothing for certain; what it may order is never refuted.
Source: docs/reference/order-proof.md, "Other cores".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import replace
from typing import NamedTuple

from pto_dialect.analysis.queues import entry
from pto_dialect.ir.core.base import PtoOp, op_spec
from pto_dialect.ir.core.facts.operation_form import form_of
from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.placement import named_pipe
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.types import TileBufType
from pto_dialect.ir.sync.comm import AsyncEventOp, AsyncTransferOp, GroupTransferOp

from ..accesses import accesses_of
from ..model import Access, Interval, Signal, UndecidedError
from ..places import GLOBAL, Places
from ..signals import ALL

OTHERS = Role.CORES | Role.BLOCKS | Role.PEERS | Role.SIGNAL
"""Signals from and to others."""
SENT = "each signal and entry of a queue that it waits for comes"
APART = "entries of queues share no memory with its tiles"
"""What a verdict about one core rests on."""


class Step(NamedTuple):
    """A part of an operation that takes place on one pipe."""

    pipe: Pipe
    accesses: tuple[Access, ...] = ()
    signal: Signal | None = None


def involves_others(op: PtoOp) -> bool:
    """Returns whether an operation signals other cores, waits for them, or moves an entry of a queue."""
    return has_role(op, OTHERS) or op_spec(type(op)).queue is not None


def assumed_for(op: PtoOp) -> Iterator[str]:
    """Yields what the verdict about a core with this operation rests on."""
    action = op_spec(type(op)).queue
    if has_role(op, Role.WAITS | Role.BARRIER) or (action is not None and action.role in ("push", "alloc", "pop")):
        yield SENT
    if action is not None and action.role == "pop":
        yield APART


def steps_of(op: PtoOp, places: Places) -> list[Step]:
    """Returns an operation that involves others, as what its pipes do one after the other. Raises
    :class:`UndecidedError`."""
    action, arch = op_spec(type(op)).queue, places.profile.arch
    accesses = accesses_of(op, places)
    if action is not None:
        return _on_queue(op, action.role, (*accesses, *_loaded(op, action.role, places)), arch)
    if isinstance(op, (AsyncTransferOp, AsyncEventOp)):
        raise UndecidedError(op, "transfers that complete later are not followed")
    if isinstance(op, GroupTransferOp):
        return _transfer(op, accesses)
    if has_role(op, Role.CORES | Role.BLOCKS) and not has_role(op, Role.BARRIER):
        pipe = named_pipe(op.attributes.get("pipe"))
        if pipe is None or pipe is Pipe.ALL:
            raise UndecidedError(op, "its pipe is not known")
        if has_role(op, Role.SETS):
            return [Step(pipe, accesses, _posted(pipe))]
        # Waits of a2a3 stop the whole core.
        return [_taken(Pipe.S if arch == "a2a3" else pipe)]
    steps: list[Step] = []
    if has_role(op, Role.JOINS):
        steps += [Step(Pipe.S, (), Signal("join", Pipe.S, Pipe.S, drains=ALL)), Step(Pipe.S, (), _posted(Pipe.S))]
    if has_role(op, Role.BARRIER | Role.WAITS):
        steps.append(_taken(Pipe.S))
    return [*steps, Step(Pipe.S, accesses)] if accesses else steps


def _posted(pipe: Pipe, drains: frozenset[Pipe] = frozenset()) -> Signal:
    return Signal("post", pipe, pipe, drains=drains)


def _taken(pipe: Pipe) -> Step:
    return Step(pipe, (), Signal("take", pipe, pipe))


def _on_queue(op: PtoOp, role: str, accesses: tuple[Access, ...], arch: str) -> list[Step]:
    """Returns what an operation on a queue does: a push waits for a slot, a pop for an entry; both signal to the other
    end."""
    pipe = form_of(op, arch).pipe or Pipe.S
    if role == "init":
        return []
    if role == "scale":
        return [Step(pipe, accesses)]
    if role == "free":
        return [Step(Pipe.S, (), _posted(Pipe.S, ALL))]
    if role == "alloc":
        return [_taken(pipe)]
    if role == "push":
        return [_taken(pipe), Step(pipe, accesses), Step(pipe, (), _posted(pipe))]
    # Where the scalar unit pops, the producer has filled the slot; else this core loads the entry.
    return [_taken(pipe)] if pipe is Pipe.S else [_taken(pipe), Step(pipe, accesses), Step(pipe, (), _posted(pipe))]


def _loaded(op: PtoOp, role: str, places: Places) -> Iterator[Access]:
    """Yields the tile into which a pop loads its entry, where it does."""
    tile = entry(op)
    if role == "pop" and tile is not None and isinstance(tile.type, TileBufType):
        for place in places.of(tile):
            part = None if place.offset is None else Interval(place.offset, None)
            yield Access(op, True, place.space, place.root, part, place.condition, False)


def _transfer(op: PtoOp, accesses: tuple[Access, ...]) -> list[Step]:
    """Returns a transfer between ranks: loads into tiles, a flag, perhaps sums in V, a flag, stores; then the next
    piece."""
    accesses = tuple(replace(one, certain=False) for one in accesses)
    local = tuple(one for one in accesses if one.space != GLOBAL)
    loads = tuple(one for one in accesses if one.space == GLOBAL and not one.writes)
    stores = tuple(one for one in accesses if one.space == GLOBAL and one.writes)
    pipes = (Pipe.MTE2, *op_spec(type(op)).pipes)
    work = dict.fromkeys(pipes, local) | {Pipe.MTE2: (*loads, *local), Pipe.MTE3: (*stores, *_read(local))}
    steps: list[Step] = []
    for index, pipe in enumerate(pipes):
        following = pipes[(index + 1) % len(pipes)]
        key: Hashable = (op, index)
        steps += [
            Step(pipe, work[pipe]),
            Step(pipe, (), Signal("set", pipe, following, channel=key)),
            Step(following, (), Signal("wait", pipe, following, channel=key)),
            Step(Pipe.S, (), Signal("perhaps", Pipe.S, Pipe.S, drains=ALL)),
        ]
    return steps


def _read(accesses: tuple[Access, ...]) -> tuple[Access, ...]:
    return tuple(replace(one, writes=False) for one in accesses)
