"""The checker of certificates: do the invariants of the loops hold, and does the order follow from them?

It follows a function once, in the order of the text, and knows for each pipe which statements are complete: all their
executions so far. A loop has an invariant of the certificate, which must hold before it and after each iteration.
Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from xdsl.ir import Operation

from pto_dialect.ir.core.facts.pipe import Pipe
from pto_dialect.ir.core.roles import Role, has_role

from .course import Access, Branch, Course, Loop, NotCoveredError, Signal, Work

Key = tuple[Pipe, Pipe, int]


class RefusedError(Exception):
    """A certificate that proves nothing: why."""


@dataclass
class State:
    """What holds at a position: for each pipe the statements that are complete for its next operation, as bits; the
    same for each flag that is set; what releases of a buffer id carry; the buffer ids that pipes hold."""

    known: dict[Pipe, int]
    flags: dict[Key, int] = field(default_factory=dict)
    released: dict[int, int] = field(default_factory=dict)
    held: frozenset[tuple[Pipe, int]] = frozenset()

    def copy(self) -> State:
        """A state that changes alone."""
        return State(dict(self.known), dict(self.flags), dict(self.released), self.held)

    def implies(self, other: State) -> bool:
        """Whether all that ``other`` states holds here too."""
        return (
            self.flags.keys() == other.flags.keys()
            and self.held == other.held
            and all(not bits & ~self.known[pipe] for pipe, bits in other.known.items())
            and all(not bits & ~self.flags[key] for key, bits in other.flags.items())
            and all(not bits & ~self.released.get(number, 0) for number, bits in other.released.items())
        )

    def meet(self, other: State) -> State | None:
        """What holds in both; ``None`` where different flags are set or ids held."""
        if self.flags.keys() != other.flags.keys() or self.held != other.held:
            return None
        return State(
            {pipe: bits & other.known[pipe] for pipe, bits in self.known.items()},
            {key: bits & other.flags[key] for key, bits in self.flags.items()},
            {number: bits & other.released.get(number, 0) for number, bits in self.released.items()},
            self.held,
        )

    def forget(self, bit: int) -> None:
        """A statement runs once more."""
        for part in (self.known, self.flags, self.released):
            for key in part:
                part[key] &= ~bit  # type: ignore[index]


class Check:
    """Follows ``course``; ``invariants`` are the states of the loops by their numbers."""

    def __init__(self, course: Course, invariants: Mapping[int, State]) -> None:
        self.course = course
        self.invariants = invariants
        self.whole = (1 << len(course.work)) - 1
        self.own = {pipe: sum(1 << one.number for one in course.work if one.pipe is pipe) for pipe in Pipe}
        self.rivals = [_rivals(one, course) for one in course.work]

    def run(self) -> None:
        """Raises :class:`RefusedError` or :class:`NotCoveredError` where the order does not follow."""
        # Nothing has run yet, so that all executions so far are complete.
        end = self.follow(self.course.body, State({pipe: self.whole for pipe in Pipe}))
        if end.flags or end.held:
            raise RefusedError("a flag is left over, or a buffer id is not released")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The pairs of statements that need an order."""
        return [
            (first, second)
            for second, bits in enumerate(self.rivals)
            for first in range(len(self.rivals))
            if bits >> first & 1
        ]

    def follow(self, items: list[Any], state: State) -> State:
        """The state after a body."""
        for item in items:
            if isinstance(item, Work):
                self.work(item, state)
            elif isinstance(item, Signal):
                self.signal(item, state)
            elif isinstance(item, Loop):
                state = self.loop(item, state)
            else:
                state = self.branch(item, state)
        return state

    def work(self, one: Work, state: State) -> None:
        """A statement runs: all that needs an order with it must be complete."""
        missing = self.rivals[one.number] & ~(state.known[one.pipe] | state.known[Pipe.S])
        if missing:
            self.unordered(self.course.work[missing.bit_length() - 1].op, one.op)
        state.forget(1 << one.number)

    def unordered(self, first: Operation, second: Operation) -> None:
        """Two statements are not in order."""
        raise RefusedError(f"nothing orders {second.name} after {first.name}")

    def signal(self, one: Signal, state: State) -> None:
        """A signal: what it carries are the statements that are complete when its pipe has done all before it."""
        known, carried = state.known, state.known[one.source] | state.known[Pipe.S] | self.own[one.source]
        key, lock = (one.source, one.target, one.number), (one.source, one.number)
        if one.kind == "set":
            if key in state.flags:
                raise RefusedError(f"{one.op.name}: the flag is set already")
            state.flags[key] = carried
        elif one.kind == "wait":
            if key not in state.flags:
                raise RefusedError(f"{one.op.name}: the flag is not set before it in the text")
            known[one.target] |= state.flags.pop(key)
        elif one.kind == "get":
            if lock in state.held:
                raise RefusedError(f"{one.op.name}: the pipe holds the buffer id already")
            state.held |= {lock}
            known[one.source] |= state.released.get(one.number, 0)
        elif one.kind == "release":
            if lock not in state.held:
                raise RefusedError(f"{one.op.name}: the pipe does not hold the buffer id")
            state.held -= {lock}
            state.released[one.number] = state.released.get(one.number, 0) | carried
        elif one.kind == "barrier":
            known[one.source] = carried
        else:
            for pipe in one.drains:
                known[Pipe.S] |= known[pipe] | self.own[pipe]

    def loop(self, one: Loop, state: State) -> State:
        """A loop: its invariant holds before it and after each iteration, so also at its end."""
        invariant = self.invariant(one, state)
        if not state.implies(invariant):
            raise RefusedError(f"the invariant of loop {one.number} does not hold before it")
        if not self.follow(one.body, invariant.copy()).implies(invariant):
            raise RefusedError(f"an iteration of loop {one.number} does not keep its invariant")
        return invariant.copy()

    def invariant(self, one: Loop, state: State) -> State:
        """What the certificate states at the begin of each iteration."""
        if one.number not in self.invariants:
            raise RefusedError(f"loop {one.number} has no invariant")
        return self.invariants[one.number]

    def branch(self, one: Branch, state: State) -> State:
        """What holds after each of the bodies, and without any of them."""
        ends = [self.follow(body, state.copy()) for body in one.bodies]
        if len(ends) == 1:
            ends.append(state)
        met: State | None = ends[0]
        for end in ends[1:]:
            met = None if met is None else met.meet(end)
        if met is None:
            raise NotCoveredError("flags or buffer ids that only some branches change are not covered")
        return met


