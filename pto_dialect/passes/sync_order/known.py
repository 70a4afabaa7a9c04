"""What the pipes of a core know of one another while a program with signals runs, and from whom.

Source: docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, Self

from pto_dialect.passes.accesses.items import PIPES, SCALAR, Leaf, Signal, Users
from pto_dialect.passes.accesses.state import COUNT, Clocks, State, common, merged

Why = tuple[object, ...]
"""Through which signals something is known, the last one first: ``(signal, rest)``, or empty."""
Key = tuple[int, int, int]
_WIDTH = 2 * COUNT


class Token(NamedTuple):
    """What a flag or the release of a lock carries; ``sets`` are the operations that it may come from."""

    clock: tuple[int, ...]
    why: tuple[Why, ...]
    sets: frozenset[Signal]

    def parts(self) -> Iterator[tuple[int, Why]]:
        """Returns what it carries of each pipe."""
        return zip(self.clock, self.why, strict=True)


class UnevenError(Exception):
    """Ways that come together have set flags unequally often."""


class Known(State):
    """A state with the flags that are set, the locks that were released, and when each flag was last waited for."""

    __slots__ = ("queues", "released", "waited", "why")
    WIDTH = _WIDTH

    def __init__(self, users: Users | None = None) -> None:
        super().__init__(users)
        self.iteration = ()
        self.queues: dict[Key, tuple[Token, ...]] = {}
        self.released: dict[int, Token] = {}
        self.waited: dict[Key, int] = {}
        self.why: list[list[Why]] = [[()] * _WIDTH for _ in PIPES]

    def copy(self) -> Self:
        """An independent copy of the state."""
        other = super().copy()
        other.queues, other.released, other.waited = dict(self.queues), dict(self.released), dict(self.waited)
        other.why = [list(row) for row in self.why]
        return other

    def order(self) -> tuple[Clocks, dict[Key, tuple[tuple[int, ...], ...]], dict[int, tuple[int, ...]]]:
        """Returns all that tells which accesses are in order from here on."""
        queues = {key: tuple([token.clock for token in tokens]) for key, tokens in self.queues.items()}
        return self.clocks(), queues, {number: token.clock for number, token in self.released.items()}

    def issue(self, pipe: int) -> list[int]:
        """Returns the clock of ``pipe`` as its next work finds it."""
        row = self.clock[pipe]
        if pipe != SCALAR:
            self._take(pipe, self.clock[SCALAR], self.why[SCALAR], None)
        return row

    def _take(
        self, pipe: int, clock: list[int] | tuple[int, ...], why: list[Why] | tuple[Why, ...], by: object
    ) -> None:
        row = self.clock[pipe]
        for source, number in enumerate(clock):
            if number > row[source]:
                row[source] = number
                self.why[pipe][source] = why[source] if by is None else (by, why[source])

    def sent(self, signal: Signal) -> Token:
        """Returns what ``signal`` carries."""
        pipe = signal.source
        clock, why = self.token(self.issue(pipe), pipe), list(self.why[pipe])
        why[pipe] = ()
        return Token(clock, tuple([(signal, one) for one in why]), frozenset((signal,)))

    def learn(self, signal: Signal, token: Token) -> None:
        """``signal`` brings ``token`` to its pipe."""
        self.issue(signal.target)
        self._take(signal.target, token.clock, token.why, signal)

    def release(self, number: int, token: Token) -> None:
        """A lock is released once more."""
        known = self.released.get(number)
        if known is not None:
            pairs = [max(pair, key=lambda one: one[0]) for pair in zip(known.parts(), token.parts(), strict=True)]
            token = Token(tuple([c for c, _ in pairs]), tuple([w for _, w in pairs]), known.sets | token.sets)
        self.released[number] = token

    def fence(self, signal: Signal) -> None:
        """A pipe waits for itself."""
        self.issue(signal.target)[signal.target] = self.now
        self.why[signal.target][signal.target] = (signal, ())

    def join_by(self, signal: Signal) -> None:
        """Everybody knows that everything is done, through ``signal``."""
        self.join()
        for row in self.why:
            row[:] = [(signal, ())] * _WIDTH

    def step(self, leaf: Leaf) -> int:
        """``leaf`` runs; its number."""
        if leaf.joins:
            for row in self.why:
                row[:] = [(leaf, ())] * _WIDTH
        return super().step(leaf)


def together(before: Known, ways: list[Known]) -> Known:
    """Returns the join of alternative paths. Raises :class:`UnevenError`."""
    joined = merged(before, list(ways))
    assert isinstance(joined, Known)
    now = joined.now
    for target in range(COUNT) if joined.users is None else joined.users.pipes:
        rows = [way.why[target] for way in ways]
        for source in range(_WIDTH):
            why = rows[0][source]
            if all(row[source] is why for row in rows):
                joined.why[target][source] = why
                continue
            least = min(ways, key=lambda way: common(before, way, way.clock[target][source], source, now))
            joined.why[target][source] = least.why[target][source]
    shapes = [{key: len(tokens) for key, tokens in way.queues.items()} for way in ways]
    if any(shape != shapes[0] for shape in shapes):
        raise UnevenError
    joined.queues = {}
    for key, count in shapes[0].items():
        rows = [[way.queues[key][index] for way in ways] for index in range(count)]
        joined.queues[key] = tuple([_weakest(before, ways, row, now) for row in rows])
    joined.released = {}
    for number in {number for way in ways for number in way.released}:
        nothing = Token((0,) * _WIDTH, ((),) * _WIDTH, frozenset())
        joined.released[number] = _weakest(before, ways, [way.released.get(number, nothing) for way in ways], now)
    joined.waited = {}
    for way in ways:
        for key, number in way.waited.items():
            joined.waited[key] = max(number, joined.waited.get(key, 0))
    return joined


def _weakest(before: Known, ways: list[Known], tokens: list[Token], now: int) -> Token:
    """Returns a token that carries what all of ``tokens``, one of each way, do."""
    first = tokens[0]
    if all(token is first for token in tokens):
        # The way that did nothing keeps its number; what others have done since is not in it.
        return first
    clock: list[int] = []
    why: list[Why] = []
    for source in range(_WIDTH):
        known = [common(before, way, token.clock[source], source, now) for way, token in zip(ways, tokens, strict=True)]
        clock.append(min(known))
        why.append(tokens[known.index(min(known))].why[source])
    return Token(tuple(clock), tuple(why), frozenset().union(*(token.sets for token in tokens)))
