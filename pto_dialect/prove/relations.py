"""The order that the signals of a model give for all arguments: matched flags, chains of them, what is left open.

Source: docs/reference/order-proof.md, "Sets".
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from time import process_time
from typing import Any

from pto_dialect.ir.core.facts.pipe import Pipe

from .cores.counted import are_alike, ordinals
from .model import PIPES, Access, Model, Statement, UndecidedError, Unit
from .order_rules import competing, streams
from .sets import ModelText, SetText

_FLAGS, _BUFFERS = 8, 32
AHEAD = "flag-ahead"
"""The kind of suspicion that a flag is set again before the wait for it is over."""
_STEPS = 300_000
"""What one operation of the library may cost."""


def library() -> Any:
    """Returns the module ``islpy``. Raises ``ModuleNotFoundError`` where it is not installed, or cannot be used."""
    try:
        import islpy  # deferred: optional

        if hasattr(islpy, "Set"):
            return islpy
    except ModuleNotFoundError as error:
        if error.name == "islpy":
            raise
    except (ImportError, OSError):
        pass
    raise ModuleNotFoundError("the package islpy is installed but broken", name="islpy")


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
        self.edges: dict[tuple[Unit, Unit], Any] = {}
        self.joins: list[tuple[int, frozenset[Pipe], Any]] = []
        self.inverted: list[tuple[Unit, Unit, Any, Statement]] = []
        """Signals whose waits need not be after their sets in the text: the pipes, and the set of each wait."""
        self.flags: list[tuple[list[Statement], list[Statement], Any]] = []
        """The sets and waits of each flag, and the set of each wait."""
        self.counted: set[tuple[Pipe, Pipe]] = set()
        """The pipes between which a flag may be set again before the wait for it is over."""
        self._reached: dict[int, _Reach] = {}

    def set(self, text: str) -> Any:
        """Returns a set as text, with the parameters of the model."""
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
        """Returns the points in time of statements."""
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
                (o.core, o.signal.source, o.signal.target, o.signal.channel)
                for o in members
                if o.signal and o.signal.number.terms
            }
            for one in members:
                assert one.signal is not None
                pipes = one.core, one.signal.source, one.signal.target, one.signal.channel
                number = None if pipes in open_ else one.signal.number.constant
                sets, waits = groups.setdefault((family, *pipes, number), ([], []))
                (sets if one.signal.kind == first else waits).append(one)
        for (family, *_), (sets, waits) in groups.items():
            yield from self._match(str(family), sets, waits)
        yield from self._between_cores()
        self._locks()
        self._barriers()
        yield from self.deadlocks()
        for sets, waits, matched in self.flags:
            yield from self._ahead(sets, waits, matched)

    def _ahead(self, sets: list[Statement], waits: list[Statement], matched: Any) -> Iterator[Suspicion]:
        """Sets of a flag whose pipe may not know that the wait for an earlier one is over; those of the scalar unit,
        which may be ahead by any number, are suspicions."""
        later = matched.apply_range(self.less)
        for wait in waits:
            if wait.pipe is Pipe.S:
                # What follows it is issued after it.
                continue
            for one in sets:
                self.check(one)
                again = self._following([wait], [one]).intersect(later)
                left = self._open(again, wait, one) if not again.is_empty() else again
                if not left.is_empty() and one.pipe is Pipe.S:
                    yield from self._suspect(AHEAD, left.domain(), wait, one)
                elif not left.is_empty():
                    self.counted.add((one.pipe, wait.pipe))

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
        relation = self._following(earlier, later, latest)
        return relation.lexmax() if latest else relation.lexmin()

    def _following(self, earlier: list[Statement], later: list[Statement], reverse: bool = False) -> Any:
        """For each of ``earlier`` all of ``later`` after it with the same number; with ``reverse`` for each of
        ``later`` all before it."""
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
                ends = (self.text.time(one, "a"), self.text.time(other, "b"))
                source, target = ends[::-1] if reverse else ends
                pieces.append(f"{source} -> {target} : {' and '.join(parts)}")
        return self.map(pieces).intersect_params(self.facts)

    def _same_number(self, one: Statement, other: Statement) -> str:
        assert one.signal is not None and other.signal is not None
        return self.text.both(one, other).equal(one.signal.number, other.signal.number)

    def _match(self, family: str, sets: list[Statement], waits: list[Statement]) -> Iterator[Suspicion]:
        """Matches the signals of two pipes and of one number."""
        one = (sets or waits)[0]
        assert one.signal is not None
        source, target = Unit(one.core, one.signal.source), Unit(one.core, one.signal.target)
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
            inverted = whole = self._nearest(waits, sets, False)
            for way in (self._in_iterations, self._by_number):
                if list(self._unmatched(whole, starts, ends)):
                    whole, inverted = way(sets, waits, starts, ends)
            if not list(self._unmatched(whole, starts, ends)):
                self.inverted.append((source, target, inverted, waits[0]))
                matched, problems = whole, []
        for kind, found in problems:
            yield from self._suspect(kind, found, (sets if kind == "leftover-flag" else waits or sets)[0])
        self.flags.append((sets, waits, matched))
        self._add(source, target, matched.reverse())

    def _in_iterations(self, sets: list[Statement], waits: list[Statement], starts: Any, ends: Any) -> tuple[Any, Any]:
        """The set of each wait where some come before their wait in the text and some after it, and the latter alone;
        nothing where the n-th wait need not take the n-th set."""
        # Between such a set and its wait there is no other of the two.
        matched = self._nearest(sets, waits, True).intersect(self._nearest(sets, waits, False).reverse())
        before = self._following(waits, sets)
        before = before.subtract_domain(matched.domain()).subtract_range(matched.range())
        inverted = before.lexmin().intersect(before.reverse().lexmax().reverse())
        whole = matched.union(inverted)
        return (whole, inverted) if self._keeps_order(whole, ends) else (self.map([]), self.map([]))

    def _by_number(self, sets: list[Statement], waits: list[Statement], starts: Any, ends: Any) -> tuple[Any, Any]:
        """Returns the same where the number of sets and waits before each is an expression."""
        constant = all(one.signal is not None and not one.signal.number.terms for one in (*sets, *waits))
        whole = self._matched(sets, waits, starts, ends) if constant and sets and waits else None
        if whole is None:
            return self.map([]), self.map([])
        # No other set may be between a set and its wait.
        before_wait = whole.reverse().apply_range(self.less.reverse()).intersect_range(starts)
        if not before_wait.intersect(self.less).is_empty():
            return self.map([]), self.map([])
        return whole, whole.intersect(self.less)

    def _keeps_order(self, matched: Any, ends: Any) -> bool:
        """Returns whether later waits take later sets: of the one-to-one relations between two sequences only one
        does."""
        later = self.less.intersect_domain(ends).intersect_range(ends).apply_domain(matched).apply_range(matched)
        return later.is_subset(self.less)

    def _unmatched(self, matched: Any, starts: Any, ends: Any) -> Iterator[tuple[str, Any]]:
        """Yields where waits and sets do not belong together one by one."""
        found = ends.subtract(matched.domain())
        if not found.is_empty():
            yield "deadlock", found
        found = starts.subtract(matched.range())
        if not found.is_empty():
            yield "leftover-flag", found
        if not matched.is_injective():
            again = matched.apply_range(matched.reverse())
            yield "overfull-flag", again.subtract(self.isl.Map.identity(again.get_space())).domain()

    def _between_cores(self) -> Iterator[Suspicion]:
        """Matches the signals from one core to another."""
        channels: dict[Hashable, tuple[list[Statement], list[Statement]]] = {}
        for one in self.model.statements:
            if one.signal is not None and one.signal.kind in ("post", "take") and not one.signal.is_vague:
                posts, takes = channels.setdefault(one.signal.channel, ([], []))
                (posts if one.signal.kind == "post" else takes).append(one)
        for posts, takes in channels.values():
            yield from self._counted(posts, takes)

    def _counted(self, posts: list[Statement], takes: list[Statement]) -> Iterator[Suspicion]:
        """Each wait takes the signal that has as many before it."""
        first = (takes or posts)[0]
        self.check(first)
        if len({one.unit for one in posts}) > 1 or len({one.unit for one in takes}) > 1:
            raise UndecidedError(first.op, "several pipes share the signal")
        starts, ends = (self.times(each, True).intersect_params(self.facts) for each in (posts, takes))
        matched = self._matched(posts, takes, starts, ends)
        if matched is None:
            raise UndecidedError(first.op, "which of the signals it takes is not known")
        yield from self._suspect("deadlock", ends.subtract(matched.domain()), first)
        yield from self._suspect("leftover-flag", starts.subtract(matched.range()), (posts or takes)[0])
        if posts and takes:
            source, target = posts[0].unit, takes[0].unit
            self.inverted.append((source, target, matched, takes[0]))
            self._add(source, target, matched.reverse())

    def _matched(self, posts: list[Statement], takes: list[Statement], starts: Any, ends: Any) -> Any:
        """The signal of each wait; ``None`` where it is not known."""
        first, second = ordinals(posts), ordinals(takes)
        if first is not None and second is not None:
            pieces = [
                self._piece(take, post, [self.text.both(post, take).equal(first[post], second[take])])
                for post in posts
                for take in takes
            ]
            matched = self.map(pieces).intersect_params(self.facts)
            return matched if matched.is_single_valued() and matched.is_injective() else None
        if not are_alike(posts, takes):
            return None
        pieces = [
            self._piece(
                take,
                post,
                [f"a{one.number} = b{other.number}" for one, other in zip(post.loops, take.loops, strict=True)],
            )
            for post, take in zip(posts, takes, strict=True)
        ]
        matched = self.map(pieces).intersect_params(self.facts)
        if not (matched.is_bijective() and matched.domain().is_equal(ends) and matched.range().is_equal(starts)):
            return None
        return matched if self._keeps_order(matched, ends) else None

    def _piece(self, take: Statement, post: Statement, parts: list[str]) -> str:
        whole = [self.text.domain(post, "a", True), self.text.domain(take, "b", True), *parts]
        return f"{self.text.time(take, 'b')} -> {self.text.time(post, 'a')} : {' and '.join(whole)}"

    def deadlocks(self) -> Iterator[Suspicion]:
        """Waits whose signal waits for them."""
        for source, target, inverted, wait in self.inverted:
            self.check(wait)
            reach = _Reach(self, target, inverted.domain(), stalls=True)
            while reach.further():
                pass
            free = inverted
            if source == target or (target.pipe is Pipe.S and source.core == target.core):
                # Only what comes before it in the text.
                free = inverted.intersect(self.not_after.subtract(self.isl.Map.identity(self.less.get_space())))
            else:
                for unit in (source, Unit(source.core, Pipe.ALL)):
                    free = reach.without_one(free, unit)
            yield from self._suspect("deadlock", inverted.subtract(free).domain(), wait)

    def _add(self, source: Unit, target: Unit, relation: Any) -> None:
        if not relation.is_empty():
            known = self.edges.get((source, target))
            self.edges[source, target] = relation if known is None else known.union(relation)

    def _locks(self) -> None:
        """A buffer id that a pipe gets carries what all that released it before have done."""
        kinds: dict[str, dict[Unit, list[Statement]]] = {"release": {}, "get": {}}
        for one in self.model.statements:
            if one.signal is not None and one.signal.kind in kinds:
                kinds[one.signal.kind].setdefault(one.unit, []).append(one)
        for source, releases in kinds["release"].items():
            for target, gets in kinds["get"].items():
                if source.core == target.core:
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
                self.joins.append((one.core, drains, times))
            else:
                self._add(one.unit, one.unit, self.isl.Map.identity(self.less.get_space()).intersect_domain(times))

    # ------------------------------------------------------------ conflicts

    def races(self) -> Iterator[Suspicion]:
        """Yields the pairs of accesses that nothing orders."""
        working = [one for one in self.model.statements if one.accesses]
        for one in working:
            self.check(one)
            for other in working:
                pairs = list(competing(one, other, self.model.arch))
                if pairs:
                    self.check(other)
                    yield from self._unordered(one, other, pairs)

    def _unordered(self, one: Statement, other: Statement, pairs: list[tuple[Access, Access]]) -> Iterator[Suspicion]:
        order = "true" if one.core < other.core else self.text.before(one, other)
        if order is None or one.core > other.core:
            return
        conflict = self._conflict(one, other, pairs, order)
        if conflict.is_empty():
            return
        left = self._open(conflict, one, other)
        if one.core != other.core and not left.is_empty():
            left = self._open(left.reverse(), other, one).reverse()
        if not left.is_empty():
            yield from self._suspect("race", left.domain(), one, other)

    def _conflict(self, one: Statement, other: Statement, pairs: list[tuple[Access, Access]], order: str) -> Any:
        """Returns the executions of two statements that need an order, as ``order`` restricts them."""
        whole = [self.text.domain(one, "a", False), self.text.domain(other, "b", False), order]
        pieces: list[str] = []
        for first, second in pairs:
            parts = [*whole, self.text.meet(first, one, second, other)]
            if streams(one, other, first, second, self.model.arch):
                parts.append(f"not ({self.text.same_turn(one, other)})")
            pieces.append(" and ".join(parts))
        ways = " or ".join(f"({piece})" for piece in dict.fromkeys(pieces))
        conflict = self.map([f"{self.text.time(one, 'a')} -> {self.text.time(other, 'b')} : {ways}"])
        return conflict.intersect_params(self.facts)

    def conflicts(self, one: Statement, other: Statement, level: int | None) -> bool:
        """Returns whether two statements need an order in some call: in one iteration of all loops around both, or in
        two of the loop of this number among them; also where the library cannot say."""
        try:
            self.check(other)
            pairs = list(competing(one, other, self.model.arch))
            return not self._conflict(one, other, pairs, self.text.at_level(one, other, level)).is_empty()
        except (self.isl.Error, UndecidedError):
            return True

    def _open(self, conflict: Any, one: Statement, other: Statement) -> Any:
        """Returns the pairs of a conflict in which nothing makes the second wait for the first."""
        reach = self._reached.get(one.number)
        if reach is None:
            reach = self._reached[one.number] = _Reach(self, one.unit, self.times([one], False))
        left = reach.without(conflict, other.unit)
        while not left.is_empty() and reach.further():
            left = reach.without(left, other.unit)
        return left


class _Reach:
    """When which pipe knows that the executions of a statement are complete: the earliest such point in time of each
    pipe, and of all pipes of a core together, for chains of more and more signals. ``stalls`` states that the statement
    is a wait, which the scalar unit stops at."""

    def __init__(self, relations: Relations, unit: Unit, start: Any, stalls: bool = False) -> None:
        self.relations = relations
        self.known: dict[Unit, Any] = {}
        self.new: list[Unit] = []
        self.rounds = len(PIPES) * relations.model.cores
        """A shortest chain enters no pipe twice."""
        later = relations.less.intersect_domain(start)
        self._spread(unit, later)
        if stalls and unit.pipe is Pipe.S:
            self._spread(Unit(unit.core, Pipe.ALL), later)

    def _spread(self, source: Unit, later: Any) -> None:
        """What the signals of ``source`` carry from points in time on; ``later`` are those after them."""
        everything = source.pipe is Pipe.ALL
        for (unit, target), edge in self.relations.edges.items():
            if unit == source or (everything and unit.core == source.core != target.core):
                self._learn(Unit(target.core, Pipe.ALL) if target.pipe is Pipe.S else target, later.apply_range(edge))
        for core, drains, times in self.relations.joins:
            if core == source.core and (source.pipe in drains):
                self._learn(Unit(core, Pipe.ALL), later.intersect_range(times))

    def _learn(self, unit: Unit, found: Any) -> None:
        self.relations.check(None)
        if found.is_empty():
            return
        before = self.known.get(unit)
        first = (found if before is None else before.union(found)).lexmin()
        if before is None or not first.is_equal(before):
            self.known[unit] = first
            # What all pipes of the only core know is as much as there is to know.
            if (unit.pipe is not Pipe.ALL or self.relations.model.cores > 1) and unit not in self.new:
                self.new.append(unit)

    def further(self) -> bool:
        """Continues with chains that are longer by a signal; False if there are none."""
        if not self.new or not self.rounds:
            return False
        self.rounds -= 1
        units, self.new = self.new, []
        for unit in units:
            self.relations.check(None)
            self._spread(unit, self.known[unit].apply_range(self.relations.less))
        return True

    def without(self, conflict: Any, unit: Unit) -> Any:
        """Returns the pairs of ``conflict`` that are not in order by what is known so far; the later operation is of
        ``unit``."""
        self.relations.check(None)
        for which in (unit, Unit(unit.core, Pipe.ALL)):
            conflict = self.without_one(conflict, which)
        return conflict

    def without_one(self, conflict: Any, unit: Unit) -> Any:
        """Returns the same with what one pipe knows, or all pipes of a core together."""
        known = self.known.get(unit)
        if known is None or conflict.is_empty():
            return conflict
        early = conflict.intersect(known.apply_range(self.relations.not_after))
        return conflict.subtract_domain(known.domain()).union(early)
