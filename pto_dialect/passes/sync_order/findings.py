"""Turns findings on the signals of a function into diagnostics.

Source: docs/reference/synchronisation.md, "Judging a program".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from xdsl.ir import Operation

from pto_dialect.analysis.target import profile_of
from pto_dialect.diagnostics.diagnostic import Diagnostic, Note
from pto_dialect.diagnostics.origins import shown_line
from pto_dialect.diagnostics.wording import listed
from pto_dialect.ir.core.base import section_of, symbol_of
from pto_dialect.ir.core.location import span_of
from pto_dialect.ir.core.roles import Role, has_role
from pto_dialect.ir.core.walk import walk
from pto_dialect.passes.accesses.items import PIPES, Leaf, Signal, UnsupportedError, innermost
from pto_dialect.passes.accesses.locations import HandleLocations
from pto_dialect.passes.accesses.signals import SignalReader
from pto_dialect.verify.engine.rule import Rule

from .chains import Reason, reasons
from .course import Finding, Open
from .groups import Group, Judge
from .rules import KEPT, REDUNDANT, REMOVED, SERIALISING, UNDECIDED

# ------------------------------------------------------------ pairs of pipes without work at the same time


class Idle(NamedTuple):
    """A signal that makes ``needless`` wait, or be waited for, beside ``needed``, the nearest that has to."""

    signal: Signal
    needless: Leaf
    needed: Leaf


def pairs_of(lost: list[Finding]) -> dict[tuple[int, int], Open]:
    """Returns the pairs of pipes between which a group keeps order, each with an example."""
    pairs: dict[tuple[int, int], Open] = {}
    for one in lost:
        if isinstance(one, Open):
            pairs.setdefault((one.first.pipe, one.second.pipe), one)
    return pairs


def idle(group: Group, lost: list[Finding]) -> Iterator[Idle]:
    """Yields what waits, or is waited for, for nothing; ``lost`` is what is out of order without ``group``."""
    needs = [one for one in lost if isinstance(one, Open)]
    if len(needs) < len(lost):
        return
    for signal in group.signals:
        if signal.kind == "set":
            yield from _nearest(signal, {one.first for one in needs}, signal.source, -1)
        elif signal.kind == "wait":
            yield from _nearest(signal, {one.second for one in needs}, signal.target, 1)


def _nearest(signal: Signal, needed: set[Leaf], pipe: int, step: int) -> Iterator[Idle]:
    """Work of ``pipe`` between ``signal`` and the nearest item of its sequence with something needed in it."""
    sequence, index = signal.path[-1]
    idle: Leaf | None = None
    index += step
    while 0 <= index < len(sequence.items):
        leaves = [leaf for leaf in innermost(sequence.items[index]) if isinstance(leaf, Leaf) and leaf.pipe == pipe]
        nearest = next((leaf for leaf in leaves if leaf in needed), None)
        if nearest is not None:
            if idle is not None:
                yield Idle(signal, idle, nearest)
            return
        idle = idle or next(iter(leaves), None)
        index += step


# ------------------------------------------------------------ descriptions


def pipe_name(number: int) -> str:
    """Returns ``MTE2`` ..."""
    return PIPES[number].value.removeprefix("PIPE_")


def line_of(op: Operation) -> str:
    """Returns `` (line 7)``; empty for an operation without a source location."""
    span = span_of(op)
    return "" if span is None else f" (line {shown_line(span)})"


def named(item: Leaf | Signal) -> str:
    """Returns the operation of an item with its source location."""
    return f"{item.op.name}{line_of(item.op)}"


def title(signals: tuple[Signal, ...]) -> str:
    """Returns a group of signals as text."""
    first = signals[0]
    if first.kind == "join":
        return "the barrier of all pipes"
    if first.kind == "barrier":
        return f"the barrier of {pipe_name(first.source)}"
    return f"flag EVENT_ID{first.number} from {pipe_name(first.source)} to {pipe_name(first.target)}"


def note_of(item: Leaf | Signal, message: str) -> Note:
    """Returns a note at the source location of an item."""
    return Note(message, span_of(item.op))


def has_signals(function: Operation) -> bool:
    """Returns whether a function says anything about the order of its pipes."""
    return any(has_role(op, Role.PIPES | Role.LOCK) for op in walk(function))


def judges(function: Operation, target: str | None) -> list[Judge]:
    """Returns the function as each kind of core runs it. Raises :class:`UnsupportedError`."""
    sections = {section_of(op) for op in walk(function)}
    sides = [name for name in ("cube", "vector") if name in sections] or [None]
    result: list[Judge] = []
    for side in sides:
        reader = SignalReader(HandleLocations(profile_of(function, target)), side)
        result.append(Judge(reader, reader.function(function)))
    return result


def dispensable(judge: Judge) -> list[tuple[Group, Reason | None]]:
    """Returns the groups that can go, all together, each with its reason."""
    gone = [group for group in judge.groups() if judge.dispensable(group)]
    known = reasons(judge.reader, judge.sequence, gone) if gone else {}
    return [(group, known.get(group)) for group in gone]


def report_redundant(declared: Rule, group: Group, reason: Reason | None) -> Diagnostic:
    """Returns a group that orders nothing, or nothing that others do not order as well."""
    op = group.signals[0].op
    what = f"{title(group.signals)} {'is taken out' if declared is REMOVED else 'is not needed'}"
    notes = [note_of(signal, f"{signal.op.name} belongs to it") for signal in group.signals[1:]]
    if reason is None:
        message = f"{what}: nothing after it has to wait for what is before it"
    else:
        first, second = named(reason.first), named(reason.second)
        by = list(dict.fromkeys(f"{item.op.name}{line_of(item.op)}" for item in reason.chain)) or ["the scalar unit"]
        order = f"{listed(by)} order{'' if len(by) > 1 else 's'}"
        message = f"{what}: {second} depends on {first}, and {order} the two"
    return declared.at(op, message, notes)


def report_serial(judge: Judge, group: Group) -> Iterator[Diagnostic]:
    """Yields what waits for a group although it need not."""
    lost = judge.lost(group)
    first = group.signals[0]
    if first.kind == "join":
        pairs = pairs_of(lost)
        if pairs and all(pair[0] != pair[1] for pair in pairs) and len(pairs) <= 2:
            yield _all_wait(group, list(pairs.values()))
        return
    for one in idle(group, lost):
        yield _waiting(one)


def _all_wait(group: Group, needed: list[Open]) -> Diagnostic:
    waits = " and ".join(f"{pipe_name(o.second.pipe)} on {pipe_name(o.first.pipe)}" for o in needed)
    message = f"all pipes wait for each other here, and only {waits} depends"
    notes = [note_of(one.second, f"{named(one.second)} depends on {named(one.first)}") for one in needed]
    help_ = "a flag from the one pipe to the other instead"
    return SERIALISING.at(group.signals[0].op, message, notes, help_)


def _waiting(one: Idle) -> Diagnostic:
    signal = one.signal
    target, source = pipe_name(signal.target), pipe_name(signal.source)
    if signal.kind == "set":
        message = f"{target} waits for {named(one.needless)} of {source} too, which nothing needs that waits here"
        help_ = f"set the flag right after {named(one.needed)}"
    else:
        message = f"{named(one.needless)} of {target} waits for {source} and depends on nothing of it"
        help_ = f"wait right before {named(one.needed)}"
    return SERIALISING.at(signal.op, message, help=help_)


def report_undecided(function: Operation, error: UnsupportedError | None, judge: Judge | None) -> Diagnostic:
    """Why nothing is proved about a function."""
    name = symbol_of(function)
    op, notes = function, ()
    if error is not None:
        message, op = f"the order in @{name} is not proved: {error.reason}", error.op
    else:
        assert judge is not None
        undecided = next((one for one in judge.found if isinstance(one, Open)), None)
        assert undecided is not None
        op = undecided.second.op
        earlier = " of an earlier iteration" if undecided.loop is not None else ""
        message = f"the order in @{name} is not proved: {op.name} may touch bytes of {undecided.first.op.name}{earlier}"
        notes = (Note(f"{undecided.first.op.name} touches them", span_of(undecided.first.op)),)
    return UNDECIDED.at(op, message, notes)


def report_incomplete(function: Operation) -> Diagnostic:
    """That a function has more ways than were followed."""
    name = symbol_of(function)
    message = f"@{name} has more paths than are followed: mistakes on the others are not reported"
    help_ = "check-sync{judge=true} looks at all of them at once"
    return UNDECIDED.at(function, message, help=help_)


def report_retained(error: UnsupportedError) -> Diagnostic:
    """Why a function keeps all of its signals."""
    message = f"all flags and barriers of this function stay: {error.reason}"
    return KEPT.at(error.op, message)


def judged(function: Operation, target: str | None) -> Iterator[Diagnostic]:
    """Yields what the signals of a function do that they need not, and whether its order is proved."""
    try:
        all_judges = judges(function, target)
    except UnsupportedError as error:
        yield report_undecided(function, error, None)
        return
    for judge in all_judges:
        if any(isinstance(one, Open) for one in judge.found):
            yield report_undecided(function, None, judge)
        gone = dispensable(judge)
        yield from (report_redundant(REDUNDANT, *one) for one in gone)
        taken = {group.signals for group, _ in gone}
        for group in judge.groups():
            if group.signals not in taken:
                yield from report_serial(judge, group)
