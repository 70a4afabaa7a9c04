"""Flags that an iteration may set again before the one before has taken them.

Where iterations overlap, because they hand on slots, the pipe that sets a flag may be an iteration ahead of the one
that waits for it. Two iterations are followed with the waits of each pipe counted beside its work: a flag is safe when
its source knows, where it sets it, that the last wait for the same number is over.
Source: docs/reference/synchronisation.md, "Multi-buffers".
"""

from __future__ import annotations

from typing import Self

from pto_dialect.passes.accesses.items import Flag, Leaf, Loop, Sequence, Users
from pto_dialect.passes.accesses.program import Reader
from pto_dialect.passes.accesses.state import COUNT, State, learn

from .follow import Channel, Runner

_PART = 2 * COUNT
"""Work and waits of each pipe."""


class _Counted(State):
    """A state that counts waits beside work, in one part for what holds in any iteration and one for each channel.
    ``taken`` has the number of the last wait for each flag."""

    __slots__ = ("taken",)
    WIDTH = 5 * _PART

    def __init__(self, users: Users | None) -> None:
        super().__init__(users)
        self.taken: dict[Flag, int] = {}

    def copy(self) -> Self:
        """An independent copy of the state."""
        other = super().copy()
        other.taken = dict(self.taken)
        return other

    def step(self, leaf: Leaf) -> int:
        """``leaf`` runs; its number."""
        number = super().step(leaf)
        self._count(leaf.pipe, number)
        return number

    def waits(self, pipe: int) -> int:
        """A wait of ``pipe`` has ended; its number."""
        self.now += 1
        self._count(COUNT + pipe, self.now)
        return self.now

    def _count(self, kind: int, number: int) -> None:
        for each in range(kind, self.WIDTH, _PART):
            if self.last[each] < number:
                self.last[each] = number
                self.done[each].append(number)

    def barrier(self, pipe: int) -> None:
        """``pipe`` waits for itself."""
        super().barrier(pipe)
        for kind in range(pipe, self.WIDTH, COUNT):
            self.clock[pipe][kind] = self.now


class _Iterations(Runner):
    """Follows two iterations of a loop; ``again`` are the flags that the second may set too early."""

    def __init__(self, reader: Reader, channels: list[Channel]) -> None:
        super().__init__(reader)
        self.channels = channels
        self.iteration = 0
        self.again: dict[Flag, None] = {}

    def part(self, flag: Flag) -> int:
        """Returns the clock component of the last iteration that used the same flag id."""
        chosen = flag.chosen
        if flag.slot is None or not isinstance(chosen, tuple) or chosen[1] not in self.channels:
            return 0
        return (self.channels.index(chosen[1]) + 1) * _PART

    def set(self, flag: Flag, state: State) -> None:
        """A flag is set: is the last wait for it over?"""
        assert isinstance(state, _Counted)
        last = state.taken.get(flag, 0)
        # A rotating id is set again for the next use of its slot, which follows all earlier uses.
        if (
            self.iteration
            and flag.ring is None
            and last > state.issue(flag.source)[self.part(flag) + COUNT + flag.target]
        ):
            self.again[flag] = None
        super().set(flag, state)

    def wait(self, flag: Flag, state: State) -> None:
        """A flag is waited for, which counts."""
        assert isinstance(state, _Counted)
        super().wait(flag, state)
        state.taken[flag] = state.waits(flag.target)

    def take_slot(self, sequence: Sequence, flag: Flag, state: State) -> None:
        """The token of a slot is taken: what was known in the last iteration that had it, is."""
        assert isinstance(state, _Counted)
        last = state.tokens.get(("last", flag)) if self.iteration else None
        if last is not None and flag.ring is not None and flag.ring.ahead == 1:
            learn(state.issue(flag.target), last)
        elif last is not None and (start := self.part(flag)):
            part = slice(start, start + _PART)
            learn(state.issue(flag.target), (*(0,) * start, *last[part]))
        elif flag in state.tokens:
            super().take_slot(sequence, flag, state)
        state.waits(flag.target)

    def together(self, state: State, ways: list[State]) -> State:
        """Returns the join of several paths from ``state``."""
        joined = super().together(state, ways)
        assert isinstance(joined, _Counted)
        for way in ways:
            assert isinstance(way, _Counted)
            for flag, number in way.taken.items():
                joined.taken[flag] = max(number, joined.taken.get(flag, 0))
        return joined


def set_too_early(loop: Loop, reader: Reader, channels: list[Channel]) -> list[Flag]:
    """Returns the flags in ``loop``, whose iterations hand on slots through ``channels``, that the next iteration may
    set before they were taken."""
    iterations = _Iterations(reader, channels[: _Counted.WIDTH // _PART - 1])
    state: State = _Counted(reader.users)
    for flag in loop.carried:
        if not flag.rotates:
            iterations.set(flag, state)
    for iterations.iteration in (0, 1):
        state = iterations.items(loop.body, state)
    return list(iterations.again)
