"""Flags that keep the scalar unit from being several iterations ahead of who waits for it.

Nothing but flags holds the scalar unit back: in the next iteration it sets a flag again before the other pipe has
waited for it in this one, where neither depends on what the other does in between. A flag in the other direction, from
one iteration to the next, prevents that. Source: docs/reference/synchronisation.md, "Event ids".
"""

from __future__ import annotations

from typing import NamedTuple

from pto_dialect.passes.accesses.items import Choice, Flag, HandOver, Item, Loop, Sequence


class _Around(NamedTuple):
    """A loop around a flag, and the number of the item of its body that the flag is in; ``None`` where it is between
    items."""

    loop: Loop
    item: int | None


def hand_over(flag: Flag, sequence: Sequence) -> bool:
    """Makes a flag that a loop carries, and that its source may set again in the next iteration, one of a hand-over at
    the end of each iteration."""
    around = _loops_around(flag.sequence, sequence, []) or []
    (loop,) = (one.loop for one in around if flag in one.loop.carried)
    flag.sequence.remove(flag)
    loop.carried.remove(flag)
    there = Flag(flag.source, flag.target, flag.after, flag.before, loop.body, carried=True)
    back = Flag(flag.target, flag.source, flag.after, flag.before, loop.body, carried=True)
    loop.handed.append(HandOver(there, back))
    return True


def hold_back(flag: Flag, sequence: Sequence, held: set[Flag]) -> bool:
    """Adds a flag with which the source of ``flag``, which lies somewhere in ``sequence``, waits in each iteration
    until the wait for ``flag`` of the iteration before is over. Whether there is a loop around that may have it.
    ``flag`` then is one of ``held``."""
    held.add(flag)
    loops = _loops_around(flag.sequence, sequence, [])
    if loops is None:
        return False
    # A flag that is carried is set before its loop too, and waited for after it.
    inner = loops[:-1] if flag.carried and len(loops) > 1 else loops
    if not inner:
        return False
    loop, item = inner[-1]
    before, after = (flag.after, flag.before) if item is None else (item, item)
    # Where an iteration sets a flag after its wait, it is held back in that iteration.
    carried = after >= before
    back = Flag(flag.target, flag.source, after, before, loop.body, carried=carried)
    loop.body.add(back)
    if carried:
        loop.carried.append(back)
    return True


def _loops_around(wanted: Sequence, sequence: Sequence, around: list[_Around]) -> list[_Around] | None:
    """Returns the loops around a sequence, the innermost last; ``None`` where ``sequence`` does not have it."""
    if sequence is wanted:
        return around
    for index, item in enumerate(sequence.items):
        for inner, loops in _inside(item, index, around):
            found = _loops_around(wanted, inner, loops)
            if found is not None:
                return found
    return None


def _inside(item: Item, index: int, around: list[_Around]) -> list[tuple[Sequence, list[_Around]]]:
    """Returns the sequences in an item of the innermost loop, with the loops around them."""
    # Of several items around one flag, the outermost in a loop is an item of its body.
    here = [*around[:-1], around[-1]._replace(item=index)] if around and around[-1].item is None else around
    if isinstance(item, Loop):
        return [(item.body, [*here, _Around(item, None)])]
    return [(branch, here) for branch in item.branches] if isinstance(item, Choice) else []
