"""Work that waits although nothing it does depends on what it waits for.

Source: docs/reference/synchronisation.md, "Judging a program".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from pto_dialect.passes.accesses.items import Leaf, Signal, innermost

from .course import Finding, Open
from .groups import Group


class Idle(NamedTuple):
    """A signal that makes ``needless`` wait, or be waited for, beside ``needed``, the nearest that has to."""

    signal: Signal
    needless: Leaf
    needed: Leaf


def pairs_of(lost: list[Finding]) -> dict[tuple[int, int], Open]:
    """The pairs of pipes between which a group keeps order, each with an example."""
    pairs: dict[tuple[int, int], Open] = {}
    for one in lost:
        if isinstance(one, Open):
            pairs.setdefault((one.first.pipe, one.second.pipe), one)
    return pairs


def idle(group: Group, lost: list[Finding]) -> Iterator[Idle]:
    """What waits, or is waited for, for nothing; ``lost`` is what is out of order without ``group``."""
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
