"""Why a program can do without signals: what they order is ordered by a chain of others, or nothing depends on it.

Source: docs/reference/synchronisation.md, "Judging a program".
"""

from __future__ import annotations

from collections.abc import Sequence as Many
from contextlib import suppress
from typing import NamedTuple

from pto_dialect.passes.accesses.items import Leaf, Sequence, Signal
from pto_dialect.passes.accesses.program import Reader

from .course import Course
from .groups import Group
from .known import Known, Why

_RECENT = 200
"""Accesses to one memory among which the reason for a signal is looked for first."""


class Reason(NamedTuple):
    """Two operations that a group orders, and the signals that do so too, in the order in which they act."""

    first: Leaf
    second: Leaf
    chain: tuple[Signal | Leaf, ...]


def reasons(reader: Reader, sequence: Sequence, groups: Many[Group]) -> dict[Group, Reason]:
    """For each of ``groups``, which are all removed, the first dependence that it orders; a group without one is
    redundant."""
    explained = _Explainer(reader, groups)
    for users in (reader.users, None):
        # What is looked for are accesses that are in order, mostly of not long ago: few are forgotten, then none.
        state = Known(users)
        state.few = _RECENT
        with suppress(_ExplainedError):
            explained.items(sequence, state)
        if len(explained.reasons) == len(groups):
            break
        explained.marks, explained.open, explained.steps = {}, {}, 0
    return explained.reasons


class _ExplainedError(Exception):
    """All reasons are known."""


class _Explainer(Course):
    def __init__(self, reader: Reader, groups: Many[Group]) -> None:
        super().__init__(reader, frozenset(signal for group in groups for signal in group.signals))
        self.groups = {signal: group for group in groups for signal in group.signals}
        self.asked = len(groups)
        self.marks: dict[Group, int] = {}
        """The number up to which work was done when the group was last set."""
        self.open: dict[Group, int] = {}
        """The same of groups that were waited for and have no reason yet."""
        self.reasons: dict[Group, Reason] = {}

    def signal(self, signal: Signal, state: Known) -> None:
        group = self.groups.get(signal)
        if group is not None and group not in self.reasons:
            if signal.kind == "wait":
                self.open[group] = self.marks.get(group, 0)
            elif signal.kind == "set":
                self.marks[group] = state.now
            else:
                self.open[group] = state.now
        super().signal(signal, state)

    def leaf(self, leaf: Leaf, state: Known) -> None:
        if self.open:
            self._explain(leaf, state)
        super().leaf(leaf, state)

    def _explain(self, leaf: Leaf, state: Known) -> None:
        groups = [group for group in self.open if _between(group, None, leaf.pipe)]
        if not groups:
            return
        row = state.issue(leaf.pipe)
        for access, _ in self.dependences(leaf, state, None):
            source = access.leaf.pipe
            if access.number > row[source]:
                continue
            for group in [one for one in groups if one in self.open and _between(one, source, leaf.pipe)]:
                if access.number <= self.open[group]:
                    self.reasons[group] = Reason(access.leaf, leaf, _chain(state.why[leaf.pipe][source]))
                    del self.open[group]
                    if len(self.reasons) == self.asked:
                        raise _ExplainedError


def _between(group: Group, source: int | None, target: int) -> bool:
    """Returns whether a group orders work of pipe ``target`` after that of ``source``, or of some pipe."""
    signal = group.signals[0]
    return signal.kind == "join" or (signal.target == target and source in (None, signal.source))


def _chain(why: Why) -> tuple[Signal | Leaf, ...]:
    chain: list[Signal | Leaf] = []
    while why:
        item, why = why  # pyright: ignore[reportAssignmentType]
        if isinstance(item, Signal | Leaf) and (not chain or chain[-1] is not item):
            chain.append(item)
    return tuple(reversed(chain))
