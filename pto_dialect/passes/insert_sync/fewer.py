"""Makes flags one where that costs no time.

A flag that is set after the last of two sets and waited for before the first of two waits orders all that both do. It
may hold a pipe back, which the cycle model says; where the function takes as long as before, one flag is enough.
Source: docs/reference/synchronisation.md, "Fewer flags".
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

from pto_dialect.passes.accesses.items import SCALAR, Flag, Leaf, Sequence, innermost
from pto_dialect.passes.accesses.signals import signals_others

from .events import all_sequences, replace_flags, united
from .timeline import Costs, Timeline

SHARES = (1.0, 2.0, 4.0)
"""How much longer transfers of global memory may take: cores share its bandwidth."""
STEPS = 50_000
"""Operations that may be followed for one function, in all trials together."""
MOST = 1000
"""Operations of a function from which on nothing is tried: a trial follows all of them."""


def unite_flags(sequence: Sequence, arch: str) -> None:
    """Makes flags of a function one where it takes no more cycles then."""
    groups = [flags for one in reversed(all_sequences(sequence)) for flags in _groups(one)]
    if not groups or not _stands_alone(sequence):
        return
    search = _Search(sequence, arch)
    for flags in groups:
        search.unite(flags)


def _stands_alone(sequence: Sequence) -> bool:
    """Returns whether no other core waits for any of it, nor it for another core, where a later set may come too late;
    and whether it is short enough."""
    parts = list(innermost(sequence))
    return len(parts) <= MOST and all(
        isinstance(one, Leaf) and not (one.shows or one.learns or signals_others(one.op)) for one in parts
    )


def _groups(sequence: Sequence) -> list[list[Flag]]:
    """Returns the flags of which some may become one, those between two pipes."""
    groups: dict[tuple[int, int, bool], list[Flag]] = defaultdict(list)
    for flag in sequence.flags:
        if flag.slot is None and SCALAR not in (flag.source, flag.target):
            groups[flag.source, flag.target, flag.carried].append(flag)
    return [flags for flags in groups.values() if len(flags) > 1]


class _Search:
    """Tries flags; ``times`` are the cycles of the function in each of :data:`SHARES`, which no change may exceed."""

    def __init__(self, sequence: Sequence, arch: str) -> None:
        self.sequence = sequence
        self.timelines = [Timeline(Costs(arch, share)) for share in SHARES]
        self.times = [one.time(sequence) for one in self.timelines]

    def unite(self, flags: list[Flag]) -> None:
        """Makes neighbours among ``flags`` one, the nearest first."""
        flags = sorted(flags, key=lambda flag: (flag.after, flag.before))
        refused: set[tuple[Flag, Flag]] = set()
        while pairs := [pair for pair in pairwise(flags) if pair not in refused and _fit(*pair)]:
            pair = min(pairs, key=_distance)
            one = self._tried(pair)
            if one is None:
                refused.add(pair)
            else:
                at = flags.index(pair[0])
                flags[at : at + 2] = [one]

    def _tried(self, pair: tuple[Flag, Flag]) -> Flag | None:
        """Returns the flag that stands for both, if that costs nothing; otherwise both stay."""
        if sum(timeline.steps for timeline in self.timelines) > STEPS:
            return None
        new = united(*pair)
        replace_flags(self.sequence, pair, (new,))
        times = zip(self.timelines, self.times, strict=True)
        if all(timeline.time(self.sequence) <= time for timeline, time in times):
            return new
        replace_flags(self.sequence, (new,), pair)
        return None


def _fit(one: Flag, other: Flag) -> bool:
    """Returns whether the sets of both come before the waits for both; between iterations they do."""
    return one.carried or max(one.after, other.after) < min(one.before, other.before)


def _distance(pair: tuple[Flag, Flag]) -> int:
    one, other = pair
    return abs(one.after - other.after) + abs(one.before - other.before)
