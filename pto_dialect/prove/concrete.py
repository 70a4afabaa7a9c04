"""A function with given arguments: all its iterations, the order that its signals give, and what they leave open.

Every pipe takes its operations in order; the scalar unit issues them in the order of the text. Vector clocks say what
must be complete. This decides functions without open numbers, and replays witnesses. Source:
docs/reference/order-proof.md, "One call"; docs/reference/instrumentation.md, "Order of events".
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from enum import StrEnum

from pto_dialect.ir.core.facts.pipe import Pipe

from .expressions import Ordinal, Symbol, UnknownValueError, Varying, evaluate, holds, symbols_of
from .limit import TOO_MANY, Limit
from .model import PIPES, UNDETERMINED, Access, Loop, Model, Signal, Statement, UndecidedError, Unit
from .order_rules import kind_of, may_refute, needs_order, streams
from .overlap import Overlap, overlap_at

_FLAGS, _BUFFERS = 8, 32
Numbers = dict[Symbol, int]
Clock = dict[Unit, int]
Key = tuple[Unit, Pipe, int, Hashable]
"""Both ends and the number of a signal, and its channel; of work its pipe and its rank there."""


@dataclass(eq=False)
class Instance:
    """One execution of a statement; ``values`` are the arguments and the iterations around it."""

    statement: Statement
    values: Numbers
    certain: bool
    key: Key | None = None
    known: Clock = field(default_factory=dict)
    rank: int = 0
    """Its number among the operations of its pipe."""
    released: int = 0
    """How many releases of its buffer id come before it in the text."""

    @property
    def is_vague(self) -> bool:
        """Whether it is not known what it orders."""
        return self.statement.is_vague(self.certain)

    @property
    def turns(self) -> int:
        """How many iterations lie before it, those of all loops together."""
        return sum(self.values[loop.ordinal] for loop in self.statement.loops)


class FaultKind(StrEnum):
    """What may be wrong in a call."""

    DEADLOCK = "deadlock"
    LEFTOVER_FLAG = "leftover-flag"
    OVERFULL_FLAG = "overfull-flag"
    FLAG_AHEAD = "flag-ahead"
    ID_RANGE = "id-range"
    BUF_NESTING = "buf-nesting"
    RACE_RAW = "race-raw"
    RACE_WAR = "race-war"
    RACE_WAW = "race-waw"
    RACE_SAME_PIPE = "race-same-pipe"
    RACE_INVERTED = "race-inverted"
    RACE_CROSS_CORE = "race-cross-core"


@dataclass(frozen=True)
class Fault:
    """What is wrong in one call; ``certain`` states that nothing about it was widened."""

    kind: FaultKind
    first: Instance
    second: Instance | None
    certain: bool
    accesses: tuple[Access, Access] | None = None

    @property
    def size(self) -> int:
        """How many iterations lead to it."""
        return self.first.turns + (0 if self.second is None else self.second.turns)


class _Releases:
    """The releases of a buffer id in the order of the text: what each carries once it has happened."""

    def __init__(self) -> None:
        self.clocks: list[Clock | None] = []
        self._first: list[Clock] = [{}]

    def before(self, count: int) -> Clock | None:
        """Returns what the first ``count`` of them carry; ``None`` where one of them has not happened yet."""
        while len(self._first) <= count:
            clock = self.clocks[len(self._first) - 1]
            if clock is None:
                return None
            whole = dict(self._first[-1])
            _learn(whole, clock)
            self._first.append(whole)
        return self._first[count]


def instances(model: Model, arguments: Numbers, limit: Limit) -> Iterator[Instance]:
    """Yields all executions of statements, in the order of the text."""

    def visit(body: list[Statement | Loop], values: Numbers) -> Iterator[Instance]:
        for item in body:
            limit.take()
            if isinstance(item, Loop):
                values[item.ordinal] = 0
                while _holds(item, values):
                    yield from visit(item.body, values)
                    values[item.ordinal] += 1
                del values[item.ordinal]
            else:
                known = _condition(item, values)
                if known is not False:
                    yield Instance(item, dict(values), item.certain and known is True)

    return visit(model.body, dict(arguments))


def _holds(loop: Loop, values: Numbers) -> bool:
    try:
        if loop.goes_on is not None:
            return holds(loop.goes_on, values)
    except UnknownValueError:
        pass
    raise UndecidedError(loop.op, f"how often it runs {UNDETERMINED}")


def _condition(statement: Statement, values: Numbers) -> bool | None:
    try:
        return holds(statement.condition, values)
    except UnknownValueError:
        return None


@dataclass(eq=False)
class _Earlier:
    """The executions of one access so far, with their numbers among the operations of their pipe."""

    statement: Statement
    access: Access
    moves: bool
    instances: list[Instance] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)


def _begun(model: Model, arguments: Numbers, limit: Limit) -> tuple[list[Instance], bool]:
    """Returns the first executions of a call, and whether these are all."""
    found: list[Instance] = []
    try:
        found.extend(instances(model, arguments, Limit(limit.steps // 4, limit.end)))
    except UndecidedError as error:
        if error.op is not None:
            raise
        return found, False
    return found, True


class Run:
    """One call of a function. In an ``ordered`` one, whatever others may order is in order."""

    def __init__(self, model: Model, arguments: Numbers, limit: Limit, ordered: bool = False) -> None:
        self.model = model
        self.limit = limit
        self.ordered = ordered
        self.known_outside: Clock = {}
        """What others may know to be complete."""
        self.faults: list[Fault] = []
        self.units = tuple(Unit(core, pipe) for core in range(model.cores) for pipe in PIPES)
        self.clocks: dict[Unit, Clock] = {unit: {} for unit in self.units}
        self.counts: Clock = dict.fromkeys(self.units, 0)
        self.queues: dict[Unit, deque[Instance]] = {unit: deque() for unit in self.units}
        self.joins: dict[int, Instance] = {}
        """The join at which a core waits for its pipes."""
        self.tokens: dict[Key, deque[tuple[Instance, Clock]]] = {}
        self.releases: defaultdict[tuple[int, int], _Releases] = defaultdict(_Releases)
        self.held: dict[tuple[Unit, int], Instance] = {}
        self.pending: dict[Key, list[Instance]] = {}
        self.waits: dict[Key, int] = {}
        self.set_with: dict[Key, list[tuple[Instance, Clock]]] = {}
        """What the pipe of each flag knew when it set it, by key."""
        self.counted: set[tuple[Pipe, Pipe]] = set()
        """The pipes between which flags are taken to count: see :meth:`_ahead`."""
        self.waited: dict[Key, list[tuple[Unit, int]]] = {}
        """The pipe that waited for each, and the number of the wait there."""
        self.memory: dict[tuple[str, object], dict[int, _Earlier]] = {}
        begun, is_whole = _begun(model, arguments, limit)
        self._go(begun, is_whole)

    def _go(self, all_: list[Instance], is_whole: bool) -> None:
        """Follows a call; of one that is too long its beginning, in which later signals order nothing."""
        if not is_whole and self.model.cores > 1:
            raise UndecidedError(None, TOO_MANY)
        for place, one in enumerate(all_):
            one.rank = place
        stuck = self._issued(all_)
        if stuck or is_whole:
            self._end(stuck)
        if not any(fault.kind is FaultKind.DEADLOCK for fault in self.faults):
            self._ahead()
            try:
                self._races(all_)
            except UndecidedError:
                is_whole = False
        if not is_whole and not any(fault.certain for fault in self.faults):
            raise UndecidedError(None, TOO_MANY)

    def _issued(self, all_: list[Instance]) -> list[int]:
        """Lets each core issue as long as it can; the cores that cannot reach their end."""
        own: list[list[Instance]] = [[] for _ in range(self.model.cores)]
        for one in all_:
            own[one.statement.core].append(one)
        places, moved = [0] * len(own), True
        while moved:
            moved = False
            for core, those in enumerate(own):
                while places[core] < len(those) and self._continues(core):
                    self._issue(those[places[core]])
                    places[core] += 1
                    moved = True
        return [core for core in range(len(own)) if not self._continues(core)]

    def _continues(self, core: int) -> bool:
        """Returns whether the scalar unit of a core waits for nothing."""
        join = self.joins.get(core)
        if join is not None and not self._waiting(core):
            del self.joins[core]
            self._join(join)
            join = None
        return join is None and not self.queues[Unit(core, Pipe.S)]

    def _waiting(self, core: int) -> list[Instance]:
        """Returns what the pipes of a core wait at."""
        return [queue[0] for unit, queue in self.queues.items() if queue and unit.core == core]

    def _end(self, stuck: list[int]) -> None:
        """What still waits at the end, and what was set for nothing."""
        waiting: list[Instance] = []
        for core in range(self.model.cores):
            scalar = self.queues[Unit(core, Pipe.S)]
            waiting += [scalar[0]] if scalar else self._waiting(core)
        for one in waiting:
            self.faults.append(Fault(FaultKind.DEADLOCK, one, None, one.certain))
        if not waiting:
            for tokens in self.tokens.values():
                for one, _ in tokens:
                    self.faults.append(Fault(FaultKind.LEFTOVER_FLAG, one, None, one.certain))
        for one in self.held.values() if not stuck else ():
            self.faults.append(Fault(FaultKind.BUF_NESTING, one, None, one.certain))

    # ------------------------------------------------------------ issue

    def _issue(self, one: Instance) -> None:
        """The scalar unit reaches an operation."""
        signal, unit = one.statement.signal, one.statement.unit
        one.known = dict(self.clocks[Unit(unit.core, Pipe.S)])
        if signal is None:
            self._add(unit, one)
            return
        if signal.kind == "join" and not one.is_vague:
            self.joins[unit.core] = one
            return
        number = evaluate(signal.number, one.values)
        if signal.kind in ("post", "take"):
            one.key = (Unit(0, Pipe.ALL), Pipe.ALL, number, signal.channel)
        else:
            one.key = (Unit(unit.core, signal.source), signal.target, number, signal.channel)
        if signal.kind in ("set", "wait"):
            if not 0 <= number < _FLAGS:
                self.faults.append(Fault(FaultKind.ID_RANGE, one, None, one.certain))
            self._count(one, signal.kind == "set")
        elif signal.kind in ("get", "release"):
            if not 0 <= number < _BUFFERS:
                self.faults.append(Fault(FaultKind.ID_RANGE, one, None, one.certain))
            self._hold(one, (unit, number), signal.kind == "get")
            releases = self.releases[unit.core, number].clocks
            one.released = len(releases)
            if signal.kind == "release":
                releases.append(None)
        self._add(unit, one)

    def _count(self, one: Instance, sets: bool) -> None:
        assert one.key is not None
        pending = self.pending.setdefault(one.key, [])
        if sets:
            if len(pending) > self.waits.get(one.key, 0):
                self.faults.append(
                    Fault(FaultKind.OVERFULL_FLAG, pending[-1], one, one.certain and pending[-1].certain)
                )
            pending.append(one)
        else:
            self.waits[one.key] = self.waits.get(one.key, 0) + 1

    def _ahead(self) -> None:
        """Flags that a pipe sets before it knows that the wait for the one before is over: at some speed of the pipes
        two are pending. The scalar unit may be ahead by any number of them."""
        for key, sets in self.set_with.items():
            waits = self.waited.get(key, [])
            for (before, _), (one, known), (unit, count) in zip(sets, sets[1:], waits, strict=False):
                # What follows a wait of the scalar unit is issued after it.
                if unit.pipe is Pipe.S or known.get(unit, 0) >= count:
                    continue
                if one.statement.pipe is not Pipe.S:
                    self.counted.add((one.statement.pipe, unit.pipe))
                else:
                    certain = one.certain and before.certain
                    self.faults.append(Fault(FaultKind.FLAG_AHEAD, before, one, certain))

    def _hold(self, one: Instance, lock: tuple[Unit, int], gets: bool) -> None:
        if (lock in self.held) == gets:
            self.faults.append(Fault(FaultKind.BUF_NESTING, one, None, one.certain))
        if gets:
            self.held[lock] = one
        else:
            self.held.pop(lock, None)

    def _add(self, unit: Unit, one: Instance) -> None:
        self.queues[unit].append(one)
        moved = self._advance(unit)
        while moved:
            moved = any([self._advance(other) for other in self.units if self.queues[other]])

    def _join(self, one: Instance) -> None:
        """All pipes of a core have completed what they had."""
        assert one.statement.signal is not None
        core = one.statement.core
        unit = Unit(core, Pipe.S)
        self.counts[unit] += 1
        scalar = self.clocks[unit]
        for pipe in PIPES:
            if pipe in one.statement.signal.drains:
                other = Unit(core, pipe)
                _learn(scalar, self.clocks[other])
                scalar[other] = max(scalar.get(other, 0), self.counts[other])
        self._finish(one, unit)

    # ------------------------------------------------------------ execution

    def _advance(self, unit: Unit) -> bool:
        queue, moved = self.queues[unit], False
        while queue and self._ready(queue[0]):
            self._execute(unit, queue.popleft())
            moved = True
        return moved

    def _ready(self, one: Instance) -> bool:
        signal = one.statement.signal
        if signal is None or one.is_vague or signal.kind not in ("wait", "take", "get"):
            return True
        assert one.key is not None
        if signal.kind == "get":
            return self.releases[one.statement.core, one.key[2]].before(one.released) is not None
        return bool(self.tokens.get(one.key))

    def _execute(self, unit: Unit, one: Instance) -> None:
        clock, signal = self.clocks[unit], one.statement.signal
        _learn(clock, one.known)
        self.counts[unit] += 1
        if signal is None:
            self._finish(one, unit)
            return
        assert one.key is not None
        if one.is_vague:
            if self.ordered:
                self._vague(unit, signal)
        elif signal.kind in ("set", "post"):
            if signal.kind == "set":
                self.set_with.setdefault(one.key, []).append((one, dict(clock)))
            self.tokens.setdefault(one.key, deque()).append((one, self._done(unit)))
        elif signal.kind in ("wait", "take"):
            _learn(clock, self.tokens[one.key].popleft()[1])
            if signal.kind == "wait":
                self.waited.setdefault(one.key, []).append((unit, self.counts[unit]))
        elif signal.kind == "release":
            self.releases[unit.core, one.key[2]].clocks[one.released] = self._done(unit)
        elif signal.kind == "get":
            _learn(clock, self.releases[unit.core, one.key[2]].before(one.released) or {})
        else:
            clock[unit] = self.counts[unit]

    def _done(self, unit: Unit) -> Clock:
        """Returns what is complete when all that a pipe has begun is."""
        return {**self.clocks[unit], unit: self.counts[unit]}

    def _vague(self, unit: Unit, signal: Signal) -> None:
        """What others, or forms of an operation, may order."""
        if signal.kind == "take":
            _learn(self.clocks[unit], self.known_outside)
            return
        clock = self.known_outside if signal.kind == "post" else self.clocks[unit]
        for pipe in {unit.pipe, *signal.drains}.intersection(PIPES):
            _learn(clock, self._done(Unit(unit.core, pipe)))

    def _finish(self, one: Instance, unit: Unit) -> None:
        """Work: its number on its pipe, and what is complete before it."""
        one.known = dict(self.clocks[unit])
        one.key = (unit, unit.pipe, self.counts[unit], None)

    # ------------------------------------------------------------ accesses

    def _races(self, all_: list[Instance]) -> None:
        """Compares the accesses, in the order of the text."""
        for one in all_:
            accesses = one.statement.accesses
            if accesses and one.key is not None:
                own = [access for access in accesses if self._happens(access, one) is not False]
                for access in own:
                    self._compare(one, access)
                for access in own:
                    objects = self.memory.setdefault((access.space, access.root), {})
                    earlier = objects.get(id(access))
                    if earlier is None:
                        earlier = objects[id(access)] = _Earlier(one.statement, access, moves(access))
                    earlier.instances.append(one)
                    earlier.ranks.append(one.key[2])

    def _happens(self, access: Access, one: Instance) -> bool | None:
        try:
            return holds(access.condition, one.values)
        except UnknownValueError:
            return None

    def _compare(self, one: Instance, access: Access) -> None:
        for (space, root), objects in self.memory.items():
            if space != access.space or (root != access.root and root is not None and access.root is not None):
                continue
            for earlier in objects.values():
                if needs_order(earlier.statement, one.statement, earlier.access, access, self.model.arch):
                    self._compare_with(one, access, earlier)

    def _compare_with(self, one: Instance, access: Access, earlier: _Earlier) -> None:
        """Compares with all executions of an access that need not be complete; one is enough where all touch the same
        bytes."""
        self.limit.take()
        statement, first = earlier.statement, earlier.access
        unit = one.statement.unit
        index = bisect_right(earlier.ranks, one.known.get(statement.unit, 0))
        streamed = streams(statement, one.statement, first, access, self.model.arch)
        waiting = earlier.instances[index:]
        is_sure = may_refute(statement, one.statement, access)
        # Of two transfers of one pipe the later one matters: others may have used the bytes since the first.
        for before in reversed(waiting) if statement.unit == unit else waiting:
            self.limit.take()
            if before is one or (streamed and self._same_turn(before, one)):
                continue
            if statement.core != unit.core and one.key is not None and before.known.get(unit, 0) >= one.key[2]:
                # The other way round.
                continue
            found = overlap_at(first, before.values, access, one.values)
            if found is not Overlap.NEVER:
                certain = is_sure and found is Overlap.SURELY and before.certain and one.certain
                certain = certain and self._happens(first, before) is True and self._happens(access, one) is True
                self.faults.append(Fault(self._kind(before, one, first, access), before, one, certain, (first, access)))
                if not earlier.moves and statement.core == unit.core:
                    return

    def _same_turn(self, before: Instance, one: Instance) -> bool:
        return all(before.values[loop.ordinal] == one.values[loop.ordinal] for loop in one.statement.loops)

    def _kind(self, before: Instance, one: Instance, first: Access, second: Access) -> FaultKind:
        if before.statement.core != one.statement.core:
            return FaultKind.RACE_CROSS_CORE
        if before.statement.pipe is one.statement.pipe:
            return FaultKind.RACE_SAME_PIPE
        assert one.key is not None
        if before.known.get(one.statement.unit, 0) >= one.key[2]:
            return FaultKind.RACE_INVERTED
        return FaultKind(f"race-{kind_of(first, second)}")


def moves(access: Access) -> bool:
    """Returns whether the bytes of an access differ from one iteration to another."""
    used = (one for part in access.depends_on for one in symbols_of(part))
    return any(isinstance(one, (Ordinal, Varying)) for one in used)


def _learn(clock: Clock, other: Clock) -> None:
    for pipe, count in other.items():
        if count > clock.get(pipe, 0):
            clock[pipe] = count