# ------------------------------------------------------------ which statements need an order


def _rivals(later: Work, course: Course) -> int:
    """The statements that must be complete before ``later``, as bits."""
    return sum(1 << one.number for one in course.work if _compete(one, later, course.arch))


def _compete(earlier: Work, later: Work, arch: str) -> bool:
    return any(
        _needs_order(earlier, later, first, second, arch) and _meet(earlier, later, first, second)
        for first in earlier.accesses
        for second in later.accesses
    )


def _needs_order(earlier: Work, later: Work, first: Access, second: Access, arch: str) -> bool:
    """Source: docs/reference/synchronisation.md, "Dependences", "Order inside one pipe"."""
    if not (first.writes or second.writes) or first.place.space != second.place.space:
        return False
    if earlier.pipe is not later.pipe:
        # Other work of the scalar unit is complete at issue.
        return earlier.pipe is not Pipe.S or (first.writes and first.place.space != "gm")
    if earlier.pipe is Pipe.V:
        return arch == "a2a3"
    both = first.writes and second.writes
    return both and earlier.pipe in ((Pipe.MTE3, Pipe.FIX) if first.place.space == "gm" else (Pipe.MTE2,))


def _meet(earlier: Work, later: Work, first: Access, second: Access) -> bool:
    """Whether an execution of ``earlier`` and a later one of ``later`` may touch a common byte."""
    one, other = first.place, second.place
    if one.root is None or other.root is None:
        return True
    if one.root != other.root:
        return False
    if (one.high is not None and one.high <= other.low) or (other.high is not None and other.high <= one.low):
        return False
    if one.view is None or one.view is not other.view or not one.sides or not other.sides:
        return True
    if _are_apart(one.sides, other.sides):
        return False
    if one.sides != other.sides or not _moves(one.sides, earlier.loops, later.loops):
        return True
    # In two iterations they are apart, so that they meet in one only if the earlier one is before the other in it.
    return earlier.number < later.number


def _are_apart(one: Any, other: Any) -> bool:
    """Whether parts of a view are disjoint in all iterations, by indices that do not change."""
    for (start, size), (begin, length) in zip(one, other, strict=True):
        fixed = all(_is_argument(value) for value, _ in (*start.terms, *begin.terms))
        distance = begin.constant - start.constant
        if fixed and start.terms == begin.terms and (distance >= size or -distance >= length):
            return True
    return False


def _moves(sides: Any, loops: tuple[Loop, ...], others: tuple[Loop, ...]) -> bool:
    """Whether parts of a view are disjoint in any two iterations: each loop moves one index on, alone, by its size."""
    if loops != others:
        return False
    for loop in loops:
        for start, size in sides:
            factors = [factor for value, factor in start.terms if value is loop.counter]
            rest = [value for value, _ in start.terms if value is not loop.counter]
            step = abs(factors[0]) * (loop.step or 0) if factors else 0
            if step >= size and step > 0 and all(map(_is_argument, rest)):
                break
        else:
            return False
    return True


def _is_argument(value: Any) -> bool:
    """Whether a value is an argument of the function."""
    parent = None if isinstance(value.owner, Operation) else value.owner.parent_op()
    return parent is not None and has_role(parent, Role.FUNCTION)
