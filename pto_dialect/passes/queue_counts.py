"""Entries of queues between the cores of one block that are pushed and never popped, or popped and never pushed.

Only what the text says for certain: one queue of a function with code for both kinds of cores, in loops with constant
bounds and under no condition. Source: docs/reference/execution.md, "Queues between cores".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import takewhile
from typing import NamedTuple

from xdsl.ir import Operation

from pto_dialect.analysis.constants import constant_trip_count
from pto_dialect.analysis.queues import action_of, initialization_of_handle, is_pop, is_push, queue_id
from pto_dialect.analysis.type_facts import integer_attribute
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note
from pto_dialect.ir.core.base import section_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import ancestors, walk
from pto_dialect.ir.core_dialects.structured import is_for
from pto_dialect.verify.engine.rule import Rule, read_rules

NEVER_POPPED = read_rules("run")["sync-flag-unconsumed"]
_SIDES = ("cube", "vector")
_OTHER = {"cube": "vector", "vector": "cube"}


class _End(NamedTuple):
    """The transfers on one end of a queue, and how many entries they move."""

    ops: list[Operation]
    entries: int


def unequal_ends(function: Operation, never_pushed: Rule) -> Iterator[Diagnostic]:
    """Queues whose ends move different numbers of entries."""
    inits: dict[tuple[str, Hashable], list[Operation]] = {}
    transfers: dict[tuple[str, Hashable, str], list[Operation]] = {}
    for op in walk(function):
        action = action_of(op)
        if has_role(op, Role.CALL | Role.BRANCH):
            return
        if action is None:
            continue
        side = _side(op)
        if side not in _SIDES:
            return
        if action.role == "init":
            inits.setdefault((side, _queue(op)), []).append(op)
        elif is_push(op) or is_pop(op):
            init = op if action.core is not None else initialization_of_handle(op)
            if init is None:
                return
            transfers.setdefault((side, _queue(init), "push" if is_push(op) else "pop"), []).append(op)
    for side, queue in [key for key in inits if len(inits[key]) == 1]:
        if len(inits.get((_OTHER[side], queue), ())) == 1:
            pushes, pops = (
                _end(transfers.get((one, queue, role), [])) for one, role in ((side, "push"), (_OTHER[side], "pop"))
            )
            if pushes is not None and pops is not None and pushes.entries != pops.entries:
                yield _diagnostic(pushes, pops, never_pushed)


def _side(op: Operation) -> str | None:
    """Returns the core kind of the enclosing section of an operation."""
    return next((section_of(parent) for parent in ancestors(op) if section_of(parent) in _SIDES), None)


def _queue(op: Operation) -> Hashable:
    """Returns what both ends of a queue say: the first flag, or the number."""
    action = action_of(op)
    assert action is not None
    return ("number", queue_id(op)) if action.core is not None else ("flag", integer_attribute(op, "flag_base"))


def _end(ops: list[Operation]) -> _End | None:
    """One end of a queue; ``None`` where only a run knows how many entries it moves."""
    counts = [_times(op) for op in ops]
    known = [count for count in counts if count is not None]
    return _End(ops, sum(known)) if len(known) == len(counts) else None


def _times(op: Operation) -> int | None:
    """Returns how often an operation runs on a core of its section."""
    times = 1
    for parent in takewhile(lambda parent: not has_role(parent, Role.FUNCTION), ancestors(op)):
        if is_for(parent):
            count = constant_trip_count(parent)
            if count is None:
                return None
            times *= count
        elif has_role(parent, Role.LOOP | Role.CHOICE):
            return None
    return times


def _diagnostic(pushes: _End, pops: _End, never_pushed: Rule) -> Diagnostic:
    more, fewer = (pushes, pops) if pushes.entries > pops.entries else (pops, pushes)
    notes = [Note("the other end", span_of(one)) for one in fewer.ops[-1:]]
    counts = f"{_entries(pushes.entries)} pushed and {pops.entries} popped"
    if pushes.entries > pops.entries:
        message = f"{counts}: what is left in the queue is there for the next kernel"
        declared = NEVER_POPPED
    else:
        message = f"{counts}: the last pop never ends"
        declared = never_pushed
    help_ = "the cube core and each vector core move as many entries as the other"
    return declared.at(more.ops[-1], message, notes, help_)


def _entries(count: int) -> str:
    return "1 entry is" if count == 1 else f"{count} entries are"
