"""Synchronization by buffer ids instead of flags: producer and consumer are in brackets with one id.

A bracket waits until all earlier ones with its id have ended, on any pipe, so no set needs a matching wait, and no pipe
waits for later operations. Source: docs/reference/synchronisation.md, "Buffer ids".
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint

from pto_dialect.ir.sync.flags import GetBufDynOp, GetBufOp, RlsBufDynOp, RlsBufOp
from pto_dialect.passes.accesses.items import PIPES, SCALAR, Call, Choice, Flag, Leaf, Loop, Sequence, UnsupportedError
from pto_dialect.passes.sync_order.findings import judges
from pto_dialect.passes.sync_order.groups import group_of

from .write import Numbers, pipe_attribute, put, slot_id

NUMBERS = 32
Bracket = tuple[Operation, Operation]


def is_lock(flag: Flag) -> bool:
    """Returns whether a buffer id can replace ``flag``: the scalar unit has none."""
    return SCALAR not in (flag.source, flag.target)


def assign_lock_ids(sequence: Sequence, used: set[int]) -> None:
    """Gives the flags of a sequence, and of all in it, numbers beside those ``used`` by functions that are called.

    Those that are under way together have different ones; where there are too few, one waits for the other needlessly.
    """
    lives = [life for life in _live_ranges(sequence) if is_lock(life[2])]
    free = [number for number in range(NUMBERS) if number not in used] or list(range(NUMBERS))
    slots = sum(flag.count for _, _, flag in lives if flag.slot is not None)
    for _, _, flag in lives:
        if flag.slot is not None and (slots >= len(free) or used):
            flag.slot, flag.count = None, 1
    for _, _, flag in lives:
        if flag.slot is not None:
            flag.event = free[0]
            del free[: flag.count]
    over = dict.fromkeys(free, -1)
    for start, end, flag in sorted(lives, key=lambda life: life[:2]):
        if flag.slot is None:
            idle = (number for number, last in over.items() if last < start)
            flag.event = next(idle, min(free, key=lambda number: over[number]))
            over[flag.event] = max(end, over[flag.event])


def _live_ranges(sequence: Sequence) -> list[tuple[int, int, Flag]]:
    """Returns the flags of a sequence and all in it, each with the first and the last place of the text that it is
    about."""
    live_ranges: list[tuple[int, int, Flag]] = []
    _insert_position(sequence, 0, live_ranges)
    return live_ranges


def _insert_position(sequence: Sequence, position: int, live_ranges: list[tuple[int, int, Flag]]) -> int:
    starts: list[int] = []
    ends: list[int] = []
    for item in sequence.items:
        starts.append(position)
        position += 1
        if isinstance(item, Loop):
            first, position = position, _insert_position(item.body, position, live_ranges)
            live_ranges += [(first - 1, position, flag) for flag in item.carried]
        elif isinstance(item, Choice):
            for branch in item.branches:
                position = _insert_position(branch, position, live_ranges)
        ends.append(position)
    live_ranges += [(starts[flag.after], ends[flag.before], flag) for flag in sequence.flags if not flag.carried]
    return position


def write_locks(sequence: Sequence) -> Iterator[Bracket]:
    """Writes brackets for the flags of a sequence and of its nested sequences, and returns them: around single
    operations; before loops, branches and calls that wait, and after those that are waited for."""
    numbers: Numbers = {}
    for index, item in enumerate(sequence.items):
        op = item.op
        waits, sets = (
            [flag for flag in all_.get(index, ()) if is_lock(flag)] for all_ in (sequence.waits, sequence.sets)
        )
        if isinstance(item, Leaf):
            around = {(flag.event, flag.slot): (flag.target, flag) for flag in waits}
            around |= {(flag.event, flag.slot): (flag.source, flag) for flag in sets}
            brackets = [_bracket(pipe, flag, numbers, op) for pipe, flag in around.values()]
            for get, release in brackets:
                put(get, InsertPoint.before(op), op)
                put(release, InsertPoint.after(op), op)
            yield from brackets
            continue
        carried = [flag for flag in item.carried if is_lock(flag)] if isinstance(item, Loop) else []
        begin = [_bracket(flag.target, flag, numbers, op) for flag in waits]
        begin += [_fixed(flag.source, number) for flag in carried for number in flag.numbers]
        end = [_fixed(flag.target, number) for flag in carried for number in flag.numbers]
        end += [_bracket(flag.source, flag, numbers, op) for flag in sets]
        for bracket in begin:
            for one in bracket:
                put(one, InsertPoint.before(op), op)
        for bracket in reversed(end):
            for one in reversed(bracket):
                put(one, InsertPoint.after(op), op)
        yield from (*begin, *end)
        if not isinstance(item, Call):
            for inner in item.branches if isinstance(item, Choice) else [item.body] if isinstance(item, Loop) else []:
                yield from write_locks(inner)


def _bracket(pipe: int, flag: Flag, numbers: Numbers, near: Operation) -> Bracket:
    if flag.slot is None:
        return _fixed(pipe, flag.event)
    number = slot_id(flag.slot, flag.event, numbers, near)
    attributes = {"op_type": pipe_attribute(PIPES[pipe]), "mode": IntegerAttr(0, i32)}
    get, release = (cls.create(operands=[number], attributes=dict(attributes)) for cls in (GetBufDynOp, RlsBufDynOp))
    return get, release


def _fixed(pipe: int, number: int) -> Bracket:
    attributes = {
        "op_type": pipe_attribute(PIPES[pipe]),
        "buf_id": IntegerAttr(number, i32),
        "mode": IntegerAttr(0, i32),
    }
    return GetBufOp.create(attributes=dict(attributes)), RlsBufOp.create(attributes=dict(attributes))


def without_needless(
    function: Operation, target: str | None, brackets: list[Bracket], barriers: list[Operation]
) -> None:
    """Takes out what others of ``brackets`` and ``barriers`` of ``function`` make needless, the last ones first: a
    bracket also waits for what its flag would not. Where the function cannot be judged all stay."""
    try:
        all_judges = judges(function, target)
    except UnsupportedError:
        return
    for judge in all_judges:
        signals = {signal.op: signal for signal in judge.signals()}
        pairs: list[tuple[Operation, ...]] = [*((op,) for op in barriers), *brackets]
        # Brackets with nothing in them begin and end loops; mostly what is inside of the loop does their work.
        for group in sorted(reversed(pairs), key=_filled):
            if all(op in signals for op in group) and judge.dispensable(group_of({signals[op] for op in group})):
                for op in group:
                    op.detach()
                    op.erase()


def _filled(group: tuple[Operation, ...]) -> bool:
    """Returns whether it is a bracket with something in it."""
    return len(group) > 1 and group[0].next_op is not group[-1]
