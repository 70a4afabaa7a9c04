"""The checker of certificates: do the invariants of the loops hold, and does the order follow from them?

It follows a function once, in the order of the text, and knows for each pipe which statements are complete: all their
executions so far. A loop has an invariant of the certificate, which must hold before it and after each iteration.
Source: docs/reference/order-proof.md, "Certificates".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.ir import Operation, SSAValue

from pto_dialect.ir.core.facts.pipe import Pipe

from .course import Branch, Course, Loop, NotCoveredError, Signal, Work
from .places import Access, Place, Sum

State = dict[tuple[Pipe | int, ...], int]
"""What holds at a position, as bits of the statements that are complete: for the next operation of a pipe, for who
waits for a flag that is set (source, target, id), and for who gets a buffer id; and (without bits) the buffer ids that
pipes hold (pipe, id)."""
_PIPES = frozenset(Pipe) - {Pipe.ALL}


class RefusedError(Exception):
    """A certificate that proves nothing: why."""


def implies(one: State, other: State) -> bool:
    """Returns whether all that ``other`` states holds in ``one`` too."""
    return one.keys() == other.keys() and all(not bits & ~one[key] for key, bits in other.items())


def meet(ends: list[State]) -> State:
    """Returns what holds in all of some states."""
    if any(end.keys() != ends[0].keys() for end in ends):
        raise NotCoveredError("flags or buffer ids that only some branches change are not covered")
    found = dict(ends[0])
    for end in ends[1:]:
        found = {key: bits & end[key] for key, bits in found.items()}
    return found


class Check:
    """Follows ``course``; ``invariants`` are the states of the loops by their numbers."""

    def __init__(self, course: Course, invariants: Mapping[int, State]) -> None:
        self.course, self.invariants = course, invariants
        self.own = {pipe: sum(1 << one.number for one in course.work if one.pipe is pipe) for pipe in Pipe}
        for (pipe, _), bits in course.waits.items():
            self.own[pipe] |= bits
        self.rivals = [_rivals(one, course) for one in course.work]

    def run(self) -> None:
        """Raises :class:`RefusedError` or :class:`NotCoveredError` where the order does not follow."""
        # Nothing has run yet, so that all executions so far are complete.
        whole = (1 << len(self.course.work)) - 1 | sum(self.course.waits.values())
        start = State({(pipe,): whole for pipe in _PIPES}) | State({(number,): 0 for number in range(32)})
        if len(self.follow(self.course.body, dict(start))) != len(start):
            raise RefusedError("a flag is left over, or a buffer id is not released")

    def follow(self, items: list[Any], state: State) -> State:
        """The state after a body; ``state`` may change."""
        for item in items:
            if isinstance(item, Work):
                missing = self.rivals[item.number] & ~(state[item.pipe,] | state[Pipe.S,])
                if missing:
                    self.unordered(self.course.work[missing.bit_length() - 1].op, item.op)
                # It runs once more.
                state = {key: bits & ~(1 << item.number) for key, bits in state.items()}
            elif isinstance(item, Signal):
                self.signal(item, state)
            elif isinstance(item, Branch):
                ends = [self.follow(body, dict(state)) for body in item.bodies]
                state = meet(ends if len(ends) > 1 else [*ends, state])
            else:
                state = self.loop(item, state)
        return state

    def unordered(self, first: Operation, second: Operation) -> None:
        """Two statements are not in order."""
        raise RefusedError(f"nothing orders {second.name} after {first.name}")

    def signal(self, one: Signal, state: State) -> None:
        """A signal: what it carries are the statements that are complete when its pipe has done all before it."""
        carried = state[one.source,] | state[Pipe.S,] | self.own[one.source]
        flag, lock, number = (one.source, one.target, one.number), (one.source, one.number), (one.number,)
        key = flag if one.kind in ("set", "wait") else lock
        if (one.kind in ("set", "get") and key in state) or (one.kind in ("wait", "release") and key not in state):
            raise RefusedError(f"{one.op.name}: the flag or buffer id is not as it should be before it in the text")
        if one.kind == "set":
            if one.source is Pipe.S and self.course.waits.get((one.target, one.number), 0) & ~state[Pipe.S,]:
                self.unordered(one.op, one.op)
            state[flag] = carried
        elif one.kind == "wait":
            state[one.target,] |= state.pop(flag)
            for each in state if one.bit else ():
                state[each] &= ~one.bit
        elif one.kind == "get":
            state[lock] = 0
            state[one.source,] |= state[number]
        elif one.kind == "release":
            del state[lock]
            state[number] |= carried
        elif one.kind == "barrier":
            state[one.source,] = carried
        else:
            for pipe in one.drains & _PIPES:
                state[Pipe.S,] |= state[pipe,] | self.own[pipe]

    def loop(self, one: Loop, state: State) -> State:
        """Returns a loop: its invariant holds before it and after each iteration, so also at its end."""
        invariant = self.invariant(one, state)
        if not implies(state, invariant):
            raise RefusedError(f"the invariant of loop {one.number} does not hold before it")
        if not implies(self.follow(one.body, dict(invariant)), invariant):
            raise RefusedError(f"an iteration of loop {one.number} does not keep its invariant")
        return dict(invariant)

    def invariant(self, one: Loop, state: State) -> State:
        """Returns what the certificate states at the begin of each iteration."""
        if one.number not in self.invariants:
            raise RefusedError(f"loop {one.number} has no invariant")
        return self.invariants[one.number]


# ------------------------------------------------------------ which statements need an order


def _rivals(later: Work, course: Course) -> int:
    """Returns the statements that must be complete before ``later``, as bits."""
    return sum(
        1 << earlier.number
        for earlier in course.work
        if any(
            _needs_order(earlier, later, first, second, course.arch)
            and _meet(earlier, later, first.place, second.place, course.places.arguments)
            for first in earlier.accesses
            for second in later.accesses
        )
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


def _meet(earlier: Work, later: Work, one: Place, other: Place, arguments: frozenset[SSAValue]) -> bool:
    """Returns whether an execution of ``earlier`` and a later one of ``later`` may touch a common byte."""
    if one.root is None or other.root is None:
        return True
    if one.root != other.root:
        return False
    if (one.high is not None and one.high <= other.low) or (other.high is not None and other.high <= one.low):
        return False
    if one.view is None or one.view is not other.view or not one.sides or not other.sides:
        return True
    for (start, size), (begin, length) in zip(one.sides, other.sides, strict=True):
        gap, fixed = begin.plus(start, -1), all(value in arguments for value, _ in (*start.terms, *begin.terms))
        if fixed and not gap.terms and (gap.constant >= size or -gap.constant >= length):
            return False
    steps = all(
        any(_steps(start, loop, arguments) >= max(size, 1) for start, size in one.sides) for loop in later.loops
    )
    if one.sides != other.sides or earlier.loops != later.loops or not steps:
        return True
    # In two iterations they are apart, so that they meet in one only if the earlier one is before the other in it.
    return earlier.number < later.number


def _steps(start: Sum, loop: Loop, arguments: frozenset[SSAValue]) -> int:
    """Returns how far each iteration of a loop moves an index that depends on nothing else but arguments."""
    factors = [(value, abs(factor)) for value, factor in start.terms if value not in arguments]
    return factors[0][1] * loop.step if len(factors) == 1 and factors[0][0] is loop.counter else 0
