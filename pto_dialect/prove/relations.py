"""The order that the signals of a model give for all arguments: matched flags, chains of them, what is left open.

Source: docs/reference/order-proof.md, "Sets".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

from pto_dialect.ir.core.facts.pipe import Pipe

from .model import Access, Model, Statement, UndecidedError
from .order_rules import needs_order, streams
from .overlap import Overlap, are_apart, share_object
from .sets import ModelText, SetText

PIPES = (Pipe.S, Pipe.V, Pipe.M, Pipe.MTE1, Pipe.MTE2, Pipe.MTE3, Pipe.FIX)
_FLAGS, _BUFFERS = 8, 32
_STEPS = 300_000
"""What one operation of the library may cost."""


def library() -> Any:
    """The module ``islpy``. Raises ``ModuleNotFoundError`` where it is not installed."""
    import islpy  # deferred: optional

    return islpy


@dataclass(frozen=True)
class Suspicion:
    """Arguments for which something may be wrong, as a set, and where."""

    kind: str
    arguments: Any
    first: Statement
    second: Statement | None = None


class Relations:
    """The relations of one model. ``seconds`` is the processor time that they may take."""

    def __init__(self, model: Model, seconds: float) -> None:
        self.isl = library()
        self.model = model
        self.end = process_time() + seconds
        self.context = self.isl.Context()
        self.context.set_max_operations(_STEPS)
        self.text = ModelText(model)
        self.size = 2 * self.text.depth + 1
        empty = f"[{', '.join(f't{index}' for index in range(self.size))}]"
        self.space = self.set(f"{{ {empty} : false }}")
        facts = SetText(self.text.parameters, False)
        known = [facts.condition(fact) for _, fact in model.facts]
        self.facts = self.set(f"{{ : {' and '.join(known) or 'true'} }}").params()
        self.less = self.isl.Map.lex_lt(self.space.get_space())
        self.not_after = self.isl.Map.lex_ge(self.space.get_space())
        self.edges: dict[tuple[Pipe, Pipe], Any] = {}
        self.joins: list[tuple[frozenset[Pipe], Any]] = []
        self.inverted: list[tuple[Pipe, Pipe, Any, Statement]] = []
        """Flags whose waits are before their sets in the text: the pipes, and the set of each wait."""
        self._reached: dict[int, _Reach] = {}

    def set(self, text: str) -> Any:
        """A set as text, with the parameters of the model."""
        return self.isl.Set.read_from_str(self.context, self.text.prefix + text)

    def map(self, pieces: list[str]) -> Any:
        """A relation between points in time."""
        times = f"[{', '.join(f't{index}' for index in range(self.size))}]"
        text = "; ".join(pieces) or f"{times} -> {times} : false"
        return self.isl.Map.read_from_str(self.context, f"{self.text.prefix}{{ {text} }}")

    def check(self, statement: Statement | None) -> None:
        """Raises :class:`UndecidedError` where the time is over."""
        if process_time() > self.end:
            raise UndecidedError(None if statement is None else statement.op, "its time is over here")
        self.context.reset_operations()

    def times(self, statements: list[Statement], exact: bool) -> Any:
        """The points in time of statements."""
        pieces = [f"{self.text.time(one, 'a')} : {self.text.domain(one, 'a', exact)}" for one in statements]
        return self.set(f"{{ {'; '.join(pieces)} }}") if pieces else self.space

    # ------------------------------------------------------------ signals

    def signals(self) -> Iterator[Suspicion]:
        """Matches sets and waits; yields what does not match."""
        groups: dict[tuple[Hashable, ...], tuple[list[Statement], list[Statement]]] = {}
        for one in self.model.statements:
            if one.signal is not None and one.signal.kind in ("set", "wait", "get", "release"):
                yield from self._ids(one)
        for family, first in (("flag", "set"), ("lock", "get")):
            names = ("set", "wait") if family == "flag" else ("get", "release")
            members = [one for one in self.model.statements if one.signal is not None and one.signal.kind in names]
            open_ = {
                (o.signal.source, o.signal.target, o.signal.channel)
                for o in members
                if o.signal and o.signal.number.terms
            }
            for one in members:
                assert one.signal is not None
                pipes = one.signal.source, one.signal.target, one.signal.channel
                number = None if pipes in open_ else one.signal.number.constant
                sets, waits = groups.setdefault((family, *pipes, number), ([], []))
                (sets if one.signal.kind == first else waits).append(one)
        for (family, *_), (sets, waits) in groups.items():
            signal = (sets or waits)[0].signal
            assert signal is not None
            yield from self._match(str(family), signal.source, signal.target, sets, waits)
        self._locks()
        self._barriers()
        yield from self.deadlocks()

    def _ids(self, one: Statement) -> Iterator[Suspicion]:
        assert one.signal is not None
        number, most = one.signal.number, _FLAGS if one.signal.kind in ("set", "wait") else _BUFFERS
        if number.value is not None and 0 <= number.value < most:
            return
        text = SetText(self.text.names(one.loops, "a"), True)
        outside = f"({text.comparison(number.times(-1).plus(-1))} or {text.comparison(number.plus(-most))})"
        found = self.set(f"{{ {self.text.time(one, 'a')} : {self.text.domain(one, 'a', True)} and {outside} }}")
        yield from self._suspect("id-range", found, one)

    def _suspect(self, kind: str, found: Any, one: Statement, other: Statement | None = None) -> Iterator[Suspicion]:
        arguments = found.params().intersect(self.facts)
        if not arguments.is_empty():
            yield Suspicion(kind, arguments, one, other)

    def _nearest(self, earlier: list[Statement], later: list[Statement], latest: bool) -> Any:
        """For each of ``later`` the latest of ``earlier`` before it with the same number; or for each of ``earlier``
        the first of ``later`` after it."""
        pieces: list[str] = []
        for one in earlier:
            self.check(one)
            for other in later:
                order = self.text.before(one, other)
                if order is None:
                    continue
                assert one.signal is not None and other.signal is not None
                parts = [self.text.domain(one, "a", True), self.text.domain(other, "b", True), order]
                if one.signal.number.terms or other.signal.number.terms:
                    parts.append(self._same_number(one, other))
                elif one.signal.number != other.signal.number:
                    continue
                ends = (self.text.time(other, "b"), self.text.time(one, "a"))
                source, target = ends if latest else ends[::-1]
                pieces.append(f"{source} -> {target} : {' and '.join(parts)}")
        relation = self.map(pieces).intersect_params(self.facts)
        return relation.lexmax() if latest else relation.lexmin()

    def _same_number(self, one: Statement, other: Statement) -> str:
        assert one.signal is not None and other.signal is not None
        return self.text.both(one, other).equal(one.signal.number, other.signal.number)

    def _match(
        self, family: str, source: Pipe, target: Pipe, sets: list[Statement], waits: list[Statement]
    ) -> Iterator[Suspicion]:
        self.check((sets or waits)[0])
        starts, ends = (self.times(each, True).intersect_params(self.facts) for each in (sets, waits))
        matched = self._nearest(sets, waits, True)
        if family == "lock":
            for kind, found in self._unmatched(matched, starts, ends):
                yield from self._suspect("buf-nesting", found, (waits if kind == "deadlock" else sets or waits)[0])
            return
        problems = list(self._unmatched(matched, starts, ends))
        if problems:
            # Each wait may take a set that comes after it in the text.
            inverted = self._nearest(waits, sets, False)
            if not list(self._unmatched(inverted, starts, ends)):
                self.inverted.append((source, target, inverted, waits[0]))
                matched, problems = inverted, []
        for kind, found in problems:
            yield from self._suspect(kind, found, (sets if kind == "leftover-flag" else waits or sets)[0])
        self._add(source, target, matched.reverse())

    def _unmatched(self, matched: Any, starts: Any, ends: Any) -> Iterator[tuple[str, Any]]:
        """Where waits and sets do not belong together one by one."""
        found = ends.subtract(matched.domain())
        if not found.is_empty():
            yield "deadlock", found
        found = starts.subtract(matched.range())
        if not found.is_empty():
            yield "leftover-flag", found
        if not matched.is_injective():
            again = matched.apply_range(matched.reverse())
            yield "overfull-flag", again.subtract(self.isl.Map.identity(again.get_space())).domain()

    def deadlocks(self) -> Iterator[Suspicion]:
        """Waits whose set, later in the text, waits for them."""
        for source, target, inverted, wait in self.inverted:
            self.check(wait)
            reach = _Reach(self, target, inverted.domain())
            while reach.further():
                pass
            free = inverted if target is not Pipe.S and source is not target else inverted.subtract(inverted)
            for pipe in (source, Pipe.ALL):
                free = reach.without_one(free, pipe)
            yield from self._suspect("deadlock", inverted.subtract(free).domain(), wait)

    def _add(self, source: Pipe, target: Pipe, relation: Any) -> None:
        if not relation.is_empty():
            known = self.edges.get((source, target))
            self.edges[source, target] = relation if known is None else known.union(relation)

    def _locks(self) -> None:
        """A buffer id that a pipe gets carries what all that released it before have done."""
        locks = [one for one in self.model.statements if one.signal is not None and one.signal.kind in _LOCKS]
        for source in PIPES:
            for target in PIPES:
                releases = [one for one in locks if one.pipe is source and one.signal and one.signal.kind == "release"]
                gets = [one for one in locks if one.pipe is target and one.signal and one.signal.kind == "get"]
                if releases and gets:
                    self.check(gets[0])
                    self._add(source, target, self._nearest(releases, gets, False))

    def _barriers(self) -> None:
        for one in self.model.statements:
            if one.signal is None or one.signal.kind not in ("barrier", "join"):
                continue
            if not one.certain:
                # It may not run, so that nothing may count on it.
                continue
            drains = one.signal.drains if one.signal.kind == "join" else frozenset()
            if one.signal.kind == "barrier" and one.pipe is Pipe.S:
                drains = frozenset({Pipe.S})
            times = self.times([one], True)
            if drains:
                self.joins.append((drains, times))
            else:
                self._add(one.pipe, one.pipe, self.isl.Map.identity(self.less.get_space()).intersect_domain(times))

    # ------------------------------------------------------------ conflicts

    def races(self) -> Iterator[Suspicion]:
        """Pairs of accesses that nothing orders."""
        working = [one for one in self.model.statements if one.accesses]
        for one in working:
            self.check(one)
            for other in working:
                pairs = list(self._pairs(one, other))
                if pairs:
                    self.check(other)
                    yield from self._unordered(one, other, pairs)

    def _pairs(self, one: Statement, other: Statement) -> Iterator[tuple[Access, Access]]:
        """Accesses that need an order, if they meet."""
        for first in one.accesses:
            for second in other.accesses:
                if (
                    needs_order(one, other, first, second, self.model.arch)
                    and share_object(first, second) is not Overlap.NEVER
                    and not (first.root == second.root is not None and are_apart(first, second))
                ):
                    yield first, second

    def _unordered(self, one: Statement, other: Statement, pairs: list[tuple[Access, Access]]) -> Iterator[Suspicion]:
        order = self.text.before(one, other)
        if order is None:
            return
        whole = [self.text.domain(one, "a", False), self.text.domain(other, "b", False), order]
        pieces: list[str] = []
        for first, second in pairs:
            parts = [*whole, self.text.meet(first, one, second, other)]
            if streams(one, other, first, second, self.model.arch):
                parts.append(f"not ({self.text.same_turn(one, other)})")
            pieces.append(" and ".join(parts))
        ways = " or ".join(f"({piece})" for piece in dict.fromkeys(pieces))
        conflict = self.map([f"{self.text.time(one, 'a')} -> {self.text.time(other, 'b')} : {ways}"])
        conflict = conflict.intersect_params(self.facts)
        if conflict.is_empty():
            return
        reach = self._reached.get(one.number)
        if reach is None:
            reach = self._reached[one.number] = _Reach(self, one.pipe, self.times([one], False))
        left = conflict
        while True:
            left = reach.without(left, other.pipe)
            if left.is_empty():
                return
            if not reach.further():
                break
        yield from self._suspect("race", left.domain(), one, other)


_LOCKS = ("get", "release")


class _Reach:
    """When which pipe knows that the executions of a statement are complete: the earliest such point in time of each
    pipe, and of all pipes together, for chains of more and more signals."""

    def __init__(self, relations: Relations, pipe: Pipe, start: Any) -> None:
        self.relations = relations
        self.known: dict[Pipe, Any] = {}
        self.new: list[Pipe] = []
        self._spread(pipe, relations.less.intersect_domain(start))

    def _spread(self, source: Pipe, later: Any) -> None:
        """What the signals of ``source`` carry from points in time on; ``later`` are those after them."""
        for (pipe, target), edge in self.relations.edges.items():
            if pipe is source:
                self._learn(Pipe.ALL if target is Pipe.S else target, later.apply_range(edge))
        for drains, times in self.relations.joins:
            if source in drains:
                self._learn(Pipe.ALL, later.intersect_range(times))

    def _learn(self, pipe: Pipe, found: Any) -> None:
        self.relations.check(None)
        if found.is_empty():
            return
        before = self.known.get(pipe)
        first = (found if before is None else before.union(found)).lexmin()
        if before is None or not first.is_equal(before):
            self.known[pipe] = first
            if pipe is not Pipe.ALL and pipe not in self.new:
                self.new.append(pipe)

    def further(self) -> bool:
        """Continues with chains that are longer by a signal; False if there are none."""
        if not self.new:
            return False
        pipes, self.new = self.new, []
        for pipe in pipes:
            self.relations.check(None)
            self._spread(pipe, self.known[pipe].apply_range(self.relations.less))
        return True

    def without(self, conflict: Any, pipe: Pipe) -> Any:
        """The pairs of ``conflict`` that are not in order by what is known so far; the later operation is of
        ``pipe``."""
        self.relations.check(None)
        for which in (pipe, Pipe.ALL):
            conflict = self.without_one(conflict, which)
        return conflict

    def without_one(self, conflict: Any, pipe: Pipe) -> Any:
        """The same with what one pipe knows, or all pipes together."""
        known = self.known.get(pipe)
        if known is None or conflict.is_empty():
            return conflict
        early = conflict.intersect(known.apply_range(self.relations.not_after))
        return conflict.subtract_domain(known.domain()).union(early)
